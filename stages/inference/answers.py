"""A model's answers to the questions of a split."""

import pandas as pd

from stages.corpus.folding import spelled_as
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.inference.decoding import Pick
from stages.inference.generation import generate
from stages.model.gpt import GPT


def answers(
    model: GPT, prepared: Prepared, split: str, max_characters: int, by: Pick | int, any_spelling: bool = False
) -> pd.DataFrame:
    """A row a question of the split: row, gold, predicted, correct, probability of the whole answer.

    Correct is an exact match, as CS224N's assignment scores: the same characters, nothing more; with `any_spelling` an
    answer that counts as the gold one (see `folding`) stands in its spelling. Without gold answers, as of most tests,
    it is empty. by: as in `generate`.
    """
    asked, questions = prepared.of_split(split), prepared.questions[split]
    said = generate(model, [prompt(questions[row]) for row in range(len(questions))], max_characters, by)
    texts = [prepared.vocabulary.decode(each.tokens) for each in said]
    predicted = pd.Series(spelled_as(asked.place, texts) if any_spelling else texts, dtype=object)
    return pd.DataFrame(
        {
            "row": asked.row,
            "gold": asked.place,
            "predicted": predicted,
            "correct": (predicted == asked.place).astype(int) if asked.place.any() else "",
            "probability": [round(each.probability, 4) for each in said],
        }
    )
