"""What `prepare` tells of a recipe's questions."""

import pytest

from stages.corpus.vocabulary import Vocabulary
from stages.prepare import found
from stages.sources.audit import audit
from tests.tiny import DOCUMENTS, QUESTIONS

COUNTED = "; questions: {} train, {} dev, 0 test; {} of {} dev answers stand in the person's page"


@pytest.mark.parametrize(
    ("train", "dev", "told"),
    [
        (slice(5), slice(5, 8), COUNTED.format(5, 3, 3, 3)),
        (
            slice(6),
            slice(4, 8),
            COUNTED.format(6, 4, 4, 4) + "; 2 of dev's questions are asked in train too, word for word",
        ),
    ],
)
def test_the_questions_are_counted_and_what_dev_can_know(train: slice, dev: slice, told: str) -> None:
    questions = {"train": QUESTIONS[train], "dev": QUESTIONS[dev], "test": []}
    assert found(audit(DOCUMENTS, questions, Vocabulary.of(DOCUMENTS)), questions) == told
