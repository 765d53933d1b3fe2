"""Unseen entities: names that no page and no question has, and what is answered about them."""

from collections.abc import Sequence

import numpy as np

from stages.corpus.questions import prompt
from stages.corpus.vocabulary import Vocabulary
from stages.inference.generation import answer
from stages.model.gpt import GPT
from stages.settings import Generation
from stages.sources.forms import Form
from stages.sources.world.lexicon import CULTURES

SEED = 2021  # of the names
COUNT = 200  # at most


def unseen_names(vocabulary: Vocabulary, known: str, form: Form, context: int, count: int = COUNT) -> list[str]:
    """At most `count` names of the generated world's cultures, the same each time.

    None stands in the text `known`, the vocabulary has all characters, and the question leaves room for an answer.
    """
    names = [
        f"{given} {family}" for culture in CULTURES.values() for given in culture.given for family in culture.family
    ]
    fitting = (
        name
        for name in (names[number] for number in np.random.default_rng(SEED).permutation(len(names)))
        if not vocabulary.unknown(name) and name not in known and len(form.about(name)) + 2 <= context
    )
    return [name for name, _ in zip(fitting, range(count), strict=False)]


def answers_about(
    model: GPT, vocabulary: Vocabulary, names: Sequence[str], form: Form, decoding: Generation
) -> list[str]:
    """What a finetuned model answers about each name."""
    said = answer(model, [prompt(vocabulary.encode(form.about(name))) for name in names], decoding)
    return [vocabulary.decode(each.tokens) for each in said]
