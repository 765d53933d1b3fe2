"""Ways to answer the questions: by greedy decoding, by a beam, and by a draw."""

import pandas as pd

from stages.corpus.prepared import Prepared
from stages.inference.answers import answers
from stages.inference.decoding import Pick, Sampler, greedy
from stages.model.gpt import GPT
from stages.settings import QuestionRecipe

BEAM = 4
SEED = 1  # of the draws


def by_decoding(model: GPT, prepared: Prepared, recipe: QuestionRecipe) -> pd.DataFrame:
    """Answer each dev question: row, and for `greedy`, `beam` and `draw` <it>, 0 or 1, and <it>_probability.

    A draw is from the model's own distribution.
    """
    ways: dict[str, Pick | int] = {"greedy": greedy, "beam": BEAM, "draw": Sampler(SEED)}
    table = pd.DataFrame({"row": prepared.of_split("dev").row})
    for name, by in ways.items():
        answered = answers(model, prepared, "dev", recipe, by)
        table[name], table[f"{name}_probability"] = answered.correct, answered.probability
    return table
