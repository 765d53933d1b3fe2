"""The ablation's page has the figures of each change."""

from pathlib import Path

import numpy as np
import pandas as pd

from stages.reporting.ablation import Ablated, write_ablation
from stages.settings import Ablation

QUESTIONS = 400


def ablated(change: str, right: int, memorised: int = 300) -> Ablated:
    """A change that answers the first `right` questions; all questions are facts."""
    order = pd.Series(range(QUESTIONS))
    return Ablated(
        change=change,
        correct=(np.arange(QUESTIONS) < right).astype(int)[:, None],
        memorised=order < memorised,
        extracted=order < right,
        pretrain_loss=0.5,
        seconds=12.0,
        provenance={"commit": "0123456789abcdef", "device": "a <machine>"},
    )


def test_the_page_has_the_full_recipe_first_then_the_worst_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    changes = {"full": {}, "no_words": {"pretrain": {"objectives": {"word_cloze": None}}}, "adamw": {"a": {"b": 0.9}}}
    shortened = {"pretrain": {"epochs": 7, "batch_size": 3}}
    settings = Ablation(recipe="open", variant="rope", seed=3, held_out=QUESTIONS, shortened=shortened, changes=changes)
    page = tmp_path / "ablation"
    write_ablation(page, settings, [ablated("adamw", 275), ablated("full", 301), ablated("no_words", 180, memorised=0)])
    assert list(pd.read_csv(page / "ablation.csv").change) == ["full", "no_words", "adamw"]
    text = (page / "report.md").read_text(encoding="utf-8")
    full, worst, last = [line for line in text.splitlines() if line.startswith("| `")]
    assert full == "| `full` | 75.25 | – | – | – | 75.00 | 100.00 | 0.500 | 12 |"
    assert worst.endswith("| &lt; 0.001 | yes | 0.00 | – | 0.500 | 12 |")
    assert last.startswith("| `adamw` | 68.75 | -6.50 (")  # with one decimal they would not add up
    assert "`pretrain.epochs: 7`, `pretrain.batch_size: 3`.\n\n## The changes" in text
    assert "- `no_words`: `pretrain.objectives.word_cloze: null`" in text and "- `adamw`: `a.b: 0.9`" in text
    assert "commit 0123456789 on a &lt;machine&gt;." in text
    html = (page / "index.html").read_text(encoding="utf-8")
    assert "<svg" in html and "a &lt;machine&gt;" in html and 'id="answers--' not in html
