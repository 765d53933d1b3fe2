"""Machine-made tables and JSON, each value of its type and range."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, FiniteFloat, StringConstraints, TypeAdapter, create_model

from stages.system.digests import as_written, verified

Count = Annotated[int, Field(ge=0, le=2**53)]
Amount = Annotated[FiniteFloat, Field(ge=0, le=1e15)]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
Mark = Annotated[int, Field(ge=0, le=1)]
MarkString = Annotated[str, StringConstraints(pattern="^[01]+$")]  # a character for each outcome: 1 right, 0 wrong


def mark_string(outcomes: Iterable[Any]) -> str:
    """Write outcomes, each true or false, as a MarkString."""
    return "".join(str(int(outcome)) for outcome in outcomes)


def record(**fields: Any) -> Any:
    """Return the type of a JSON object that has these keys; others are left out."""
    return create_model("Record", **fields)


def some(kind: Any, least: int = 1) -> Any:
    """Return the type of a list of `least` elements or more."""
    return Annotated[list[kind], Field(min_length=least)]


ORIGIN = {**dict.fromkeys(("commit", "device", "precision", "kernels"), str), "libraries": dict[str, str]}
FACTS = record(parameters=Count, loss=Amount, examples=Count, seconds=Amount, commit=str, device=str)  # of a training


@dataclass(frozen=True)
class Table:
    """The columns of a table, and its key."""

    columns: Mapping[str, Any]  # name: type of each cell; a column of another name is left out
    key: tuple[str, ...]  # no two rows agree in these columns
    others: Any = None  # type of the cells of all other columns, where they are wanted


PHASE = Literal["pretrain", "finetune_scratch", "finetune_pretrained"]
LOGGED = dict.fromkeys(("step", "epoch", "loss", "learning_rate"), Amount)
CURVES = Table({"variant": str, "seed": Count, "phase": PHASE, **LOGGED}, ("seed", "phase", "step"))  # trainings'


def read_record(path: Path, kind: Any) -> Any:
    """Read JSON of a type, as plain values. Raises StudyError: it is missing or damaged."""
    with as_written(path):
        adapter = TypeAdapter(kind)
        return adapter.dump_python(adapter.validate_json(verified(path).read_bytes()))


def read_table(path: Path, table: Table, separator: str = "\t", *, figures_as_text: bool = False) -> pd.DataFrame:
    """Read a table; "NA" in a text is no missing value. figures_as_text: keep numbers as they are written.

    Raises StudyError: it is missing or damaged.
    """
    with as_written(path), verified(path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=separator, strict=True)
        written = dict(zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True))
        kinds = {**dict.fromkeys(header, table.others), **table.columns}
        read: dict[str, Sequence[Any]] = {}
        for name in filter(kinds.get, [*header, *table.columns]):
            read[name] = TypeAdapter(some(kinds[name], 0)).validate_python(written[name])
            if figures_as_text and kinds[name] in (Amount, Share):
                read[name] = [*written[name]]
        frame = pd.DataFrame(read)
        if frame.duplicated([*table.key]).any():
            raise ValueError(f"two rows have the same {', '.join(table.key)}")
        return frame
