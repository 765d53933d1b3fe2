"""One step of training computes what the plain reference computes, for every variant and however a batch is cut."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from stages.corpus.example import Examples
from stages.corpus.questions import question_examples
from stages.corpus.span_corruption import span_corruption
from stages.experiment.backend import Backend
from stages.plain.model import PlainGPT, cross_entropy
from stages.plain.training import PlainTrainer
from stages.training.batches import split_by_length
from stages.training.cuda_graph import trainer_for
from stages.training.trainer import Trainer
from tests.support.closeness import NO_CLIP, beyond, padded, usual_std
from tests.support.tiny import (
    BACKENDS,
    FLOAT32,
    HANDOUT,
    IN_FLOAT32,
    MODEL,
    VARIANTS,
    loud,
    plain_twin,
    spans,
    tiny_model,
    tiny_prepared,
)

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)


def span_batch(seed: int) -> Examples:
    rows = np.arange(8).repeat(2)
    return span_corruption(PREPARED.documents, rows, spans(4, 30), np.random.default_rng(seed))


def question_batch(seed: int) -> Examples:
    rows = np.random.default_rng(seed).permutation(8)
    return question_examples(PREPARED.questions["train"], PREPARED.answers["train"], rows)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch", [span_batch, question_batch])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_steps_loss_and_gradients_are_the_plain_ones_however_the_batch_is_cut(
    variant: str, batch: Callable[[int], Examples], backend: Backend
) -> None:
    for seed, row_step in enumerate([1, 3, 16]):
        model = loud(tiny_model(variant, VOCABULARY), seed, usual_std(variant))
        assert beyond(variant, MODEL, model, backend, batch(seed), row_step) == {}


@pytest.mark.parametrize("backend", IN_FLOAT32)
@pytest.mark.parametrize("decays", ["matrices", "all_but_biases"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_three_steps_end_in_the_plain_weights(variant: str, decays: str, backend: Backend) -> None:
    rate, changed = 1e-3, {"gradient_clip": 0.01, "weight_decay": 0.5, "decays": decays}
    settings = HANDOUT.optimizer.model_copy(update=changed)
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    plain = PlainTrainer(plain_twin(variant, model), settings)
    trained = trainer_for(model, settings, backend)
    for seed in range(3):
        examples = span_batch(seed)
        expected = plain.step(*padded(examples, MODEL.context), rate)
        assert float(trained.step(trained.cut(examples), rate)) == pytest.approx(expected, rel=1e-5)
    for name, weight in plain.model.named_parameters():
        # AdamW divides by the gradient's own size: where it is all but zero, rounding decides
        difference = (trained.weights()[name] - weight.detach()).abs().mean()
        assert difference < 0.01 * (weight.detach() - before[name]).abs().mean(), name


DROPPING = MODEL.model_copy(update={"dropout": 0.2, "context": 32})
DRAWS = 40


def disturbances(gradient: Callable[[], Tensor], undisturbed: Tensor) -> list[float]:
    """How far dropout moves a gradient, |g - g₀| / |g₀|, at each of DRAWS draws; every place of dropout adds to it."""
    return [float((gradient() - undisturbed).norm() / undisturbed.norm()) for _ in range(DRAWS)]


def plain_gradient(plain: PlainGPT, examples: Examples) -> Tensor:
    """The gradient in one vector."""
    plain.zero_grad()
    cross_entropy(plain, *padded(examples, DROPPING.context)).backward()
    return torch.cat([weight.grad.flatten() for weight in plain.parameters() if weight.grad is not None])


@pytest.mark.parametrize("variant", VARIANTS)
def test_dropout_disturbs_gradients_as_in_the_plain_model(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY, model=DROPPING))
    plain = plain_twin(variant, model, DROPPING)
    examples = span_corruption(PREPARED.documents, np.arange(8), spans(4, 30), np.random.default_rng(0))
    undisturbed = plain_gradient(plain, examples)
    plain.train()
    expected = disturbances(lambda: plain_gradient(plain, examples), undisturbed)
    optimizer = HANDOUT.optimizer.model_copy(update={"gradient_clip": NO_CLIP})
    trained, parts = Trainer(model, optimizer, FLOAT32), split_by_length(examples)

    def gradient() -> Tensor:
        trained.clipped_gradients(parts)
        return torch.cat([master.grad.flatten() for master in trained.masters if master.grad is not None])

    # whether both samples can come from one distribution (Kolmogorov-Smirnov; seeds are fixed): without dropout in one
    # place, be it of attention, residuals or embeddings, p was measured at 2e-10 at most
    assert stats.ks_2samp(disturbances(gradient, undisturbed), expected).pvalue > 1e-3
