"""Characters, questions as sequences, those held out, the audit, and the prepared folder. Names are invented."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stages.corpus.prepared import Prepared, audit
from stages.corpus.questions import Question, hold_out, question_examples
from stages.corpus.ragged import Ragged
from stages.corpus.reader import with_candidates
from stages.corpus.text import MASK_CHARACTER, PAD_CHARACTER, Vocabulary
from stages.system.errors import UserError
from tests.support.project import save_prepared
from tests.support.tiny import BIRTHPLACES, DOCUMENTS, tiny_prepared


def asked(*names: str, place: str | None = "Urr") -> list[Question]:
    return [Question(row, f"Where was {name} born?", name, place) for row, name in enumerate(names, 1)]


def test_only_the_answer_and_its_masks_are_targets_and_a_shorter_question_ends_in_pad() -> None:
    vocabulary = Vocabulary.of(["abc?xyz"])
    questions, answers = (Ragged.of([*map(vocabulary.encode, some)]) for some in (["abc?", "a?"], ["yz", "x"]))
    examples = question_examples(questions, answers, np.array([1, 0]))
    assert [vocabulary.decode(row) for row in examples.inputs] == ["a?⁇x⁇□□", "abc?⁇yz"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["□⁇x⁇□□□", "□□□⁇yz⁇"]
    assert examples.lengths.tolist() == [4, 7]


TRAIN = asked(*(f"Person {n}" for n in range(18)), "Twice", "Twice")
SPLITS = {"train": TRAIN, "dev": asked("Dev One", "Dev Two"), "test": asked("Test One")}


@pytest.mark.parametrize("count", [1, 7, 19])
def test_so_many_questions_of_train_become_dev_the_same_each_time_and_nobody_is_in_both(count: int) -> None:
    held = hold_out(SPLITS, count, "held_out")
    assert held == hold_out(SPLITS, count, "held_out")
    assert len(held["dev"]) == count
    assert sorted(held["train"] + held["dev"], key=lambda question: question.row) == TRAIN
    assert {question.name for question in held["train"]}.isdisjoint(question.name for question in held["dev"])
    assert held["test"] == SPLITS["test"]


def test_all_questions_cannot_be_held_out() -> None:
    message = r"params\.yaml: held_out: was 20; allowed: less than the 20 training questions"
    with pytest.raises(UserError, match=message):
        hold_out(SPLITS, 20, "held_out")


def test_the_audit_tells_what_can_be_known_of_each_question() -> None:
    pages = [
        "Oda Quill. Born in Vell, lived in Urr.",
        "J. R. Brae. A singer from Ilm.",
        "Tam Senn. Nothing is known.",
        "Tam Senn. Another page: Urr.",
        "Tam Senn. A third page, about Urr.",
        "Mia Dahl of Urr, without a full stop",
    ]
    questions = {
        "train": asked("Tam Senn", "Lu Fane"),
        "dev": asked("Oda Quill", "J. R. Brae", "Mia Dahl"),
        "test": asked("Oda Quįll", place=None),
    }
    known = audit(pages, questions, Vocabulary.of([*pages, "Where was Lu Fane born?"]))
    assert known.to_csv(sep=" ", index=False) == (
        "split row has_page in_page position train_count unknown\n"
        "train 1 1 1 24 2 0\n"  # first in the second of three pages
        "train 2 0 0 -1 2 0\n"  # no page
        "dev 1 1 1 34 2 0\n"
        "dev 2 1 0 -1 2 0\n"  # a name with full stops, a page that names another place
        "dev 3 0 0 -1 2 0\n"  # no full stop follows the name
        "test 1 0 0 -1 0 1\n"  # 'į' stands in no page
    )


def test_prepared_data_are_read_back_as_they_were_from_the_same_bytes_each_time(tmp_path: Path) -> None:
    prepared = with_candidates(tiny_prepared())
    save_prepared(tmp_path, prepared)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    save_prepared(tmp_path, with_candidates(tiny_prepared()))
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    again = Prepared.load(tmp_path)
    assert again.vocabulary == prepared.vocabulary
    decode = again.vocabulary.decode
    assert [decode(again.documents[row]) for row in range(len(again.documents))] == DOCUMENTS
    pd.testing.assert_frame_equal(again.table, prepared.table)
    assert again.title_lengths.tolist() == [document.index(". ") for document in DOCUMENTS]
    for row, place in enumerate(BIRTHPLACES.values()):
        assert again.candidates.spans[row].tolist() == prepared.candidates.spans[row].tolist()
        assert again.candidates.probabilities[row].tolist() == prepared.candidates.probabilities[row].tolist()
        assert place in [DOCUMENTS[row][start:end] for start, end in again.candidates.spans[row].tolist()]


def test_pad_and_mask_come_first_then_the_characters_in_code_point_order() -> None:
    vocabulary = Vocabulary.of(["Ba é", "ab"])
    assert vocabulary == Vocabulary.of(["ab", "Ba é"])
    assert vocabulary.characters == ("□", "⁇", "\n", " ", "B", "a", "b", "é")
    assert vocabulary.encode(PAD_CHARACTER + MASK_CHARACTER + "éa").tolist() == [0, 1, 7, 5]


@pytest.mark.parametrize(
    ("asked", "read", "unknown"),
    [
        ("ế", "e", ["ế"]),  # e with two accents, neither known
        ("ﬁne", "fine", ["ﬁ"]),  # a ligature
        ("a漢b漢", "ab", ["漢", "漢"]),
        ("é", "é", []),  # known as it is
        ("e\u0301", "é", []),  # the same letter in two code points
        ("\u0301e", "e", ["\u0301"]),  # an accent that stands alone is unknown
        ("", "", []),
    ],
)
def test_an_unknown_character_becomes_its_base_letters_or_nothing(asked: str, read: str, unknown: list[str]) -> None:
    vocabulary = Vocabulary.of(["abEefiné"])
    assert vocabulary.decode(vocabulary.encode(asked)) == read
    assert vocabulary.unknown(asked) == unknown
