"""Reading the target tells what greedy decoding would say, for every variant."""

import pytest

from stages.inference.generation import generate
from stages.probing.extraction import exact_matches
from stages.probing.prompts import PAGE_FORMS, Prompt
from tests.support.tiny import VARIANTS, loud, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared, toy_prompts

VOCABULARY = toy_prepared().vocabulary


@pytest.mark.parametrize("variant", VARIANTS)
def test_there_is_a_match_exactly_if_greedy_decoding_says_the_target(variant: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = [each.text for form in PAGE_FORMS for each in toy_prompts()[form]]
    said = generate(model, [VOCABULARY.encode(prompt) for prompt in prompts], 3, end=None)
    texts = [(prompt, VOCABULARY.decode(each.tokens)) for prompt, each in zip(prompts, said, strict=True)]
    texts = [(prompt, text) for prompt, text in texts if not {"⁇", "□"} & set(text)]  # a place has neither
    assert len(texts) >= 3
    own = [Prompt(prompt, text) for prompt, text in texts]
    other = [Prompt(prompt, text[:2] + ("b" if text[2] != "b" else "a")) for prompt, text in texts]
    assert [*exact_matches(model, VOCABULARY, own + other)] == [True] * len(own) + [False] * len(own)


def test_a_missing_closing_mask_is_no_match_where_one_is_due() -> None:
    model = learned((*PAGE_FORMS, "question"))
    place, prompt = toy_facts()[0].place, toy_prompts()["cloze"][0].text
    targets = [place + "⁇", place[:-1], place[:-1] + "⁇"]
    assert [*exact_matches(model, VOCABULARY, [Prompt(prompt, each) for each in targets])] == [True, True, False]
    assert exact_matches(model, VOCABULARY, []).shape == (0,)
