"""Questions held out to choose by."""

import pytest

from stages.corpus.held_out import hold_out
from stages.corpus.questions import Question
from stages.system.errors import StudyError


def asked(*names: str) -> list[Question]:
    return [Question(row, f"Where was {name} born?", name, f"Place {row}") for row, name in enumerate(names, 1)]


QUESTIONS = {
    "train": asked(*(f"Person {n}" for n in range(18)), "Twice", "Twice"),
    "dev": asked("Dev One", "Dev Two"),
    "test": asked("Test One"),
}


@pytest.mark.parametrize("count", [1, 2, 7, 19])
def test_so_many_questions_of_train_become_dev_the_same_each_time_and_none_is_in_both(count: int) -> None:
    held = hold_out(QUESTIONS, count, "held_out")
    assert held == hold_out(QUESTIONS, count, "held_out")
    assert len(held["dev"]) == count
    assert sorted(held["train"] + held["dev"], key=lambda question: question.row) == QUESTIONS["train"]
    assert {question.name for question in held["train"]}.isdisjoint(question.name for question in held["dev"])
    assert held["test"] == QUESTIONS["test"]


def test_they_are_drawn_from_the_whole_file() -> None:
    rows = [question.row for question in hold_out(QUESTIONS, 8, "held_out")["dev"]]
    assert rows != list(range(1, 9)) and rows != list(range(13, 21))


def test_none_held_out_leaves_the_splits_as_they_are() -> None:
    assert hold_out(QUESTIONS, 0, "held_out") == QUESTIONS


def test_too_many_are_refused_with_the_number_there_is() -> None:
    told = r"params\.yaml: held_out: was 20; allowed: less than the 20 training questions"
    with pytest.raises(StudyError, match=told):
        hold_out(QUESTIONS, 20, "held_out")
