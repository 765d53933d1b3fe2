"""The report's section on what the variants cost: formula, measurement, and how both grow with length."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from stages.costing.exponents import FEWEST, Exponent, upper_half
from stages.reporting.markdown import Markdown, table
from stages.reporting.sections.cost_figure import cost_svg
from stages.reporting.sections.measured import Measured, Quantity, read_costs
from stages.reporting.sections.overhead import CHARACTER, TRAINING, outweighed, overhead_finding
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
    slowed = outweighed(measured, TRAINING)
    by_rows = [each.variant for each in measured if each.rowwise]
    text = fill(
        TEMPLATE,
        first=measured[0],
        time_table=time_table(measured),
        memory_table=memory_table(measured),
        generation_table=generation_table(measured),
        costs_table=costs_table(measured, common[-1]) if common else Markdown(""),
        length=common[-1] if common else None,
        fitted_lengths=_fitted(measured),
        unstated=[each.variant for each in measured if not each.stated],
        computed=[each.variant for each in measured if each.computed],
        notes=[each.stated.note for each in measured if each.stated and each.stated.note],
        by_rows=by_rows,
        windowed=[each.variant for each in measured if each.skips],
        slower=[name for name in by_rows if name not in {each.variant for each in slowed}],
        overhead=overhead_finding(slowed, TRAINING),
        character_overhead=overhead_finding(outweighed(measured, CHARACTER), CHARACTER),
        level=[each.variant for each in measured if each.limit("step") == 0],
        left_out=[(each.variant, length, why) for each in measured for length, why in each.left_out.items()],
        devices=sorted({f"{each.device}, {each.precision}" for each in measured}),
    )
    rows = pd.concat([each.table.assign(variant=each.variant) for each in measured])
    rows = rows[["variant", *[name for name in rows.columns if name != "variant"]]]
    return Part(
        text, {"cost.svg": cost_svg(measured, variants), "cost.csv": rows.to_csv(index=False, lineterminator="\n")}
    )


def _fitted(measured: Sequence[Measured]) -> str:
    """Over which lengths exponents are fitted: the longer half of each variant's own, where that has enough of them."""
    halves = [upper_half(each.lengths) for each in measured]
    fitted = [half for half in halves if len(half) >= FEWEST] or halves
    shortest, longest = (end(end(half) for half in fitted) for end in (min, max))
    differ = any((half[0], half[-1]) != (shortest, longest) for half in fitted)
    return f"{shortest:,} to {longest:,} characters" + (
        ", of each variant the longer half of its own" if differ else ""
    )


def time_table(measured: Sequence[Measured]) -> Markdown:
    """Return how operations and time grow: by formula in the limit and at the lengths measured, and as measured."""
    rows = [
        (each.variant, _operations(each), *_stated(each, "multiply_adds"), *_found(each, "{}_seconds"))
        for each in measured
    ]
    return _exponents("operations", ("forward", "with backward"), rows)


def memory_table(measured: Sequence[Measured]) -> Markdown:
    """Return how kept numbers and peak memory grow, as `time_table`."""
    rows = [(each.variant, _kept(each), *_stated(each, "kept"), *_found(each, "{}_bytes")) for each in measured]
    return _exponents("kept numbers", ("forward", "with backward"), rows)


def generation_table(measured: Sequence[Measured]) -> Markdown:
    """Return how operations and time of one more character, and the memory of the states, grow, as `time_table`."""
    header = (
        "variant", "operations of a character", "in the limit", "at these lengths", "time",
        "numbers of the states", "in the limit", "memory",
    )  # fmt: skip
    rows = [
        (
            each.variant,
            each.stated.step if each.stated else "–",
            *_stated(each, "step"),
            _exponent(each.exponents.get(CHARACTER)),
            each.stated.state if each.stated else "–",
            _stated(each, "state")[0],
            _exponent(each.exponents.get("state_bytes")),
        )
        for each in measured
    ]
    return table(header, rows, right=[*header[2:5], *header[6:]])


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


def _exponents(formula: str, found: Sequence[str], rows: Sequence[Sequence[object]]) -> Markdown:
    """A table of a formula's words and exponents beside those `found`."""
    header = ("variant", formula, "in the limit", "at these lengths", *found)
    return table(header, rows, right=header[2:])


def _operations(measured: Measured) -> str:
    """A formula's words for operations: what the method needs and, where the code computes another term, that."""
    if measured.stated is None:
        return "–"
    return _words(measured.stated.operations, measured.computed[0] if measured.computed else None)


def _kept(measured: Measured) -> str:
    """As `_operations`, of the numbers kept for the way back."""
    if measured.stated is None:
        return "–"
    return _words(measured.stated.memory, measured.rowwise or (measured.computed[1] if measured.computed else None))


def _words(needed: str, computed: str | None) -> str:
    return f"{needed}; here {computed}" if computed and computed != needed else needed


def _stated(measured: Measured, what: Quantity) -> tuple[str, str]:
    """A formula's exponent in the limit and over the lengths that are fitted."""
    limit, here = measured.limit(what), measured.stated_exponent(what)
    return "–" if limit is None else str(limit), "–" if here is None else f"{here:z.2f}"


def _found(measured: Measured, what: str) -> tuple[str, str]:
    """The measured exponents of a forward pass and of one with its backward pass."""
    forward, both = (measured.exponents.get(what.format(name)) for name in ("forward", "training"))
    return _exponent(forward), _exponent(both)


def _exponent(exponent: Exponent | None) -> str:
    return f"{exponent.slope:z.2f} ± {exponent.error:.2f}" if exponent else "–"
