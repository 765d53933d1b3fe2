"""What the benchmark says: comparisons, the file and the table."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stages.system.files import read_json, write_json

Figures = dict[str, Any]


def summary(seconds: list[float], scale: float = 1.0) -> dict[str, float]:
    """Median, minimum and maximum of `scale` times the seconds."""
    figures = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: round(scale * value, 6) for name, value in figures.items()}


def training_side(seconds: list[float], documents: int, tokens: list[int]) -> Figures:
    """One side's training: seconds of its steps, documents of a step, and tokens of each step."""
    step = statistics.median(seconds)
    return {
        "documents_per_second": round(documents / step, 2),
        "tokens_per_second": round(statistics.mean(tokens) / step, 1),
        "steps": len(seconds),
        "seconds_per_step": summary(seconds),
    }


def training(variant: str, plain: Figures, fast: Figures) -> Figures:
    """The comparison of two `training_side`s; its ratio is that of documents a second."""
    ratio = fast["documents_per_second"] / plain["documents_per_second"]
    return {"variant": variant, "what": "training", "ratio": round(ratio, 2), "plain": plain, "fast": fast}


def evaluation(variant: str, questions: int, plain: list[float], fast: list[float]) -> Figures:
    """The comparison of answering `questions` questions. plain: seconds of one question each; fast: of all of them."""
    ratio = questions * statistics.median(plain) / statistics.median(fast)
    return {
        "variant": variant,
        "what": f"evaluation of {questions} questions",
        "ratio": round(ratio, 2),
        "plain": {
            "seconds": summary(plain, scale=questions),
            "note": f"one at a time, every character a full forward pass: {len(plain)} questions, scaled up",
        },
        "fast": {"seconds": summary(fast), "note": "in batches by length, from cached states"},
    }


def key(device: str, precision: str, instructions: str | None) -> str:
    """A run's key in the file: device, number format and, where set, oneDNN's largest instruction set."""
    return " ".join([device, precision, *([instructions] if instructions else [])])


def save(path: Path, name: str, run: Figures) -> None:
    """Write the run beside those of other names, instead of an earlier one of its own."""
    runs = read_json(path) if path.exists() else {}
    write_json(path, dict(sorted({**runs, name: run}.items())))


def table(comparisons: Sequence[Mapping[str, Any]]) -> str:
    """The comparisons as text, a line each."""
    lines = [f"{'variant':20}{'':32}{'plain':>10}{'fast':>10}{'ratio':>8}"]
    for each in comparisons:
        if each["what"] == "training":
            what, figures = "training, documents/s", [each[side]["documents_per_second"] for side in ("plain", "fast")]
        else:
            what, figures = f"{each['what']}, s", [each[side]["seconds"]["median"] for side in ("plain", "fast")]
        plain, fast = figures
        lines.append(f"{each['variant']:20}{what:32}{plain:10,.2f}{fast:10,.2f}{each['ratio']:8.1f}")
    return "\n".join(lines)
