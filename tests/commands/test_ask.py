"""A finetuned model is asked."""

import json
from pathlib import Path

import pytest

from stages import ask
from stages.asking.options import chosen_variant
from tests.commands.talking import ZOE, Outcome, Run, error, places
from tests.tiny import BIRTHPLACES, SETTINGS, VARIANTS


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


def test_a_variant_that_is_selected_alone_is_asked_without_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    alone = SETTINGS.model_copy(update={"model": SETTINGS.model.model_copy(update={"variant": "rope"})})
    assert chosen_variant(alone, "open") == "rope"


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


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where was Zoé A born?", "no page of the corpus is about 'Zoé A'"),  # a page begins so, but with another name
        ("Who is Zoé Ark", "`Where was NAME born?`"),
    ],
)
def test_what_no_page_is_about_and_another_form_are_answered_with_a_note(run: Run, question: str, told: str) -> None:
    outcome = run(ask, question)
    assert (outcome.code, len(places(outcome.out))) == (0, 5)
    assert outcome.err.startswith("note: ") and told in outcome.err


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


def test_no_input_is_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(ask) == Outcome(0, "", "")
    monkeypatch.setattr("sys.stdin", None)  # closed
    assert list(ask.questions("Who?")) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--variant", "rope"], ["rope/finetuned", "dvc repro stages/dvc.yaml:finetune@quick-rope"]),
        (["--recipe", "handout", "--variant", "rope"], ["dvc repro stages/dvc.yaml:finetune@handout-rope"]),
        (["--recipe", "handout"], ["reports/handout/compared/metrics.json is missing", "--variant"]),
        (["--recipe", "text"], ["'text' has no questions", "stages.sample --recipe text"]),
        (["--recipe", "nonsense"], ["unknown recipe 'nonsense'", "quick"]),
        (["--variant", "nonsense"], ["unknown variant 'nonsense'", *VARIANTS]),
        (["--seed", "2"], ["no seed 2", "allowed: 1"]),
        (["--top", "0"], ["--top: was 0; allowed: 1 to 256"]),
        (["--beams", "257"], ["--beams: was 257; allowed: 1 to 256"]),
        (["--beams", "2", "--top-k", "3"], ["--beams draws nothing; allowed: it or --top-k"]),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(run: Run, arguments: list[str], told: list[str]) -> None:
    line = error(run(ask, ZOE, *arguments))
    assert [part for part in told if part not in line] == []
