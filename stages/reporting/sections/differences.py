"""The report's section on which differences are more than chance: variants among each other and against London."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import pandas as pd

from stages.reporting.evaluations import REMAKE
from stages.reporting.markdown import Markdown, listed, table
from stages.reporting.metrics import Result
from stages.reporting.sections.difference_figure import differences_svg
from stages.reporting.statistics.intervals import RESAMPLES
from stages.reporting.statistics.significance import (
    CLEAR,
    LEVEL,
    THESE_SEEDS,
    Difference,
    Sample,
    compare_pairs,
    shown_p,
    shown_points,
    told_apart,
)
from stages.reporting.template import Part, fill
from stages.system.errors import StudyError

TEMPLATE = "differences.md.jinja"
ROWS = 15  # of the table: all pairs of five variants and the constant


@dataclass(frozen=True)
class Comparison:
    """Two entrants, the one with the higher accuracy (of equals the first by name) first, and their difference."""

    first: str
    second: str
    found: Difference


def comparisons(results: Sequence[Result], place: str) -> list[Comparison]:
    """Compare the pretrained answers of `results`, and the constant answer `place`, pair by pair, best first.

    Raises StudyError where variants answered different questions.
    """
    pairs = list(combinations(entrants(results, place), 2))
    return [
        Comparison(first.name, second.name, found)
        for (first, second), found in zip(pairs, compare_pairs(pairs), strict=True)
    ]


def leads(compared: Sequence[Comparison], place: str) -> dict[str, Difference]:
    """Return each variant's difference to the constant answer `place`, above 0 where the variant is the higher."""
    constant = always(place)
    found = {}
    for each in compared:
        if each.second == constant:
            found[each.first] = each.found
        elif each.first == constant:
            found[each.second] = each.found.turned()
    return found


def level_with_best(compared: Sequence[Comparison], place: str) -> list[str]:
    """Return the variants that are not told apart from the one with the highest accuracy."""
    between = [each for each in compared if always(place) not in (each.first, each.second)]
    best = between[0].first if between else ""  # pairs are in the order of accuracies
    return [each.second for each in between if each.first == best and each.found.verdict != CLEAR]


def differences_part(compared: Sequence[Comparison], place: str, seeds: int) -> Part:
    """The section made from the `comparisons` of variants of so many seeds and the constant answer `place`."""
    names = list(dict.fromkeys([*(each.first for each in compared), compared[-1].second]))
    shown = in_the_table(compared, names, always(place))
    text = fill(
        TEMPLATE,
        sentences=sentences(compared, names, place),
        comparisons_table=comparisons_table(shown),
        all_shown=len(shown) == len(compared),
        tests=len(compared),
        differing=sum(each.found.verdict == CLEAR for each in compared),
        these_seeds=any(each.found.verdict == THESE_SEEDS for each in compared),
        seeds=seeds,
        resamples=RESAMPLES,
        level=LEVEL,
    )
    files = {"differences.csv": _csv(compared)}
    if len(compared) > 1:  # one number is no picture
        files["differences.svg"] = differences_svg({(each.first, each.second): each.found for each in compared}, names)
    return Part(text, files)


def always(place: str) -> str:
    """The name of the constant answer among the variants."""
    return f"always {place}"


def entrants(results: Sequence[Result], place: str) -> list[Sample]:
    """Return the variants' pretrained answers and the constant's, best first."""
    answers = {result.variant: result.answers["pretrained"] for result in results}
    first = answers[results[0].variant]
    for name, other in answers.items():
        if not ((first.rows == other.rows).all() and (first.gold == other.gold).all()):
            raise StudyError(f"{results[0].variant} and {name} answered different dev questions; {REMAKE}")
    samples = [Sample(name, each.correct) for name, each in answers.items()]
    samples.append(Sample(always(place), first.constant(place)))
    return sorted(samples, key=lambda sample: (-sample.accuracy, sample.name))


