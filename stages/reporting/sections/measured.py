"""What the cost stages left behind, read and checked before anything is reported."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from stages.costing.exponents import Exponent, fitted
from stages.costing.formulas import FORMULAS, Cost, Formula, Shape, in_the_limit
from stages.reporting.evaluations import broken, device_of, read_record

Quantity = Literal["multiply_adds", "kept", "step", "state"]  # of a `Cost`


@dataclass(frozen=True)
class Measured:
    """A variant's measurements, a row a length (columns as in costing's `Measurement`), and their exponents."""

    variant: str
    settings: dict[str, Any]
    recipe: str
    layers: int
    heads: int
    width: int
    table: pd.DataFrame
    exponents: dict[str, Exponent | None]
    left_out: dict[str, str]
    device: str
    precision: str
    by_rows: bool  # softmax attention went from row to row, kept no scores and skipped what is out of reach

    @property
    def lengths(self) -> list[int]:
        """Those measured, ascending."""
        return self.table["length"].tolist()

    def at(self, length: int) -> dict[str, float]:
        """The measurement of a length."""
        row = self.table[self.table["length"] == length].iloc[0]
        return {str(name): float(row[name]) for name in self.table.columns}

    @property
    def stated(self) -> Formula | None:
        """The variant's formula; None where it states none."""
        return FORMULAS.get(self.variant)

    @property
    def computed(self) -> tuple[str, str] | None:
        """Operations and memory of the form that was measured, in words, where these are more than the method needs."""
        return self.stated.computed if self.stated and not self.by_rows else None

    @property
    def rowwise(self) -> str | None:
        """The formula's memory, in words, where attention was measured from row to row; None where it was not."""
        return self.stated.by_rows if self.stated and self.by_rows else None

    @property
    def skips(self) -> bool:
        """Whether attention was measured from row to row, and leaves out pairs out of reach at the longest length."""
        said = self.formula(self.lengths[-1])
        return bool(self.rowwise and said and said.skipped)

    def formula(self, length: int) -> Cost | None:
        """What the formula says of a length as it was computed: written out, with scores kept, or from row to row.

        None where the variant states none.
        """
        if self.stated is None:
            return None
        said = self.stated.cost(Shape(length, self.layers, self.heads, self.width), self.settings)
        if self.by_rows:
            return replace(said, multiply_adds=said.multiply_adds - said.skipped)
        return replace(said, kept=said.kept + said.scores)

    def stated_exponent(self, what: Quantity) -> float | None:
        """The exponent of a formula's quantity over the lengths that are fitted.

        None where there are too few of them, or no formula.
        """
        if self.stated is None:
            return None
        exponent = fitted(self.lengths, [self._value(what, length) for length in self.lengths])
        return exponent.slope if exponent else None

    def limit(self, what: Quantity) -> int | None:
        """The exponent that a formula's quantity comes to as the length grows; None where there is no formula."""
        return in_the_limit(lambda length: self._value(what, length)) if self.stated else None

    def _value(self, what: Quantity, length: int) -> float:
        return float(getattr(self.formula(length), what))


def read_costs(folder: Path) -> Measured:
    """Read cost.json of the variant that `folder` is named after; raises StudyError where it is broken."""
    path = folder / "cost.json"
    record = read_record(path)
    try:
        rows = pd.DataFrame(record["measurements"]).sort_values("length", ignore_index=True)
        return Measured(
            variant=folder.name,
            settings=dict(record["settings"]),
            recipe=str(record["recipe"]),
            layers=int(record["shape"]["layers"]),
            heads=int(record["shape"]["heads"]),
            width=int(record["shape"]["width"]),
            table=rows,
            exponents={name: Exponent(**each) if each else None for name, each in record["exponents"].items()},
            left_out=dict(record["left_out"]),
            device=device_of(record["provenance"]),
            precision=str(record["provenance"]["precision"]),
            by_rows=bool(record["by_rows"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None
