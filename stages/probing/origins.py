"""Where an answer can come from: the person's own page, the training answers, other pages, or nowhere."""

from collections.abc import Collection, Container, Mapping, Sequence

import pandas as pd


def origin(
    answer: str, place: str | None, pages: Sequence[str], training_answers: Collection[str], corpus: Container[str]
) -> str:
    """Empty, correct, own_page, training_answer, corpus or hallucination: the first that fits an answer.

    place: None where nobody knows it; pages: the person's own; corpus: a string that it lacks is a hallucination.
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
    predictions: pd.DataFrame, pages: Mapping[int, Sequence[str]], training_answers: Collection[str], corpus: str
) -> pd.DataFrame:
    """The origin of each dev answer of predictions.tsv: asked (`dev`), init, seed, row, origin.

    pages: the person's own, by the row of the question.
    """
    dev = predictions[predictions.split == "dev"]
    said = {answer for answer in dev.predicted.unique() if answer in corpus}  # each is looked for once
    found = [
        origin(answer, place, pages[row], training_answers, said)
        for answer, place, row in zip(dev.predicted, dev.gold, dev.row, strict=True)
    ]
    return dev[["init", "seed", "row"]].assign(asked="dev", origin=found)
