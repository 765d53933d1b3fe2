"""A batch in memory: all its rows, and nothing lost but PAD."""

import numpy as np
import pytest

from stages.corpus.example import PAD, Examples
from stages.corpus.objectives import span_corruption
from stages.model.packing import CHARACTER_STEP, PackedBatch, split_by_length
from tests.support.tiny import spans, tiny_prepared


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
