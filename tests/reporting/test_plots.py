"""The plots of the report show the figures that they are drawn from, at any number of variants."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from stages.reporting.plots import PHASES, draw_accuracy, draw_extraction, draw_losses, draw_public, seed_curves, thin
from stages.reporting.style import looks
from stages.reporting.tables import extraction_shares
from tests.reporting.test_tables import runs
from tests.support.example import BASELINE, CURVE_COLUMNS, evaluated


def test_bars_whiskers_and_lines_are_where_their_figures_are(tmp_path: Path) -> None:
    marks = ([1] + [0] * 9, [1] + [0] * 9), ([1] * 8 + [0] * 2, [1] * 6 + [0] * 4)
    names = ["rope", "vanilla"]
    evaluations = [evaluated(tmp_path, name, *marks, curve_rows=2) for name in names]
    (axes,) = draw_accuracy(evaluations, BASELINE).axes
    assert [name.get_text() for name in axes.get_yticklabels()] == names
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([70, 70, 10, 10])  # pretrained, then scratch
    whiskers = [lines.get_segments()[0][:, 0] for lines in axes.collections if isinstance(lines, LineCollection)]
    assert whiskers[0].tolist() == pytest.approx(evaluations[0].pretrained.interval)
    assert whiskers[1].tolist() == pytest.approx(evaluations[0].scratch.interval)
    lines = {line.get_label(): line.get_xdata()[0] for line in axes.lines if not line.get_label().startswith("_")}
    assert lines == {
        "always London: 10.0 %": 10.0, "the rule, which sees the page: 40.0 %": 40.0,
        "the reader, which sees it, too: 50.0 %": 50.0, "ceiling: 95.8 %": 95.8,
    }  # fmt: skip


def test_bars_of_what_is_memorised_and_extracted_have_their_shares(tmp_path: Path) -> None:
    (axes,) = draw_extraction(extraction_shares([evaluated(tmp_path, "x", [[0]], [[1]], curve_rows=1)])).axes
    bars = [bars[0].get_width() for bars in axes.containers if hasattr(bars, "patches")]
    assert bars == [75, 37.5, 50]  # 30, 15 and 20 of 40


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


def test_every_run_and_seed_is_drawn() -> None:
    (axes,) = draw_public(runs(), {"rope": (50.0, 30.0), "scratch": (2.0,)}).axes
    sound, faulty, seeds = (sorted(x for x, _ in dots.get_offsets().tolist()) for dots in axes.collections)
    assert (sound, faulty, seeds) == ([1.0, 10.0, 30.0, 40.0], [99.0], [2.0, 30.0, 50.0])
