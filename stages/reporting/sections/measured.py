"""What the cost stages left behind, read and checked before anything is reported."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from stages.costing.exponents import Exponent
from stages.costing.formulas import FORMULAS, Cost, Shape
from stages.reporting.evaluations import broken, device_of, read_record


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
    by_rows: bool  # softmax attention went from row to row and kept no scores

    @property
    def lengths(self) -> list[int]:
        """Those measured, ascending."""
        return self.table["length"].tolist()

    def at(self, length: int) -> dict[str, float]:
        """The measurement of a length."""
        row = self.table[self.table["length"] == length].iloc[0]
        return {str(name): float(row[name]) for name in self.table.columns}

    def formula(self, length: int) -> Cost | None:
        """What the formula says of a length, with the scores that were kept; None where the variant states none."""
        if self.variant not in FORMULAS:
            return None
        said = FORMULAS[self.variant].cost(Shape(length, self.layers, self.heads, self.width), self.settings)
        return said if self.by_rows else replace(said, kept=said.kept + said.scores)


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
