"""Learning curves: the report's picture of them, and the table beside it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stages.reporting.style import INK, PALE, WIDTH, entries, legend_columns, logarithmic, looks

PHASES = {  # the titles of the panels
    "pretrain": "Pretraining on the pages",
    "finetune_scratch": "Finetuning from scratch",
    "finetune_pretrained": "Finetuning, pretrained",
}

Array = npt.NDArray[np.float64]


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
            logarithmic(axes, low, high)
    panels[0].set_ylabel("loss (nats a character)")
    columns = min(6, legend_columns(variants))
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


def thin(curves: pd.DataFrame, points: int = 200) -> pd.DataFrame:
    """Return at most `points` evenly spaced rows of each variant's seed and phase, first and last kept."""
    kept = []
    for _, rows in curves.groupby(["variant", "seed", "phase"], sort=False):
        spread = np.linspace(0, len(rows) - 1, min(len(rows), points))
        kept.append(rows.iloc[spread.round().astype(np.intp)])
    return pd.concat(kept, ignore_index=True)
