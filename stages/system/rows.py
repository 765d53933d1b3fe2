"""Rows of trainings in a CSV file that is in git: each is added when its training ends."""

import csv
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import pandas as pd
from pydantic import BaseModel

from stages.system.files import write_text
from stages.system.locks import WORK, locked

R = TypeVar("R", bound=BaseModel)


def read_rows(path: Path, kind: type[R]) -> list[R]:
    """Return the rows that are there."""
    if not path.exists():
        return []
    return [kind.model_validate(row) for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def add_row(path: Path, row: BaseModel) -> None:
    """Add a row to the file; other processes may add rows at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    WORK.mkdir(exist_ok=True)
    with locked(WORK / f"{path.parent.name}.lock", patience=60):
        table = pd.DataFrame([known.model_dump() for known in [*read_rows(path, type(row)), row]])
        write_text(path, table.to_csv(index=False, lineterminator="\n"))


def within_hours(cells: Iterable[R], hours: float) -> Iterator[tuple[int, R]]:
    """Yield the cells, numbered from 1, but none after so many hours."""
    end = time.monotonic() + 3600 * hours
    for number, cell in enumerate(cells, 1):
        if time.monotonic() > end:
            print("the time is up; the same command goes on", file=sys.stderr)
            return
        yield number, cell
