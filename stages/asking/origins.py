"""Where answers come from: the person's own page, the training answers, other pages, or nowhere.

Asked are dev, and unseen entities: names that no page and no question has.
"""

from collections.abc import Collection, Container, Mapping, Sequence
from itertools import islice, product

import numpy as np
import pandas as pd

from stages.asking.generation import generate
from stages.corpus.prepared import Prepared
from stages.corpus.questions import Form, question_prompt
from stages.corpus.text import Vocabulary
from stages.model.gpt import GPT
from stages.settings.params import QuestionRecipe
from stages.sources.world.people import CULTURES

SEED = 2021  # of the unseen names
COUNT = 200  # most unseen names


def origin(
    answer: str, place: str | None, pages: Sequence[str], training_answers: Collection[str], corpus: Container[str]
) -> str:
    """Return the first that fits: empty, correct, own_page, training_answer, corpus or hallucination.

    place: the gold answer, if known; pages: the person's own; corpus: an answer that it lacks is a hallucination.
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
    """Return the origin of each dev answer of predictions.tsv: init, row, asked (`dev`), origin.

    pages: the person's own, by the row of the question.
    """
    dev = predictions[predictions.split == "dev"]
    in_corpus = {answer for answer in dev.predicted.unique() if answer in corpus}  # each is looked for once
    answered = zip(dev.predicted, dev.gold, dev.row, strict=True)
    origins = [origin(answer, place, pages[row], training_answers, in_corpus) for answer, place, row in answered]
    return dev[["init", "row"]].assign(asked="dev", origin=origins)


def unseen_names(vocabulary: Vocabulary, known: str, form: Form, context: int) -> list[str]:
    """Draw at most COUNT names of the generated world's cultures, the same each time.

    The text `known` has none of them, the vocabulary has all characters, and their questions leave room to answer.
    """
    names = []
    for culture in CULTURES.values():
        names += [f"{given} {family}" for given, family in product(culture.given, culture.family)]
    drawn = (names[number] for number in np.random.default_rng(SEED).permutation(len(names)))
    readable = (name for name in drawn if not vocabulary.unknown(name) and len(form.about(name)) + 2 <= context)
    return [*islice((name for name in readable if name not in known), COUNT)]


def unseen_origins(model: GPT, prepared: Prepared, recipe: QuestionRecipe, corpus: str) -> pd.DataFrame:
    """Return the origin of each answer to a question about an unseen name: init, row, asked (`unseen`), origin."""
    form = prepared.question_forms[0]
    known = "\n".join([corpus, *prepared.table.question])
    names = unseen_names(prepared.vocabulary, known, form, recipe.model.context)
    questions = [question_prompt(prepared.vocabulary.encode(form.about(name))) for name in names]
    said = generate(model, questions, recipe.generation.max_characters)
    texts = [prepared.vocabulary.decode(answer.tokens) for answer in said]
    origins = [origin(answer, None, (), prepared.training_answers, corpus) for answer in texts]
    return pd.DataFrame({"init": "pretrained", "row": range(1, len(said) + 1), "asked": "unseen", "origin": origins})
