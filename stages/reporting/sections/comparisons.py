"""What is compared in a report: each variant with the baselines, and the variants with each other."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations, product

import pandas as pd

from stages.reporting.metrics import Answers, Result
from stages.reporting.statistics.intervals import LEAST_SEEDS
from stages.reporting.statistics.significance import (
    LEVEL,
    Difference,
    compare_trainings,
    compare_with_constants,
    shown_p,
    shown_points,
)
from stages.reporting.template import Part, fill

ALL_PAIRS = 5  # more variants are compared with one of them alone: the correction grows with the number of pairs
READER = "the reader"
# what `variants_table.md.jinja` and `between_trainings.md.jinja` need beside `differences`
TEMPLATE_VALUES = {"level": LEVEL, "least": LEAST_SEEDS, "shown_p": shown_p, "shown_points": shown_points}


def comparisons_part(results: Sequence[Result], place: str, reference: str) -> Part:
    """Return the section on `results`, best first; of many variants each is compared with `reference` alone."""
    with_baselines = against_baselines(results, place)
    variants = between_variants(results, reference)
    text = fill(
        __file__,
        "comparisons.md.jinja",
        results=results,
        with_constant=with_baselines[: len(results)],
        with_reader=with_baselines[len(results) :],
        shares=beside_the_reader,
        place=place,
        differences=variants,
        comparisons=len(with_baselines),
        reference=reference if len(results) > ALL_PAIRS else "",
        **TEMPLATE_VALUES,
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


def beside_the_reader(answers: Answers) -> tuple[float, float, float]:
    """Return how often both say the same, only the answers are right, and only the reader is: in 0…1."""
    reader = answers.reader[:, None]
    right = answers.correct == 1
    readers = reader == answers.gold[:, None]
    return (answers.predicted == reader).mean(), (right & ~readers).mean(), (~right & readers).mean()
