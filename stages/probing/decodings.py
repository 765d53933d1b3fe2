"""Ways to answer: the same questions by greedy decoding, by a beam, and by a draw."""

import numpy as np
import pandas as pd

from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.inference.decoding import Pick, Sampler, greedy
from stages.inference.generation import generate
from stages.model.gpt import GPT

BEAM = 4
SEED = 1  # of the draws


def by_decoding(model: GPT, prepared: Prepared, max_characters: int) -> pd.DataFrame:
    """A row for each dev question: row, and for `greedy`, `beam` and `draw` <it>, 0 or 1, and <it>_probability.

    A draw is from the model's own distribution. The probability is that of the whole answer.
    """
    asked, questions = prepared.of_split("dev"), prepared.questions["dev"]
    prompts = [prompt(questions[row]) for row in range(len(questions))]
    ways: dict[str, Pick | int] = {"greedy": greedy, "beam": BEAM, "draw": Sampler(SEED)}
    table = {"row": asked.row}
    for name, by in ways.items():
        said = generate(model, prompts, max_characters, by)
        predicted = np.array([prepared.vocabulary.decode(each.tokens) for each in said], dtype=object)
        table[name] = (asked.place == predicted).astype(int)
        table[f"{name}_probability"] = pd.Series([round(each.probability, 4) for each in said])
    return pd.DataFrame(table)
