"""The report's section on what orders the variants: time, loss, what is memorised."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from matplotlib.figure import Figure
from scipy import stats  # type: ignore[import-untyped]

from stages.reporting.evaluations import Baseline
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result, devices
from stages.reporting.statistics.significance import shown_p
from stages.reporting.style import GREY, SMALL, looks, svg
from stages.reporting.template import Part, fill

FEWEST = 10  # variants: of fewer, a rank correlation says little and its p, by Student's t, is too small
MARKERS = {"-": "o", "--": "s", ":": "^"}  # for a line's dash, so that a variant is told by shape and colour


def order_part(results: Sequence[Result], baseline: Baseline) -> Part | None:
    """The section on `results`, best first; None for a single one."""
    if len(results) < 2:
        return None
    text = fill(
        __file__, "order.md.jinja", table=order_table(results) if len(results) >= FEWEST else "", variants=len(results)
    )
    return Part(text, {"time.svg": svg(draw_times(results, baseline))})


def order_table(results: Sequence[Result]) -> Markdown:
    """A row for each figure: how well its order of the variants is that of their dev accuracies."""
    accuracies = [result.pretrained.mean for result in results]
    probes = [result.evaluation.extraction for result in results]
    memorised = [probe[probe.pretrained_memorised == 1] for probe in probes]
    figures: dict[str, list[float]] = {
        "pretraining loss": [result.evaluation.run.pretrain_loss for result in results],
        "parameters": [result.evaluation.run.parameters for result in results],
        "seconds of pretraining": [fmean(result.evaluation.run.seconds) for result in results],
        "memorised, pretrained": [probe.pretrained_memorised.mean() for probe in probes],
        "memorised, finetuned": [probe.finetuned_memorised.mean() for probe in probes],
        "extracted of memorised": [each.finetuned_extracted.mean() for each in memorised],
        "extracted before finetuning": [probe.pretrained_extracted.mean() for probe in probes],
    }
    if len(devices(results)) > 1:
        del figures["seconds of pretraining"]
    rows = []
    for name, values in figures.items():
        if np.isfinite(values).all() and np.ptp(values) > 0 and np.ptp(accuracies) > 0:
            found = stats.spearmanr(values, accuracies)
            rows.append((name, f"{found.statistic:+.2f}", shown_p(found.pvalue)))
    return table(("figure of a variant", "rank correlation with its accuracy", "p"), rows, right=("p",))


def draw_times(results: Sequence[Result], baseline: Baseline) -> Figure:
    """Draw the dev accuracy of each training against the seconds of its pretraining."""
    columns = min(3, len(results))
    figure = Figure(figsize=(SMALL, 3.6 + 0.2 * -(-len(results) // columns)), layout="constrained")
    axes = figure.subplots()
    styles = looks([result.variant for result in results])
    for result, (dash, colour) in zip(results, styles.values(), strict=True):
        points, shape = (result.evaluation.run.seconds, result.pretrained.by_seed), MARKERS[dash]
        axes.scatter(*points, s=26, color=colour, marker=shape, label=result.variant, zorder=3, clip_on=False)
    axes.axhline(baseline.dev_accuracy, color=GREY, linestyle="--", linewidth=1.1, zorder=1)
    axes.axhline(baseline.reader_accuracy, color=GREY, linestyle="-.", linewidth=1.1, zorder=1)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
    axes.set_xlabel("seconds of pretraining")
    axes.set_ylabel("dev questions answered exactly (%)")
    axes.grid(zorder=0)
    figure.legend(loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure
