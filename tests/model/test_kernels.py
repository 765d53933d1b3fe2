"""Attention of packed sequences: the plain softmax of each alone, forward and backward, and what it drops."""

import math
from dataclasses import dataclass
from itertools import pairwise

import pytest
import torch
from scipy import stats
from torch import Tensor

from stages.model.cpu.library import identity
from stages.model.ops import Angles, attend_by_position, attend_varlen, dropout
from stages.model.packing import Packing
from tests.support.tiny import packing_of

pytestmark = pytest.mark.skipif(identity() == "torch", reason="no C++ compiler here")

LENGTHS = [[1, 2, 3, 4, 5, 8, 15, 16, 17], [31, 32, 33], [64, 77, 127]]


@dataclass(frozen=True)
class Case:
    heads: tuple[int, int]  # of queries, and of keys
    size: int  # of a head
    window: int | None = None
    rotated: bool = False
    few: int | None = None  # keys are those of each sequence's first characters alone
    apart: bool = False  # keys and values are a tensor of their own, not beside the queries


CASES = {
    "full": Case((4, 4), 32),
    "one set of keys": Case((4, 1), 32, apart=True),
    "window": Case((2, 2), 40, window=7, rotated=True),
    "window of one": Case((1, 1), 16, window=1, apart=True),
    "few keys": Case((3, 3), 16, few=32, apart=True),
    "large heads": Case((2, 2), 200, rotated=True),
}


