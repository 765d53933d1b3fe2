"""The plots of the report: accuracies, what is memorised, learning curves, and the public runs."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from stages.reporting.evaluations import Baseline, Evaluation
from stages.reporting.style import BLUE, COLOURS, GREY, INK, PALE, PRETRAINED, RED, SCRATCH, looks, rows_figure

WIDTH = 8.6  # inches: about the width of a README's text column
BEYOND = 109  # percent: where the bars' figures end, beyond all lines
BARS = (("pretrained", "memorised"), ("finetuned", "memorised"), ("finetuned", "extracted"))  # weights and measure
PHASES = {  # the titles of the panels
    "pretrain": "Pretraining on the pages",
    "finetune_scratch": "Finetuning from scratch",
    "finetune_pretrained": "Finetuning, pretrained",
}

Array = npt.NDArray[np.float64]


def draw_accuracy(evaluations: Sequence[Evaluation], baseline: Baseline) -> Figure:
    """Draw the dev accuracy in percent of `evaluations`, best first, with 95 % intervals and single seeds."""
    names = [evaluation.variant for evaluation in evaluations]
    label = f"dev questions answered exactly (% of {baseline.dev_questions:,})"
    figure, axes = rows_figure(names, 1.5 + 0.45 * len(names), label)
    for offset, bars, colour, label in (
        (-0.19, [evaluation.pretrained for evaluation in evaluations], PRETRAINED, "pretrained, then finetuned"),
        (0.19, [evaluation.scratch for evaluation in evaluations], SCRATCH, "finetuned from scratch"),
    ):
        heights = np.arange(len(bars)) + offset
        means, low, high = np.array([(answers.mean, *answers.interval) for answers in bars]).T
        axes.barh(heights, means, height=0.36, color=colour, zorder=2, label=label)
        whiskers = np.maximum(0, [means - low, high - means])
        axes.errorbar(means, heights, xerr=whiskers, fmt="none", ecolor=INK, elinewidth=1.0, capsize=2.5, zorder=4)
        for height, answers in zip(heights, bars, strict=True):
            at = answers.by_seed, [height] * len(answers.by_seed)
            axes.scatter(*at, s=13, color="white", edgecolors=INK, linewidths=0.7, zorder=5, clip_on=False)
            axes.text(BEYOND, height, f"{answers.mean:.1f}", ha="right", va="center", fontsize=8)
    for value, name, colour, dash, width in (
        (baseline.accuracy["constant"], f"always {baseline.place}", INK, (0, (3, 2)), 1.1),
        (baseline.accuracy["rule"], "the rule, which sees the page", INK, (0, (8, 3)), 1.1),
        (baseline.accuracy["reader"], "the reader, which sees it, too", INK, "-.", 1.1),
        (baseline.ceiling, "ceiling", GREY, ":", 1.5),
    ):
        line = f"{name}: {value:.1f} %"
        axes.axvline(value, color=colour, linestyle=dash, linewidth=width, zorder=1.5, label=line)
    axes.set_xlim(0, 110)  # a column of figures beyond the bars and lines
    axes.set_xticks(range(0, 101, 10))
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


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


def draw_losses(
    curves: pd.DataFrame, variants: Sequence[str], leading: Sequence[str] = (), dots: pd.DataFrame | None = None
) -> Figure:
    """Draw the losses of `curves` (curves.csv) over the epochs, a panel for each phase of training.

    leading: the variants that stand out among many; dots: losses from elsewhere (phase, epoch, loss).
    """
    look = looks(variants, leading)
    figure = Figure(figsize=(WIDTH, 3.1), layout="constrained")
    panels = figure.subplots(1, len(PHASES), width_ratios=(1.35, 1, 1))
    for axes, (phase, title) in zip(panels, PHASES.items(), strict=True):
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
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 200 else (1.0,)))
            axes.yaxis.set_major_formatter("{x:,g}")
            axes.yaxis.set_minor_locator(NullLocator())
    panels[0].set_ylabel("loss (nats a character)")
    _legend(figure, panels[0], look)
    return figure


def _legend(figure: Figure, axes: Axes, look: Mapping[str, tuple[str, str]]) -> None:
    """Write a legend below the panels, in as many columns as fit; all pale lines share one entry, the last."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    pale = [name for name in handles if look[name][1] == PALE]
    shown = [*(name for name in handles if name not in pale), *pale[:1]]
    labels = [f"the other {len(pale)}" if name in pale and len(pale) > 1 else name for name in shown]
    entry = 0.65 + 0.075 * max(map(len, look))  # inches: the line's sample and gaps, then the name
    columns = min(6, len(look), max(1, int(WIDTH / entry)))
    figure.legend([handles[name] for name in shown], labels, loc="outside lower center", ncols=columns)


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


def thin(curves: pd.DataFrame, points: int = 200) -> pd.DataFrame:
    """Return at most `points` evenly spaced rows of each variant's seed and phase, first and last kept."""
    kept = []
    for _, rows in curves.groupby(["variant", "seed", "phase"], sort=False):
        spread = np.linspace(0, len(rows) - 1, min(len(rows), points))
        kept.append(rows.iloc[spread.round().astype(np.intp)])
    return pd.concat(kept, ignore_index=True)


def draw_public(runs: pd.DataFrame, seeds: Mapping[str, Sequence[float]]) -> Figure:
    """Draw every public run as a dot, a row for each variant, and this project's seeds over them."""
    figure, axes = rows_figure([*seeds], 1.3 + 0.6 * len(seeds), "dev questions answered exactly (% of 500)")
    runs = runs[runs.variant.isin([*seeds])]
    height = runs.variant.map([*seeds].index).to_numpy() + np.random.default_rng(1).uniform(-0.25, 0.25, len(runs))
    faulty = (runs.fault != "").to_numpy()
    for chosen, marker, colour, label in (
        (~faulty, "o", "#999999", "public run"),
        (faulty, "x", RED, "with a known fault"),
    ):
        dots = runs.accuracy[chosen], height[chosen]
        axes.scatter(*dots, s=16, marker=marker, color=colour, linewidths=1.0, alpha=0.8, zorder=2, label=label)
    accuracies, heights = np.transpose([(value, row) for row, own in enumerate(seeds.values()) for value in own])
    axes.scatter(accuracies, heights, s=40, color=BLUE, marker="D", edgecolor="white", zorder=3, label="a seed here")
    axes.axvline(5.0, color=GREY, linestyle="--", linewidth=1.1, zorder=1, label="always London")
    axes.set_xlim(-0.7, max(45, 1.05 * accuracies.max()))
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
