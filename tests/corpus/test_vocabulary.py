"""Characters and their numbers: the order of the assignment, and no question that cannot be encoded."""

from pathlib import Path

import pytest

from stages.corpus.vocabulary import MASK, PAD, Vocabulary
from tests.tiny import DOCUMENTS


def test_pad_and_mask_come_first_then_the_characters_in_code_point_order() -> None:
    vocabulary = Vocabulary.of(["Ba é", "ab"])
    assert vocabulary.characters == ("□", "⁇", "\n", " ", "B", "a", "b", "é")
    assert vocabulary.encode(PAD + MASK).tolist() == [0, 1]
    assert len(vocabulary) == 8


def test_no_document_leaves_the_line_feed_alone() -> None:
    assert Vocabulary.of([]).characters == ("□", "⁇", "\n")


def test_encoded_text_decodes_to_itself_whatever_the_documents_order() -> None:
    vocabulary = Vocabulary.of(DOCUMENTS)
    assert Vocabulary.of(DOCUMENTS[::-1]) == vocabulary
    for document in DOCUMENTS:
        numbers = vocabulary.encode(document)
        assert len(numbers) == len(document) and vocabulary.decode(numbers) == document


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("ế", "e"),  # e with two accents, neither known
        ("ﬁne", "fine"),  # a ligature
        ("漢", ""),
        ("a漢b", "ab"),
        ("É", "E"),
        ("é", "é"),  # known as it is
        ("e\u0301", "e"),  # an accent that stands alone is unknown
        ("x", ""),
        ("", ""),
        ("\x00\ud7ff🙂", ""),
    ],
)
def test_an_unknown_character_becomes_its_base_letters_or_nothing(asked: str, read: str) -> None:
    vocabulary = Vocabulary.of(["abEefiné"])
    assert vocabulary.decode(vocabulary.encode(asked)) == read


def test_unknown_characters_are_listed_in_order() -> None:
    vocabulary = Vocabulary.of(["abc"])
    assert vocabulary.unknown("a漢ếb漢") == ["漢", "ế", "漢"]
    assert vocabulary.unknown("cab") == []


def test_saved_characters_are_read_back(tmp_path: Path) -> None:
    vocabulary = Vocabulary.of([*DOCUMENTS, 'quote " backslash \\ tab \t'])
    vocabulary.save(tmp_path / "vocabulary.json")
    assert Vocabulary.load(tmp_path / "vocabulary.json") == vocabulary
