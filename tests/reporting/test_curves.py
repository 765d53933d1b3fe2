"""The picture of the losses holds what it is drawn from, at any number of variants."""

import pandas as pd
import pytest

from stages.reporting.curves import PHASES, draw_losses, seed_curves, thin
from stages.reporting.style import looks
from tests.support.example import CURVE_COLUMNS


@pytest.mark.parametrize("variants", [1, 2, 12])
def test_every_variant_seed_and_phase_is_drawn_in_its_panel_in_a_look_of_its_own(variants: int) -> None:
    names = [f"random_synthesizer_{number}" for number in range(variants)]
    rows = [
        (name, seed, phase, epoch, epoch, loss, 0.1)
        for name in names
        for seed in (1, 2)
        for loss, phase in enumerate(PHASES, 1)
        for epoch in (1, 2)
    ]
    panels = draw_losses(pd.DataFrame(rows, columns=CURVE_COLUMNS), names).axes
    assert looks(names) == looks(names[::-1]) and len(set(looks(names).values())) == variants
    assert [len(axes.lines) for axes in panels] == [3 * variants] * 3  # a mean and two seeds
    assert {axes.get_title(): axes.lines[-1].get_ydata().tolist() for axes in panels} == {
        "Pretraining on the pages": [1, 1], "Finetuning from scratch": [2, 2], "Finetuning, pretrained": [3, 3],
    }  # fmt: skip


def test_seed_curves_share_their_epochs_and_keep_the_level_thinned_ones_their_ends() -> None:
    rows = [("rope", seed, "pretrain", 1, epoch, seed, 0.1) for seed, n in ((1, 90), (2, 70)) for epoch in range(n)]
    table = pd.DataFrame(rows, columns=CURVE_COLUMNS)
    epochs, losses = seed_curves(table)
    assert losses.mean(axis=1) == pytest.approx([1.0, 2.0]) and losses.shape == (2, len(epochs)) == (2, 60)
    assert thin(table, points=100)[:90].equals(table[:90])  # a short curve stays whole
    kept = thin(table, points=20).epoch  # a long one keeps its ends
    assert len(kept) == 40 and kept[:20].is_monotonic_increasing and list(kept[[0, 19, 39]]) == [0, 89, 69]
