"""The forms by hand, and as pretraining has them."""

from dataclasses import replace

import numpy as np
import pytest

from stages.asking.prompts import (
    PAGE_FORMS,
    Fact,
    Prompt,
    WordCue,
    cloze,
    continuation,
    dev_facts,
    infilling,
    page_prompts,
    question,
    trained_forms,
    words,
)
from stages.corpus.example import Examples
from stages.corpus.objectives import Mixture, corrupt
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.corpus.ragged import Ragged
from stages.corpus.titles import pages_about
from stages.settings.params import Objectives, PhraseCloze
from tests.support.tiny import SETTINGS
from tests.support.toy import OBJECTIVES

PAGE = "Ada. Ada was born in Ulm, Peru."
FACT = Fact(1, "Where was Ada born?", "Ada", PAGE, "Ulm", PAGE.index("Ulm"))
PREPARED = Prepared.of([PAGE], {"train": [], "dev": [], "test": []})
VOCABULARY = PREPARED.vocabulary
OF = {name: recipe.pretrain.objectives for name, recipe in SETTINGS.recipes.items()}
CONTEXT = 64
ANY = WordCue()


def sequence(examples: Examples) -> str:
    """The text that the only example was shifted from."""
    return VOCABULARY.decode(np.append(examples.inputs[0], examples.targets[0, -1])).rstrip("□")


def drawn(context: int, **objective: PhraseCloze) -> set[str]:
    """Texts that an objective makes of the page."""
    generator, mixture = np.random.default_rng(0), Mixture(PREPARED, Objectives.model_validate(objective), context)
    return {sequence(mixture.draw(np.array([0]), generator)) for _ in range(2000)}


def test_the_forms_by_hand() -> None:
    assert continuation(FACT, CONTEXT) == Prompt("Ada. Ada was born in ", "Ulm")
    assert cloze(FACT, "Ada", CONTEXT) == Prompt("Ada s born in ⁇", "Ulm⁇")
    assert words(FACT, "Ada", ANY, CONTEXT) == Prompt("Ada was born in⁇", "Ulm⁇")
    assert words(FACT, "Ada", WordCue(1), CONTEXT).text == "Ada in⁇"
    assert words(FACT, "Ada", WordCue(4, frozenset({"was", "in"})), CONTEXT).text == "Ada was in⁇"
    assert infilling(FACT, CONTEXT - 1) == Prompt("Ada. Ada was born in ⁇, Peru.⁇", "Ulm")
    assert question(FACT) == Prompt("Where was Ada born?⁇", "Ulm⁇")


@pytest.mark.parametrize("longest", [24, 63])
def test_infilling_is_span_corruption_with_the_place_as_its_span(longest: int) -> None:
    arguments = (0, min(longest, len(PAGE)), FACT.position, len(FACT.place))
    spans = corrupt(Ragged.of([VOCABULARY.encode(PAGE)]), *(np.array([number]) for number in arguments))
    asked = infilling(FACT, longest)
    assert asked.text + asked.target == sequence(spans)


def test_the_cloze_is_a_title_cloze() -> None:
    settings = OF["quick"].title_cloze
    assert settings is not None
    still = settings.model_copy(update={"mixture_weight": 1.0, "free_order": 0.0, "blanked_rows": 0.0})
    asked = cloze(FACT, "Ada", CONTEXT)
    assert asked.text + asked.target in drawn(CONTEXT, title_cloze=still)


@pytest.mark.parametrize("context", [CONTEXT, 20, 16])
def test_the_words_are_a_word_cloze_in_the_pages_order(context: int) -> None:
    settings = OF["open"].word_cloze
    assert settings is not None
    ordered = settings.model_copy(update={"mixture_weight": 1.0, "in_order": 1.0, "words_after": 0})
    asked = words(FACT, "Ada", ANY, context)
    assert asked.text + asked.target in drawn(context, word_cloze=ordered)


def test_words_from_before_a_training_answer_are_left_out_where_word_clozes_leave_them_out() -> None:
    page = "Ada. Ada was born in Ulm, at Urr."
    fact = replace(FACT, page=page, place="Urr", position=page.index("Urr"))
    assert words(fact, "Ada", ANY, CONTEXT).text == "Ada born in Ulm at⁇"
    assert words(fact, "Ada", replace(ANY, fences={page: [(21, 24), (29, 32)]}), CONTEXT).text == "Ada at⁇"


@pytest.mark.parametrize("context", [24, 20, 16])
def test_a_page_that_is_too_long_is_cut_from_the_left_and_place_and_all_fits(context: int) -> None:
    objectives = OBJECTIVES.model_copy(update={"span_corruption": None})
    for (asked,) in page_prompts([FACT], PAGE_FORMS, objectives, ANY, context).values():
        assert len(asked.text) + len(asked.target) <= context + 1
    prompt = continuation(FACT, context).text
    assert "Ada. Ada was born in ".endswith(prompt)
    assert len(prompt) == min(21, context + 1 - 3)
    assert infilling(FACT, 20) == Prompt(PAGE[4:21] + "⁇⁇", "Ulm")


def test_the_control_has_the_next_name_of_another_place_in_a_form_with_a_name() -> None:
    facts = [
        Fact(row, f"Where was {name} born?", name, f"{name}. {name} was born in {place}.", place, 2 * len(name) + 15)
        for row, (name, place) in enumerate([("Ada", "Ulm"), ("Bo", "Ulm"), ("Cy", "Oslo")], 1)
    ]
    asked = page_prompts(facts, PAGE_FORMS, OBJECTIVES, ANY, CONTEXT)
    assert [prompt.text for prompt in asked["other_name"]] == ["Cy s born in ⁇", "Cy s born in ⁇", "Ada s born in ⁇"]
    assert [prompt.target for prompt in asked["other_name"]] == ["Ulm⁇", "Ulm⁇", "Oslo⁇"]
    assert [*page_prompts(facts, ["infilling"], OBJECTIVES, ANY, CONTEXT)] == ["infilling"]


def test_which_forms_are_practised_follows_from_the_objectives() -> None:
    assert trained_forms(OF["handout"]) == ["continuation", "infilling"]
    assert trained_forms(OF["text"]) == ["continuation"]
    assert trained_forms(OF["own"]) == ["continuation", "cloze", "infilling"]
    assert trained_forms(OF["open"]) == ["cloze", "words"]
    assert WordCue.of(OF["handout"], PREPARED) == ANY  # no word clozes: any words


def test_a_fact_stands_in_the_persons_own_page() -> None:
    pages = [
        "J. Ray. J. Ray (born 1900 in Ulm) was a baker.",
        "Ada. A poet.",
        "Ada. Ada of Ulm died in Ulm.",
        "Bo. Bo sang.",
    ]
    names = ["J. Ray", "Bo", "Ada", "Nobody"]
    dev = [Question(row, f"Where was {name} born?", name, "Ulm") for row, name in enumerate(names, 1)]
    questions = {"train": [], "dev": dev, "test": []}
    prepared = Prepared.of(pages, questions)
    ray, ada = dev_facts(prepared, pages_about(pages, names))
    assert ray == Fact(1, "Where was J. Ray born?", "J. Ray", pages[0], "Ulm", pages[0].index("Ulm"))
    # the page of two that holds the place, its first mention
    assert (ada.row, ada.page, ada.position) == (3, pages[2], pages[2].index("Ulm"))
