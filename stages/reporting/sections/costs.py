"""The report's section on what the variants cost: formula, measurement, and how both grow with length."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.costing.exponents import Exponent, fitted, upper_half
from stages.costing.formulas import FORMULAS, in_the_limit
from stages.reporting.markdown import Markdown, table
from stages.reporting.sections.cost_figure import cost_svg
from stages.reporting.sections.measured import Measured, read_costs
from stages.reporting.template import Part, fill

TEMPLATE = "costs.md.jinja"


def costs_part(folder: Path, variants: Sequence[str]) -> Part | None:
    """The section made from `<folder>/<variant>/cost.json` of those of `variants` that have one; None if none has.

    Raises StudyError where one is broken.
    """
    measured = [read_costs(folder / name) for name in variants if (folder / name / "cost.json").is_file()]
    if not measured:
        return None
    common = [length for length in measured[0].lengths if all(length in each.lengths for each in measured)]
    text = fill(
        TEMPLATE,
        first=measured[0],
        exponents_table=exponents_table(measured),
        costs_table=costs_table(measured, common[-1]) if common else Markdown(""),
        length=common[-1] if common else None,
        fitted_lengths=upper_half(max((each.lengths for each in measured), key=len)),
        unstated=[each.variant for each in measured if each.variant not in FORMULAS],
        computed=[each.variant for each in measured if each.variant in FORMULAS and FORMULAS[each.variant].computed],
        by_rows=[
            each.variant
            for each in measured
            if each.by_rows and each.variant in FORMULAS and FORMULAS[each.variant].by_rows
        ],
        left_out=[(each.variant, length, why) for each in measured for length, why in each.left_out.items()],
        devices=sorted({f"{each.device}, {each.precision}" for each in measured}),
    )
    rows = pd.concat([each.table.assign(variant=each.variant) for each in measured])
    rows = rows[["variant", *[name for name in rows.columns if name != "variant"]]]
    return Part(
        text, {"cost.svg": cost_svg(measured, variants), "cost.csv": rows.to_csv(index=False, lineterminator="\n")}
    )


def exponents_table(measured: Sequence[Measured]) -> Markdown:
    """Return how operations, time and memory grow: by formula in the limit and at the lengths measured, and found."""
    header = (
        "variant", "operations", "in the limit", "at these lengths", "time",
        "kept numbers", "in the limit", "at these lengths", "memory",
    )  # fmt: skip
    rows = [
        (
            each.variant,
            *_theory(each, "multiply_adds", 0),
            _exponent(each.exponents.get("training_seconds")),
            *_theory(each, "kept", 1),
            _exponent(each.exponents.get("training_bytes")),
        )
        for each in measured
    ]
    return table(header, rows, right=("in the limit", "at these lengths", "time", "memory"))


def costs_table(measured: Sequence[Measured], length: int) -> Markdown:
    """Return time and memory of each variant at a length."""
    header = (
        "variant", "multiply-adds, M", "forward, ms", "with backward, ms", "forward, MB", "with backward, MB",
        "next character, ms", "its state, kB",
    )  # fmt: skip
    rows = []
    for each in measured:
        found, said = each.at(length), each.formula(length)
        rows.append(
            (
                each.variant,
                f"{said.multiply_adds / 1e6:,.0f}" if said else "–",
                f"{1e3 * found['forward_seconds']:,.1f}",
                f"{1e3 * found['training_seconds']:,.1f}",
                f"{found['forward_bytes'] / 1e6:,.1f}",
                f"{found['training_bytes'] / 1e6:,.1f}",
                f"{1e3 * found['character_seconds']:,.2f}",
                f"{found['state_bytes'] / 1e3:,.0f}",
            )
        )
    return table(header, rows, right=header[1:])


def _theory(measured: Measured, what: str, term: int) -> tuple[str, str, str]:
    """A formula's terms, its exponent in the limit and the one it has over the lengths that are fitted."""
    if measured.variant not in FORMULAS:
        return "–", "–", "–"
    formula = FORMULAS[measured.variant]
    needed = (formula.operations, formula.memory)[term]
    computed = formula.computed[term] if formula.computed else needed
    if what == "kept" and measured.by_rows and formula.by_rows:
        computed = formula.by_rows

    def value(length: int) -> float:
        return float(getattr(measured.formula(length), what))

    said = fitted(measured.lengths, [value(length) for length in measured.lengths])
    return (
        needed if computed == needed else f"{needed}; here {computed}",
        str(in_the_limit(value)),
        f"{said.slope:.2f}" if said else "–",
    )


def _exponent(exponent: Exponent | None) -> str:
    return f"{exponent.slope:.2f} ± {exponent.error:.2f}" if exponent else "–"
