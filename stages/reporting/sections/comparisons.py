"""What is compared in a report: each variant with the baselines, and the variants with each other."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations, product

import pandas as pd

from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result
from stages.reporting.statistics.intervals import LEAST_SEEDS
from stages.reporting.statistics.significance import (
    LEVEL,
    Difference,
    compare_trainings,
    compare_with_constants,
    shown_p,
    shown_points,
)
from stages.reporting.tables import percent
from stages.reporting.template import Part, fill

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs
READER = "the reader"


def comparisons_part(results: Sequence[Result], place: str, reference: str) -> Part:
    """Return the section on `results`, best first; of many variants each is compared with `reference` alone."""
    with_baselines = against_baselines(results, place)
    variants = between_variants(results, reference)
    text = fill(
        __file__,
        "comparisons.md.jinja",
        baselines_table=baselines_table(results, with_baselines, place),
        variants_table=variants_table(variants) if variants else "",
        comparisons=len(with_baselines),
        reference=reference if len(results) > ALL_PAIRS else "",
        level=LEVEL,
        least=LEAST_SEEDS,
    )
    differences = [{**asdict(pair), "significant": pair.significant} for pair in (*with_baselines, *variants)]
    csv = pd.DataFrame(differences).to_csv(index=False, float_format="%.4g", lineterminator="\n")
    return Part(text, {"differences.csv": csv})  # points, and p where there is a test


def against_baselines(results: Sequence[Result], place: str) -> list[Difference]:
    """Compare each variant with the constant `place`, then with the reader."""
    answers = results[0].pretrained
    constants = {f"always {place}": answers.gold == place, READER: answers.reader == answers.gold}
    correct = {result.variant: result.pretrained.correct for result in results}
    pairs = [(variant, name) for name, variant in product(constants, correct)]
    return compare_with_constants(correct, {name: right.astype(int) for name, right in constants.items()}, pairs)


def between_variants(results: Sequence[Result], reference: str) -> list[Difference]:
    """Compare all pairs of the variants, the better one first; of many those with `reference`."""
    names = [result.variant for result in results]
    pairs = [pair for pair in combinations(names, 2) if len(names) <= ALL_PAIRS or reference in pair]
    return compare_trainings({result.variant: result.pretrained.correct for result in results}, pairs)


def variants_table(differences: Sequence[Difference]) -> Markdown:
    """Return a row for each pair."""
    header = ("first", "second", "first − second, points (95 % interval)", "p", "corrected p", "significant")
    rows = []
    for pair in differences:
        ps = (shown_p(pair.p), shown_p(pair.corrected_p))
        rows.append((pair.first, pair.second, shown_points(pair), *ps, pair.significant))
    return table(header, rows, right=header[2:5])


def baselines_table(results: Sequence[Result], differences: Sequence[Difference], place: str) -> Markdown:
    """Return a row for each variant: its differences from both baselines, and where it differs from the reader."""
    header = [
        "variant", f"less {place}, points (95 % interval)", "corrected p",
        "less the reader, points (95 % interval)", "corrected p", "says what the reader says, %",
        "right where the reader is wrong, %", "wrong where the reader is right, %",
    ]  # fmt: skip
    rows = []
    for number, result in enumerate(results):
        tested = []
        for difference in (differences[number], differences[number + len(results)]):
            tested += [shown_points(difference), shown_p(difference.corrected_p)]

        answers = result.pretrained
        reader = answers.reader[:, None]
        right = answers.correct == 1
        readers = reader == answers.gold[:, None]
        shares = (answers.predicted == reader).mean(), (right & ~readers).mean(), (~right & readers).mean()
        rows.append((result.variant, *tested, *(percent(float(share)) for share in shares)))
    return table(header, rows, right=header[1:])
