"""Prefix offset: pages up to the place, with the last characters of a question's opening before them.

At offset 10 the name is where a question has it, and everything else is in the page's words::

    Ada. Ada was born in                 Ulm        offset 0: form `continuation`
     Ada. Ada was born in                Ulm        1
    Where was Ada. Ada was born in       Ulm        10
"""

from collections.abc import Mapping, Sequence
from statistics import mode

import pandas as pd

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.extraction import exact_matches
from stages.probing.facts import Fact
from stages.probing.forms import Prompt


def opening(fact: Fact) -> str:
    """What stands before the name in the question."""
    return fact.question.partition(fact.name)[0]


def offsets(facts: Sequence[Fact]) -> list[int]:
    """0, 1 and the length of most openings, each once."""
    usual = mode(len(opening(fact)) for fact in facts) if facts else 0
    return sorted({0, min(1, usual), usual})


def offset_prompt(fact: Fact, offset: int) -> Prompt:
    """The page up to the place, so many characters further on."""
    before = opening(fact)
    return Prompt(before[len(before) - offset :] + fact.page[: fact.position], fact.place)


def with_room(facts: Sequence[Fact], context: int) -> list[Fact]:
    """Those whose opening is long enough, and of which the model reads everything up to the place, at every offset."""
    most = offsets(facts)[-1]
    fitting = (fact for fact in facts if most + fact.position + len(fact.place) <= context + 1)
    return [fact for fact in fitting if len(opening(fact)) >= most]


def matches_by_offset(models: Mapping[str, GPT], vocabulary: Vocabulary, facts: Sequence[Fact]) -> pd.DataFrame:
    """A row for each offset and fact: row, offset, and 0 or 1 for each of `models`, by its name."""
    tables = []
    for offset in offsets(facts):
        prompts = [offset_prompt(fact, offset) for fact in facts]
        matches = {name: exact_matches(model, vocabulary, prompts).astype(int) for name, model in models.items()}
        tables.append(pd.DataFrame({"row": [fact.row for fact in facts], "offset": offset, **matches}))
    return pd.concat(tables, ignore_index=True)
