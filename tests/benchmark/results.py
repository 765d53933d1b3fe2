"""What the benchmark says: comparisons, the file and the table."""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.system.errors import StudyError
from stages.system.files import read_json, write_json
from tests.benchmark.timing import summary

Figures = dict[str, Any]
LINES = {  # of the table, for training: the figure and its form
    "documents/s": ("documents_per_second", ",.1f"),
    "tokens/s": ("tokens_per_second", ",.0f"),
    "share of GEMM peak": ("share_of_gemm_peak", ".1%"),
}


def training_side(seconds: list[float], documents: int, tokens: float, flop: float, peak: float) -> Figures:
    """One side's training. documents, tokens and flop are those of a step; peak: FLOP/s of the same number format."""
    step = statistics.median(seconds)
    return {
        "documents_per_second": round(documents / step, 2),
        "tokens_per_second": round(tokens / step, 1),
        "tflop_per_second": round(flop / step / 1e12, 4),
        "share_of_gemm_peak": round(flop / step / peak, 4),
        "steps": len(seconds),
        "seconds_per_step": summary(seconds),
    }


def training(variant: str, plain: Figures, fast: Figures) -> Figures:
    """The comparison of two `training_side`s; its ratio is that of documents a second."""
    ratio = fast["documents_per_second"] / plain["documents_per_second"]
    return {"variant": variant, "what": "training", "ratio": round(ratio, 2), "plain": plain, "fast": fast}


def evaluation(variant: str, weights: str, questions: int, plain: list[float], fast: list[float]) -> Figures:
    """The comparison of answering `questions` questions. plain: seconds of one question each; fast: of all of them.

    weights: whose answers they are.
    """
    ratio = questions * statistics.median(plain) / statistics.median(fast)
    return {
        "variant": variant,
        "what": f"evaluation of {questions} questions, {weights}",
        "ratio": round(ratio, 2),
        "plain": {
            "seconds": summary(plain, scale=questions),
            "note": f"one at a time, every character a full forward pass: {len(plain)} questions, scaled up",
        },
        "fast": {"seconds": summary(fast), "note": "in batches by length, from cached states"},
    }


def key(device: str, precision: str, instructions: str | None) -> str:
    """Where a run stands in the file: device, number format and, where set, oneDNN's largest instruction set."""
    return " ".join([device, precision, *([instructions] if instructions else [])])


def save(path: Path, name: str, run: Figures) -> None:
    """Write the run beside those of other names, in place of an earlier one of its own.

    Raises:
        StudyError: the file there is no JSON.
    """
    try:
        runs = read_json(path) if path.exists() else {}
    except json.JSONDecodeError as error:
        raise StudyError(f"{path}:{error.lineno}: not valid JSON: {error.msg}; mend or delete it") from error
    write_json(path, dict(sorted({**runs, name: run}.items())))


def table(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The comparisons as text, a line a figure."""
    rows = [("variant", "what", "plain", "fast", "ratio")]
    for each in comparisons:
        variant, what, ratio = each["variant"], each["what"], f"{each['ratio']:.1f}"
        plain, fast = each["plain"], each["fast"]
        if what == "training":
            for name, (field, form) in LINES.items():
                cells = [f"{side[field]:{form}}" for side in (plain, fast)]
                rows.append((variant, f"training, {name}", *cells, ratio if name == "documents/s" else ""))
        else:
            medians = [f"{side['seconds']['median']:.2f}" for side in (plain, fast)]
            rows.append((variant, f"{what}, s", *medians, ratio))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
