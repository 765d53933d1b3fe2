"""Characters and their numbers: the order of the assignment, and no question that cannot be encoded."""

import pytest

from stages.corpus.text import MASK_CHARACTER, PAD_CHARACTER, Vocabulary


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
