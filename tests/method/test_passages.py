"""What each way to choose characters does to a passage, and the grid of trainings on a text."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from stages.method import grid, passages
from stages.method.passages import BEGINNING, copied, likelihood, repetition
from tests.support.talking import RHYME, ChangeParams, Run, error
from tests.support.tiny import loud, tiny_model


def test_a_text_known_by_heart_is_likely_copied_and_repeats_itself(
    run: Run, project: Path, change: ChangeParams
) -> None:
    change({"passages.variant": "vanilla", "passages.beginnings": 2, "passages.characters": 80})
    outcome = run(passages)
    written = json.loads((project / "data/passages/passages.json").read_text(encoding="utf-8"))
    rows = {row["way"]: row for row in written["rows"]}
    assert list(rows) == [passages.TEXT, *passages.WAYS]
    for way in (passages.TEXT, "greedy", "beam search, 8 hypotheses", "nucleus, 0.9"):
        assert rows[way]["passage"] == (RHYME * 10)[: BEGINNING + 80]
        assert (rows[way]["copied"], rows[way]["repetition"] > 0.5, rows[way]["likelihood"] > -0.1) == (1.0, True, True)
        assert f"{way}: likelihood {rows[way]['likelihood']}, repetition" in outcome.out
    assert outcome.code == 0 and written["variant"] == "vanilla"


def test_a_text_that_is_too_short_is_told(run: Run, change: ChangeParams) -> None:
    change({"passages.variant": "vanilla", "passages.beginnings": 2, "passages.characters": 500})
    assert error(run(passages)) == "error: params.yaml: passages.characters: was 500; most: 224"


def test_the_grid_has_a_training_of_each_choice(run: Run, project: Path, change: ChangeParams) -> None:
    change({"grid.widths": {"vanilla": [64], "rnn": [64]}, "grid.learning_rates": [1e-5, 0.01]})
    assert run(grid).code == 0
    written = json.loads((project / "data/grid/grid.json").read_text(encoding="utf-8"))
    cells = {(cell["variant"], cell["learning_rate"]): cell for cell in written["cells"]}
    assert list(cells) == [("vanilla", 1e-5), ("vanilla", 0.01), ("rnn", 1e-5), ("rnn", 0.01)]
    for variant in ("vanilla", "rnn"):
        slow, fast = cells[variant, 1e-5], cells[variant, 0.01]
        assert len(slow["losses"]) == 200 and fast["losses"][-1] < 0.5 < slow["losses"][-1]
        assert len(fast["passage"]) == grid.CHARACTERS
        assert slow["non_words"] > 0.9 > 0.2 > fast["non_words"]
    assert RHYME * 3 in cells["vanilla", 0.01]["passage"]


def test_non_words_repetition_and_copies_are_counted_by_hand() -> None:
    assert grid.non_words(["the cta sat o", "teh cat xx"], "the cat sat\non the mat") == 2 / 5  # cta and teh
    assert repetition([*"abcdabcd"]) == pytest.approx(1 / 5)  # the last of five runs is the first again
    assert repetition([*"abc"]) == 0
    text = "x" * 30 + "The cat sat on the mat and slept."
    assert copied("The cat sat on the mat", text) == 1
    assert copied("The cat sat on the m@t", text) == pytest.approx(1 / 3)  # the first of three stretches


def test_the_likelihood_is_that_of_each_character_after_those_before_it() -> None:
    model = loud(tiny_model("vanilla"))
    tokens = np.random.default_rng(0).integers(2, 40, size=(3, 150))  # more than two contexts of 64
    total = 0.0
    with torch.inference_mode():
        for row in torch.from_numpy(tokens):
            for place in range(BEGINNING, 150):
                # the windows: the first 65 characters, then each goes on 33 characters from half a context before
                window = 0 if place < 65 else 33 + (place - 65) // 33 * 33
                logits = model(row[None, window:place])[0, -1]
                total += float(logits.log_softmax(dim=-1)[row[place]])
    assert likelihood(model, tokens) == pytest.approx(total / (3 * (150 - BEGINNING)), rel=1e-5)
