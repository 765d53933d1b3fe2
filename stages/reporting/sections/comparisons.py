"""Paired tests: each variant against itself from scratch, against the constant answer and against every other."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.significance import Difference, Sample, compare_pairs, shown_p, shown_points

ROWS = 20  # of the table: all tests of four variants


def comparisons(results: Sequence[Result], place: str) -> list[Difference]:
    """Compare the `results`, best first: each with itself from scratch and with the constant `place`, then all pairs.

    Holm corrects over all tests.
    """
    pretrained = [Sample(result.variant, result.answers["pretrained"].correct) for result in results]
    scratch = [Sample(f"{each.variant} from scratch", each.answers["scratch"].correct) for each in results]
    constant = Sample(f"always {place}", (results[0].answers["pretrained"].gold == place).astype(np.int64)[:, None])
    pairs = [*zip(pretrained, scratch, strict=True), *((sample, constant) for sample in pretrained)]
    pairs += combinations(pretrained, 2)
    return compare_pairs(pairs)


def comparisons_table(compared: Sequence[Difference], results: Sequence[Result]) -> Markdown:
    """Return the table of all comparisons; where there are more than ROWS, pairs of variants only with the best."""
    header = ("first", "second", "first − second, points (95 % interval)", "p", "corrected p", "significant")
    behind = {result.variant for result in results[1:]}
    rows = [
        (each.first, each.second, shown_points(each), shown_p(each.p), shown_p(each.corrected_p), each.significant)
        for each in compared
        if len(compared) <= ROWS or not {each.first, each.second} <= behind
    ]
    return table(header, rows, right=header[2:5])


def comparisons_csv(compared: Sequence[Difference]) -> str:
    """Return all comparisons as CSV; points and their interval in percentage points."""
    rows = pd.DataFrame({**asdict(each), "significant": each.significant} for each in compared)
    return rows.to_csv(index=False, float_format="%.4g", lineterminator="\n")
