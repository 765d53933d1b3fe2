"""Title clozes: what is taken for a name and a phrase, and what an example looks like."""

import numpy as np
import pytest

from stages.corpus.example import MASK, PAD
from stages.corpus.objectives import Mixture
from stages.corpus.page import Page, page
from stages.corpus.prepared import Prepared
from stages.corpus.title_cloze import TitleClozes
from stages.settings import Objectives, TitleCloze
from tests.tiny import spans

PLAIN = TitleCloze(share=1.0, longest_context=10, free_order=0.0, blanked_rows=0.0, blanked_characters=0.0)


def phrases(document: str) -> list[str]:
    return [document[start:end] for start, end in page(document).phrases]


def clozes(documents: list[str], settings: TitleCloze, context: int = 64) -> tuple[Prepared, TitleClozes]:
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    return prepared, TitleClozes(prepared.documents, prepared.vocabulary, settings, context)


def test_the_heading_ends_at_the_first_full_stop_that_closes_no_initial():
    for name in ("Oda Quill", "Tam B. Brae", "J. R. Senn", "Ivo Senn Jr. Dahl", "Žofie Ark"):
        assert page(f"{name}. A painter .").heading == len(name)


def test_phrases_are_runs_of_capitalised_words_that_are_not_the_name():
    document = "Oda Quill. Oda Quill (born 3 May 1900 in New Vell, Ilm) studied in Østby's Hall ."
    assert phrases(document) == ["May", "New Vell", "Ilm", "Østby's Hall"]


def test_a_page_without_capitals_offers_each_word():
    assert phrases("Oda Quill. a painter of birds .") == ["a", "painter", "of", "birds"]


def test_a_page_without_words_has_no_phrase():
    assert page("1900.") == Page(heading=0, phrases=())


def test_golden_example_with_the_name_before_the_context():
    prepared, drawn = clozes(["Oda Quill. born in Vell ."], PLAIN)
    decode = prepared.vocabulary.decode
    seen = set()
    for seed in range(200):
        examples = drawn.draw(np.array([0]), np.random.default_rng(seed))
        length = examples.lengths[0]
        seen.add(decode(examples.inputs[0, :length]))
        wanted = examples.targets[0] != PAD
        assert decode(examples.targets[0][wanted]) == "⁇Vell⁇"
    assert seen == {"Oda Quill⁇Vell"} | {f"Oda Quill {'born in '[-k:]}⁇Vell" for k in range(1, 9)}


def test_free_order_puts_the_name_anywhere_in_the_context_and_loses_no_character():
    settings = PLAIN.model_copy(update={"free_order": 1.0})
    prepared, drawn = clozes(["Oda Quill. born in Vell ."], settings)
    starts = set()
    for seed in range(300):
        examples = drawn.draw(np.array([0]), np.random.default_rng(seed))
        cue = prepared.vocabulary.decode(examples.inputs[0, : examples.lengths[0]]).partition("⁇")[0]
        assert cue.count("Oda Quill") == 1
        starts.add(cue.index("Oda Quill"))
        rest = cue.replace("Oda Quill", "").replace(" ", "")
        assert "bornin".endswith(rest)
    assert len(starts) > 5


def test_blanked_characters_are_pad_and_only_in_the_context():
    settings = PLAIN.model_copy(update={"blanked_rows": 1.0, "blanked_characters": 1.0})
    prepared, drawn = clozes(["Oda Quill. born in Vell ."], settings)
    examples = drawn.draw(np.zeros(50, dtype=np.int64), np.random.default_rng(0))
    for inputs, length in zip(examples.inputs, examples.lengths, strict=True):
        text = prepared.vocabulary.decode(inputs[:length])
        assert text.startswith("Oda Quill")
        assert set(text[len("Oda Quill") : text.index("⁇")]) <= {" ", "□"}


@pytest.mark.parametrize("context", [16, 24, 40])
def test_examples_fit_the_context(context: int):
    documents = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    _, drawn = clozes(documents, PLAIN.model_copy(update={"longest_context": 50}), context)
    for seed in range(30):
        examples = drawn.draw(np.array([0]), np.random.default_rng(seed))
        assert examples.lengths.max() <= context


def test_a_mixture_draws_each_objective_by_its_share():
    prepared = Prepared.of(["Oda Quill. born in Vell ."] * 4, {"train": [], "dev": [], "test": []})
    objectives = Objectives(
        span_corruption=spans(25, 25).model_copy(update={"share": 0.25}),
        title_cloze=PLAIN.model_copy(update={"share": 0.75}),
    )
    mixture = Mixture(prepared, objectives, context=64)
    examples = mixture.draw(np.zeros(4000, dtype=np.int64), np.random.default_rng(1))
    is_span = (examples.targets != PAD).sum(axis=1) > len("⁇Vell⁇")
    assert len(examples.inputs) == 4000
    assert is_span.mean() == pytest.approx(0.25, abs=0.03)
    assert ((examples.inputs == MASK).sum(axis=1) >= 1).all()
