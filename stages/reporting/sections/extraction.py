"""The report's section on what is memorised, and what of it a question extracts."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.evaluations import FORMS, WEIGHTS, Evaluation
from stages.reporting.markdown import PagePart, fill, percent
from stages.reporting.statistics import share
from stages.reporting.style import COLOURS, INK, rows_figure, svg

OFFSET = "offset_"  # with the number of characters, a measure of extraction.csv
BARS = (("pretrained", "memorised"), ("finetuned", "memorised"), ("finetuned", "extracted"))  # weights and measure


def extraction_part(evaluations: Sequence[Evaluation]) -> PagePart | None:
    """Return the section, which holds shares only, no question, name or place; None without any fact."""
    probes = [evaluation for evaluation in evaluations if len(evaluation.extraction)]
    if not probes:
        return None
    rows = pd.DataFrame([row for probe in probes for row in shares(probe)])
    forms = [form for form in FORMS if form in {*rows.measure}]
    offsets = list(dict.fromkeys(name for name in rows.measure if name.startswith(OFFSET)))
    text = fill(
        __file__,
        "extraction.md.jinja",
        probes=probes,
        facts=probes[0].extraction.row.nunique(),
        forms=forms,
        offsets=offsets,
        offset_facts=max(probe.prefix_offset.row.nunique() for probe in probes),
        cells=partial(before_and_after, rows),
    )
    csv = rows.round(6).to_csv(index=False, lineterminator="\n")
    return PagePart(text, {"extraction.svg": svg(draw_extraction(rows)), "extraction.csv": csv})


def shares(probe: Evaluation) -> list[dict[str, Any]]:
    """Return the rows of extraction.csv of a variant: variant, weights, measure, share (0…1), ci_low, ci_high."""
    rows = []
    for weights in WEIGHTS:
        key = {"variant": probe.variant, "weights": weights}
        for measure in ("memorised", "extracted", *probe.forms):
            rows.append({**key, "measure": measure, **share(probe.extraction, f"{weights}_{measure}")})
        for offset, moved in probe.prefix_offset.groupby("offset"):
            rows.append({**key, "measure": f"{OFFSET}{offset}", **share(moved, weights)})
    return rows


def draw_extraction(rows: pd.DataFrame) -> Figure:
    """Draw `rows` (extraction.csv): three bars a variant with their 95 % intervals, in the order of the rows."""
    variants = rows.variant.unique().tolist()
    figure, axes = rows_figure(variants, 1.2 + 0.55 * len(variants), "facts (%)")
    for number, (weights, measure) in enumerate(BARS):
        bars = rows[(rows.weights == weights) & (rows.measure == measure)].set_index("variant").loc[variants]
        middle = np.arange(len(variants)) + 0.27 * (number - 1)
        whiskers = 100 * bars[["ci_low", "ci_high"]].sub(bars["share"], axis=0).abs().to_numpy().T
        error = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0}
        label, colour = f"{measure}, {weights}", COLOURS[number]
        axes.barh(middle, 100 * bars["share"], 0.25, xerr=whiskers, color=colour, label=label, error_kw=error)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def before_and_after(rows: pd.DataFrame, variant: str, measures: Sequence[str]) -> list[str]:
    """Return cells `pretrained → finetuned` of a variant, in percent; a dash for a form that it was not trained on."""
    shown = rows[rows.variant == variant].pivot(index="measure", columns="weights", values="share").reindex([*measures])
    pairs = shown[[*WEIGHTS]].to_numpy()
    return ["–" if np.isnan(pair).all() else " → ".join(map(percent, pair)) for pair in pairs]
