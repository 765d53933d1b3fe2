"""The report's pictures of accuracies and losses."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from stages.reporting.curves import seed_curves
from stages.reporting.evaluations import Baseline
from stages.reporting.metrics import Accuracy, Result
from stages.reporting.published import Published, published
from stages.reporting.style import GREY, INK, SMALL, WIDTH, legend_columns, logarithmic, looks, styled, svg

PRETRAINED, SCRATCH, PUBLISHED = "#0072B2", "#E69F00", "#9A9A9A"

PHASES = (
    ("pretrain", "Pretraining on the pages"),
    ("finetune_scratch", "Finetuning from scratch"),
    ("finetune_pretrained", "Finetuning, pretrained"),
)


def accuracy_svg(results: Sequence[Result], baseline: Baseline, recipe: str) -> str:
    """Draw the dev accuracy in percent of `results`, best first, from scratch and pretrained.

    Bars are means over seeds, whiskers 95 % intervals, dots single seeds; lines mark the baseline and the ceiling,
    bands what others published for the recipe.
    """
    with styled():
        figure = draw_accuracy(results, baseline, recipe)
        return svg(figure)


def loss_svg(curves: pd.DataFrame, variants: Sequence[str]) -> str:
    """Draw the losses of the `variants` over the epochs, a panel for each phase of training.

    `curves` holds the rows of curves.csv; thick lines are means over seeds, thin lines single seeds.
    """
    with styled():
        figure = draw_losses(curves, variants)
        return svg(figure)


def draw_accuracy(results: Sequence[Result], baseline: Baseline, recipe: str) -> Figure:
    """Return the figure of `accuracy_svg`."""
    figure = Figure(figsize=(SMALL, 1.5 + 0.45 * len(results)), layout="constrained")
    axes = figure.subplots()
    for row, result in enumerate(results):
        bars = (("pretrained", -0.19, result.pretrained, PRETRAINED), ("scratch", 0.19, result.scratch, SCRATCH))
        for init, offset, accuracy, colour in bars:
            _bar(axes, row + offset, accuracy, colour)
            if others := published(recipe, baseline.held_out, result.variant, init):
                _band(axes, row + 2.3 * offset, others)  # at the side of the bar
    axes.axvline(baseline.dev_accuracy, color=INK, linestyle="--", linewidth=1.1, zorder=1.5)
    axes.axvline(baseline.audit.ceiling, color=GREY, linestyle=":", linewidth=1.5, zorder=1.5)
    axes.set_yticks(range(len(results)), [result.variant for result in results])
    axes.set_ylim(len(results) - 0.45, -0.55)  # best on top
    axes.set_xlim(0, 108)  # room for a label beside a full bar
    axes.set_xticks(range(0, 101, 10))
    axes.set_xlabel(f"dev questions answered exactly (% of {baseline.dev_questions:,})")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", zorder=0)
    axes.set_axisbelow(True)
    any_published = any(published(recipe, baseline.held_out, result.variant, "pretrained") for result in results)
    figure.legend(handles=_accuracy_legend(baseline, any_published), loc="outside upper center", ncols=2, fontsize=8.5)
    return figure


def draw_losses(curves: pd.DataFrame, variants: Sequence[str]) -> Figure:
    """Return the figure of `loss_svg`."""
    columns = min(6, legend_columns(variants))
    legend_rows = -(-len(variants) // columns)
    figure = Figure(figsize=(WIDTH, 2.9 + 0.2 * legend_rows), layout="constrained")
    panels = figure.subplots(1, len(PHASES), width_ratios=(1.35, 1, 1))
    styles = looks(variants)
    for axes, (phase, title) in zip(panels, PHASES, strict=True):
        for variant, (dash, colour) in styles.items():
            seeds = seed_curves(curves, variant, phase)
            if not seeds:
                continue
            epochs = seeds[0][0]
            mean = np.mean([losses for _, losses in seeds], axis=0)
            axes.plot(epochs, mean, color=colour, linestyle=dash, linewidth=1.6, zorder=3)
            for _, losses in seeds if len(seeds) > 1 else ():
                axes.plot(epochs, losses, color=colour, linestyle=dash, linewidth=0.6, alpha=0.4, zorder=2)
        axes.set_title(title)
        axes.set_xlabel("epochs")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.grid(zorder=0)
        low, high = axes.dataLim.y0, axes.dataLim.y1
        if 0 < low < high / 4:  # they span enough to have labelled ticks on a logarithmic axis
            logarithmic(axes, low, high)
    panels[0].set_ylabel("loss (nats a character)")
    handles = [
        Line2D([], [], color=colour, linestyle=dash, linewidth=1.6, label=variant)
        for variant, (dash, colour) in styles.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, fontsize=8.5)
    return figure


def _bar(axes: Axes, height: float, accuracy: Accuracy, colour: str) -> None:
    axes.barh(height, accuracy.mean, height=0.36, color=colour, zorder=2)
    whisker = [[max(0.0, accuracy.mean - accuracy.low)], [max(0.0, accuracy.high - accuracy.mean)]]
    axes.errorbar(accuracy.mean, height, xerr=whisker, color=INK, linewidth=1.0, capsize=2.5, zorder=4)
    dots = np.full(len(accuracy.by_seed), height)
    axes.scatter(accuracy.by_seed, dots, s=13, color="white", edgecolors=INK, linewidths=0.7, zorder=5, clip_on=False)
    axes.annotate(
        f"{accuracy.mean:.1f}",
        (max(accuracy.high, *accuracy.by_seed), height),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},  # keeps lines out of the figures
        zorder=6,
    )


def _band(axes: Axes, height: float, others: Published) -> None:
    """A flat band from the lowest to the highest published figure, the typical one as a stroke."""
    axes.barh(height, others.high - others.low, left=others.low, height=0.09, color=PUBLISHED, zorder=2)
    axes.vlines(others.typical, height - 0.07, height + 0.07, color=INK, linewidth=1.6, zorder=3)


def _accuracy_legend(baseline: Baseline, any_published: bool) -> list[Artist]:
    constant = f"always {baseline.place}: {baseline.dev_accuracy:.1f} %"
    ceiling = f"ceiling: {baseline.audit.ceiling:.1f} %"
    dot = Line2D([], [], marker="o", markersize=4, color="white", markeredgecolor=INK, label="single seed")
    handles: list[Artist] = [
        Line2D([], [], linestyle="none", marker="s", markersize=8, color=colour, label=label)
        for colour, label in ((PRETRAINED, "pretrained, then finetuned"), (SCRATCH, "finetuned from scratch"))
    ]
    handles += [
        Line2D([], [], color=INK, linewidth=1.0, label="95 % interval"),
        dot,
        Line2D([], [], color=INK, linestyle="--", linewidth=1.1, label=constant),
        Line2D([], [], color=GREY, linestyle=":", linewidth=1.5, label=ceiling),
    ]
    return [*handles, Patch(color=PUBLISHED, label="published; stroke: usual")] if any_published else handles
