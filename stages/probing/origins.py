"""Where an answer can come from: the person's own page, the training answers, other pages, or nowhere."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from stages.probing.facts import name_of

ORIGINS = ("correct", "own_page", "training_answer", "corpus", "hallucination", "empty")


def origin(answer: str, place: str | None, pages: Sequence[str], training_answers: Collection[str], corpus: str) -> str:
    """The first of `ORIGINS` that fits an answer.

    correct: it is the place; own_page: another string of the person's own pages; training_answer: the answer of a
    training question; corpus: another string of the corpus; hallucination: a string that stands nowhere in it.
    place: None where nobody knows it.
    """
    if not answer:
        return "empty"
    if answer == place:
        return "correct"
    if any(answer in page for page in pages):
        return "own_page"
    if answer in training_answers:
        return "training_answer"
    return "corpus" if answer in corpus else "hallucination"


def dev_origins(
    predictions: pd.DataFrame, pages: Mapping[str, Sequence[str]], training_answers: Collection[str], corpus: str
) -> pd.DataFrame:
    """The origin of each dev answer: asked (`dev`), init, seed, row, origin.

    predictions: predictions.tsv, every cell a string; pages: the documents about each name.
    """
    dev = predictions[predictions.split == "dev"]
    found = [
        origin(answer, place, pages.get(name_of(question), ()), training_answers, corpus)
        for answer, place, question in zip(dev.predicted, dev.gold, dev.question, strict=True)
    ]
    return dev[["init", "seed", "row"]].assign(asked="dev", origin=found)


def corpus_text(documents: Sequence[str]) -> str:
    """The corpus as one text, a document a line."""
    return "\n".join(documents)
