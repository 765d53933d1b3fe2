"""Prefix offset: pages up to the place, with the last characters of a question's opening before them.

At offset 10 the name is where a question has it, and everything else is in the page's words::

    Ada. Ada was born in                 Ulm        offset 0: form `continuation`
     Ada. Ada was born in                Ulm        1
    Where was Ada. Ada was born in       Ulm        10
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.exact_match import exact_matches
from stages.probing.facts import Fact
from stages.probing.forms import Prompt

OPENING = "Where was "
OFFSETS = (0, 1, len(OPENING))


def offset_prompt(fact: Fact, offset: int) -> Prompt:
    """The page up to the place, so many characters further on."""
    return Prompt(OPENING[len(OPENING) - offset :] + fact.page[: fact.position], fact.place)


def with_room(facts: Sequence[Fact], context: int) -> list[Fact]:
    """Those of which the model reads everything up to the place at every offset."""
    return [fact for fact in facts if OFFSETS[-1] + fact.position + len(fact.place) <= context + 1]


def matches_by_offset(models: Mapping[str, GPT], vocabulary: Vocabulary, facts: Sequence[Fact]) -> pd.DataFrame:
    """A row for each offset and fact: row, offset, and 0 or 1 for each of `models`, by its name."""
    tables = []
    for offset in OFFSETS:
        prompts = [offset_prompt(fact, offset) for fact in facts]
        matches = {name: exact_matches(model, vocabulary, prompts).astype(int) for name, model in models.items()}
        tables.append(pd.DataFrame({"row": [fact.row for fact in facts], "offset": offset, **matches}))
    return pd.concat(tables, ignore_index=True)
