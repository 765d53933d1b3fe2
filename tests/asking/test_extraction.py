"""What a model has learned is memorised or extracted, and nothing else is; reading a target tells if it is said."""

import numpy as np
import pytest

from stages.asking.generation import generate
from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, continuation
from stages.asking.recall import exact_matches, extraction, matches_by_offset, offset_prompt, offsets, with_room
from tests.support.tiny import MODEL, VARIANTS, loud, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared, toy_prompts

VOCABULARY, FACTS = toy_prepared().vocabulary, toy_facts()
OFFSETS = (0, 1, 10)  # "Where was " has ten characters
FAR = tuple(form for form in PAGE_FORMS if form != "words")  # from a question, which shares words with the page


def test_a_model_that_learned_the_pages_has_memorised_all_and_extracts_nothing() -> None:
    models = {"pretrained": learned(FAR), "finetuned": tiny_model("vanilla", len(VOCABULARY))}
    prompts = {form: toy_prompts()[form] for form in (*PAGE_FORMS, "other_name")}
    answered = np.arange(8) < 3
    table = extraction(models, VOCABULARY, FACTS, prompts, answered)
    assert list(table.row) == list(range(1, 9))
    for form in (*FAR, "memorised"):
        assert table[f"pretrained_{form}"].all() and not table[f"finetuned_{form}"].any()
    assert not table.pretrained_words.all()  # one page form is enough
    # the control: with a stranger's name the stranger's place is as good
    assert table.pretrained_other_name.mean() < 0.5
    assert table.pretrained_extracted.mean() < 0.5
    assert table.finetuned_extracted.tolist() == answered.astype(int).tolist()  # as the evaluation has it


def test_a_control_that_matches_is_not_memorised() -> None:
    models = dict.fromkeys(("pretrained", "finetuned"), learned(("cloze",)))
    prompts = {"continuation": toy_prompts()["continuation"], "other_name": toy_prompts()["cloze"]}
    table = extraction(models, VOCABULARY, FACTS, prompts, np.zeros(8))
    assert table.pretrained_other_name.all() and not table.pretrained_memorised.any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_there_is_a_match_exactly_if_greedy_decoding_says_the_target(variant: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = [prompt.text for form in PAGE_FORMS for prompt in toy_prompts()[form]]
    answers = generate(model, [VOCABULARY.encode(prompt) for prompt in prompts], 3, end=None)
    texts = [(prompt, VOCABULARY.decode(answer.tokens)) for prompt, answer in zip(prompts, answers, strict=True)]
    texts = [(prompt, text) for prompt, text in texts if not {"⁇", "□"} & set(text)]  # a place has neither
    assert len(texts) >= 3
    own = [Prompt(prompt, text) for prompt, text in texts]
    other = [Prompt(prompt, text[:2] + ("b" if text[2] != "b" else "a")) for prompt, text in texts]
    assert [*exact_matches(model, VOCABULARY, own + other)] == [True] * len(own) + [False] * len(own)


def test_a_missing_closing_mask_is_no_match_where_one_is_due() -> None:
    model = learned((*PAGE_FORMS, "question"))
    place, prompt = FACTS[0].place, toy_prompts()["cloze"][0].text
    targets = [place + "⁇", place[:-1], place[:-1] + "⁇"]
    assert [*exact_matches(model, VOCABULARY, [Prompt(prompt, target) for target in targets])] == [True, True, False]
    assert exact_matches(model, VOCABULARY, []).shape == (0,)


def test_the_last_characters_of_a_questions_opening_stand_before_the_page() -> None:
    fact = Fact(1, "Where was Ada born?", "Ada", "Ada. Ada was born in Ulm, Peru.", "Ulm", 21)
    assert [offset_prompt(fact, offset).text for offset in OFFSETS] == [
        "Ada. Ada was born in ",
        " Ada. Ada was born in ",
        "Where was Ada. Ada was born in ",  # at the largest offset the name stands as in a question
    ]


def test_facts_are_those_that_are_read_whole_at_every_offset() -> None:
    fact = FACTS[0]
    assert tuple(offsets(FACTS)) == OFFSETS
    fits = len(offset_prompt(fact, OFFSETS[-1]).text + fact.place) - 1  # a model reads all but the last character
    assert with_room([fact], OFFSETS[-1], fits) == [fact]
    assert with_room([fact], OFFSETS[-1], fits - 1) == []
    assert with_room(FACTS, OFFSETS[-1], MODEL.context) == FACTS
    assert with_room(FACTS, OFFSETS[-1] + 1, MODEL.context) == []  # no opening is so long


def test_at_offset_0_a_match_is_one_of_the_continuation() -> None:
    models = {"pretrained": learned(("continuation",)), "other": loud(tiny_model("vanilla", len(VOCABULARY)))}
    table = matches_by_offset(models, VOCABULARY, FACTS, OFFSETS)
    assert table.groupby("offset")["row"].apply(list).to_dict() == {offset: [*range(1, 9)] for offset in OFFSETS}
    plain = exact_matches(models["pretrained"], VOCABULARY, [continuation(fact, MODEL.context) for fact in FACTS])
    assert plain.all() and table.pretrained[table["offset"] == 0].all()
    assert not table.pretrained[table["offset"] == 10].all()  # it has read no page that begins further on
    assert not table.other.any()
