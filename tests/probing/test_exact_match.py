"""Reading the gold tells what greedy decoding would say, for every variant; what is learned is spelled."""

import numpy as np
import pytest
import torch
from stages.probing.knowledge import knowledge
from stages.probing.spelling import spell

from stages.corpus.example import MASK
from stages.inference.generation import generate
from stages.probing.forms import PAGE_FORMS, Asked, WordCue, asked_in_all_forms
from tests.probing.toy import CUE, OBJECTIVES, learned, toy_facts, toy_prepared
from tests.tiny import MODEL, VARIANTS, loud, tiny_model

VOCABULARY = toy_prepared().vocabulary


def asked() -> dict[str, list[Asked]]:
    return asked_in_all_forms(toy_facts(), OBJECTIVES, CUE, WordCue.of(OBJECTIVES, [], frozenset()), MODEL.context)


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_answer_is_spelled_exactly_if_greedy_decoding_says_it(variant: str) -> None:
    model = loud(tiny_model(variant, len(VOCABULARY)))
    prompts = [each.prompt for form in PAGE_FORMS for each in asked()[form]]
    said = generate(model, [VOCABULARY.encode(prompt) for prompt in prompts], 3, end=None)
    texts = [(prompt, VOCABULARY.decode(each.tokens)) for prompt, each in zip(prompts, said, strict=True)]
    texts = [(prompt, text) for prompt, text in texts if not {"⁇", "□"} & set(text)]  # a place has neither
    assert len(texts) >= 3
    own = [Asked(prompt, text) for prompt, text in texts]
    other = [Asked(prompt, text[:2] + ("b" if text[2] != "b" else "a")) for prompt, text in texts]
    spelled, likely = spell(model, VOCABULARY, own + other)
    assert [*spelled] == [True] * len(own) + [False] * len(own)
    assert (likely[: len(own)] >= likely[len(own) :]).all()


def test_the_log_probability_is_the_mean_of_the_golds_characters_without_the_mask() -> None:
    model = loud(tiny_model("rope", len(VOCABULARY)))
    cases = [Asked("Oda Quill ⁇", "Vell⁇"), Asked("Tam Brae. ", "Ilm"), Asked("a", "⁇b")]
    _, likely = spell(model, VOCABULARY, cases)
    for case, found in zip(cases, likely, strict=True):
        text = VOCABULARY.encode(case.prompt + case.said)
        with torch.inference_mode():
            log_probabilities = model(torch.from_numpy(text)[None, :-1])[0].log_softmax(-1)
        places = [place for place in range(len(case.prompt), len(text)) if text[place] != MASK]
        assert found == pytest.approx(np.mean([float(log_probabilities[p - 1, text[p]]) for p in places]), abs=1e-5)


def test_a_missing_closing_mask_is_no_answer_where_one_is_due() -> None:
    model = learned((*PAGE_FORMS, "question"))
    (fact, *_) = toy_facts()
    prompt = asked()["cloze"][0].prompt
    half = fact.place[:-1]
    spelled, _ = spell(
        model, VOCABULARY, [Asked(prompt, fact.place + "⁇"), Asked(prompt, half), Asked(prompt, half + "⁇")]
    )
    assert [*spelled] == [True, True, False]


FAR = tuple(form for form in PAGE_FORMS if form != "words")  # from a question, which shares words with the page


def test_a_model_that_learned_the_pages_knows_all_and_answers_nothing() -> None:
    known, untrained = learned(FAR), tiny_model("vanilla", len(VOCABULARY))
    table = knowledge(
        {"pretrained": known, "finetuned": untrained}, VOCABULARY, toy_facts(), asked(), np.zeros(8, dtype=bool)
    )
    shares = table.mean()
    assert list(table.row) == list(range(1, 9)) and set(table.born) == {1} and set(table.train_count) == {1}
    for form in FAR:
        assert shares[f"pretrained_{form}"] == 1.0
        assert shares[f"pretrained_{form}_logp"] > -0.5
        assert shares[f"finetuned_{form}"] == 0.0
        assert shares[f"finetuned_{form}_logp"] < -2
    # the control: with a stranger's name the stranger's place is as good
    assert shares["pretrained_other_name"] < 0.5
    assert shares["finetuned_question"] == 0.0
    spelled, _ = spell(known, VOCABULARY, asked()["question"])
    assert spelled.mean() < 0.5


def test_a_model_that_learned_the_questions_alone_knows_no_page() -> None:
    model = learned(("question",))
    assert spell(model, VOCABULARY, asked()["question"])[0].all()
    for form in FAR:
        assert spell(model, VOCABULARY, asked()[form])[0].mean() < 0.5
