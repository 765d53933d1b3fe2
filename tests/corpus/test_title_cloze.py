"""Title clozes: what an example looks like."""

import numpy as np

from stages.corpus.example import PAD
from stages.corpus.prepared import Prepared
from stages.corpus.title_cloze import TitleClozes
from tests.tiny import TITLE_CLOZE


def drawn(**settings: float) -> set[tuple[str, str]]:
    """What is read and what is to be said in 300 examples of one page."""
    prepared = Prepared.of(["Oda Quill. born in Vell ."], {"train": [], "dev": [], "test": []})
    clozes = TitleClozes(prepared, TITLE_CLOZE.model_copy(update=settings), 64)
    examples = clozes.draw(np.zeros(300, np.int64), np.random.default_rng(0))
    decode = prepared.vocabulary.decode
    return {
        (decode(inputs[:length]), decode(targets[targets != PAD]))
        for inputs, targets, length in zip(examples.inputs, examples.targets, examples.lengths, strict=True)
    }


def test_golden_examples_with_the_name_before_the_context() -> None:
    read = {"Oda Quill⁇Vell"} | {f"Oda Quill {'born in '[-k:]}⁇Vell" for k in range(1, 9)}
    assert drawn() == {(each, "⁇Vell⁇") for each in read}


def test_free_order_puts_the_name_anywhere_in_the_context_and_loses_no_character() -> None:
    starts = set()
    for read, said in drawn(free_order=1.0):
        cue = read.partition("⁇")[0]
        assert cue.count("Oda Quill") == 1 and said == "⁇Vell⁇"
        assert "bornin".endswith(cue.replace("Oda Quill", "").replace(" ", ""))
        starts.add(cue.index("Oda Quill"))
    assert len(starts) > 5


def test_blanked_characters_are_pad_and_only_in_the_context() -> None:
    for read, said in drawn(blanked_rows=1.0, blanked_characters=1.0):
        assert read.startswith("Oda Quill") and read.endswith("⁇Vell") and said == "⁇Vell⁇"
        assert set(read[len("Oda Quill") : read.index("⁇")]) <= {" ", "□"}
    assert any(
        "□" in read and "n" in read.partition(" ")[2] for read, _ in drawn(blanked_rows=1.0, blanked_characters=0.5)
    )
