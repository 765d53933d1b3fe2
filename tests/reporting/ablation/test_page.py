"""The ablation's page says what its figures say, and other things of other figures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stages.reporting.ablation.page import Ablated, changes_table, findings, flat, write_page
from stages.reporting.statistics.significance import Sample, compare_pairs
from stages.settings import Ablation

QUESTIONS = 200


def ablated(change: str, right: int, memorised: int = 150) -> Ablated:
    """A change that answers the first `right` questions; all questions are facts."""
    order = pd.Series(range(QUESTIONS))
    return Ablated(
        change=change,
        correct=(np.arange(QUESTIONS) < right).astype(int)[:, None],
        memorised=order < memorised,
        asked=order < right,
        pretrain_loss=0.5,
        seconds=12.0,
        provenance={"commit": "0123456789abcdef", "device": "a <machine>"},
    )


def said(full: Ablated, *others: Ablated) -> str:
    pairs = [(Sample(each.change, each.correct), Sample("full", full.correct)) for each in others]
    return findings(full, dict(zip([each.change for each in others], compare_pairs(pairs), strict=True)))


def test_the_findings_follow_the_figures() -> None:
    full = ablated("full", 160)
    text = said(full, ablated("no_words", 100), ablated("adamw", 120), ablated("dropout", 159))
    assert text == (
        "The full recipe answers 80.0 % of 200 held-out questions. Of its changes no_words and adamw cost accuracy, "
        "no_words the most (30.0 points). Not shown to matter: dropout."
    )
    assert "no_words costs 30.0 points" in said(full, ablated("no_words", 100))
    assert "Adamw does better than it." in said(full, ablated("adamw", 190))
    assert said(full, ablated("adamw", 160)).endswith("Not shown to matter: adamw.")


def test_the_table_by_hand() -> None:
    full, other = ablated("full", 160), ablated("adamw", 100, memorised=0)
    (difference,) = compare_pairs([(Sample("adamw", other.correct), Sample("full", full.correct))])
    first, second = changes_table([full, other], {"adamw": difference}).splitlines()[2:]
    assert first == "| full | 80.0 | – | – | 75.0 | 100.0 | 0.500 | 12 |"
    assert second.startswith("| adamw | 50.0 | -30.0 (")
    assert second.endswith("| &lt; 0.001 | 0.0 | – | 0.500 | 12 |")


@pytest.fixture(name="page")
def page_fixture(tmp_path: Path) -> Path:
    settings = Ablation(
        recipe="open",
        variant="rope",
        seed=3,
        held_out=QUESTIONS,
        shortened={"pretrain": {"epochs": 7, "batch_size": 3}},
        changes={
            "full": {},
            "no_words": {"pretrain": {"objectives": {"word_cloze": None}}},
            "adamw": {"optimizer": {}},
        },
    )
    write_page(tmp_path / "ablation", settings, [ablated("adamw", 150), ablated("full", 160), ablated("no_words", 90)])
    return tmp_path / "ablation"


def test_the_page_has_the_full_recipe_first_then_the_worst(page: Path) -> None:
    rows = pd.read_csv(page / "ablation.csv")
    assert list(rows.change) == ["full", "no_words", "adamw"]
    assert list(rows.accuracy) == [0.8, 0.45, 0.75]
    assert (page / "ablation.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_page_tells_what_was_changed_and_escapes_what_it_is_given(page: Path) -> None:
    text = (page / "report.md").read_text(encoding="utf-8")
    assert "`pretrain.epochs: 7`, `pretrain.batch_size: 3`.\n\n## The changes" in text
    assert "- **no_words**: `pretrain.objectives.word_cloze: none`" in text
    assert "commit 012345678 on a &lt;machine&gt;." in text


def test_the_page_opens_in_a_browser_as_one_file(page: Path) -> None:
    html = (page / "index.html").read_text(encoding="utf-8")
    assert "<svg" in html and "no_words" in html and "a &lt;machine&gt;" in html
    assert 'id="answers--' not in html


def test_nested_settings_become_keys_with_dots() -> None:
    assert flat({"a": {"b": 1, "c": None}, "d": 2}) == [("a.b", 1), ("a.c", "none"), ("d", 2)]
