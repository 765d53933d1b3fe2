"""What is right, memorised or extracted, and nothing else is; reading a target finds whether it would be said."""

from math import log2

import numpy as np
import pytest

from stages.asking.decoding import Continuation
from stages.asking.generation import generate
from stages.asking.prompts import PAGE_FORMS, Fact, Prompt, continuation, question
from stages.asking.recall import (
    answers,
    bits,
    exact_matches,
    extraction,
    matches_by_offset,
    offset_prompt,
    offsets,
    with_room,
)
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from tests.support.tiny import BIRTHPLACES, MODEL, VARIANTS, loud, tiny_model, tiny_prepared
from tests.support.toy import learned, saying, toy_facts, toy_prepared, toy_prompts

VOCABULARY, FACTS = toy_prepared().vocabulary, toy_facts()
OFFSETS = (0, 1, 10)  # "Where was " has ten characters
SAID = {place: place for place in BIRTHPLACES.values()} | {
    "Vell": "vell", "Ilm": "Ilm ", "Oss": "Os", "Urr": "Urr.", "Kip": "",
}  # fmt: skip


def test_only_the_same_characters_are_correct(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = tiny_prepared()
    answers_given = [Continuation(np.array(prepared.vocabulary.encode(place)), 0.5) for place in SAID.values()]
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: answers_given)
    model = tiny_model("vanilla")
    dev = answers(model, prepared, "dev", saying(8))
    assert dev.predicted.tolist() == [*SAID.values()] and dev.gold.tolist() == [*SAID]
    assert dev.correct.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert answers(model, prepared, "test", saying(8)).correct.tolist() == [""] * 8


@pytest.mark.parametrize(("recipe", "predicted"), [("quick", "L’Îlm"), ("own", "L'Îlm")])
def test_an_answer_in_another_spelling_stands_as_the_gold_one_where_a_recipe_allows_it(
    monkeypatch: pytest.MonkeyPatch, recipe: str, predicted: str
) -> None:
    splits = {split: [Question(1, "Who?", "Ada", "L'Îlm")] for split in ("train", "dev", "test")}
    prepared = Prepared.of(["Ada. L’Îlm ."], splits)
    said = Continuation(prepared.vocabulary.encode("L’Îlm"), 0.5)
    monkeypatch.setattr("stages.asking.recall.generate", lambda *_: [said])
    for split in ("dev", "test"):  # a test with answers is marked, too
        table = answers(tiny_model("vanilla"), prepared, split, saying(8, recipe))
        assert table.predicted.tolist() == [predicted] and table.correct.tolist() == [int(recipe == "own")]


def test_a_control_that_matches_is_not_memorised() -> None:
    models = dict.fromkeys(("pretrained", "finetuned"), learned(("cloze",)))
    prompts = {"continuation": toy_prompts()["continuation"], "other_name": toy_prompts()["cloze"]}
    table = extraction(models, VOCABULARY, FACTS, prompts, np.zeros(8))
    assert table.pretrained_other_name.all() and not table.pretrained_memorised.any()


@pytest.mark.parametrize("variant", VARIANTS)
def test_there_is_a_match_exactly_if_greedy_decoding_says_the_target(variant: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = [prompt.text for form in PAGE_FORMS for prompt in toy_prompts()[form]]
    said = generate(model, [VOCABULARY.encode(prompt) for prompt in prompts], 3, end=None)
    texts = [(prompt, VOCABULARY.decode(answer.tokens)) for prompt, answer in zip(prompts, said, strict=True)]
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


def test_bits_of_prompts_are_log_ratios_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    own = np.log(np.array([[0.5, 0.25, 0.125], [0.1, 0.4, 0.1], [0.2, 0.2, 0.2]]))  # p(place of row | prompt of column)
    calls = iter(own)
    monkeypatch.setattr("stages.asking.recall.read_targets", lambda *_: (next(calls), None))
    gains = [log2(0.5 / 0.1875), log2(0.4 / 0.1), log2(0.2 / 0.2)]
    prompts = [question(fact) for fact in FACTS[:3]]
    assert bits(tiny_model("rope"), VOCABULARY, FACTS[:3], prompts) == pytest.approx(np.mean(gains))


def test_a_model_that_knows_the_pages_has_many_bits_and_one_that_does_not_has_none() -> None:
    pages = [continuation(fact, MODEL.context) for fact in FACTS]
    assert bits(learned(("continuation",)), VOCABULARY, FACTS, pages) > 5
    assert abs(bits(tiny_model("rope", len(VOCABULARY)), VOCABULARY, FACTS, pages)) < 0.5


def test_bits_of_pages_as_long_as_the_context_are_those_of_their_ends() -> None:
    """A short place leaves its page more room than a long one, which every page is asked for, too."""
    places = ["Ulm", "Llanfair", "Rome"]
    facts = [Fact(1, "", "Ada", f"{'x' * 2 * MODEL.context}{place}", place, 2 * MODEL.context) for place in places]
    pages = [continuation(fact, MODEL.context) for fact in facts]
    assert np.isfinite(bits(tiny_model("rope", len(VOCABULARY)), VOCABULARY, facts, pages))


def test_facts_are_those_that_are_read_whole_at_every_offset() -> None:
    fact = Fact(1, "Where was Ada born?", "Ada", "Ada. Ada was born in Ulm, Peru.", "Ulm", 21)
    page = "Ada. Ada was born in "
    assert [offset_prompt(fact, offset).text for offset in OFFSETS] == [page, f" {page}", f"Where was {page}"]
    assert tuple(offsets(FACTS)) == OFFSETS
    fits = len(offset_prompt(fact, OFFSETS[-1]).text + fact.place) - 1  # a model reads all but the last character
    assert with_room([fact], OFFSETS[-1], fits) == [fact]
    assert with_room([fact], OFFSETS[-1], fits - 1) == []
    assert with_room(FACTS, OFFSETS[-1] + 1, MODEL.context) == []  # no opening is so long


def test_at_offset_0_a_match_is_one_of_the_continuation() -> None:
    models = {"pretrained": learned(("continuation",)), "other": loud(tiny_model("vanilla", len(VOCABULARY)))}
    table = matches_by_offset(models, VOCABULARY, FACTS, OFFSETS)
    assert table.groupby("offset")["row"].apply(list).to_dict() == {offset: [*range(1, 9)] for offset in OFFSETS}
    assert table.pretrained[table["offset"] == 0].all()
    assert not table.pretrained[table["offset"] == 10].all()  # it has read no page that begins further on
    assert not table.other.any()
