"""The ablation's page has the figures of each change."""

from pathlib import Path

import pandas as pd

from stages.ablation.page import write_ablation
from stages.reporting.trials import draw_exposures
from stages.settings import Ablation
from stages.trials.row import Row
from tests.support.trial_rows import row

QUESTIONS = 400


def ablated(change: str, right: int, memorised: int = 300, epochs: int = 60) -> Row:
    """A change that answers the first `right` questions; all questions are facts."""
    answered, known = (f"{'1' * count}{'0' * (QUESTIONS - count)}" for count in (right, memorised))
    return row(change, answered, known, epochs=epochs)


def test_the_page_has_the_full_recipe_first_then_the_order_given_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    changes = {"full": {}, "no_words": {"pretrain": {"objectives": {"word_cloze": None}}}, "adamw": {"a": {"b": 0.9}}}
    settings = Ablation(recipe="open", variant="rope", seed=3, held_out=QUESTIONS, changes=changes)
    page = tmp_path / "ablation"
    write_ablation(page, settings, [ablated("no_words", 180, memorised=0), ablated("full", 301), ablated("adamw", 275)])
    assert list(pd.read_csv(page / "ablation.csv").change) == ["full", "no_words", "adamw"]
    text = (page / "report.md").read_text(encoding="utf-8")
    full, second, last = [line for line in text.splitlines() if line.startswith("| `")]
    assert full == "| `full` | 75.25 | – | 75.00 | 100.00 | 0.500 | 12 |"
    error = 100 * (121 / 400 * 279 / 399) ** 0.5 / 400**0.5  # 121 of 400 questions differ, all one way
    assert second.startswith(f"| `no_words` | 45.00 | -30.25 ({-30.25 - 1.96 * error:.2f} to ")
    assert second.endswith(") | 0.00 | – | 0.500 | 12 |")
    assert last.startswith("| `adamw` | 68.75 | -6.50 (")  # with one decimal they would not add up
    assert not (page / "exposures.svg").exists()
    assert "- `no_words`: `pretrain.objectives.word_cloze: null`" in text and "- `adamw`: `a.b: 0.9`" in text
    assert "commit 0123456789 on a &lt;machine&gt;." in text
    html = (page / "index.html").read_text(encoding="utf-8")
    assert "<svg" in html and "a &lt;machine&gt;" in html


def test_changes_of_the_length_alone_are_drawn_against_the_exposures(tmp_path: Path) -> None:
    lengths = {f"epochs_{n}": {"pretrain": {"epochs": n}} for n in (7, 120)}
    changes = {"full": {}, "adamw": {"optimizer": {"matrices": "adamw"}}, **lengths}
    settings = Ablation(recipe="open", variant="rope", seed=3, held_out=QUESTIONS, changes=changes)
    rows = [ablated("full", 300), ablated("adamw", 10)]
    rows += [ablated("epochs_120", 320, epochs=120), ablated("epochs_7", 100, 200, epochs=7)]
    write_ablation(tmp_path / "page", settings, rows)
    data = pd.read_csv(tmp_path / "page" / "ablation.csv")
    (axes,) = draw_exposures(data[data.change != "adamw"].sort_values("epochs")).axes
    assert [line.get_xydata().tolist() for line in axes.lines[:2]] == [
        [[7, 50.0], [60, 75.0], [120, 75.0]], [[7, 25.0], [60, 75.0], [120, 80.0]],
    ]  # fmt: skip
    assert "](exposures.svg)" in (tmp_path / "page" / "report.md").read_text(encoding="utf-8")
