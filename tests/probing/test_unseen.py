"""Unseen entities are in no text, and the same each time."""

from stages.corpus.question_forms import Form
from stages.corpus.vocabulary import Vocabulary
from stages.probing.origins import unseen_names

BORN = Form("Where was ", " born?")
LETTERS = Vocabulary.of(["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz '-"])


def test_no_name_stands_in_the_known_text_and_each_can_be_read() -> None:
    known = ". ".join(unseen_names(LETTERS, "", BORN, 128, 50))
    names = unseen_names(LETTERS, known, BORN, 32, 50)
    assert names == unseen_names(LETTERS, known, BORN, 32, 50)  # the same each time
    assert len(set(names)) == 50 and not any(name in known or LETTERS.unknown(name) for name in names)
    assert max(len(f"Where was {name} born?") for name in names) <= 30  # ⁇ and an answer have room
