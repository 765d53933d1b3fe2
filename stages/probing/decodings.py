"""Ways to answer: the same questions by greedy decoding, by a beam, and by a draw."""

import numpy as np
import pandas as pd

from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.inference.decoding import Sampler, Sampling
from stages.inference.generation import beam_search, generate
from stages.model.gpt import GPT

BEAM = 4
SEED = 1  # of the draws


def by_decoding(model: GPT, prepared: Prepared, max_characters: int) -> pd.DataFrame:
    """A row for each dev question: row, and for `greedy`, `beam` and `draw` <it>, 0 or 1, and <it>_probability.

    A draw is from the model's own distribution. The probability is that of the whole answer.
    """
    asked, questions = prepared.of_split("dev"), prepared.questions["dev"]
    prompts = [prompt(questions[row]) for row in range(len(questions))]
    answers = {
        "greedy": generate(model, prompts, max_characters),
        "beam": [best for best, *_ in beam_search(model, prompts, max_characters, BEAM)],
        "draw": generate(model, prompts, max_characters, Sampler(Sampling(), SEED)),
    }
    table = {"row": asked.row}
    for name, said in answers.items():
        predicted = np.array([prepared.vocabulary.decode(each.tokens) for each in said], dtype=object)
        table[name] = (asked.place == predicted).astype(int)
        table[f"{name}_probability"] = pd.Series([round(each.probability, 4) for each in said])
    return pd.DataFrame(table)
