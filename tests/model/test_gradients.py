"""The gradient of the loss at the lengths where a mixer's edge cases lie is the plain reference's."""

import pytest
import torch
from torch import Tensor, nn

from stages.corpus.example import Examples
from stages.experiment.backend import Backend
from stages.training.trainer import batch_loss
from tests.reference.model import cross_entropy
from tests.tiny import IN_FLOAT32, MODEL, VARIANTS, loud, plain_twin, random_tokens, tiny_model
from tests.training.closeness import usual_std

LENGTHS = [1, 2, MODEL.context - 1, MODEL.context]
# |difference| / |reference| of the loss and of a parameter's gradient. Measured were at most 6.2e-6, of gated_deltanet,
# on a CPU; a GPU, which adds in other orders, is allowed ten times as much
BOUNDS = {"cpu": 1e-5, "cuda": 1e-4}
# Of the whole gradient. Where a query sees a single key its scores have no gradient, but mqa's is left with 8.7e-9.
ROUNDING = 3e-8


def examples(lengths: list[int]) -> Examples:
    """Rows whose every character but the first is a target; lengths are of their inputs."""
    rows = [random_tokens(1, length + 1, seed=row)[0].numpy() for row, length in enumerate(lengths)]
    return Examples.of_rows(rows, first_targets=[1])


def gradients(loss: Tensor, model: nn.Module) -> dict[str, Tensor]:
    """By name, on the CPU; zero where a single position leaves a parameter unused, as W of a recurrence."""
    named = dict(model.named_parameters())
    found = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    return {name: gradient.cpu() for name, gradient in zip(named, found, strict=True)}


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("backend", IN_FLOAT32)
@pytest.mark.parametrize("lengths", [*([length] * 3 for length in LENGTHS), LENGTHS], ids=str)
@pytest.mark.parametrize("variant", VARIANTS)
def test_loss_and_gradients_of_the_shortest_and_longest_rows_are_the_plain_ones(
    variant: str, lengths: list[int], backend: Backend
) -> None:
    batch, bound = examples(lengths), BOUNDS[backend.device.type]
    model = loud(tiny_model(variant), std=usual_std(variant))
    plain = plain_twin(variant, model)
    model.to(backend.device)
    expected_loss = cross_entropy(plain, torch.from_numpy(batch.inputs), torch.from_numpy(batch.targets))
    loss = batch_loss(model, [batch])
    torch.testing.assert_close(loss.cpu(), expected_loss, rtol=bound, atol=0)
    ours, expected = gradients(loss, model), gradients(expected_loss, plain)
    whole = torch.stack([gradient.norm() for gradient in expected.values()]).norm()
    for name, gradient in expected.items():
        assert (ours[name] - gradient).norm() <= bound * gradient.norm() + ROUNDING * whole, name
