"""Pages that begin further on."""

import pytest
from stages.probing.shifts import OPENING, SHIFTS, shifted, spelled_when_shifted, with_room
from stages.probing.spelling import spell

from stages.corpus.vocabulary import MASK
from stages.probing.facts import Fact
from stages.probing.forms import continuation, question
from tests.probing.toy import learned, toy_prepared
from tests.tiny import BIRTHPLACES, DOCUMENTS, MODEL, loud, tiny_model

PAGE = "Ada. Ada was born in Ulm, Peru."
FACT = Fact(1, "Ada", PAGE, "Ulm", PAGE.index("Ulm"), 3)
FACTS = [
    Fact(row, name, page, place, page.index(place), 0)
    for row, ((name, place), page) in enumerate(zip(BIRTHPLACES.items(), DOCUMENTS, strict=True), 1)
]


@pytest.mark.parametrize(
    ("shift", "prompt"),
    [
        (0, "Ada. Ada was born in "),
        (1, " Ada. Ada was born in "),
        (2, "s Ada. Ada was born in "),
        (10, "Where was Ada. Ada was born in "),
    ],
)
def test_the_last_characters_of_a_questions_opening_stand_before_the_page(shift: int, prompt: str) -> None:
    asked = shifted(FACT, shift)
    assert (asked.prompt, asked.said) == (prompt, "Ulm")


def test_the_furthest_shift_puts_the_name_where_a_question_has_it() -> None:
    asked = question(FACT).prompt
    assert asked == f"{OPENING}{FACT.name} born?{MASK}"
    assert shifted(FACT, SHIFTS[-1]).prompt.index(FACT.name) == asked.index(FACT.name)


def test_facts_are_those_that_are_read_whole_at_every_shift() -> None:
    fits = len(shifted(FACT, SHIFTS[-1]).prompt + FACT.place) - 1  # a model reads all but the last character
    assert with_room([FACT], fits) == [FACT]
    assert with_room([FACT], fits - 1) == []
    assert with_room(FACTS, MODEL.context) == FACTS


def test_outcomes_are_those_of_spelling_and_unshifted_those_of_the_continuation() -> None:
    vocabulary = toy_prepared().vocabulary
    models = {"pretrained": learned(("continuation",)), "other": loud(tiny_model("vanilla", len(vocabulary)))}
    found = spelled_when_shifted(models, vocabulary, FACTS)
    assert found["shift"].unique().tolist() == [*SHIFTS]
    for shift in SHIFTS:
        rows = found[found["shift"] == shift]
        assert rows["row"].tolist() == [fact.row for fact in FACTS]
        for name, model in models.items():
            wanted, _ = spell(model, vocabulary, [shifted(fact, shift) for fact in FACTS])
            assert rows[name].tolist() == wanted.astype(int).tolist()
    plain, _ = spell(models["pretrained"], vocabulary, [continuation(fact, MODEL.context) for fact in FACTS])
    assert plain.all() and found.pretrained[found["shift"] == 0].all()
    assert not found.other.any()
