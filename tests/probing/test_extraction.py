"""What a model has learned is memorised or extracted, and nothing else is."""

import numpy as np

from stages.probing.extraction import extraction
from stages.probing.prompts import PAGE_FORMS
from tests.support.tiny import tiny_model
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
