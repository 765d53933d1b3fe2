"""The order of the data and the parts of a batch: every row once an epoch, and nothing lost but PAD."""

import numpy as np
import pytest

from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import span_corruption
from stages.experiment.backend import generator
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
