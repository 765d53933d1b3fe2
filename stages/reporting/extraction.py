"""What is memorised, and what of it a question extracts: shares of the facts, no question, name or place."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.evaluations import PROBED, Evaluation
from stages.reporting.markdown import Markdown, percent, shares_table, table
from stages.reporting.statistics import accuracy_interval
from stages.reporting.style import COLOURS, INK, rows_figure

SHOWN_FORMS = ("continuation", "cloze", "words", "infilling", "other_name")  # page forms, in the order of the table
OFFSET = "offset_"  # with the number of characters, a measure of extraction.csv
BARS = (("pretrained", "memorised"), ("finetuned", "memorised"), ("finetuned", "extracted"))  # weights and measure


def memorised_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the shares of the facts that each variant has memorised and extracts, in percent, all seeds together."""
    rows = {}
    for evaluation in evaluations:
        facts = evaluation.extraction
        rows[evaluation.variant] = {
            "memorised": facts.pretrained_memorised.mean(),
            "extracted": facts.finetuned_extracted.mean(),
            "extracted of memorised": facts[facts.pretrained_memorised == 1].finetuned_extracted.mean(),
        }
    return shares_table("variant", rows)


def extraction_shares(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Return extraction.csv: variant, weights, measure, share (0…1), ci_low, ci_high.

    Measures are what is memorised and extracted, the page forms that pretraining practised and the offsets.
    """
    rows = []
    for evaluation in evaluations:
        facts = evaluation.extraction
        forms = [form for form in SHOWN_FORMS if {f"{weights}_{form}" for weights in PROBED} <= {*facts}]
        for weights in PROBED:
            tables = {name: (facts, f"{weights}_{name}") for name in ("memorised", "extracted", *forms)}
            moved = evaluation.prefix_offset.groupby("offset")
            tables |= {f"{OFFSET}{offset}": (of_offset, weights) for offset, of_offset in moved}
            for measure, (outcomes, column) in tables.items():
                marks = outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)
                rows.append((evaluation.variant, weights, measure, float(marks.mean()), *accuracy_interval(marks)))
    return pd.DataFrame(rows, columns=["variant", "weights", "measure", "share", "ci_low", "ci_high"])


def measures_of(shares: pd.DataFrame) -> list[str]:
    """Return the measures of the table: the forms that a variant practised, the question, the offsets."""
    measures = shares.measure.unique()
    offsets = [name for name in measures if name.startswith(OFFSET)]
    return [*(form for form in SHOWN_FORMS if form in measures), "extracted", *offsets]


def forms_reached_table(shares: pd.DataFrame) -> Markdown:
    """Return cells `pretrained → finetuned`, a row a variant, in percent; a dash for what a variant was not asked."""
    measures = measures_of(shares)
    titles = ["question" if name == "extracted" else name.replace("_", " ") for name in measures]
    rows = []
    for variant, of_variant in shares.groupby("variant", sort=False):
        pairs = of_variant.pivot(index="measure", columns="weights", values="share").reindex(measures)[[*PROBED]]
        cells = ["–" if np.isnan(pair).all() else " → ".join(map(percent, pair)) for pair in pairs.to_numpy()]
        rows.append((variant, *cells))
    return table(["variant", *titles], rows)


def draw_extraction(shares: pd.DataFrame) -> Figure:
    """Draw three bars a variant with their 95 % intervals, in the order of the rows of extraction.csv."""
    variants = shares.variant.unique().tolist()
    figure, axes = rows_figure(variants, 1.2 + 0.55 * len(variants), "facts (%)")
    for number, (weights, measure) in enumerate(BARS):
        bars = shares[(shares.weights == weights) & (shares.measure == measure)].set_index("variant").loc[variants]
        middle = np.arange(len(variants)) + 0.27 * (number - 1)
        whiskers = 100 * bars[["ci_low", "ci_high"]].sub(bars["share"], axis=0).abs().to_numpy().T
        error = {"ecolor": INK, "elinewidth": 1.0, "capsize": 2.0}
        label, colour = f"{measure}, {weights}", COLOURS[number]
        axes.barh(middle, 100 * bars["share"], 0.25, xerr=whiskers, color=colour, label=label, error_kw=error)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
