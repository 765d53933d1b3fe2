"""A model's answers to the questions of a split."""

import pandas as pd

from stages.corpus.folding import spelled_as
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.inference.generation import generate
from stages.model.gpt import GPT
from stages.settings import QuestionRecipe


def answers(model: GPT, prepared: Prepared, split: str, recipe: QuestionRecipe) -> pd.DataFrame:
    """Return greedy answers to a split's questions: row, gold, predicted, correct, probability of the whole answer.

    Correct is an exact match, as CS224N's assignment scores: the same characters, nothing more. Where the recipe allows
    any spelling, an answer that counts as the gold one (see `folding`) stands in its spelling. Without gold answers, as
    in most tests, `correct` is empty.
    """
    asked = prepared.of_split(split)
    questions = prepared.questions[split]
    prompts = [prompt(questions[row]) for row in range(len(questions))]
    continuations = generate(model, prompts, recipe.generation.max_characters)
    texts = [prepared.vocabulary.decode(continuation.tokens) for continuation in continuations]
    predicted = pd.Series(spelled_as(asked.place, texts) if recipe.any_spelling else texts, dtype=object)
    return pd.DataFrame(
        {
            "row": asked.row,
            "gold": asked.place,
            "predicted": predicted,
            "correct": (predicted == asked.place).astype(int) if asked.place.any() else "",
            "probability": [round(continuation.probability, 4) for continuation in continuations],
        }
    )
