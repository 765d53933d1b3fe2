"""Pages that begin further on."""

from stages.probing.extraction import exact_matches, matches_by_offset, offset_prompt, offsets, with_room
from stages.probing.prompts import Fact, continuation, question
from tests.support.tiny import MODEL, loud, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared

OFFSETS = (0, 1, 10)  # "Where was " has ten characters
PAGE = "Ada. Ada was born in Ulm, Peru."
FACT = Fact(1, "Where was Ada born?", "Ada", PAGE, "Ulm", PAGE.index("Ulm"))
FACTS = toy_facts()


def test_the_last_characters_of_a_questions_opening_stand_before_the_page() -> None:
    prompts = [offset_prompt(FACT, offset) for offset in (0, 1, 10)]
    assert [prompt.text for prompt in prompts] == [
        "Ada. Ada was born in ",
        " Ada. Ada was born in ",
        "Where was Ada. Ada was born in ",
    ]
    assert question(FACT).text.startswith("Where was Ada")  # at the largest offset the name stands as in a question


def test_facts_are_those_that_are_read_whole_at_every_offset() -> None:
    assert tuple(offsets([FACT])) == OFFSETS
    fits = len(offset_prompt(FACT, OFFSETS[-1]).text + FACT.place) - 1  # a model reads all but the last character
    assert with_room([FACT], OFFSETS[-1], fits) == [FACT]
    assert with_room([FACT], OFFSETS[-1], fits - 1) == []
    assert with_room(FACTS, OFFSETS[-1], MODEL.context) == FACTS
    assert with_room(FACTS, OFFSETS[-1] + 1, MODEL.context) == []  # no opening is so long


def test_at_offset_0_a_match_is_one_of_the_continuation() -> None:
    vocabulary = toy_prepared().vocabulary
    models = {"pretrained": learned(("continuation",)), "other": loud(tiny_model("vanilla", len(vocabulary)))}
    table = matches_by_offset(models, vocabulary, FACTS, OFFSETS)
    assert table.groupby("offset")["row"].apply(list).to_dict() == {offset: [*range(1, 9)] for offset in OFFSETS}
    plain = exact_matches(models["pretrained"], vocabulary, [continuation(fact, MODEL.context) for fact in FACTS])
    assert plain.all() and table.pretrained[table["offset"] == 0].all()
    assert not table.pretrained[table["offset"] == 10].all()  # it has read no page that begins further on
    assert not table.other.any()
