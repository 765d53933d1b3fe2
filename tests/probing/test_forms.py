"""The forms by hand, and as pretraining has them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from stages.corpus.example import Examples
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.span_corruption import corrupt
from stages.corpus.title_cloze import TitleClozes
from stages.corpus.vocabulary import Vocabulary
from stages.corpus.word_cloze import WordClozes
from stages.probing.facts import Fact
from stages.probing.forms import (
    Asked,
    WordCue,
    asked_in_all_forms,
    cloze,
    continuation,
    control_form,
    infilling,
    question,
    trained_forms,
    words,
)
from stages.settings import Objectives
from tests.probing.toy import OBJECTIVES
from tests.tiny import SETTINGS

PAGE = "Ada. Ada was born in Ulm, Peru."
FACT = Fact(1, "Ada", PAGE, "Ulm", PAGE.index("Ulm"), 3)
VOCABULARY = Vocabulary.of([PAGE, "Where was Ada born?"])
CONTEXT = 64
ANY = WordCue(4, 4, None)


def sequences(examples: Examples) -> list[str]:
    """The sequences that examples were shifted from."""
    whole = np.concatenate([examples.inputs, examples.targets[:, -1:]], axis=1)
    return [VOCABULARY.decode(row).rstrip("□") for row in whole]


def test_the_forms_by_hand() -> None:
    assert continuation(FACT, CONTEXT) == Asked("Ada. Ada was born in ", "Ulm")
    assert cloze(FACT, "Ada", 10, CONTEXT) == Asked("Ada s born in ⁇", "Ulm⁇")
    assert words(FACT, "Ada", ANY, CONTEXT) == Asked("Ada was born in⁇", "Ulm⁇")
    assert words(FACT, "Bo", WordCue(4, 2, None), CONTEXT) == Asked("Bo born in⁇", "Ulm⁇")
    assert words(FACT, "Ada", WordCue(4, 0, None), CONTEXT) == Asked("Ada⁇", "Ulm⁇")
    assert words(FACT, "Ada", WordCue(2, 4, None), CONTEXT) == Asked("Ada born in⁇", "Ulm⁇")
    assert words(FACT, "Ada", WordCue(4, 4, frozenset({"was", "in"})), CONTEXT) == Asked("Ada was in⁇", "Ulm⁇")
    assert infilling(FACT, CONTEXT - 1) == Asked("Ada. Ada was born in ⁇, Peru.⁇", "Ulm")
    assert question(FACT) == Asked("Where was Ada born?⁇", "Ulm⁇")


def test_infilling_is_span_corruption_with_the_place_as_its_span() -> None:
    for longest in (24, 27, 31, 63):
        length = min(longest, len(PAGE))
        documents = Ragged.of([VOCABULARY.encode(PAGE)])
        arguments = [np.array([number]) for number in (0, length, FACT.position, len(FACT.place))]
        (drawn,) = sequences(corrupt(documents, *arguments))
        asked = infilling(FACT, longest)
        assert asked.prompt + asked.said == drawn


def test_the_cloze_is_a_title_cloze_of_that_context() -> None:
    settings = SETTINGS.recipes["quick"].pretrain.objectives.title_cloze
    assert settings is not None
    still = settings.model_copy(update={"free_order": 0.0, "blanked_rows": 0.0, "longest_context": 20})
    prepared = Prepared.of([PAGE], {"train": [], "dev": [], "test": []})
    clozes = TitleClozes(prepared, still, CONTEXT)
    generator = np.random.default_rng(0)
    drawn = {
        prepared.vocabulary.decode(np.append(batch.inputs[0], batch.targets[0, -1]))
        for batch in (clozes.draw(np.array([0]), generator) for _ in range(300))
    }
    for cue in (0, 1, 10, 16, 40):  # the last is more than there is
        asked = cloze(FACT, "Ada", cue, CONTEXT)
        assert asked.prompt + asked.said in drawn


def test_the_words_are_a_word_cloze_in_the_pages_order() -> None:
    settings = SETTINGS.recipes["open"].pretrain.objectives.word_cloze
    assert settings is not None
    ordered = settings.model_copy(update={"in_order": 1.0, "words_after": 0})
    prepared = Prepared.of([PAGE], {"train": [], "dev": [], "test": []})
    for context in (CONTEXT, 20, 16):
        clozes = WordClozes(prepared, ordered, context)
        generator = np.random.default_rng(0)
        drawn = {
            prepared.vocabulary.decode(np.append(batch.inputs[0], batch.targets[0, -1]))
            for batch in (clozes.draw(np.array([0]), generator) for _ in range(2000))
        }
        asked = words(FACT, "Ada", ANY, context)
        assert asked.prompt + asked.said in drawn


def test_words_from_before_a_training_answer_are_left_out_where_word_clozes_leave_them_out() -> None:
    page = "Ada. Ada was born in Ulm, at Urr."
    fact = replace(FACT, page=page, place="Urr", position=page.index("Urr"))
    assert words(fact, "Ada", ANY, CONTEXT).prompt == "Ada born in Ulm at⁇"
    assert words(fact, "Ada", replace(ANY, fencing=frozenset({"Ulm", "Urr"})), CONTEXT).prompt == "Ada at⁇"


@pytest.mark.parametrize("context", [24, 20, 16])
def test_a_page_that_is_too_long_is_cut_from_the_left_and_place_and_all_fits(context: int) -> None:
    forms = (
        continuation(FACT, context),
        infilling(FACT, context - 1),
        cloze(FACT, "Ada", 10, context),
        words(FACT, "Ada", ANY, context),
    )
    for asked in forms:
        assert len(asked.prompt) + len(asked.said) <= context + 1
    prompt = continuation(FACT, context).prompt
    assert "Ada. Ada was born in ".endswith(prompt)
    assert len(prompt) == min(21, context + 1 - 3)
    assert infilling(FACT, 20) == Asked(PAGE[4:21] + "⁇⁇", "Ulm")


def test_the_control_has_the_next_name_of_another_place() -> None:
    facts = [
        Fact(row, name, f"{name}. {name} was born in {place}.", place, 2 * len(name) + 15, 0)
        for row, (name, place) in enumerate([("Ada", "Ulm"), ("Bo", "Ulm"), ("Cy", "Oslo")], 1)
    ]
    asked = asked_in_all_forms(facts, OBJECTIVES, 8, ANY, CONTEXT)
    assert [each.prompt for each in asked["other_name"]] == ["Cy born in ⁇", "Cy born in ⁇", "Ada born in ⁇"]
    assert [each.prompt for each in asked["cloze"]] == ["Ada born in ⁇", "Bo born in ⁇", "Cy born in ⁇"]
    assert [each.said for each in asked["other_name"]] == ["Ulm⁇", "Ulm⁇", "Oslo⁇"]


def test_infilling_sees_as_much_of_a_page_as_the_recipes_span_corruption() -> None:
    spans = OBJECTIVES.span_corruption
    assert spans is not None
    short = OBJECTIVES.model_copy(update={"span_corruption": spans.model_copy(update={"longest_document": 26})})
    (asked,) = asked_in_all_forms([FACT], short, 10, ANY, CONTEXT)["infilling"]
    assert asked.prompt == "Ada. Ada was born in ⁇, ⁇"


def test_which_forms_are_practised_follows_from_the_objectives() -> None:
    of = {name: recipe.pretrain.objectives for name, recipe in SETTINGS.recipes.items()}
    assert trained_forms(of["handout"]) == ["continuation", "infilling"]
    assert trained_forms(of["text"]) == ["continuation"]
    assert trained_forms(of["quick"]) == ["continuation", "cloze", "infilling"]
    cloze_settings = of["quick"].title_cloze
    assert cloze_settings is not None
    alone = Objectives(title_cloze=cloze_settings.model_copy(update={"mixture_weight": 1.0}))
    assert trained_forms(alone) == ["cloze"]
    word_settings = of["open"].word_cloze
    assert word_settings is not None
    assert trained_forms(Objectives(word_cloze=word_settings.model_copy(update={"mixture_weight": 1.0}))) == ["words"]


def test_the_control_is_in_a_form_that_is_practised_and_has_no_more_words_than_are() -> None:
    of = {name: recipe.pretrain.objectives for name, recipe in SETTINGS.recipes.items()}
    reach = of["open"].word_cloze
    assert reach is not None
    alone = Objectives(word_cloze=reach.model_copy(update={"mixture_weight": 1.0}))
    assert [control_form(each) for each in (of["handout"], of["quick"], alone)] == ["cloze", "cloze", "words"]
    facts = [
        Fact(row, name, f"{name}. {name} was born in {place}.", place, 2 * len(name) + 15, 0)
        for row, (name, place) in enumerate([("Ada", "Ulm"), ("Bo", "Oslo")], 1)
    ]

    def cue(objectives: Objectives, pages: Sequence[str] = (PAGE,)) -> WordCue:
        return WordCue.of(objectives, pages, frozenset())

    asked = asked_in_all_forms(facts, alone, 8, cue(alone), CONTEXT)
    assert [each.prompt for each in asked["other_name"]] == ["Bo was born in⁇", "Ada was born in⁇"]
    assert cue(alone).most == 4 == cue(of["handout"]).most
    few = Objectives(word_cloze=reach.model_copy(update={"mixture_weight": 1.0, "words_before": 1}))
    assert asked_in_all_forms(facts, few, 8, cue(few), CONTEXT)["words"][0].prompt == "Ada in⁇"
    common = Objectives(word_cloze=reach.model_copy(update={"mixture_weight": 1.0, "common_words": 2}))
    pages = [PAGE, "Bo. Bo was here in Oslo.", "Cy. Cy was in Rome."]
    assert asked_in_all_forms(facts, common, 8, cue(common, pages), CONTEXT)["words"][0].prompt == "Ada was in⁇"
