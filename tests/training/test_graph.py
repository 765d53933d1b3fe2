"""Training on a GPU: the padded batch is the cut one, and, where there is a GPU, graphs train as the CPU does."""

import numpy as np
import pytest
import torch

from stages.corpus.example import PAD, Examples
from stages.corpus.span_corruption import span_corruption
from stages.settings import Optimizer
from stages.training.batches import split_by_length
from stages.training.compute import Backend
from stages.training.graph import SHAPE_STEP, GraphLearner, fixed_shape, learner_for, padded_loss
from stages.training.learner import Learner, batch_loss
from tests.tiny import FLOAT32, HANDOUT, MODEL, VARIANTS, loud, spans, tiny_model, tiny_prepared

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")


def batch(rows: int, seed: int = 0) -> Examples:
    chosen = np.random.default_rng(seed).integers(8, size=rows)
    return span_corruption(PREPARED.documents, chosen, spans(4, 30), np.random.default_rng(seed))


def tensors(examples: Examples) -> list[torch.Tensor]:
    return [torch.from_numpy(examples.inputs), torch.from_numpy(examples.targets)]


@pytest.mark.parametrize("rows", [1, 16, 33, 64])
def test_a_batch_of_fixed_shape_holds_the_same_examples_and_only_pad_beside_them(rows: int) -> None:
    examples = batch(rows)
    fixed = fixed_shape(examples, MODEL.context)
    height, width = fixed.inputs.shape
    assert height % SHAPE_STEP == 0 and width % SHAPE_STEP == 0 and width <= MODEL.context
    longest = examples.lengths.max()
    for ours, given in ((fixed.inputs, examples.inputs), (fixed.targets, examples.targets)):
        assert (ours[:rows, :longest] == given[:, :longest]).all()
        assert (ours[rows:] == PAD).all() and (ours[:, longest + 1 :] == PAD).all()
    assert fixed.targets[:rows].astype(bool).sum() == examples.targets.astype(bool).sum()


def test_no_more_columns_than_the_context_are_made() -> None:
    assert fixed_shape(batch(8), context=24).inputs.shape == (32, 24)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_padded_batch_has_the_loss_and_gradients_of_the_cut_one(variant: str) -> None:
    examples, model = batch(24), loud(tiny_model(variant, VOCABULARY))
    losses = [batch_loss(model, split_by_length(examples)), padded_loss(model, *tensors(fixed_shape(examples, 64)))]
    cut, padded = (torch.autograd.grad(loss, list(model.parameters())) for loss in losses)
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-6, atol=0)
    for ours, theirs in zip(padded, cut, strict=True):
        assert ((ours - theirs).norm() / theirs.norm()).item() < 1e-5


def test_a_cpu_gets_no_graphs() -> None:
    assert type(learner_for(tiny_model("vanilla"), HANDOUT.optimizer, FLOAT32)) is Learner


@needs_gpu
@pytest.mark.parametrize("matrices", ["adamw", "muon"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_graphs_train_as_the_cpu_does(variant: str, matrices: str) -> None:
    optimizer: Optimizer = HANDOUT.optimizer.model_copy(update={"matrices": matrices})
    gpu = Backend(torch.device("cuda"), torch.float32)
    both = [learner_for(loud(tiny_model(variant, VOCABULARY)), optimizer, backend) for backend in (FLOAT32, gpu)]
    assert isinstance(both[1], GraphLearner)
    for seed, rows in enumerate([16, 40, 16, 16]):  # two shapes
        losses = [each.step(each.cut(batch(rows, seed)), 1e-4).item() for each in both]
        assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    for ours, theirs in zip(both[1].weights().values(), both[0].weights().values(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=4e-4)  # four steps of at most 1e-4 each


@needs_gpu
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_seed_of_a_step_decides_a_graphs_dropout(variant: str) -> None:
    model = MODEL.model_copy(update={"dropout": 0.3})
    learner = learner_for(
        loud(tiny_model(variant, VOCABULARY, model=model)),
        HANDOUT.optimizer,
        Backend(torch.device("cuda"), torch.float32),
    )
    parts, losses = learner.cut(batch(16)), []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        losses.append(learner.gradients(parts).item())
    assert losses[0] == losses[2] != losses[1]
