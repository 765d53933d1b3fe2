"""What a model has learned is memorised or extracted, and nothing else is; reading a target tells if it is said."""

import numpy as np
import pytest

from stages.inference.generation import generate
from stages.probing.extraction import exact_matches, extraction
from stages.probing.prompts import PAGE_FORMS, Prompt
from tests.support.tiny import VARIANTS, loud, tiny_model
from tests.support.toy import learned, toy_facts, toy_prepared, toy_prompts

VOCABULARY = toy_prepared().vocabulary
FAR = tuple(form for form in PAGE_FORMS if form != "words")  # from a question, which shares words with the page


def test_a_model_that_learned_the_pages_has_memorised_all_and_extracts_nothing() -> None:
    models = {"pretrained": learned(FAR), "finetuned": tiny_model("vanilla", len(VOCABULARY))}
    prompts = {form: toy_prompts()[form] for form in (*PAGE_FORMS, "other_name")}
    answered = np.arange(8) < 3
    table = extraction(models, VOCABULARY, toy_facts(), prompts, answered)
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
    table = extraction(models, VOCABULARY, toy_facts(), prompts, np.zeros(8))
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
    place, prompt = toy_facts()[0].place, toy_prompts()["cloze"][0].text
    targets = [place + "⁇", place[:-1], place[:-1] + "⁇"]
    assert [*exact_matches(model, VOCABULARY, [Prompt(prompt, target) for target in targets])] == [True, True, False]
    assert exact_matches(model, VOCABULARY, []).shape == (0,)
