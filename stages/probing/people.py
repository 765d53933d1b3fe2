"""People the model never saw: invented names, and what is answered about them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from stages.corpus.questions import prompt
from stages.corpus.vocabulary import Vocabulary
from stages.inference.generation import answer
from stages.model.gpt import GPT
from stages.settings import Generation
from stages.sources.world.names import CULTURES


def question_about(name: str) -> str:
    """The question about a name."""
    return f"Where was {name} born?"


def invented_names(vocabulary: Vocabulary, known: str, count: int, seed: int, context: int) -> pd.DataFrame:
    """At most `count` names of each naming culture: columns culture, name.

    Given and family names are drawn from those of the generated world. None of the names stands in the text `known`,
    the vocabulary has all of their characters, and the question leaves room for an answer in the context.
    """
    random = np.random.default_rng(seed)
    rows = []
    for key, culture in CULTURES.items():
        names = [f"{given} {family}" for given in culture.given_names() for family in culture.family_names()]
        fitting = (
            name
            for name in (names[place] for place in random.permutation(len(names)))
            if not vocabulary.unknown(name) and name not in known and len(question_about(name)) + 2 <= context
        )
        rows += [(key, name) for name, _ in zip(fitting, range(count), strict=False)]
    return pd.DataFrame(rows, columns=["culture", "name"])


def answers(model: GPT, vocabulary: Vocabulary, names: Sequence[str], decoding: Generation) -> pd.DataFrame:
    """What a finetuned model answers about each name: columns answer, probability."""
    said = answer(model, [prompt(vocabulary.encode(question_about(name))) for name in names], decoding)
    return pd.DataFrame(
        {
            "answer": [vocabulary.decode(each.tokens) for each in said],
            "probability": [round(each.probability, 4) for each in said],
        }
    )
