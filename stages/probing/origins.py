"""Where an answer can come from: places of the training questions, the corpus, or nowhere."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from stages.corpus.prepared import Prepared
from stages.probing.facts import name_of

ORIGINS = ("train", "corpus", "nowhere", "nothing")
EXAMPLES = 5


def origin(answer: str, places: Collection[str], corpus: str) -> str:
    """`train` for an answer of the training questions, else `corpus` for a string of it, else `nowhere`.

    An empty answer is `nothing`.
    """
    if not answer:
        return "nothing"
    if answer in places:
        return "train"
    return "corpus" if answer in corpus else "nowhere"


def origins(predictions: pd.DataFrame, places: Collection[str], corpus: str) -> list[dict[str, Any]]:
    """Counts of origins for each way of training and split: of the wrong dev answers, and of all test answers.

    predictions: predictions.tsv, every cell a string. All seeds are counted together.
    """
    counts = []
    for init in ("scratch", "pretrained"):
        for split in ("dev", "test"):
            rows = predictions[(predictions.init == init) & (predictions.split == split) & (predictions.correct != "1")]
            found = Counter(origin(answer, places, corpus) for answer in rows.predicted)
            counts.append({"init": init, "split": split, "answers": len(rows), **{key: found[key] for key in ORIGINS}})
    return counts


def made_up(predictions: pd.DataFrame, prepared: Prepared, places: Collection[str], corpus: str) -> list[str]:
    """The most frequent pretrained answers that stand nowhere, the first by name among equals.

    Left out are those that hold a name or a gold place of the questions, so that the rest reveal nothing of them.
    """
    table = prepared.table
    held = {name_of(question) for question in table.question} | set(table.place) - {""}
    rows = predictions[(predictions.init == "pretrained") & (predictions.correct != "1")]
    counted = Counter(answer for answer in rows.predicted if origin(answer, places, corpus) == "nowhere")
    ordered = sorted(counted, key=lambda answer: (-counted[answer], answer))
    free = (answer for answer in ordered if not any(text in answer for text in held))
    return [answer for answer, _ in zip(free, range(EXAMPLES), strict=False)]


def corpus_text(documents: Sequence[str]) -> str:
    """The corpus as one text, a document a line."""
    return "\n".join(documents)
