"""Public runs of CS224N's assignment, and where this project's seeds stand among them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.evaluations import Evaluation
from stages.reporting.markdown import Markdown, table
from stages.reporting.style import BLUE, GREY, RED, rows_figure

# A row for each published file of predictions; see docs/reproduction.md
RUNS = Path(__file__).parents[2] / "docs" / "public_runs.tsv"
SCRATCH = "scratch"  # the variant of all runs without pretraining
DEV_QUESTIONS = 500
OWN, SOUND, FAULTY = BLUE, "#999999", RED


def public_runs() -> pd.DataFrame:
    """Return the runs, with their accuracy in percent."""
    runs = pd.read_csv(RUNS, sep="\t", keep_default_na=False)
    return runs.assign(accuracy=100 * runs.right_of_500 / DEV_QUESTIONS)


def own_seeds(evaluations: Sequence[Evaluation], runs: pd.DataFrame) -> dict[str, list[float]]:
    """Return the accuracies of this project's seeds by variant that has runs; all from scratch are one variant."""
    shown = [evaluation for evaluation in evaluations if evaluation.variant in {*runs.variant}]
    own = {evaluation.variant: evaluation.pretrained.by_seed for evaluation in shown}
    return own | {SCRATCH: [accuracy for evaluation in evaluations for accuracy in evaluation.scratch.by_seed]}


def public_table(runs: pd.DataFrame, own: Mapping[str, Sequence[float]]) -> Markdown:
    """Return a row for each variant: the runs without a known fault, and this project's seeds with their ranks."""
    header = ("variant", "public runs", "without known fault", "median, %", "range, %", "here, each seed: % (rank)")
    rows = []
    for variant, accuracies in own.items():
        of_variant = runs[runs.variant == variant]
        sound = of_variant[of_variant.fault == ""].accuracy
        ranks = [f"{seed:.1f} ({1 + (sound > seed).sum()} of {len(sound) + 1})" for seed in accuracies]
        spread = f"{sound.min():.1f} to {sound.max():.1f}"
        seeds = ", ".join(ranks) if variant != SCRATCH else f"{min(accuracies):.1f} to {max(accuracies):.1f}"
        rows.append((variant, len(of_variant), len(sound), f"{sound.median():.1f}", spread, seeds))
    return table(header, rows, numbers=slice(1, 5))


def draw_public(runs: pd.DataFrame, own: Mapping[str, Sequence[float]]) -> Figure:
    """Draw every run as a dot, a row for each variant, and this project's seeds over them."""
    figure, axes = rows_figure([*own], 1.3 + 0.6 * len(own), f"dev questions answered exactly (% of {DEV_QUESTIONS})")
    runs = runs[runs.variant.isin([*own])]
    height = runs.variant.map([*own].index).to_numpy() + np.random.default_rng(1).uniform(-0.25, 0.25, len(runs))
    faulty = (runs.fault != "").to_numpy()
    groups = ((~faulty, "o", SOUND, "public run"), (faulty, "x", FAULTY, "with a known fault"))
    for chosen, shape, colour, label in groups:
        dots: dict[str, Any] = {"marker": shape, "color": colour, "label": label, "alpha": 0.8}
        axes.scatter(runs.accuracy[chosen], height[chosen], s=16, linewidths=1.0, zorder=2, **dots)
    seeds = [(accuracy, row) for row, accuracies in enumerate(own.values()) for accuracy in accuracies]
    accuracies, heights = np.transpose(seeds)
    axes.scatter(accuracies, heights, s=40, color=OWN, marker="D", edgecolor="white", zorder=3, label="a seed here")
    axes.axvline(5.0, color=GREY, linestyle="--", linewidth=1.1, zorder=1, label="always London")
    axes.set_xlim(-0.7, max(45, 1.05 * accuracies.max()))
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=2)
    return figure
