"""The figures of a row: a variant as a machine of one class trains it."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

HEAD = f"{'class':14}{'variant':20}{'plain':>8}{'compiled':>10}{'study':>8}{'/plain':>8}{'/compiled':>10}{'of peak':>9}"


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    figures = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: round(value, 5) for name, value in figures.items()}


def row(facts: Mapping[str, Any], seconds: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Seconds a step of each side, and how they compare.

    facts: what the class's process told of the variant; seconds: of each side's runs.
    """
    figures: dict[str, Any] = {
        side: spread(seconds[side]) for side in ("plain", "compiled", "study") if side in seconds
    }
    plain, study = figures["plain"]["median"], figures["study"]["median"]
    peak = facts["product_flop"] / statistics.median(seconds["product"])
    figures["study_over_plain"] = round(plain / study, 2)
    if "compiled" in figures:
        figures["study_over_compiled"] = round(figures["compiled"]["median"] / study, 2)
    if "compile" in facts:
        figures["compile"] = facts["compile"]
    figures["gemm_tflop_per_second"] = round(peak / 1e12, 4)
    figures["share_of_gemm_peak"] = round(facts["flop"] / study / peak, 3)
    if "serial" in seconds:
        serial = statistics.median(seconds["serial"])
        shortest = serial + (facts["flop"] - facts["serial_flop"]) / peak
        figures["recurrence"] = {
            "serial_products": spread(seconds["serial"]),
            "share_of_step": round(serial / study, 3),
            "shortest_step": round(shortest, 5),
            "largest_study_over_plain": round(plain / shortest, 2),
        }
    if "question" in seconds:
        questions = {
            "plain": spread([facts["questions"] * each for each in seconds["question"]]),
            "study": spread(seconds["questions"]),
        }
        ratio = round(questions["plain"]["median"] / questions["study"]["median"], 1)
        figures["questions"] = {"number": facts["questions"], **questions, "study_over_plain": ratio}
    return figures


def line(figures: Mapping[str, Any]) -> str:
    """The row as it is printed under HEAD, seconds a step and ratios; what else there is to say in lines below it."""
    compiled = f"{figures['compiled']['median']:10.3f}" if "compiled" in figures else f"{'-':>10}"
    beside = f"{figures['study_over_compiled']:10.1f}" if "compiled" in figures else f"{'-':>10}"
    plain, study = figures["plain"]["median"], figures["study"]["median"]
    lines = [
        f"{figures['class']:14}{figures['variant']:20}{plain:8.3f}{compiled}{study:8.3f}{figures['study_over_plain']:8.1f}{beside}"
        f"{figures['share_of_gemm_peak']:9.1%}"
    ]
    if "error" in figures.get("compile", {}):
        lines.append(f"torch.compile: {figures['compile']['error']}")
    if limit := figures.get("recurrence"):
        lines.append(
            f"recurrence: its serial products alone are {limit['share_of_step']:.0%} of a step; at most "
            f"{limit['largest_study_over_plain']:.1f} times the plain speed, the rest at the GEMM peak"
        )
    if asked := figures.get("questions"):
        plain, study = asked["plain"]["median"], asked["study"]["median"]
        lines.append(
            f"{asked['number']} questions: plain {plain:.1f} s, study {study:.2f} s, {asked['study_over_plain']} times"
        )
    return "\n    ".join(lines)
