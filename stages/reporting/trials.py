"""Figures of trials: memorised facts and answered questions, by change and by length."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.statistics.intervals import accuracy_interval
from stages.reporting.style import BLUE, GREY, INK, ORANGE, SMALL, rows_figure, svg
from stages.reporting.tables import short
from stages.trials.row import Row, marks

ANSWERED, MEMORISED = BLUE, ORANGE


def figures(rows: Sequence[Row], change: str) -> dict[str, Any]:
    """Return a row of a page's CSV for trainings that differ only in the seed; shares are in 0…1."""
    correct = marks(rows, "correct")
    of_own_page = marks(rows, "of_own_page")
    facts = np.array([*rows[0].memorised]) != "-"
    memorised = marks(rows, "memorised")[facts]
    low, high = accuracy_interval(correct)
    return {
        "change": change,
        "accuracy": float(correct.mean()),
        "ci_low": low,
        "ci_high": high,
        "memorised": float(memorised.mean()),
        "extracted_of_memorised": float(correct[facts][memorised == 1].mean()) if memorised.any() else float("nan"),
        "another_of_own_page": float((of_own_page * (1 - correct)).mean()),
        **{f"says_{chooser}": float(marks(rows, chooser).mean()) for chooser in rows[0].says},
        "seeds": len(rows),
        "epochs": rows[0].epochs,
        "pretrain_loss": float(np.mean([row.pretrain_loss for row in rows])),
        "seconds": float(np.mean([row.seconds for row in rows])),
    }


def trial_files(name: str, data: pd.DataFrame, exposures: str, lengths: pd.DataFrame) -> dict[str, str]:
    """Return rows of `figures` as CSV and as a picture, and three or more `lengths` also against the epochs."""
    csv = data.round(6).to_csv(index=False, lineterminator="\n")
    files = {f"{name}.csv": csv, f"{name}.svg": svg(draw_trials(data))}
    if len(lengths) > 2:
        files[f"{exposures}.svg"] = svg(draw_exposures(lengths))
    return files


def made(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the commits and machines that trained the rows."""
    return sorted({(short(row.provenance["commit"]), row.provenance["device"]) for row in rows})


def draw_trials(data: pd.DataFrame) -> Figure:
    """Draw rows of `figures` from top to bottom, with a line at the first."""
    label = "questions asked, or facts of the pages (%)"
    figure, axes = rows_figure(list(data.change), 1.1 + 0.34 * len(data), label)
    height = range(len(data))
    answered = 100 * data.accuracy
    memorised = 100 * data.memorised
    axes.axvline(answered.iloc[0], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    axes.hlines(height, answered, memorised, color="#BBBBBB", linewidth=1.2, zorder=2)
    axes.errorbar(answered, height, xerr=_whiskers(data), fmt="none", color=INK, linewidth=1.0, capsize=2.5, zorder=3)
    axes.scatter(answered, height, s=34, color=ANSWERED, zorder=4, label="answered (95 % interval)")
    axes.scatter(memorised, height, s=34, color=MEMORISED, marker="D", zorder=4, clip_on=False, label="memorised")
    axes.set_ylim(len(data) - 0.5, -0.5)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def draw_exposures(data: pd.DataFrame) -> Figure:
    """Draw rows of `figures` that differ in their epochs alone, the fewest first."""
    figure = Figure(figsize=(SMALL, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(data.epochs, 100 * data.memorised, color=MEMORISED, marker="D", label="memorised facts")
    label = "answered questions (95 % interval)"
    answered = 100 * data.accuracy
    axes.errorbar(data.epochs, answered, yerr=_whiskers(data), color=ANSWERED, marker="o", capsize=2.5, label=label)
    axes.set_xscale("log")
    axes.set_xticks(data.epochs, data.epochs)
    axes.minorticks_off()
    axes.set_ylim(0, 100)
    axes.set_xlabel("exposures: how often each page was read")
    axes.set_ylabel("questions asked, or facts (%)")
    axes.grid(zorder=0)
    figure.legend(loc="outside upper center", ncols=2)
    return figure


def _whiskers(data: pd.DataFrame) -> list[pd.Series]:
    """Return how far the interval of the answers reaches down and up, in points."""
    answered = 100 * data.accuracy
    return [answered - 100 * data.ci_low, 100 * data.ci_high - answered]
