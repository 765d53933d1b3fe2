"""The row of a trial: what one training knows and answers, as counts and marks, without the questions."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, ConfigDict

from stages.system.files import write_text
from stages.system.locks import WORK, locked

PATIENCE = 60.0  # seconds: another process may add a row
REPORTS = Path("reports/trials")  # <study>/rows.csv, and the page


class Cell(BaseModel):
    """What is trained: a change with values of swept keys, a variant, a world and a seed."""

    model_config = ConfigDict(frozen=True)

    change: str
    swept: str = ""  # values by dotted key, as JSON; empty where nothing is swept
    variant: str
    world: str = ""  # seed of a generated world; empty: the recipe's own data
    seed: int

    @property
    def values(self) -> dict[str, Any]:
        """The swept values by dotted key."""
        return json.loads(self.swept) if self.swept else {}


class Row(Cell):
    """What came of it. Marks are a character a question: 1 right, 0 wrong, - where no page tells the answer."""

    settings: str  # digest of all settings that the result depends on
    loss: float  # of pretraining, nats a character
    characters: int  # read in pretraining and finetuning
    parameters: int
    epochs: int  # of pretraining
    seconds: float  # of pretraining and finetuning
    commit: str
    device: str
    precision: str

    questions: int = 0
    right: int = 0
    scratch: int = -1  # right without pretraining; -1: not measured
    facts: int = 0  # questions whose page tells the answer
    memorised: int = 0  # facts that the pretrained weights complete in any page form
    both: int = -1  # facts that are memorised and answered
    forms: str = ""  # facts that are memorised by page form, as JSON
    own_page: int = -1  # wrong answers that are another phrase of the person's page
    reader: int = -1  # answers that are what the reader takes for the answer
    right_marks: str = ""
    memorised_marks: str = ""
    page_bits: float = float("nan")  # see `probing.bits`
    question_bits: float = float("nan")
    page_share: float = float("nan")  # share of the places' entropy that the model saves, given a page up to the place
    question_share: float = float("nan")  # the same given the question
    bits_asked: float = float("nan")  # of pairs: by −log₂ p(place | culture of the name)
    bits_stored: float = float("nan")  # these less the model's code length
    said: str = ""  # answers to questions about people without a page, as JSON
    text: str = ""  # what a model of a text writes, as JSON (see `trial`)


def rows_file(study: str) -> Path:
    """Return the file of a study's rows."""
    return REPORTS / study / "rows.csv"


def read_rows(study: str) -> list[Row]:
    """Return the rows of a study; none where it has no file."""
    path = rows_file(study)
    if not path.exists():
        return []
    return [Row.model_validate(row) for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def add_row(study: str, row: Row) -> None:
    """Add a row to a study's file; other processes may add rows at the same time."""
    path = rows_file(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    WORK.mkdir(exist_ok=True)
    with locked(WORK / f"rows-{study}.lock", PATIENCE):
        write_rows(study, [*read_rows(study), row])


def write_rows(study: str, rows: Iterable[Row]) -> None:
    """Write the file of a study's rows."""
    table = pd.DataFrame([row.model_dump() for row in rows], columns=[*Row.model_fields])
    write_text(rows_file(study), table.to_csv(index=False, lineterminator="\n", na_rep="nan"))
