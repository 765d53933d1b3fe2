"""Dropout: how much it drops, what it keeps, and that the seed decides."""

import pytest
import torch
from scipy import stats
from torch import Tensor

from stages.model.dropout import Dropout, dropout

SIZE = 400_000


def dropped(p: float, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    torch.manual_seed(seed)
    return dropout(torch.ones(SIZE, dtype=dtype), p)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.9])
def test_a_share_p_is_dropped_and_the_rest_scaled(p: float, dtype: torch.dtype) -> None:
    y = dropped(p, dtype=dtype)
    gone = int((y == 0).sum())
    assert stats.binomtest(gone, SIZE, p).pvalue > 1e-3
    kept = y[y != 0].unique()
    assert kept.tolist() == [pytest.approx(1 / (1 - p), rel=1e-6 if dtype == torch.float32 else 1e-2)]


def test_the_expectation_is_kept() -> None:
    assert dropped(0.1).mean().item() == pytest.approx(1, abs=5 * (0.1 / 0.9 / SIZE) ** 0.5)


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 1000])
def test_neighbours_are_dropped_independently(lag: int) -> None:
    mask = (dropped(0.1) == 0).float() - 0.1
    correlation = (mask[lag:] * mask[:-lag]).mean() / 0.09
    assert abs(correlation.item()) < 4.5 / SIZE**0.5


def test_gradients_pass_where_values_do() -> None:
    x = torch.randn(7, 13, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()  # no multiple of four
    torch.manual_seed(1)
    y = dropout(x, 0.3)
    weight = torch.randn(7, 13, 5, generator=torch.Generator().manual_seed(2))
    (y * weight).sum().backward()
    assert 0 < int((y == 0).sum()) < y.numel()
    torch.testing.assert_close(x.grad, torch.where(y == 0, 0, weight / 0.7))


def test_a_view_with_other_strides_is_dropped_like_its_copy() -> None:
    x = torch.randn(6, 10, 4, generator=torch.Generator().manual_seed(0)).transpose(0, 2)
    torch.manual_seed(3)
    of_view = dropout(x, 0.4)
    torch.manual_seed(3)
    assert torch.equal(of_view, dropout(x.contiguous(), 0.4))


def test_the_seed_decides_and_each_call_draws_anew() -> None:
    assert torch.equal(dropped(0.2, seed=5), dropped(0.2, seed=5))
    assert not torch.equal(dropped(0.2, seed=5), dropped(0.2, seed=6))
    torch.manual_seed(5)
    first, second = (dropout(torch.ones(1000), 0.2) for _ in range(2))
    assert not torch.equal(first, second)


def test_evaluation_and_p_0_change_nothing() -> None:
    x = torch.randn(4, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x
    assert not torch.equal(Dropout(0.5).train()(x), x)
