"""Facts are what the audit found in the person's own page, and where."""

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.probing.prompts import Fact, dev_facts
from stages.sources.audit import audit, own_pages

DOCUMENTS = [
    "J. Ray. J. Ray (born 1900 in Ulm) was a baker.",
    "Ada. A poet.",
    "Ada. Ada of Ulm died in Ulm.",
    "Bo. Bo sang.",
    "Adam. Adam was born in Ulm.",
]


def asked(*people: tuple[int, str, str]) -> list[Question]:
    return [Question(row, f"Where was {name} born?", name, place) for row, name, place in people]


def facts(*people: tuple[int, str, str]) -> list[Fact]:
    questions = {"train": asked((1, "X", "Ulm"), (2, "Y", "Ulm")), "dev": asked(*people), "test": []}
    prepared = Prepared.of(DOCUMENTS, questions)
    found = audit(DOCUMENTS, questions, prepared.vocabulary)
    return dev_facts(prepared, found, own_pages(prepared.texts, {name for _, name, _ in people}))


def test_a_fact_stands_in_the_persons_own_page() -> None:
    (ray, ada) = facts((1, "J. Ray", "Ulm"), (2, "Bo", "Ulm"), (4, "Ada", "Ulm"), (5, "Nobody", "Ulm"))
    assert ray == Fact(1, "Where was J. Ray born?", "J. Ray", DOCUMENTS[0], "Ulm", DOCUMENTS[0].index("Ulm"))
    # the page of two that holds the place, its first mention
    assert (ada.row, ada.page, ada.position) == (4, DOCUMENTS[2], DOCUMENTS[2].index("Ulm"))
