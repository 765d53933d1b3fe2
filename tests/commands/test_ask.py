"""A finetuned model is asked."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from stages import ask
from tests.commands.talking import ZOE, Outcome, Run, error, places, tiny
from tests.project import write_params
from tests.tiny import BIRTHPLACES, VARIANTS


@pytest.mark.parametrize("name", ["Zoé Ark", "Oda Quill"])
def test_a_question_is_answered_with_the_likeliest_places_first(run: Run, name: str) -> None:
    outcome = run(ask, f" Where was {name} born? ")
    assert (outcome.code, outcome.err) == (0, "")
    found = places(outcome.out)
    assert len(found) == len(dict(found)) == 5
    assert found[0][0] == BIRTHPLACES[name] and found[0][1] > 0.5
    shares = [share for _, share in found]
    assert shares == sorted(shares, reverse=True) and sum(shares) <= 1.003


@pytest.mark.parametrize("narrow", [("--beams", "1"), ("--temperature", "0"), ("--temperature", "3", "--top-k", "1")])
def test_a_beam_of_one_and_the_likeliest_character_each_time_give_the_greedy_answer(
    run: Run, narrow: list[str]
) -> None:
    ((place, _),) = places(run(ask, ZOE, *narrow).out)
    assert place == "Brod"


def test_drawn_answers_differ_and_follow_from_their_seed(run: Run) -> None:
    hot = ("--top", "20", "--temperature", "5", "--draw-seed")
    first, again, other = (json.loads(run(ask, ZOE, "--json", *hot, seed).out)["answers"] for seed in ("1", "1", "2"))
    assert first == again != other
    for answers in (first, other):
        assert 1 < len({answer["place"] for answer in answers}) == len(answers) <= 20
        shares = [answer["probability"] for answer in answers]
        assert shares == sorted(shares, reverse=True)


def test_json_holds_what_was_asked_of_which_model_and_the_answers(run: Run) -> None:
    line = json.loads(run(ask, ZOE, "--json", "--top", "2").out)
    assert {key: line[key] for key in ("question", "recipe", "variant", "seed", "notes")} == {
        "question": ZOE,
        "recipe": "quick",
        "variant": "vanilla",  # the best of the report
        "seed": 1,
        "notes": [],
    }
    best, second = line["answers"]
    assert best["place"] == "Brod" and 1 >= best["probability"] > second["probability"] > 0


def test_a_name_without_a_page_is_told(run: Run) -> None:
    outcome = run(ask, "Where was Zoé A born?")  # a page begins so, but with another name
    assert len(places(outcome.out)) == 5
    assert outcome.err == "note: no page of the corpus is about 'Zoé A': the model can but guess\n"


def test_a_question_of_another_form_is_answered_with_a_hint(run: Run) -> None:
    outcome = run(ask, "Who is Zoé Ark")
    assert (outcome.code, len(places(outcome.out))) == (0, 5)
    assert "`Where was NAME born?`" in outcome.err


def test_letters_that_the_corpus_lacks_are_read_as_in_prepare(run: Run) -> None:
    line = json.loads(run(ask, "Where was Żoé Ark漢 born?", "--json").out)
    assert "the corpus lacks Ż 漢, so the model reads 'Zoé Ark'" in line["notes"]
    same = json.loads(run(ask, ZOE, "--json").out)
    assert line["answers"] == same["answers"]


def test_questions_are_read_one_a_line_to_the_end_and_a_bad_one_stops_nothing(run: Run) -> None:
    lines = ["Where was Lu Fane born?", "", "漢", f"Where was {'x' * 60} born?", ZOE]
    outcome = run(ask, "--top", "1", "--variant", "vanilla", stdin="\n".join(lines).encode() + b"\n\xff")
    assert outcome.code == 0
    assert [place for place, _ in places(outcome.out)] == ["Kip", "Brod"]
    first, second, third = outcome.err.splitlines()
    assert first == "error: '漢' has no character that the corpus has; ask: Where was NAME born?"
    assert "has 74 characters; the model reads 63 at most" in second
    assert third.startswith("error: '�' has no character")


def test_no_input_is_no_error(run: Run) -> None:
    assert run(ask) == Outcome(0, "", "")


def test_a_closed_input_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert list(ask.questions()) == []


class Terminal(io.StringIO):
    """A text stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("output", "sign"), [(io.StringIO, ""), (Terminal, "> ")])
def test_a_prompt_is_shown_in_a_terminal_only(
    output: type[io.StringIO], sign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("one\n"))
    monkeypatch.setattr("sys.stdout", written := output())
    assert list(ask.questions()) == ["one"]
    assert written.getvalue() == (2 * sign + "\n" if sign else "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--variant", "rope"], ["rope/finetuned", "dvc repro stages/dvc.yaml:finetune@quick-rope"]),
        (["--recipe", "handout", "--variant", "rope"], ["dvc repro stages/dvc.yaml:finetune@handout-rope"]),
        (["--recipe", "handout"], ["dvc repro stages/dvc.yaml:finetune@handout-vanilla"]),
        (["--recipe", "text"], ["'text' has no questions", "stages.sample --recipe text"]),
        (["--recipe", "nonsense"], ["unknown recipe 'nonsense'", "quick"]),
        (["--variant", "nonsense"], ["unknown variant 'nonsense'", *VARIANTS]),
        (["--seed", "2"], ["seed 2", "allowed: 1"]),
        (["--top", "0"], ["--top: was 0; allowed: 1 to 256"]),
        (["--top", "100000"], ["--top: was 100000; allowed: 1 to 256"]),
        (["--beams", "0"], ["--beams: was 0; allowed: 1 to 256"]),
        (["--beams", "257"], ["--beams: was 257; allowed: 1 to 256"]),
        (["--beams", "2", "--top-k", "3"], ["--beams draws nothing; allowed: it or --top-k"]),
        (["--top-p", "2"], ["top-p: was 2"]),
        (["--draw-seed", "-1"], ["--draw-seed: was -1"]),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(run: Run, arguments: list[str], told: list[str]) -> None:
    line = error(run(ask, ZOE, *arguments))
    assert [part for part in told if part not in line] == []


def test_one_selected_variant_needs_no_report(run: Run, project: Path) -> None:
    def select(content: dict[str, Any]) -> None:
        tiny(content)
        content["model"]["variant"] = "rope"

    write_params(project, select)
    try:
        assert "finetune@quick-rope" in error(run(ask, ZOE))
    finally:
        write_params(project, tiny)
