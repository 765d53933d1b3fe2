"""The report's pictures of accuracies and losses."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stages.reporting.curves import seed_curves
from stages.reporting.evaluations import Baseline
from stages.reporting.metrics import Accuracy, Result
from stages.reporting.style import GREY, INK, SMALL, WIDTH, legend_columns, logarithmic, looks

PRETRAINED, SCRATCH = "#0072B2", "#E69F00"
PHASES = (
    ("pretrain", "Pretraining on the pages"),
    ("finetune_scratch", "Finetuning from scratch"),
    ("finetune_pretrained", "Finetuning, pretrained"),
)


def draw_accuracy(results: Sequence[Result], baseline: Baseline) -> Figure:
    """Draw the dev accuracy in percent of `results`, best first, with 95 % intervals and single seeds."""
    figure = Figure(figsize=(SMALL, 1.5 + 0.45 * len(results)), layout="constrained")
    axes = figure.subplots()
    _bars(axes, -0.19, [result.pretrained for result in results], PRETRAINED, "pretrained, then finetuned")
    _bars(axes, 0.19, [result.scratch for result in results], SCRATCH, "finetuned from scratch")
    always = f"always {baseline.place}: {baseline.dev_accuracy:.1f} %"
    axes.axvline(baseline.dev_accuracy, color=INK, linestyle="--", linewidth=1.1, zorder=1.5, label=always)
    ceiling = f"ceiling: {baseline.ceiling:.1f} %"
    axes.axvline(baseline.ceiling, color=GREY, linestyle=":", linewidth=1.5, zorder=1.5, label=ceiling)
    axes.set_yticks(range(len(results)), [result.variant for result in results])
    axes.set_ylim(len(results) - 0.45, -0.55)  # best on top
    axes.set_xlim(0, 108)  # room for a label beside a full bar
    axes.set_xticks(range(0, 101, 10))
    axes.set_xlabel(f"dev questions answered exactly (% of {baseline.dev_questions:,})")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", zorder=0)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
    return figure


def draw_losses(curves: pd.DataFrame, variants: Sequence[str]) -> Figure:
    """Draw the losses of `curves` (curves.csv) over the epochs, a panel for each phase of training."""
    columns = min(6, legend_columns(variants))
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * -(-len(variants) // columns)), layout="constrained")
    panels = figure.subplots(1, len(PHASES), width_ratios=(1.35, 1, 1))
    for axes, (phase, title) in zip(panels, PHASES, strict=True):
        for variant, (dash, colour) in looks(variants).items():
            seeds = seed_curves(curves, variant, phase)
            for epochs, losses in seeds if len(seeds) > 1 else ():
                axes.plot(epochs, losses, color=colour, linestyle=dash, linewidth=0.6, alpha=0.4, zorder=2)
            if seeds:
                mean = np.mean([losses for _, losses in seeds], axis=0)
                axes.plot(seeds[0][0], mean, color=colour, linestyle=dash, linewidth=1.6, zorder=3, label=variant)
        axes.set_title(title)
        axes.set_xlabel("epochs")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.grid(zorder=0)
        low, high = axes.dataLim.y0, axes.dataLim.y1
        if 0 < low < high / 4:  # they span enough to have labelled ticks on a logarithmic axis
            logarithmic(axes, low, high)
    panels[0].set_ylabel("loss (nats a character)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure


def _bars(axes: Axes, offset: float, accuracies: Sequence[Accuracy], colour: str, label: str) -> None:
    """A bar, a whisker, the seeds' dots and the figure of each row."""
    heights = np.arange(len(accuracies)) + offset
    means, low, high = (np.array([getattr(each, name) for each in accuracies]) for name in ("mean", "low", "high"))
    axes.barh(heights, means, height=0.36, color=colour, zorder=2, label=label)
    whiskers = np.maximum(0, [means - low, high - means])
    axes.errorbar(means, heights, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
    for height, each in zip(heights, accuracies, strict=True):
        dots = np.full(len(each.by_seed), height)
        axes.scatter(each.by_seed, dots, s=13, color="white", edgecolors=INK, linewidths=0.7, zorder=5, clip_on=False)
        axes.annotate(
            f"{each.mean:.1f}",
            (max(each.high, *each.by_seed), height),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},  # keeps lines out of the figures
            zorder=6,
        )
