"""Training on a GPU: the padded batch is the cut one, and, where there is a GPU, graphs train as the CPU does."""

import copy

import numpy as np
import pytest
import torch
from torch import Tensor

from stages.corpus.example import Examples
from stages.settings import Optimizer
from stages.training.batches import split_by_length
from stages.training.gpu import GraphTrainer, fixed_shapes, padded_loss
from stages.training.trainer import batch_loss, trainer_for
from tests.support.tiny import (
    FLOAT32,
    GPU_FLOAT32,
    HANDOUT,
    MODEL,
    VARIANTS,
    loud,
    needs_gpu,
    tiny_model,
    tiny_prepared,
    usual_std,
)

# How far apart weights may end, relative to how far they moved. In place of a GPU torch's own operations on the padded
# batch were measured: 2.0e-3 at most. Muon orthogonalises in bfloat16, and a GPU rounds other sums to it: done in
# float32 on one side, it was measured at 2.7e-2.
MOVED_APART = {"adamw": 0.01, "muon": 0.1}
PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)


def batch(rows: int, seed: int = 0) -> Examples:
    """Random characters, up to 60 a row: several parts where there are rows enough."""
    draws = np.random.default_rng(seed)
    texts = [draws.integers(2, VOCABULARY, size=length) for length in draws.integers(4, 61, size=rows)]
    return Examples.of_rows(texts, np.ones(rows, dtype=np.int64))


@pytest.mark.parametrize(
    ("lengths", "context", "shapes"),
    [
        ((20, 60, 90, 120), 128, [(32, 32), (32, 64), (32, 96), (32, 128)]),
        ((20, 50, 60, 120), 128, [(32, 32), (64, 64), (32, 128)]),  # two of one length together
        ((20, 90, 90, 100), 100, [(32, 32), (96, 100)]),  # no wider than a context
    ],
)
def test_a_batch_is_cut_where_that_saves_more_than_a_part_costs(
    lengths: tuple[int, ...], context: int, shapes: list[tuple[int, int]]
) -> None:
    shuffled = np.random.default_rng(0).permutation(np.repeat(lengths, 32))  # 32 rows of each length
    examples = Examples.of(np.full((128, context + 1), 5), shuffled)
    assert [part.inputs.shape for part in fixed_shapes(examples, context)] == shapes


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_padded_batch_has_the_loss_and_gradients_of_the_cut_one(variant: str) -> None:
    examples, model = batch(80), loud(tiny_model(variant, VOCABULARY))
    parts = fixed_shapes(examples, MODEL.context, part_cost=1)
    assert len(parts) == 2
    losses = [
        batch_loss(model, split_by_length(examples)),
        padded_loss(model, [(torch.from_numpy(part.inputs), torch.from_numpy(part.targets)) for part in parts]),
    ]
    cut, padded = (torch.autograd.grad(loss, list(model.parameters())) for loss in losses)
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-6, atol=0)
    for ours, theirs in zip(padded, cut, strict=True):
        assert ((ours - theirs).norm() / theirs.norm()).item() < 1e-5


def graph_optimizer(matrices: str) -> Optimizer:
    """It clips to so small a norm that AdamW's epsilon outweighs gradients that are rounding alone (a key's bias)."""
    return HANDOUT.optimizer.model_copy(update={"matrices": matrices, "gradient_clip": 0.01})


def assert_moved_alike(
    first: dict[str, Tensor], weights: dict[str, Tensor], expected: dict[str, Tensor], matrices: str
) -> None:
    """Weights are, next to how far they moved from the first, close to those expected."""
    for name, weight in first.items():
        apart, moved = (weights[name] - expected[name]).abs().mean(), (expected[name] - weight).abs().mean()
        assert apart < MOVED_APART[matrices] * moved, name


@needs_gpu
@pytest.mark.parametrize("matrices", MOVED_APART)
@pytest.mark.parametrize("variant", VARIANTS)
def test_graphs_move_the_weights_as_the_cpu_does(variant: str, matrices: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    both = [trainer_for(copy.deepcopy(model), graph_optimizer(matrices), backend) for backend in (FLOAT32, GPU_FLOAT32)]
    assert isinstance(both[1], GraphTrainer)
    for seed, rows in enumerate([16, 80, 16, 16]):
        losses = [trainer.step(trainer.cut(batch(rows, seed)), 1e-4).item() for trainer in both]
        assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert len(both[1].graphs) == 2 and not both[1].is_eager
    assert_moved_alike(first, both[1].weights(), both[0].weights(), matrices)


@needs_gpu
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_seed_of_a_step_decides_a_graphs_dropout(variant: str) -> None:
    model = tiny_model(variant, VOCABULARY, model=MODEL.model_copy(update={"dropout": 0.3}))
    trainer = trainer_for(loud(model), HANDOUT.optimizer, GPU_FLOAT32)
    parts, losses = trainer.cut(batch(16)), []
    for seed in (1, 2, 1):  # the first makes the graph
        torch.manual_seed(seed)
        losses.append(trainer.clipped_gradients(parts).item())
    assert losses[0] == losses[2] != losses[1]
