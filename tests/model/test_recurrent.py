"""What is special to each recurrent variant: parallel forms equal the recurrences they stand for, at extremes too."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from stages.mixers import min_gru
from stages.mixers.gated_deltanet import CHUNK, gated_delta_rule
from stages.mixers.linear import feature
from stages.plain.recurrent import delta_step


def draws(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def uniform(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


def one_by_one(keep: Tensor, write: Tensor) -> Tensor:
    """h_t = keep_t h_{t−1} + write_t in float64."""
    h, hidden = torch.zeros_like(write[:, 0]).double(), []
    for t in range(write.shape[1]):
        h = keep[:, t].double() * h + write[:, t].double()
        hidden.append(h)
    return torch.stack(hidden, dim=1)


GATES = {
    "usual": lambda *shape: draws(*shape),
    "all but closed": lambda *shape: draws(*shape) - 30,
    "all but open": lambda *shape: draws(*shape) + 30,
    "one or the other": lambda *shape: 60 * draws(*shape).sign(),
    "beyond the number format": lambda *shape: 1000 * draws(*shape).sign(),
}


@pytest.mark.parametrize("gates", GATES)
def test_the_scan_and_its_gradients_equal_those_of_the_recurrence_for_extreme_gates(gates: str) -> None:
    for length in (1, 2, 3, 7, 64, 127):
        gate = GATES[gates](3, length, 16)
        keep, write = (-gate).sigmoid(), gate.sigmoid() * min_gru.positive(draws(3, length, 16))
        torch.testing.assert_close(min_gru.scan(keep, write).double(), one_by_one(keep, write), rtol=2e-6, atol=1e-30)
        inputs, worth = [keep.requires_grad_(), draws(3, length, 16).requires_grad_()], draws(3, length, 16).flip(0)
        ours, plain = (
            torch.autograd.grad((form(*inputs) * worth).sum(), inputs) for form in (min_gru.scan, one_by_one)
        )
        for gradient, expected in zip(ours, plain, strict=True):
            assert (gradient - expected).norm() <= 2e-6 * expected.norm()


HEADS, SIZE = 2, 8


def delta_inputs(length: int, fading: Tensor, repeated: bool = False) -> list[Tensor]:
    q, k, v = draws(3, 3, HEADS, length, SIZE)
    if repeated:  # three directions, taken in turn
        k = k[:, :, torch.arange(length) % min(3, length)]
    return [F.normalize(q, dim=-1), F.normalize(k, dim=-1), v, fading, uniform(3, HEADS, length)]


def delta_one_by_one(
    q: Tensor, k: Tensor, v: Tensor, fading: Tensor, beta: Tensor, memory: Tensor
) -> tuple[Tensor, Tensor]:
    """The recurrence in float64, with the arguments and results of `gated_delta_rule`."""
    q, k, v, fading, beta = (x.double() for x in (q, k, v, fading, beta))
    S, read = memory.double().transpose(-2, -1), []
    for t in range(q.shape[2]):
        S, output = delta_step(S, q[:, :, t], k[:, :, t], v[:, :, t], fading[:, :, t].exp(), beta[:, :, t])
        read.append(output)
    return torch.stack(read, dim=2), S.transpose(-2, -1)


FADING = {
    "alpha is 1": lambda *shape: torch.zeros(shape),
    "alpha all but 1": lambda *shape: -1e-4 * uniform(*shape),
    "usual": lambda *shape: -uniform(*shape),
    "alpha all but 0": lambda *shape: -30 - draws(*shape),
    "alpha is 0": lambda *shape: torch.full(shape, -1000.0),
    "all but 1 after all but 0": lambda *shape: torch.where(uniform(*shape) < 0.2, -300.0, -1e-3),
}


@pytest.mark.parametrize("fading", FADING)
def test_the_chunk_form_and_its_gradients_equal_those_of_the_recurrence(fading: str) -> None:
    for length, repeated in ((1, False), (2, True), (CHUNK, False), (CHUNK, True)):
        inputs = delta_inputs(length, FADING[fading](3, HEADS, length), repeated)
        inputs = [x.requires_grad_() for x in [*inputs, draws(3, HEADS, SIZE, SIZE)]]
        worths = draws(3, HEADS, length, SIZE), draws(3, HEADS, SIZE, SIZE)
        results = []
        for rule in (gated_delta_rule, delta_one_by_one):
            outputs = [output.double() for output in rule(*inputs)]
            worth = sum((output * worth).sum() for output, worth in zip(outputs, worths, strict=True))
            results.append((outputs, torch.autograd.grad(worth, inputs)))
        (ours, our_gradients), (plain, plain_gradients) = results
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(our_gradients, plain_gradients, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_feature_of_linear_attention_stays_exact_far_below_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([-20.0, -60.0], dtype=dtype)
    torch.testing.assert_close(feature(x), x.exp())
