"""What is known: every fact asked for in every form."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.facts import Fact
from stages.probing.forms import OTHER_NAME, PAGE_FORMS, QUESTION, Asked
from stages.probing.ranking import ranks
from stages.probing.spelling import spell

WEIGHTS = ("pretrained", "finetuned")


def knowledge(
    models: Mapping[str, GPT],
    vocabulary: Vocabulary,
    facts: Sequence[Fact],
    asked: Mapping[str, Sequence[Asked]],
    answered: np.ndarray,
) -> pd.DataFrame:
    """A row a fact: row, position, train_count, born, then outcome (0 or 1) and log-probability of each form.

    models: the weights of one training, before (`pretrained`) and after finetuning; asked: each form's prompts, in
    the order of the facts; answered (B,): whether the finetuned model's answer to the question is right.
    Columns are `<weights>_<form>` and `<weights>_<form>_logp`, the latter the mean of the place's characters in nats.
    """
    table = pd.DataFrame(
        {
            "row": [fact.row for fact in facts],
            "position": [fact.position for fact in facts],
            "train_count": [fact.train_count for fact in facts],
            "born": [int(fact.born) for fact in facts],
        }
    )
    columns = {}
    for weights in WEIGHTS:
        for form in (*PAGE_FORMS, OTHER_NAME):
            spelled, likely = spell(models[weights], vocabulary, asked[form])
            columns[f"{weights}_{form}"] = spelled.astype(int)
            columns[f"{weights}_{form}_logp"] = likely.round(4)
        spelled, likely = spell(models[weights], vocabulary, asked[QUESTION])
        columns[f"{weights}_{QUESTION}"] = (answered if weights == "finetuned" else spelled).astype(int)
        columns[f"{weights}_{QUESTION}_logp"] = likely.round(4)
    return table.assign(**columns)


def place_ranks(
    models: Mapping[str, GPT],
    vocabulary: Vocabulary,
    asked: Mapping[str, Sequence[Asked]],
    page_form: str,
    places: Collection[str],
) -> dict[str, np.ndarray]:
    """Columns `<weights>_page_rank` and `<weights>_question_rank`: each gold's rank among the places, in two forms.

    page_form: the form of the page in which they are ranked; others as in `knowledge`.
    """
    return {
        f"{weights}_{name}_rank": ranks(models[weights], vocabulary, asked[form], places)
        for weights in WEIGHTS
        for name, form in (("page", page_form), (QUESTION, QUESTION))
    }
