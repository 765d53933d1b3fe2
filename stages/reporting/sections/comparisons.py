"""Paired tests: each variant against itself from scratch, against the constant answer and against every other."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.significance import Difference, compare_pairs, shown_p, shown_points

ROWS = 20  # of the table: all tests of four variants


def comparisons(results: Sequence[Result], place: str) -> list[Difference]:
    """Compare the `results`, best first: each with itself from scratch and with the constant `place`, then all pairs.

    Holm corrects over all tests.
    """
    constant, seeds = f"always {place}", max(len(result.pretrained.by_seed) for result in results)
    correct = {constant: np.repeat((results[0].pretrained.gold == place).astype(np.int64)[:, None], seeds, axis=1)}
    correct |= {result.variant: result.pretrained.correct for result in results}
    correct |= {f"{result.variant} from scratch": result.scratch.correct for result in results}
    variants = [result.variant for result in results]
    pairs = [(name, f"{name} from scratch") for name in variants] + [(name, constant) for name in variants]
    return compare_pairs(correct, [*pairs, *combinations(variants, 2)])


def comparisons_table(compared: Sequence[Difference], results: Sequence[Result]) -> Markdown:
    """Return the table of all comparisons; where there are more than ROWS, of the best variant with the others only."""
    header = ("first", "second", "first − second, points (95 % interval)", "p", "corrected p", "significant")
    best, *others = [result.variant for result in results]
    rows = [
        (each.first, each.second, shown_points(each), shown_p(each.p), shown_p(each.corrected_p), each.significant)
        for each in compared
        if len(compared) <= ROWS or (each.first == best and each.second in others)
    ]
    return table(header, rows, right=header[2:5])


def comparisons_csv(compared: Sequence[Difference]) -> str:
    """Return all comparisons as CSV; points and their interval in percentage points."""
    rows = pd.DataFrame({**asdict(each), "significant": each.significant} for each in compared)
    return rows.to_csv(index=False, float_format="%.4g", lineterminator="\n")
