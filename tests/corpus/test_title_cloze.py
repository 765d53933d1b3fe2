"""Title clozes: what an example looks like."""

import numpy as np
import pytest

from stages.corpus.example import MASK, PAD
from stages.corpus.objectives import Mixture
from stages.corpus.prepared import Prepared
from stages.corpus.title_cloze import TitleClozes
from stages.settings import Objectives, TitleCloze
from tests.tiny import TITLE_CLOZE, spans


def clozes(documents: list[str], settings: TitleCloze, context: int = 64) -> tuple[Prepared, TitleClozes]:
    prepared = Prepared.of(documents, {"train": [], "dev": [], "test": []})
    return prepared, TitleClozes(prepared, settings, context)


def test_golden_example_with_the_name_before_the_context():
    prepared, drawn = clozes(["Oda Quill. born in Vell ."], TITLE_CLOZE)
    decode = prepared.vocabulary.decode
    seen = set()
    for seed in range(200):
        examples = drawn.draw(np.array([0]), np.random.default_rng(seed))
        length = examples.lengths[0]
        seen.add(decode(examples.inputs[0, :length]))
        loss_mask = examples.targets[0] != PAD
        assert decode(examples.targets[0][loss_mask]) == "⁇Vell⁇"
    assert seen == {"Oda Quill⁇Vell"} | {f"Oda Quill {'born in '[-k:]}⁇Vell" for k in range(1, 9)}


def test_free_order_puts_the_name_anywhere_in_the_context_and_loses_no_character():
    settings = TITLE_CLOZE.model_copy(update={"free_order": 1.0})
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
    settings = TITLE_CLOZE.model_copy(update={"blanked_rows": 1.0, "blanked_characters": 1.0})
    prepared, drawn = clozes(["Oda Quill. born in Vell ."], settings)
    examples = drawn.draw(np.zeros(50, dtype=np.int64), np.random.default_rng(0))
    for inputs, length in zip(examples.inputs, examples.lengths, strict=True):
        text = prepared.vocabulary.decode(inputs[:length])
        assert text.startswith("Oda Quill")
        assert set(text[len("Oda Quill") : text.index("⁇")]) <= {" ", "□"}


@pytest.mark.parametrize("context", [16, 24, 40])
def test_examples_fit_the_context(context: int):
    documents = ["Oda Quill. She was born in " + "Vell" * 30 + " and lived in Ilm .", "A very long name indeed. x ."]
    _, drawn = clozes(documents, TITLE_CLOZE.model_copy(update={"longest_context": 50}), context)
    for seed in range(30):
        examples = drawn.draw(np.array([0]), np.random.default_rng(seed))
        assert examples.lengths.max() <= context


def test_a_mixture_draws_each_objective_by_its_share():
    prepared = Prepared.of(["Oda Quill. born in Vell ."] * 4, {"train": [], "dev": [], "test": []})
    objectives = Objectives(
        span_corruption=spans(25, 25).model_copy(update={"mixture_weight": 0.25}),
        title_cloze=TITLE_CLOZE.model_copy(update={"mixture_weight": 0.75}),
    )
    mixture = Mixture(prepared, objectives, context=64)
    examples = mixture.draw(np.zeros(4000, dtype=np.int64), np.random.default_rng(1))
    is_span = (examples.targets != PAD).sum(axis=1) > len("⁇Vell⁇")
    assert len(examples.inputs) == 4000
    assert is_span.mean() == pytest.approx(0.25, abs=0.03)
    assert ((examples.inputs == MASK).sum(axis=1) >= 1).all()
