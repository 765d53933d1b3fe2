"""The report's section on whether it matters where a page begins."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.reporting.markdown import Markdown, listed, table
from stages.reporting.sections.probes import ENOUGH, WEIGHTS, Probe, marks, percent, read_probes
from stages.reporting.sections.shifts_figure import shifts_svg
from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.template import Part, fill

TEMPLATE = "shifts.md.jinja"


def shifts_part(folder: Path, variants: Sequence[str]) -> Part | None:
    """The section made from `<folder>/<variant>/` of those of `variants` that were probed so; None without any.

    It holds shares only, no question, name or place. Raises StudyError where a probe is broken.
    """
    probes = [probe for probe in read_probes(folder, variants) if len(probe.shifted)]
    if not probes:
        return None
    rows = pd.DataFrame([row for probe in probes for row in shares(probe)])
    facts = probes[0].shifted["row"].nunique()
    text = fill(
        TEMPLATE,
        findings=findings(rows, facts),
        shifts_table=shifts_table(rows),
        facts=facts,
        all_facts=probes[0].facts,
        furthest=rows["shift"].max(),
    )
    return Part(
        text,
        {
            "shifts.svg": shifts_svg(rows, variants),
            "shifts.csv": rows.round(4).to_csv(index=False, lineterminator="\n"),
        },
    )


def shares(probe: Probe) -> list[dict[str, object]]:
    """For each weights and shift the share of the facts that is spelled, 0…1, with its 95 % interval."""
    rows: list[dict[str, object]] = []
    for weights in WEIGHTS:
        for shift, moved in probe.shifted.groupby("shift"):
            outcomes = marks(moved, weights)
            low, high = accuracy_interval(outcomes, probe.variant)
            place = {"variant": probe.variant, "weights": weights, "shift": shift}
            rows.append({**place, "spelled": float(outcomes.mean()), "low": low, "high": high})
    return rows


def findings(rows: pd.DataFrame, facts: int) -> Markdown:
    """What one character before the page, and all of them, leave of what is spelled: of the least and the most hurt.

    facts: of how many places the rows have the shares. Told are variants that spell enough of them without a shift.
    """
    before = rows[rows.weights == "pretrained"].pivot(index="variant", columns="shift", values="spelled")
    start, first, *_, last = (int(shift) for shift in before.columns)
    enough = before[(facts * before[start]).round(6) >= ENOUGH]
    kept = (enough[first] / enough[start]).sort_values(ascending=False, kind="stable")
    if kept.empty:
        return Markdown("The pretrained weights spell too few of the places to tell what a shift takes away.")
    names = list(dict.fromkeys([kept.index[0], kept.index[-1]]))

    def told(shift: int) -> Markdown:
        return listed([percent(before.loc[name, shift]) for name in names])

    if len(names) > 1:
        whose, they = f"Least and most affected are the pretrained weights of {listed(names)}: with", "they"
    else:
        whose, they = "With", "the pretrained weights" + (f" of {listed(names)}" if len(before) > 1 else "")
    return Markdown(
        f"{whose} {first} character before the page {they} spell {told(first)} % of the places (without: "
        f"{told(start)} %), and with {last}, so that the name stands where a question has it, {told(last)} %."
    )


def shifts_table(rows: pd.DataFrame) -> Markdown:
    """A row for each variant and weights, a column for each shift; percent with the interval at both ends."""
    steps = sorted(rows["shift"].unique())
    lines = []
    for (variant, weights), mine in rows.groupby(["variant", "weights"], sort=False):
        by_shift = mine.set_index("shift")
        lines.append((variant, weights, *(_with_interval(by_shift.loc[shift]) for shift in steps)))
    header = ("variant", "weights", *(f"{shift} before, %" for shift in steps))
    return table(header, lines, right=header[2:])


def _with_interval(row: pd.Series) -> str:
    return f"{percent(row['spelled'])} ({percent(row['low'])} to {percent(row['high'])})"
