"""The pictures hold what they are drawn from, at any number of variants."""

from pathlib import Path

import pandas as pd
import pytest
from matplotlib.collections import LineCollection

from stages.reporting.evaluations import read_baseline, read_evaluation
from stages.reporting.figures import draw_accuracy, draw_losses, seed_curves
from stages.reporting.markdown import thin
from stages.reporting.metrics import summarise
from stages.reporting.style import looks
from tests.support.example import CURVE_COLUMNS, write_baseline, write_variant


@pytest.mark.parametrize("variants", [1, 2, 12])
def test_every_variant_and_seed_is_drawn_in_a_look_of_its_own(tmp_path: Path, variants: int) -> None:
    write_baseline(tmp_path)
    names = [f"random_synthesizer_{number}" for number in range(variants)]
    for number, name in enumerate(names):
        right = [1] * (number % 11) + [0] * (10 - number % 11)
        write_variant(tmp_path, name, ([0] * 10,) * 2, (right,) * 2, curve_rows=5)
    evaluations = [read_evaluation(tmp_path / name, tmp_path / "baseline") for name in names]
    curves = pd.concat([evaluation.curves for evaluation in evaluations])
    bars = draw_accuracy([summarise(e, 10) for e in evaluations], read_baseline(tmp_path / "baseline"))
    lines = draw_losses(curves, [evaluation.variant for evaluation in evaluations])
    assert looks(names) == looks(names[::-1]) and len(set(looks(names).values())) == variants
    assert [len(axes.lines) for axes in lines.axes] == [3 * variants] * 3  # a mean and two seeds
    assert {name.get_text() for name in bars.axes[0].get_yticklabels()} >= {*names}


def test_bars_whiskers_and_lines_are_where_their_figures_are(tmp_path: Path) -> None:
    write_baseline(tmp_path)
    write_variant(tmp_path, "rope", ([1] + [0] * 9, [1] + [0] * 9), ([1] * 8 + [0] * 2, [1] * 6 + [0] * 4))
    result = summarise(read_evaluation(tmp_path / "rope", tmp_path / "baseline"), 10)
    (axes,) = draw_accuracy([result], read_baseline(tmp_path / "baseline")).axes
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([70, 10])  # pretrained above, scratch below
    whiskers = [lines.get_segments()[0][:, 0] for lines in axes.collections if isinstance(lines, LineCollection)]
    assert whiskers[0].tolist() == pytest.approx(result.pretrained.interval)
    assert whiskers[1].tolist() == pytest.approx(result.scratch.interval)
    lines = {line.get_label(): line.get_xdata()[0] for line in axes.lines if not line.get_label().startswith("_")}
    assert lines == {
        "always London: 10.0 %": 10.0, "the rule, which sees the page: 40.0 %": 40.0,
        "the reader, which sees it, too: 50.0 %": 50.0, "ceiling: 95.8 %": 95.8,
    }  # fmt: skip


def test_each_phase_of_training_is_drawn_below_its_title() -> None:
    phases = {"pretrain": 3.0, "finetune_scratch": 2.0, "finetune_pretrained": 1.0}
    rows = [("rope", 1, phase, epoch, epoch, loss, 0.1) for phase, loss in phases.items() for epoch in (1, 2)]
    panels = draw_losses(pd.DataFrame(rows, columns=CURVE_COLUMNS), ["rope"]).axes
    assert {axes.get_title(): axes.lines[-1].get_ydata().tolist() for axes in panels} == {
        "Pretraining on the pages": [3, 3], "Finetuning from scratch": [2, 2], "Finetuning, pretrained": [1, 1],
    }  # fmt: skip


def test_seed_curves_share_their_epochs_and_keep_the_level_thinned_ones_their_ends() -> None:
    rows = [("rope", seed, "pretrain", 1, epoch, seed, 0.1) for seed, n in ((1, 90), (2, 70)) for epoch in range(n)]
    table = pd.DataFrame(rows, columns=CURVE_COLUMNS)
    epochs, losses = seed_curves(table)
    assert losses.mean(axis=1) == pytest.approx([1.0, 2.0]) and losses.shape == (2, len(epochs)) == (2, 60)
    assert thin(table, points=100)[:90].equals(table[:90])  # a short curve stays whole
    kept = thin(table, points=20).epoch  # a long one keeps its ends
    assert len(kept) == 40 and kept[:20].is_monotonic_increasing and list(kept[[0, 19, 39]]) == [0, 89, 69]
