"""How likely each phrase of a page is asked for, and that examples fit the context, whatever the cloze."""

from collections import Counter

import numpy as np
import pytest

from stages.corpus.example import PAD
from stages.corpus.objectives import Mixture
from stages.corpus.page import page
from stages.corpus.phrase_cloze import joined_by_comma
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.settings import Objectives
from tests.tiny import TITLE_CLOZE, WORD_CLOZE, spans

PAGES = ["Oda Quill. by Vell , Ilm and Urr .", *["Udo Fenn. to Ilm , Vell ."] * 3, *["Ida Rook. of Vell ."] * 12]
CLOZES = {"title_cloze": TITLE_CLOZE, "word_cloze": WORD_CLOZE}
DRAWS = 20_000


def asked(objective: str, **settings: float) -> Counter[str]:
    """What the first page is asked, so often of DRAWS; Vell answers a training question, Ilm one of dev, Urr none."""
    train, dev = (
        [Question(1, f"Where was {name} born?", name, place)] for name, place in (("Ada", "Vell"), ("Oda", "Ilm"))
    )
    prepared = Prepared.of(PAGES, {"train": train, "dev": dev, "test": []})
    settings_of_it = CLOZES[objective].model_copy(update=settings)
    mixture = Mixture(prepared, Objectives.model_validate({objective: settings_of_it}), context=64)
    examples = mixture.draw(np.zeros(DRAWS, dtype=np.int64), np.random.default_rng(0))
    return Counter(prepared.vocabulary.decode(targets[targets != PAD]).strip("⁇") for targets in examples.targets)


def assert_drawn_by(weights: dict[str, float], found: Counter[str]) -> None:
    assert set(found) == set(weights)
    for phrase, weight in weights.items():
        share = weight / sum(weights.values())
        assert found[phrase] == pytest.approx(DRAWS * share, abs=5 * (DRAWS * share * (1 - share)) ** 0.5)


@pytest.mark.parametrize(("rarity", "lone"), [(0.0, 1.0), (1.0, 0.1), (0.5, 0.5)])
@pytest.mark.parametrize("objective", CLOZES)
def test_phrases_are_drawn_by_the_number_of_pages_that_have_them(objective: str, rarity: float, lone: float) -> None:
    weights = {"Urr": lone, "Ilm": 4**-rarity, "Vell": 16**-rarity}
    assert_drawn_by(weights, asked(objective, rarity=rarity, lone=lone))


@pytest.mark.parametrize("answers", [0.5, 2.0])
@pytest.mark.parametrize("objective", CLOZES)
def test_answers_of_training_questions_have_their_own_weight_and_those_of_dev_do_not(
    objective: str, answers: float
) -> None:
    weights = {"Urr": 0.1, "Ilm": 4**-1.0, "Vell": answers}
    assert_drawn_by(weights, asked(objective, rarity=1.0, lone=0.1, answers=answers))


@pytest.mark.parametrize("objective", CLOZES)
def test_a_phrase_that_a_comma_joins_to_the_one_before_it_has_its_own_weight(objective: str) -> None:
    """Ilm follows Vell and a comma: in how many pages it is counts for nothing then."""
    weights = {"Urr": 0.1, "Ilm": 0.05, "Vell": 2.0}
    assert_drawn_by(weights, asked(objective, rarity=1.0, lone=0.1, answers=2.0, joined=0.05))


def test_only_a_comma_joins_two_phrases() -> None:
    text = "Oda. In Ulm , Peru, Chile,Rome, then Bern,\n Paris. Lima; Oslo"
    parts = page(text)
    joined = [
        text[slice(*phrase)] for phrase, each in zip(parts.phrases, joined_by_comma(text, parts), strict=True) if each
    ]
    assert joined == ["Peru", "Chile", "Rome", "Paris"]
    assert joined_by_comma("Oda. Ulm, Peru", page("Oda. Ulm, Peru")) == [False, True]


@pytest.mark.parametrize("context", [16, 24, 40])
@pytest.mark.parametrize(
    ("objective", "settings"),
    [("title_cloze", {"longest_context": 50}), ("word_cloze", {"most_words": 9, "words_before": 9})],
)
def test_examples_fit_the_context(objective: str, settings: dict[str, int], context: int) -> None:
    documents = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    chosen = Objectives.model_validate({objective: CLOZES[objective].model_copy(update=settings)})
    examples = Mixture(prepared, chosen, context).draw(np.arange(200) % 2, np.random.default_rng(0))
    assert examples.lengths.max() <= context


def test_a_mixture_draws_each_objective_by_its_weight() -> None:
    prepared = Prepared.of(["Oda Quill. born in Vell ."], {"train": [], "dev": [], "test": []})
    objectives = Objectives(
        span_corruption=spans(25, 25).model_copy(update={"mixture_weight": 0.2}),
        title_cloze=TITLE_CLOZE.model_copy(update={"mixture_weight": 0.5}),
        word_cloze=WORD_CLOZE.model_copy(update={"mixture_weight": 0.3}),
    )
    examples = Mixture(prepared, objectives, context=64).draw(np.zeros(6000, np.int64), np.random.default_rng(1))
    said = (examples.targets != PAD).sum(axis=1)  # ⁇Vell⁇ by title clozes, Vell⁇ by word clozes
    assert [np.mean(said > 6), np.mean(said == 6), np.mean(said == 5)] == pytest.approx([0.2, 0.5, 0.3], abs=0.03)
