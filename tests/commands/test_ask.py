"""A finetuned model is asked."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stages.asking.generation import Continuation
from stages.commands import ask
from stages.commands.ask import ask as reply_to
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from tests.support.project import environment
from tests.support.talking import ZOE, Outcome, Run, answers
from tests.support.tiny import BIRTHPLACES, tiny_prepared

MODEL = "Model: recipe quick, variant vanilla, seed 1"


def test_a_question_is_answered_with_the_likeliest_answers_first(run: Run) -> None:
    outcome = run(ask, f" {ZOE} ")
    assert (outcome.code, outcome.err) == (0, f"{MODEL}\nThe page of 'Zoé Ark' has these words.\n")
    shown = answers(outcome.out)
    assert len(shown) == len(dict(shown)) == 5
    assert shown[0][0] == "Brod" and shown[0][1] > 0.5
    shares = [share for _, share in shown]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.003


def test_json_holds_what_was_asked_of_which_model_and_the_answers(run: Run) -> None:
    line = json.loads(run(ask, ZOE, "--json", "--top", "2").out)
    assert {key: value for key, value in line.items() if key != "answers"} == {
        "question": ZOE,
        "name": "Zoé Ark",
        "has_page": True,
        "did_you_mean": None,
        "i_dont_know": False,
        "recipe": "quick",
        "variant": "vanilla",  # the best of the report
        "seed": 1,
        "notes": [],
    }
    best, second = line["answers"]
    assert best["answer"] == "Brod" and 1 >= best["probability"] > second["probability"] > 0
    assert best["in_page"] and {*best} == {*second} == {"answer", "probability", "in_page"}


@pytest.mark.parametrize(("least", "kept"), [("0.4", ["Brod", "Kip"]), ("0.5", ["Brod"]), ("0.51", [])])
def test_answers_below_the_least_probability_are_left_out(
    run: Run, monkeypatch: pytest.MonkeyPatch, least: str, kept: list[str]
) -> None:
    encode = tiny_prepared().vocabulary.encode
    likely = [Continuation(encode("Brod"), 0.5), Continuation(encode("Kip"), 0.4)]
    monkeypatch.setattr("stages.commands.ask.beam_search", lambda *_: [likely])
    outcome = run(ask, ZOE, "--at-least", least)
    if kept:
        assert [place for place, _ in answers(outcome.out)] == kept
        assert outcome.err == f"{MODEL}\nThe page of 'Zoé Ark' has these words.\n"
    else:
        assert outcome == Outcome(0, "I don't know\n", f"{MODEL}\n")
    line = json.loads(run(ask, ZOE, "--json", "--at-least", least).out)
    assert line["i_dont_know"] == (not kept)
    assert [answer["answer"] for answer in line["answers"]] == ["Brod", "Kip"]


def test_an_answer_that_the_page_lacks_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    likely = [Continuation(np.array([], int), 0.5), Continuation(np.array([5]), 0.4)]
    monkeypatch.setattr("stages.commands.ask.beam_search", lambda *_: [likely])
    outcome = run(ask, ZOE)
    assert answers(outcome.out)[0] == ("(nothing)", 0.5)
    assert outcome.err == f"{MODEL}\nThe page of 'Zoé Ark' does not have these words.\n"


def test_a_page_may_say_so_in_another_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    composed, apart = "Z\u00fcrich", "Zu\u0308rich"
    asked = [Question(row, f"Where was {name} born?", name, composed) for row, name in ((1, "Ada"), (2, "Bo"))]
    pages = [f"Ada. Painter, born in {apart}.", f"Bo. Painter, born in {composed}."]
    prepared = Prepared.of(pages, {"train": asked, "dev": asked, "test": []})
    likely = [Continuation(prepared.vocabulary.encode(composed), 0.5)]
    monkeypatch.setattr("stages.commands.ask.beam_search", lambda *_: [likely])
    model: Any = SimpleNamespace(context=64)
    reply = reply_to(model, prepared, "Where was Ada born?", 1, 8)
    assert [(answer.answer, answer.in_page) for answer in reply.answers] == [(composed, True)]


@pytest.mark.parametrize(
    ("name", "meant"),
    # a page begins as the second, but with another name
    [
        ("Zoe Ark", "Zoé Ark"),
        ("Zoé A", "Zoé Ark"),
        ("ZOÉ ARK", "Zoé Ark"),
        ("Od Quil", "Oda Quill"),
        ("Max Mustermann", None),
    ],
)
def test_a_name_that_differs_by_a_letter_or_two_is_told_whose_it_may_be(run: Run, name: str, meant: str | None) -> None:
    line = json.loads(run(ask, f"Where was {name} born?", "--json").out)
    assert (line["name"], line["has_page"], line["did_you_mean"]) == (name, False, meant)
    note = f"did you mean '{meant}'?" if meant else "the model can but guess"
    assert f"no page of the corpus is about '{name}': {note}" in line["notes"]
    assert not any(answer["in_page"] for answer in line["answers"])


def test_a_question_of_another_form_is_answered_with_a_note(run: Run) -> None:
    outcome = run(ask, "Who is Zoé Ark")
    assert (outcome.code, len(answers(outcome.out))) == (0, 5)
    _, page, note = outcome.err.splitlines()
    assert page.startswith("The page of 'Zoé Ark' ")
    assert note.startswith("note: ") and "`Where was NAME born?`" in note
    nobody = json.loads(run(ask, "Who is Zoe", "--json").out)
    assert (nobody["name"], nobody["has_page"], nobody["did_you_mean"]) == (None, False, None)
    small = json.loads(run(ask, "who is zoé ark", "--json").out)
    assert (small["name"], small["did_you_mean"]) == (None, "Zoé Ark") and "did you mean 'Zoé Ark'?" in small["notes"]


def test_words_without_quotes_and_a_byte_order_mark_change_nothing(run: Run) -> None:
    assert run(ask, *ZOE.split(" ")) == run(ask, f"\ufeff{ZOE}") == run(ask, ZOE)


def test_letters_that_the_corpus_lacks_are_read_as_in_prepare(run: Run) -> None:
    line = json.loads(run(ask, "Where was Żoé Ark漢 born?", "--json").out)
    assert "the corpus lacks Ż 漢, so the model reads 'Zoé Ark'" in line["notes"]
    same = json.loads(run(ask, ZOE, "--json").out)
    likely, expected = (pd.DataFrame(reply["answers"])[["answer", "probability"]] for reply in (line, same))
    assert likely.equals(expected) and line["did_you_mean"] == "Zoé Ark"


def test_questions_are_read_one_a_line_to_the_end_and_a_bad_one_stops_nothing(run: Run) -> None:
    lines = ["Where was Lu Fane born?", "", "漢", f"Where was {'x' * 60} born?", ZOE]
    outcome = run(ask, "--top", "1", "--variant", "vanilla", stdin="\n".join(lines).encode() + b"\n\xff")
    assert outcome.code == 0
    assert [place for place, _ in answers(outcome.out)] == ["Kip", "Brod"]
    model, says, first, second, says_again, third = outcome.err.splitlines()
    assert (model, says, says_again) == (
        MODEL,
        "The page of 'Lu Fane' has these words.",
        "The page of 'Zoé Ark' has these words.",
    )
    assert first == "error: '漢' has no character that the corpus has; ask: Where was NAME born?"
    assert "has 74 characters; the model reads 63 at most" in second
    assert third.startswith("error: '�' has no character")
    assert run(ask) == Outcome(0, "", f"{MODEL}\n")  # no input
    pair = run(ask, "--json", "--variant", "vanilla", stdin=f"漢\n{ZOE}".encode()).out.splitlines()
    refused, answered = map(json.loads, pair)
    alone = run(ask, "漢", "--json", "--variant", "vanilla")
    assert (alone.code, json.loads(alone.out)) == (1, refused)
    assert refused["question"] == "漢" and refused["error"].startswith("'漢' has no character")
    assert answered["question"] == ZOE and "error" not in answered


def test_a_terminal_shows_what_to_ask(project: Path) -> None:
    ours, its = pty.openpty()
    os.write(ours, f"{ZOE}\n\x04".encode())  # Ctrl-D
    command = [sys.executable, "-m", "stages", "ask"]
    ended = subprocess.run(command, cwd=project, env=environment(), stdin=its, capture_output=True, text=True)
    os.close(ours)
    os.close(its)
    assert answers(ended.stdout)[0][0] == "Brod"
    model, form, names, how, says = ended.stderr.splitlines()
    assert (model, form, how) == (MODEL, "Ask: Where was NAME born?", "Ctrl-D ends")
    assert {*names.removeprefix("Names to try: ").split(", ")} <= {*BIRTHPLACES}
    assert says == "The page of 'Zoé Ark' has these words."
