"""Does it matter where a page begins: pages up to the place, with the first words of a question before them.

A page begins with the person's name; in a question the name stands ten characters further on. With all ten before the
page the name is where a question has it, and everything else is in the page's words::

    Ada. Ada was born in                 Ulm        shift 0: form `continuation`
    s Ada. Ada was born in               Ulm        2
    Where was Ada. Ada was born in       Ulm        10
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.facts import Fact
from stages.probing.forms import Asked
from stages.probing.spelling import spell

OPENING = "Where was "
SHIFTS = (0, 1, 2, 5, len(OPENING))  # how many of its last characters stand before the page


def shifted(fact: Fact, shift: int) -> Asked:
    """The page up to the place, so many characters further on."""
    return Asked(OPENING[len(OPENING) - shift :] + fact.page[: fact.position], fact.place)


def with_room(facts: Sequence[Fact], context: int) -> list[Fact]:
    """Those of which the model reads everything up to the place, however far the page is shifted."""
    return [fact for fact in facts if SHIFTS[-1] + fact.position + len(fact.place) <= context + 1]


def spelled_when_shifted(models: Mapping[str, GPT], vocabulary: Vocabulary, facts: Sequence[Fact]) -> pd.DataFrame:
    """A row for each shift and fact: row, shift, and for each of `models`, by its name, whether it spells the place."""
    tables = []
    for shift in SHIFTS:
        asked = [shifted(fact, shift) for fact in facts]
        outcomes = {name: spell(model, vocabulary, asked)[0].astype(int) for name, model in models.items()}
        tables.append(pd.DataFrame({"row": [fact.row for fact in facts], "shift": shift, **outcomes}))
    return pd.concat(tables, ignore_index=True)
