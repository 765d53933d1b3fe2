"""The gradient of the loss at the lengths where a mixer's edge cases lie is the plain reference's."""

import pytest
import torch
from torch import Tensor, nn

from stages.corpus.example import Examples
from stages.plain.model import cross_entropy
from stages.training.trainer import batch_loss
from tests.support.tiny import MODEL, VARIANTS, loud, plain_twin, random_tokens, tiny_model, usual_std

LENGTHS = [1, 2, MODEL.context - 1, MODEL.context]
# |difference| / |reference| of the loss and of a parameter's gradient: at most 6.2e-6 was measured, of gated_deltanet
BOUND = 1e-5
# A share of the whole gradient. Where a query sees one key only, its scores have none, but mqa is left with 8.7e-9.
ROUNDING = 3e-8


def gradients(loss: Tensor, model: nn.Module) -> dict[str, Tensor]:
    """By name; zero where a single position leaves a parameter unused, as W of a recurrence."""
    named = dict(model.named_parameters())
    derivatives = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    return dict(zip(named, derivatives, strict=True))


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("lengths", [[1, 1, 1], LENGTHS], ids=str)
@pytest.mark.parametrize("variant", VARIANTS)
def test_loss_and_gradients_of_the_shortest_and_longest_sequences_are_the_plain_ones(
    variant: str, lengths: list[int]
) -> None:
    sequences = [random_tokens(1, length + 1, seed=seed)[0].numpy() for seed, length in enumerate(lengths)]
    batch = Examples.of_rows(sequences, first_targets=[1])  # every character but the first is a target
    model = loud(tiny_model(variant), std=usual_std(variant))
    plain = plain_twin(variant, model)
    expected_loss = cross_entropy(plain, torch.from_numpy(batch.inputs), torch.from_numpy(batch.targets))
    loss = batch_loss(model, [batch])
    torch.testing.assert_close(loss, expected_loss, rtol=BOUND, atol=0)
    ours, expected = gradients(loss, model), gradients(expected_loss, plain)
    whole = torch.stack([gradient.norm() for gradient in expected.values()]).norm()
    for name, gradient in expected.items():
        assert (ours[name] - gradient).norm() <= BOUND * gradient.norm() + ROUNDING * whole, name