def in_the_table(compared: Sequence[Comparison], names: Sequence[str], constant: str) -> list[Comparison]:
    """Return all comparisons where they are few, else those of neighbours in rank, and those with the constant that
    show no difference."""
    if len(compared) <= ROWS:
        return list(compared)
    neighbours = set(pairwise(names))
    return [
        each
        for each in compared
        if (each.first, each.second) in neighbours
        or (constant in (each.first, each.second) and each.found.verdict != CLEAR)
    ]


def comparisons_table(compared: Sequence[Comparison]) -> Markdown:
    """Return the table of differences in points with intervals, p and corrected p."""
    header = ("higher", "lower", "points (95 % interval)", "p", "corrected p", "differ")
    rows = [
        (
            each.first,
            each.second,
            shown_points(each.found),
            shown_p(each.found.p),
            shown_p(each.found.corrected),
            each.found.verdict,
        )
        for each in compared
    ]
    return table(header, rows, right=header[2:5])


def sentences(compared: Sequence[Comparison], names: Sequence[str], place: str) -> Markdown:
    """Return what the comparisons show; `names` are all entrants, best first, the one of answering `place` too."""
    constant = always(place)
    said = [_against(leads(compared, place), place)]
    between = [each for each in compared if constant not in (each.first, each.second)]
    if between:
        variants = [name for name in names if name != constant]
        said += _between(between, variants, level_with_best(compared, place))
    return Markdown(" ".join(said))


def _against(against: Mapping[str, Difference], place: str) -> str:
    found = told_apart(against)
    london = f"answering {listed([place])} every time"
    if len(found.alike) == len(against) > 1:
        return f"No variant is told apart from {london}."
    if len(against) > 1 and len(against) in (len(found.better), len(found.worse)):
        return f"Every variant does {'better' if found.better else 'worse'} than {london}."
    parts = [
        f"{listed(names)} {one if len(names) == 1 else several} "
        for names, one, several in (
            (found.better, "does better than", "do better than"),
            (found.worse, "does worse than", "do worse than"),
            (found.alike, "is not told apart from", "are not told apart from"),
        )
        if names
    ]
    return f"{parts[0]}{london}{''.join(f'; {part}it' for part in parts[1:])}."


def _between(between: Sequence[Comparison], names: Sequence[str], level: Sequence[str]) -> list[str]:
    best = names[0]
    clear = sum(each.found.verdict == CLEAR for each in between)
    ahead = f"{listed([best])} is ahead of {'the other' if len(names) == 2 else 'every other'} variant"
    if len(between) == 1:
        return [f"{ahead}." if clear else f"{listed(names)} are not told apart."]
    pairs = f"Of the {len(between)} pairs of variants {clear or 'none'} {'differs' if clear < 2 else 'differ'}"
    if clear == len(between):
        pairs = f"All {clear} pairs of variants differ"
    if not clear:
        said = [f"{pairs}: their order may be chance."]
    elif level:
        said = [f"{pairs}; {listed([best])}, the first, is not told apart from {listed(level)}."]
    else:
        said = [f"{pairs}; {ahead}."]
    seeds = sum(each.found.verdict == THESE_SEEDS for each in between)
    if seeds:
        reach = f"{seeds} {'pair differs' if seeds == 1 else 'pairs differ'}"
        said.append(f"{reach} with these weights, but not beyond the spread between seeds.")
    return said


def _csv(compared: Sequence[Comparison]) -> str:
    rows = [
        (
            each.first,
            each.second,
            each.found.points,
            each.found.low,
            each.found.high,
            f"{each.found.p:.4g}",
            f"{each.found.corrected:.4g}",
            each.found.verdict,
        )
        for each in compared
    ]
    columns = ("first", "second", "points", "low", "high", "p", "corrected_p", "differ")
    return pd.DataFrame(rows, columns=columns).to_csv(index=False, lineterminator="\n")
