"""Facts are what the audit found in the person's own page, and where."""

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.probing.facts import Fact, dev_facts, texts
from stages.sources.audit import audit

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
    return dev_facts(prepared, audit(DOCUMENTS, questions, prepared.vocabulary), texts(prepared))


def test_a_fact_stands_in_the_persons_own_page() -> None:
    (ray, ada) = facts((1, "J. Ray", "Ulm"), (2, "Bo", "Ulm"), (4, "Ada", "Ulm"), (5, "Nobody", "Ulm"))
    assert (ray.row, ray.name, ray.page, ray.place, ray.position, ray.train_count) == (
        *(1, "J. Ray", DOCUMENTS[0], "Ulm"),
        *(DOCUMENTS[0].index("Ulm"), 2),
    )
    # the page of two that holds the place, its first mention
    assert (ada.row, ada.page, ada.position) == (4, DOCUMENTS[2], DOCUMENTS[2].index("Ulm"))


def test_the_words_before_the_place_are_those_within_25_characters() -> None:
    (ray, ada) = facts((1, "J. Ray", "Ulm"), (2, "Ada", "Ulm"))
    assert ray.born and not ada.born
    far = "born " + "x" * 21
    assert not Fact(1, "A", far + "Ulm", "Ulm", len(far), 0).born
    near = "born" + "x" * 21
    assert Fact(1, "A", near + "Ulm", "Ulm", len(near), 0).born


def test_places_that_look_like_missing_values_are_facts() -> None:
    documents = ["NA. NA was born in NA, too."]
    questions = {"train": asked((1, "X", "Ulm")), "dev": asked((1, "NA", "NA")), "test": []}
    prepared = Prepared.of(documents, questions)
    (fact,) = dev_facts(prepared, audit(documents, questions, prepared.vocabulary), texts(prepared))
    assert (fact.name, fact.place, fact.position) == ("NA", "NA", 0)
