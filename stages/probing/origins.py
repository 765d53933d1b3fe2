"""Where an answer can come from: the person's own page, the training answers, other pages, or nowhere.

Unseen entities are asked about, too: names that no page and no question has.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from itertools import islice, product

import numpy as np
import pandas as pd

from stages.corpus.question_forms import Form
from stages.corpus.vocabulary import Vocabulary
from stages.sources.world.lexicon import CULTURES

SEED = 2021  # of the names
COUNT = 200  # of the names, at most


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
    """Find the origin of each dev answer of predictions.tsv: asked (`dev`), init, seed, row, origin.

    pages: the person's own, by the row of the question.
    """
    dev = predictions[predictions.split == "dev"]
    in_corpus = {answer for answer in dev.predicted.unique() if answer in corpus}  # each is looked for once
    answered = zip(dev.predicted, dev.gold, dev.row, strict=True)
    origins = [origin(answer, place, pages[row], training_answers, in_corpus) for answer, place, row in answered]
    return dev[["init", "seed", "row"]].assign(asked="dev", origin=origins)


def unseen_names(vocabulary: Vocabulary, known: str, form: Form, context: int) -> list[str]:
    """At most COUNT names of the generated world's cultures, the same each time.

    None stands in the text `known`, the vocabulary has all characters, and the question leaves room for an answer.
    """
    names = []
    for culture in CULTURES.values():
        names += [f"{given} {family}" for given, family in product(culture.given, culture.family)]
    drawn = (names[number] for number in np.random.default_rng(SEED).permutation(len(names)))
    readable = (name for name in drawn if not vocabulary.unknown(name) and len(form.about(name)) + 2 <= context)
    return [*islice((name for name in readable if name not in known), COUNT)]
