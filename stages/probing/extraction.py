"""What is memorised, and what of it a question extracts.

The two words are those of Allen-Zhu & Li 2023, "Physics of Language Models: Part 3.1, Knowledge Storage and Extraction"
(arXiv 2309.14316).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.exact_match import exact_matches
from stages.probing.facts import Fact
from stages.probing.forms import PAGE_FORMS, Prompt, question


def extraction(
    models: Mapping[str, GPT],
    vocabulary: Vocabulary,
    facts: Sequence[Fact],
    prompts: Mapping[str, Sequence[Prompt]],
    answered: np.ndarray,
) -> pd.DataFrame:
    """A row a fact: row, then 0 or 1 for each of `<weights>_<form>`, `<weights>_memorised` and `<weights>_extracted`.

    models: `pretrained` and `finetuned` of one training; prompts: the facts in each form; answered (B,): whether the
    finetuned model answers the question, which is *extracted*. *Memorised* is an exact match in any page form.
    """
    table = pd.DataFrame({"row": [fact.row for fact in facts]})
    pages = [form for form in prompts if form in PAGE_FORMS]
    for weights, model in models.items():
        for form, asked in prompts.items():
            table[f"{weights}_{form}"] = exact_matches(model, vocabulary, asked).astype(int)
        table[f"{weights}_memorised"] = table[[f"{weights}_{form}" for form in pages]].max(axis=1)
    asked = [question(fact) for fact in facts]
    table["pretrained_extracted"] = exact_matches(models["pretrained"], vocabulary, asked).astype(int)
    return table.assign(finetuned_extracted=answered.astype(int))
