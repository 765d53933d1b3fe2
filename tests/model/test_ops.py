"""The operations between matrix products: sums keep their precision, dropout drops what it should."""

from collections.abc import Callable

import pytest
import torch
from scipy import stats
from torch import Tensor
from torch.func import functional_call

from stages.model import ops
from stages.model.cpu.library import identity
from stages.model.ops import dropout

SIZE = 400_000


def draws(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


LONG = 20_000  # characters of a batch


def normalised(weight: Tensor, bias: Tensor) -> Tensor:
    """LayerNorm with these weights."""
    norm = ops.LayerNorm(24).to(weight.dtype)
    return functional_call(norm, {"weight": weight, "bias": bias}, draws(7, LONG, 24).to(weight.dtype))


SUMMED: dict[str, tuple[Callable[..., Tensor], list[tuple[int, ...]]]] = {
    "embedding": (lambda table: ops.embed(table, torch.arange(LONG) % 2), [(2, 24)]),
    "layer norm": (normalised, [(24,)] * 2),
}


@pytest.mark.parametrize("name", SUMMED)
def test_gradients_that_are_sums_over_a_batch_do_not_add_up_what_bfloat16_rounds(name: str) -> None:
    operation, shapes = SUMMED[name]
    gradients = []
    for kind in (torch.bfloat16, torch.float64):
        weights = [draws(i, *shape).bfloat16().to(kind).requires_grad_() for i, shape in enumerate(shapes)]
        y = operation(*weights)
        gradients.append(torch.autograd.grad(y, weights, (1 + draws(9, *y.shape)).bfloat16().to(kind)))
    for ours, exact in zip(*gradients, strict=True):
        assert (ours.double() - exact).norm() < 5e-3 * exact.norm()  # rounded once: 2e-3 was measured


def dropped_ones(p: float, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    torch.manual_seed(seed)
    return dropout(torch.ones(SIZE // 400, 400, dtype=dtype), p).flatten()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.01, 0.5])
def test_a_share_p_is_dropped_and_the_rest_scaled(either: str, p: float, dtype: torch.dtype) -> None:
    y = dropped_ones(p, dtype=dtype)
    gone = int((y == 0).sum())
    assert stats.binomtest(gone, SIZE, p).pvalue > 1e-3
    kept = y[y != 0].unique()
    assert kept.tolist() == [pytest.approx(1 / (1 - p), rel=1e-6 if dtype == torch.float32 else 1e-2)]


@pytest.mark.skipif(identity() == "torch", reason="no C++ compiler here")
def test_neighbours_other_calls_and_other_seeds_are_dropped_independently() -> None:
    mask = (dropped_ones(0.1) == 0).float() - 0.1
    next_call = dropout(torch.ones(SIZE), 0.1)
    for lag in (1, 2, 3, 4, 16, 400, 1000, 2**16):
        correlation = (mask[lag:] * mask[:-lag]).mean() / 0.09
        assert abs(correlation.item()) < 4.5 / (SIZE - lag) ** 0.5
    for y in (next_call, *(dropped_ones(0.1, seed) for seed in (1, 2, 2**31))):
        other = (y == 0).float() - 0.1
        assert abs((mask * other).mean().item() / 0.09) < 4.5 / SIZE**0.5


def test_gradients_pass_where_values_do(either: str) -> None:
    x = draws(0, 7, 13, 5).requires_grad_()  # no multiple of four
    torch.manual_seed(1)
    y = dropout(x, 0.3)
    weight = draws(2, 7, 13, 5)
    (y * weight).sum().backward()
    assert 0 < int((y == 0).sum()) < y.numel()
    torch.testing.assert_close(x.grad, torch.where(y == 0, 0, weight / 0.7))
