"""What the demonstrations show: numbers of heads, exposure bias, and lengths, as tables."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import pandas as pd

from stages.reporting.markdown import Markdown, table
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill
from stages.system.records import ORIGIN, Amount, Count, MarkString, Share, mark_string, record, some

HEADS = record(heads=Count, seed=Count, correct=Share, memorised=Share, spread=Amount)
LENGTH = record(variant=str, longest=Count, seed=Count, start=Count, correct=Share)
DEMONSTRATIONS = record(heads=some(HEADS), lengths=some(LENGTH), provenance=record(**ORIGIN))  # demonstrations.json
ANSWER = record(seed=Count, gold=MarkString, own=MarkString)  # a mark for each character of a gold answer
EXPOSURE = record(answers=some(ANSWER), provenance=record(**ORIGIN))  # exposure.json
POSITIONS = 4  # characters of an answer that have a column each
Rows = Sequence[Mapping[str, Any]]


def demonstrations_part(shown: Mapping[str, Any], answers: Mapping[str, Rows]) -> Part:
    """Return the section; shown: a record of the type DEMONSTRATIONS, answers: those of EXPOSURE, by variant."""
    tables = {
        "heads": heads_table(shown["heads"]),
        "exposure": exposure_table(answers),
        "lengths": lengths_table(shown["lengths"]),
    }
    return Part(fill(__file__, "demonstrations.md.jinja", positions=POSITIONS, **tables))


def heads_table(rows: Rows) -> Markdown:
    """Return what models with each number of heads know, mean of all seeds."""
    header = ("heads", "accuracy, %", "by seed", "memorised, %", "spread of key lengths")
    cells = []
    for heads, of_heads in pd.DataFrame(rows).groupby("heads"):
        by_seed = ", ".join(map(percent, of_heads.correct))
        means = of_heads[["correct", "memorised", "spread"]].mean()
        cells.append((heads, percent(means.correct), by_seed, percent(means.memorised), f"{means.spread:.2f}"))
    return table(header, cells, right=header)


def exposure_table(answers: Mapping[str, Rows]) -> Markdown:
    """Return which characters are right after the gold prefix and after the model's own, by variant."""
    shares = ("exact match, %", "characters, %", *map(str, range(1, POSITIONS + 1)), "later", "after a wrong one, %")
    header = ("variant", "prefix", *shares, "one wrong alone, %")
    rows = []
    for variant, of_variant in answers.items():
        for prefix in ("gold", "own"):
            rows.append((variant, prefix, *map(percent, right([answer[prefix] for answer in of_variant]))))
    return table(header, rows, right=header[2:])


def right(marks: Sequence[str]) -> list[float]:
    """Return the shares of a row of the table: of answers, and of characters in all and in the columns' places.

    The last two are the share of the characters after the first wrong one of their answer, and that of the wrong
    answers with a single wrong character. marks: 1 for a right character and 0 for a wrong one, of each answer.
    """
    wrong = [answer for answer in marks if "0" in answer]
    places = [slice(at, at + 1) for at in range(POSITIONS)]
    parts = [[answer[place] for answer in marks] for place in (slice(None), *places, slice(POSITIONS, None))]
    parts.append([answer[answer.find("0") + 1 :] for answer in wrong])
    of_characters = [_ones("".join(part)) for part in parts]
    alone = mark_string(answer.count("0") == 1 for answer in wrong)
    return [1 - len(wrong) / len(marks), *of_characters, _ones(alone)]


def _ones(marks: str) -> float:
    return marks.count("1") / len(marks) if marks else nan


def lengths_table(rows: Rows) -> Markdown:
    """Return the accuracy by number of blanks, mean of all seeds, a row a variant and length in training."""
    shares = pd.DataFrame(rows).pivot_table("correct", "start", ["variant", "longest"], sort=False)
    header = ("variant", "characters in training", *map(str, shares.index))
    cells = [(*names, *map(percent, shares[names])) for names in shares.columns]
    return table(header, cells, right=header[1:])
