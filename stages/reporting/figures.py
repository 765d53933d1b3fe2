"""The report's pictures of accuracies and losses."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stages.reporting.evaluations import Baseline
from stages.reporting.metrics import Answers, Result
from stages.reporting.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    WIDTH,
    entries,
    legend_columns,
    logarithmic,
    looks,
    rows_figure,
)

PRETRAINED, SCRATCH = BLUE, ORANGE
BEYOND = 109  # percent: where the bars' figures end, beyond all lines
PHASES = (
    ("pretrain", "Pretraining on the pages"),
    ("finetune_scratch", "Finetuning from scratch"),
    ("finetune_pretrained", "Finetuning, pretrained"),
)

Array = npt.NDArray[np.float64]


def draw_accuracy(results: Sequence[Result], baseline: Baseline) -> Figure:
    """Draw the dev accuracy in percent of `results`, best first, with 95 % intervals and single seeds."""
    label = f"dev questions answered exactly (% of {baseline.dev_questions:,})"
    figure, axes = rows_figure([result.variant for result in results], 1.5 + 0.45 * len(results), label)
    _bars(axes, -0.19, [result.pretrained for result in results], PRETRAINED, "pretrained, then finetuned")
    _bars(axes, 0.19, [result.scratch for result in results], SCRATCH, "finetuned from scratch")
    for value, name, colour, dash, width in (
        (baseline.dev_accuracy, f"always {baseline.place}", INK, (0, (3, 2)), 1.1),
        (baseline.rule_accuracy, "the rule, which sees the page", INK, (0, (8, 3)), 1.1),
        (baseline.reader_accuracy, "the reader, which sees it, too", INK, "-.", 1.1),
        (baseline.ceiling, "ceiling", GREY, ":", 1.5),
    ):
        line = f"{name}: {value:.1f} %"
        axes.axvline(value, color=colour, linestyle=dash, linewidth=width, zorder=1.5, label=line)
    axes.set_xlim(0, 110)  # a column of figures beyond the bars and lines
    axes.set_xticks(range(0, 101, 10))
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def draw_losses(
    curves: pd.DataFrame, variants: Sequence[str], leading: Sequence[str] = (), dots: pd.DataFrame | None = None
) -> Figure:
    """Draw the losses of `curves` (curves.csv) over the epochs, a panel for each phase of training.

    leading: the variants that stand out among many; dots: losses from elsewhere (phase, epoch, loss).
    """
    look = looks(variants, leading)
    columns = min(6, legend_columns(variants))
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    panels = figure.subplots(1, len(PHASES), width_ratios=(1.35, 1, 1))
    for axes, (phase, title) in zip(panels, PHASES, strict=True):
        for variant, (dash, colour) in look.items():
            rows = curves[(curves["variant"] == variant) & (curves["phase"] == phase)]
            if len(rows):
                epochs, losses = seed_curves(rows)
                above = colour != PALE
                for seed in losses if len(losses) > 1 else ():
                    axes.plot(epochs, seed, color=colour, linestyle=dash, linewidth=0.6, alpha=0.4, zorder=1 + above)
                mean = losses.mean(axis=0)
                dot = "." if len(epochs) == 1 else ""  # one point makes no line
                line = {"color": colour, "linestyle": dash, "linewidth": 1 + 0.6 * above, "zorder": 2 + above}
                axes.plot(epochs, mean, marker=dot, label=variant, **line)
        if dots is not None:
            others = dots[dots.phase == phase]
            axes.scatter(others.epoch, others.loss, s=7, color=INK, zorder=5)
        axes.set_title(title)
        axes.set_xlabel("epochs")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
        axes.grid(zorder=0)
        low, high = axes.dataLim.y0, axes.dataLim.y1
        if 0 < low < high / 4:  # a smaller span has too few labelled ticks on a logarithmic axis
            logarithmic(axes, low, high)
    panels[0].set_ylabel("loss (nats a character)")
    figure.legend(*entries(panels[0], look), loc="outside lower center", ncols=columns)
    return figure


def seed_curves(rows: pd.DataFrame, points: int = 60) -> tuple[Array, Array]:
    """Return epochs (P,), at most `points`, and each seed's losses there (seeds, P) of a variant's phase of training.

    Each point is the mean over a stretch of epochs.
    """
    stretches = []
    for _, seed in rows.groupby("seed"):
        curve = seed[["epoch", "loss"]].astype(float).to_numpy().T  # (2, epochs)
        parts = np.array_split(curve, min(points, len(seed)), axis=1)
        stretches.append(np.array([part.mean(axis=1) for part in parts]).T)
    start = max(epochs[0] for epochs, _ in stretches)
    end = min(epochs[-1] for epochs, _ in stretches)
    grid = np.linspace(start, end, min(points, max(len(epochs) for epochs, _ in stretches)))
    return grid, np.array([np.interp(grid, epochs, losses) for epochs, losses in stretches])


def _bars(axes: Axes, offset: float, accuracies: Sequence[Answers], colour: str, label: str) -> None:
    """Draw for each row a bar, a whisker, a dot a seed and the figure."""
    heights = np.arange(len(accuracies)) + offset
    means, low, high = np.array([(answers.mean, *answers.interval) for answers in accuracies]).T
    axes.barh(heights, means, height=0.36, color=colour, zorder=2, label=label)
    whiskers = np.maximum(0, [means - low, high - means])
    axes.errorbar(means, heights, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
    for height, answers in zip(heights, accuracies, strict=True):
        dots = np.full(len(answers.by_seed), height)
        axes.scatter(
            answers.by_seed, dots, s=13, color="white", edgecolors=INK, linewidths=0.7, zorder=5, clip_on=False
        )
        axes.text(BEYOND, height, f"{answers.mean:.1f}", ha="right", va="center", fontsize=8)
