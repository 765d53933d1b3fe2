"""The ablation's page has the figures of each change."""

from pathlib import Path

import numpy as np
import pandas as pd

from stages.reporting.ablation import Ablated, changes_table, figures, write_ablation
from stages.reporting.statistics.significance import Sample, compare_pairs
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


def rows(full: Ablated, other: Ablated) -> list[list[str]]:
    (difference,) = compare_pairs([(Sample(other.change, other.correct), Sample("full", full.correct))])
    lines = changes_table([figures(full), figures(other)], [None, difference]).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_by_hand() -> None:
    first, second = rows(ablated("full", 301), ablated("adamw", 275, memorised=0))
    assert first == ["`full`", "75.25", "–", "–", "–", "75.00", "100.00", "0.500", "12"]
    assert second[1] == "68.75" and second[2].startswith("-6.50 (")  # rounded to one decimal, they would not add up
    assert second[3:] == ["&lt; 0.001", "yes", "0.00", "–", "0.500", "12"]


def test_the_page_has_the_full_recipe_first_then_the_worst_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    changes = {"full": {}, "no_words": {"pretrain": {"objectives": {"word_cloze": None}}}, "adamw": {"a": {"b": 0.9}}}
    shortened = {"pretrain": {"epochs": 7, "batch_size": 3}}
    settings = Ablation(recipe="open", variant="rope", seed=3, held_out=QUESTIONS, shortened=shortened, changes=changes)
    page = tmp_path / "ablation"
    write_ablation(page, settings, [ablated("adamw", 300), ablated("full", 320), ablated("no_words", 180)])
    table = pd.read_csv(page / "ablation.csv")
    assert list(table.change) == ["full", "no_words", "adamw"]
    assert list(table.accuracy) == [0.8, 0.45, 0.75]
    text = (page / "report.md").read_text(encoding="utf-8")
    assert "`pretrain.epochs: 7`, `pretrain.batch_size: 3`.\n\n## The changes" in text
    assert "- `no_words`: `pretrain.objectives.word_cloze: null`" in text and "- `adamw`: `a.b: 0.9`" in text
    assert "commit 0123456789 on a &lt;machine&gt;." in text
    html = (page / "index.html").read_text(encoding="utf-8")
    assert "<svg" in html and "a &lt;machine&gt;" in html and 'id="answers--' not in html