def draws(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def angles_of(size: int, dtype: torch.dtype) -> Angles:
    angle = torch.arange(128)[:, None] * 100.0 ** -torch.linspace(0, 1, size // 2)
    return angle.cos().to(dtype), angle.sin().to(dtype)


def turned(x: Tensor, angles: Angles | None) -> Tensor:
    """x (heads, T, hs), each pair of channels turned by its position's angle."""
    if angles is None:
        return x
    (cosine, sine), (left, right) = (table[: x.shape[1]] for table in angles), x.chunk(2, dim=-1)
    return torch.cat([left * cosine - right * sine, left * sine + right * cosine], dim=-1)


def plain(
    queries: Tensor, keys_values: Tensor, packing: Packing, keys: Packing, case: Case, angles: Angles | None
) -> Tensor:
    """Each sequence alone, by torch. queries (N, C); keys_values (M, 2·nk·hs)."""
    (heads, key_heads), size = case.heads, case.size
    outputs = []
    for start, length, key_start, key_length in torch.cat([packing.extents, keys.extents]).T.tolist():
        q = queries[start : start + length].view(length, heads, size).transpose(0, 1)
        k, v = keys_values[key_start : key_start + key_length].view(key_length, 2, key_heads, size).permute(1, 2, 0, 3)
        k, v = (x.repeat_interleave(heads // key_heads, dim=0) for x in (turned(k, angles), v))
        behind = torch.arange(length)[:, None] - torch.arange(key_length)
        hidden = (behind < 0) | (behind >= (case.window or math.inf))
        scores = (turned(q, angles) @ k.mT / size**0.5).masked_fill(hidden, -math.inf)
        outputs.append((scores.softmax(dim=-1) @ v).transpose(0, 1).flatten(1))
    return torch.cat(outputs)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 2e-6), (torch.bfloat16, 1e-2)])
def test_it_is_the_plain_softmax_of_each_sequence_forward_and_backward(
    name: str, dtype: torch.dtype, bound: float
) -> None:
    case = CASES[name]
    packing = packing_of(LENGTHS)
    keys = packing.first(case.few) if case.few else packing
    width, key_width = (heads * case.size for heads in case.heads)
    queries, keys_values = (
        draws(1, len(packing.positions), width).to(dtype),
        draws(2, len(keys.positions), 2 * key_width).to(dtype),
    )
    gradient = draws(3, len(packing.positions), width).to(dtype)
    angles = angles_of(case.size, dtype) if case.rotated else None
    inputs = [queries, keys_values] if case.apart else [torch.cat([queries, keys_values], dim=1)]
    ours = [x.clone().requires_grad_() for x in inputs]
    packings = [packing, keys] if case.apart else [packing]
    y = attend_varlen(ours, packings, case.heads, 0.0, case.window, angles)
    y.backward(gradient)
    doubles = [x.double().requires_grad_() for x in (queries, keys_values)]
    exact = angles and (angles[0].double(), angles[1].double())
    expected = plain(doubles[0], doubles[1], packing, keys, case, exact)
    expected.backward(gradient.double())

    gradients = [x.grad for x in doubles] if case.apart else [torch.cat([x.grad for x in doubles], dim=1)]  # type: ignore[misc]
    for one, other in zip([y, *(x.grad for x in ours)], [expected, *gradients], strict=True):
        assert one is not None and other is not None and one.dtype == dtype
        assert (one.double() - other).norm() <= bound * (other.norm() + 1)  # a window of one: no slope of queries


def weights(packing: Packing, heads: int, dropout_rate: float) -> Tensor:
    """The weights of queries that see all keys up to their own alike: (N, heads, keys), keys at most 64."""
    values = torch.eye(64)[packing.positions].repeat(1, heads)  # value s has a 1 in channel s
    queries = torch.zeros(len(values), heads * 64)
    joined = torch.cat([queries, queries, values], dim=1)
    return attend_varlen([joined], [packing], (heads, heads), dropout_rate).view(-1, heads, 64)


def test_half_is_dropped_independently_in_sequences_heads_and_queries_and_the_rest_is_doubled() -> None:
    both = (weights(packing_of([[64] * 50]), 4, rate).view(50, 64, 4, 64) for rate in (0.5, 0.0))
    kept, whole = (of_all[:, 32:, :, :32] for of_all in both)  # all see these keys
    survived = kept > 0
    torch.testing.assert_close(kept, 2 * whole * survived)
    assert stats.binomtest(int(survived.sum()), survived.numel(), 0.5).pvalue > 1e-4
    for axis in (0, 1, 2, 3):
        for one, other in pairwise(survived.unbind(axis)[:8]):
            same = int((one == other).sum())
            assert stats.binomtest(same, one.numel(), 0.5).pvalue > 1e-5


def attend(x: Tensor, packing: Packing, by_position: bool) -> Tensor:
    """Two heads of 16 channels, of x (N, 96), which drop 0.3 of their weights."""
    if not by_position:
        return attend_varlen([x], [packing], (2, 2), 0.3)
    queries, values, rest = x.split(32, dim=1)
    table = rest[: max(packing.extents[1])]
    return attend_by_position(queries, values, packing, table[:, :16] / 4, table[:, 16], 2, 0.3)


@pytest.mark.parametrize("by_position", [False, True])
def test_gradients_pass_where_weights_do(by_position: bool) -> None:
    packing = packing_of([[20, 33]])
    x, direction = draws(1, 53, 3 * 32).float().requires_grad_(), draws(2, 53, 3 * 32).float()
    gradient = draws(3, 53, 32).float()

    def loss(x: Tensor) -> Tensor:
        torch.manual_seed(5)
        return (attend(x, packing, by_position) * gradient).sum()

    loss(x).backward()  # type: ignore[no-untyped-call]
    step = 1e-2 * direction
    slope = (loss(x.detach() + step) - loss(x.detach() - step)) / 2
    assert x.grad is not None
    torch.testing.assert_close(slope, (x.grad * step).sum(), rtol=1e-3, atol=0)


@pytest.mark.parametrize("by_position", [False, True])
def test_results_are_the_same_with_any_number_of_threads(by_position: bool) -> None:
    packing, threads = packing_of(LENGTHS), torch.get_num_threads()
    x = draws(1, len(packing.positions), 3 * 32).float()

    def both() -> tuple[Tensor, Tensor | None]:
        torch.manual_seed(5)
        inputs = x.clone().requires_grad_()
        y = dropout(attend(inputs, packing, by_position), 0.1)
        y.square().sum().backward()  # type: ignore[no-untyped-call]
        return y.detach(), inputs.grad

    try:
        results = []
        for number in (1, 2, 3):
            torch.set_num_threads(number)
            results.append(both())
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        torch.testing.assert_close(other, results[0], rtol=0, atol=0)
