"""What `prepare` tells of a recipe's questions."""

from stages import prepare
from stages.corpus.vocabulary import Vocabulary
from stages.sources.audit import audit
from tests.tiny import DOCUMENTS, QUESTIONS


def told(train: slice, dev: slice) -> str:
    questions = {"train": QUESTIONS[train], "dev": QUESTIONS[dev], "test": []}
    return prepare._asked(audit(DOCUMENTS, questions, Vocabulary.of(DOCUMENTS)), questions)


def test_the_questions_are_counted_and_what_dev_can_know() -> None:
    found = "; questions: 5 train, 3 dev, 0 test; 3 of 3 dev answers stand in the person's page"
    assert told(slice(5), slice(5, 8)) == found


def test_questions_of_dev_that_train_asks_too_are_told() -> None:
    assert told(slice(6), slice(4, 8)).endswith("page; 2 of dev's questions are asked in train too, word for word")


def test_a_text_without_questions_has_nothing_to_tell() -> None:
    assert prepare._asked(None, {}) == ""
