"""What a recipe owes to its parts: the page that compares it with itself, one change at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from stages.reporting.html.index import write_page
from stages.reporting.markdown import Markdown, code, table
from stages.reporting.statistics.intervals import Marks, accuracy_interval
from stages.reporting.statistics.significance import Difference, compare_trainings, shown_points
from stages.reporting.style import GREY, INK, SMALL, rows_figure, styled, svg
from stages.reporting.tables import short
from stages.reporting.template import fill
from stages.settings import FULL, Ablation
from stages.settings.changes import leaves, written

ANSWERED, MEMORISED = "#0072B2", "#E69F00"  # colours
LENGTH = {"pretrain.epochs:"}  # of a change that changes only how long is trained


@dataclass(frozen=True, eq=False)
class Ablated:
    """What the weights of one change answer and know."""

    change: str
    correct: Marks  # (N, 1), a row a held-out question
    memorised: pd.Series  # a row a fact: whether the pretrained weights complete any page form, practised or not
    extracted: pd.Series  # and whether the finetuned ones answer the question
    epochs: int  # of pretraining: how often each page was read
    pretrain_loss: float
    seconds: float  # of pretraining
    provenance: dict[str, Any]


@styled()
def write_ablation(target: Path, settings: Ablation, found: Sequence[Ablated]) -> None:
    """Write report.md, index.html and what they show to the folder `target`; `found` holds the change `full`."""
    full = next(each for each in found if each.change == FULL)
    others = [each for each in found if each is not full]
    found = [full, *others]
    pairs = [(each.change, FULL) for each in others]
    differences = compare_trainings({each.change: each.correct for each in found}, pairs)
    rows = [figures(each) for each in found]
    data = pd.DataFrame(rows)
    changes = {each.change: flat(settings.changes[each.change]) for each in others}
    longer = [
        FULL,
        *(name for name, pairs in changes.items() if {pair.partition(" ")[0] for pair in pairs} == LENGTH),
    ]
    lengths = data[data.change.isin(longer)].sort_values("epochs")
    lengths_shown = len(lengths) > 2
    text = fill(
        "ablation.md.jinja",
        recipe=settings.recipe,
        variant=settings.variant,
        table=changes_table(rows, [None, *differences]),
        questions=len(full.correct),
        facts=len(full.extracted),
        seed=settings.seed,
        lengths_shown=lengths_shown,
        changes=changes,
        made=sorted({(short(each.provenance["commit"]), each.provenance["device"]) for each in found}),
    )
    csv = data.round(4).to_csv(index=False, lineterminator="\n")
    files = {"ablation.svg": svg(draw_ablation(data)), "ablation.csv": csv}
    if lengths_shown:
        files["exposures.svg"] = svg(draw_exposures(lengths))
    write_page(target, text, files)


def figures(ablated: Ablated) -> dict[str, Any]:
    """A change's row of ablation.csv; fractions in 0…1."""
    low, high = accuracy_interval(ablated.correct)
    return {
        "change": ablated.change,
        "accuracy": float(ablated.correct.mean()),
        "ci_low": low,
        "ci_high": high,
        "memorised": float(ablated.memorised.mean()),
        "extracted_of_memorised": float(ablated.extracted[ablated.memorised].mean()),  # NaN where none is memorised
        "epochs": ablated.epochs,
        "pretrain_loss": ablated.pretrain_loss,
        "seconds": ablated.seconds,
    }


def changes_table(rows: Sequence[dict[str, Any]], differences: Sequence[Difference | None]) -> Markdown:
    """The rows of ablation.csv, each with its difference to the full recipe."""
    header = (
        "change", "answered, %", "less the full recipe, points (95 % interval)",
        "memorised, %", "extracted of memorised, %", "pretraining loss", "seconds of pretraining",
    )  # fmt: skip
    cells = []
    for row, found in zip(rows, differences, strict=True):
        # in two decimals: rounded further, percentages and points would not add up
        shares = [f"{100 * row[name]:.2f}" for name in ("accuracy", "memorised", "extracted_of_memorised")]
        percent = [each.replace("nan", "–") for each in shares]
        line = [code(row["change"]), percent[0], shown_points(found, 2) if found else "–", *percent[1:]]
        cells.append([*line, f"{row['pretrain_loss']:.3f}", f"{row['seconds']:,.0f}"])
    return table(header, cells, right=header[1:])


def draw_ablation(rows: pd.DataFrame) -> Figure:
    """Draw rows of ablation.csv from top to bottom, the first being the full recipe."""
    label = "held-out questions, or facts of the pages (%)"
    figure, axes = rows_figure(list(rows.change), 1.1 + 0.34 * len(rows), label)
    height = range(len(rows))
    answered, memorised = 100 * rows.accuracy, 100 * rows.memorised
    axes.axvline(answered.iloc[0], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    axes.hlines(height, answered, memorised, color="#BBBBBB", linewidth=1.2, zorder=2)
    whiskers = [answered - 100 * rows.ci_low, 100 * rows.ci_high - answered]
    axes.errorbar(answered, height, xerr=whiskers, fmt="none", color=INK, linewidth=1.0, capsize=2.5, zorder=3)
    axes.scatter(answered, height, s=34, color=ANSWERED, zorder=4, label="answered (95 % interval)")
    axes.scatter(memorised, height, s=34, color=MEMORISED, marker="D", zorder=4, label="memorised")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
    return figure


def draw_exposures(rows: pd.DataFrame) -> Figure:
    """Draw the rows of ablation.csv that differ in their epochs alone, the fewest first."""
    figure = Figure(figsize=(SMALL, 3.6), layout="constrained")
    axes = figure.subplots()
    answered = 100 * rows.accuracy
    whiskers = [answered - 100 * rows.ci_low, 100 * rows.ci_high - answered]
    axes.plot(rows.epochs, 100 * rows.memorised, color=MEMORISED, marker="D", label="memorised facts")
    label = "answered questions (95 % interval)"
    axes.errorbar(rows.epochs, answered, yerr=whiskers, color=ANSWERED, marker="o", capsize=2.5, label=label)
    axes.set_xscale("log")
    axes.set_xticks(rows.epochs, rows.epochs)
    axes.minorticks_off()
    axes.set_ylim(0, 100)
    axes.set_xlabel("exposures: how often each page was read")
    axes.set_ylabel("%")
    axes.grid(zorder=0)
    figure.legend(loc="outside upper center", ncols=2, fontsize=8.5)
    return figure


def flat(changes: dict[str, Any]) -> list[str]:
    """Nested settings as `key: value`, keys with dots, values as params.yaml writes them."""
    return [f"{key}: {written(value)}" for key, value in leaves(changes).items()]
