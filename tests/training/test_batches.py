"""The order of the data and the parts of a batch: every row once an epoch, and nothing lost but PAD."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from stages.corpus.example import PAD, Examples
from stages.corpus.span_corruption import span_corruption
from stages.experiment.draws import generator
from stages.model.packing import CHARACTER_STEP
from stages.training.batches import PackedBatch, rows_of_step, split_by_length, steps_per_epoch
from tests.support.tiny import spans, tiny_prepared


def epoch(number: int, rows: int, batch_size: int, seed: int = 1) -> np.ndarray:
    steps = steps_per_epoch(rows, batch_size)
    return np.concatenate([rows_of_step(rows, batch_size, seed, number * steps + i) for i in range(steps)])


@pytest.mark.parametrize(("rows", "batch_size", "last"), [(1, 1, 1), (7, 3, 1), (8, 4, 4), (5, 100, 5)])
def test_an_epoch_holds_every_row_once_and_its_last_batch_alone_is_short(rows: int, batch_size: int, last: int) -> None:
    steps = steps_per_epoch(rows, batch_size)
    for epoch in (0, 1, 17):
        batches = [rows_of_step(rows, batch_size, 1, epoch * steps + step) for step in range(steps)]
        assert sorted(np.concatenate(batches)) == list(range(rows))
        assert [len(batch) for batch in batches] == [batch_size] * (steps - 1) + [last]


def test_without_shuffling_each_epoch_has_the_order_of_the_file() -> None:
    batches = [rows_of_step(7, 3, 1, step, shuffled=False).tolist() for step in range(6)]
    assert batches == [[0, 1, 2], [3, 4, 5], [6]] * 2


def test_an_epochs_order_is_drawn_once_and_any_step_finds_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr("stages.training.batches.generator", lambda *key: drawn.append(key) or generator(*key))
    first = epoch(3, rows=101, batch_size=10, seed=77)
    assert drawn == [(77, "order", 3)]
    epoch(4, rows=101, batch_size=10, seed=77)
    assert rows_of_step(101, 10, 77, 3 * 11 + 5).tolist() == first[50:60].tolist()  # as after a resumption


def test_each_purpose_seed_and_step_has_random_numbers_of_its_own() -> None:
    keys = [(seed, purpose, step) for seed in (0, 1) for purpose in ("order", "pretrain") for step in (0, 1, 2)]
    draws = [generator(*key).integers(2**63) for key in keys]
    assert len(set(draws)) == len(keys)
    assert draws == [generator(*key).integers(2**63) for key in keys]


def batch(rows: int) -> Examples:
    documents = tiny_prepared().documents
    draws = np.random.default_rng(0)
    return span_corruption(documents, draws.integers(len(documents), size=rows), spans(4, 30), draws)


def content(examples: Examples) -> list[tuple[bytes, bytes]]:
    """Inputs and targets of each row up to its last target."""
    rows = zip(examples.inputs, examples.targets, examples.lengths, strict=True)
    return [(inputs[:length].tobytes(), targets[:length].tobytes()) for inputs, targets, length in rows]


@pytest.mark.parametrize("rows", [1, 3, 64])
@pytest.mark.parametrize("row_step", [1, 4, 16])
def test_the_parts_are_the_batch_by_length_and_hardly_wider_than_their_longest_row(rows: int, row_step: int) -> None:
    whole = batch(rows)
    cut = split_by_length(whole, part_cost=0, row_step=row_step)
    assert sorted(pair for part in cut for pair in content(part)) == sorted(content(whole))
    assert sum(int((part.targets != PAD).sum()) for part in cut) == (whole.targets != PAD).sum()
    for part in cut:
        beyond = np.arange(part.inputs.shape[1]) >= part.lengths[:, None]
        assert (part.targets[beyond] == PAD).all()
        assert part.lengths.max() <= part.inputs.shape[1] < part.lengths.max() + 8
    assert (np.diff(np.concatenate([part.lengths for part in cut])) >= 0).all()


@pytest.mark.parametrize("rows", [1, 31, 64])
def test_a_packed_batch_has_all_rows_without_pad_and_all_targets_in_the_loss(rows: int) -> None:
    parts = split_by_length(batch(rows))
    packed = PackedBatch.of(parts)
    start = 0
    for part, lengths in zip(parts, packed.packing.parts, strict=True):
        for inputs, targets, own, length in zip(part.inputs, part.targets, part.lengths, lengths.lengths, strict=True):
            assert (packed.inputs[start : start + length] == inputs[:length]).all()
            assert (packed.targets[start : start + length] == targets[:length]).all()
            assert own <= length <= len(inputs)
            assert not inputs[length + 1 :].any() and not targets[length:].any()  # PAD; the last one is no target
            start += length
    assert start == len(packed.inputs)
    filled = sum(int(part.lengths.sum()) for part in parts)
    assert start - filled < CHARACTER_STEP
    assert start % CHARACTER_STEP == 0 or start == sum(part.inputs.size for part in parts)

    loss_indices = np.arange(start) if packed.loss_indices is None else packed.loss_indices
    others = int((packed.targets[loss_indices] == PAD).sum())
    assert (np.diff(loss_indices) > 0).all()
    assert (packed.targets != PAD).sum() == len(loss_indices) - others
    assert others < CHARACTER_STEP


@pytest.mark.parametrize("part_cost", [0, 100, 1000])
def test_no_other_cuts_are_cheaper(part_cost: int) -> None:
    whole = batch(48)
    widths = np.sort(-(-whole.lengths // 8) * 8)

    def cost(ends: list[int]) -> int:
        return sum(part_cost + (end - start) * int(widths[end - 1]) for start, end in pairwise(ends))

    cut = split_by_length(whole, part_cost=part_cost, row_step=8)
    chosen = sum(part_cost + part.inputs.size for part in cut)
    inner = range(8, 48, 8)
    assert chosen == min(
        cost([0, *between, 48]) for count in range(len(inner) + 1) for between in combinations(inner, count)
    )
