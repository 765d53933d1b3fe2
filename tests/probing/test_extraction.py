"""What a model has learned is memorised or extracted, and nothing else is."""

import numpy as np

from stages.probing.extraction import extraction
from stages.probing.forms import PAGE_FORMS
from tests.probing.toy import learned, toy_facts, toy_prepared, toy_prompts
from tests.tiny import tiny_model

VOCABULARY = toy_prepared().vocabulary
FAR = tuple(form for form in PAGE_FORMS if form != "words")  # from a question, which shares words with the page


def test_a_model_that_learned_the_pages_has_memorised_all_and_extracts_nothing() -> None:
    models = {"pretrained": learned(FAR), "finetuned": tiny_model("vanilla", len(VOCABULARY))}
    prompts = {form: toy_prompts()[form] for form in (*FAR, "other_name")}
    answered = np.arange(8) < 3
    table = extraction(models, VOCABULARY, toy_facts(), prompts, answered)
    assert list(table.row) == list(range(1, 9))
    for form in (*FAR, "memorised"):
        assert table[f"pretrained_{form}"].all() and not table[f"finetuned_{form}"].any()
    # the control: with a stranger's name the stranger's place is as good
    assert table.pretrained_other_name.mean() < 0.5
    assert table.pretrained_extracted.mean() < 0.5
    assert table.finetuned_extracted.tolist() == answered.astype(int).tolist()  # as the evaluation has it


def test_memorised_is_what_matches_in_any_page_form_and_in_no_control() -> None:
    prompts = toy_prompts()
    known = extraction(
        dict.fromkeys(("pretrained", "finetuned"), learned(("cloze",))),
        VOCABULARY,
        toy_facts(),
        # the stranger's prompts are those that this model knows
        {"cloze": prompts["cloze"][:4] + prompts["continuation"][4:], "other_name": prompts["cloze"]},
        np.zeros(8),
    )
    assert known.pretrained_other_name.all()
    assert known.pretrained_memorised.tolist() == known.pretrained_cloze.tolist()
    assert known.pretrained_memorised[:4].all() and not known.pretrained_memorised[4:].all()
