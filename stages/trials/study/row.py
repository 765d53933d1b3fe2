"""The row of a trial, without the questions: what one training knows and answers; and the measures of rows."""

import csv
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict

from stages.system.files import WORK, locked, write_text

PATIENCE = 60.0  # seconds: another process may add a row
TRIAL_REPORTS = Path("reports/trials")  # <study>/rows.csv, and the page


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
    page_bits: float = float("nan")  # see `asking.recall.bits`
    question_bits: float = float("nan")
    page_share: float = float("nan")  # share of the places' entropy that the model saves, given a page up to the place
    page_stored: float = float("nan")  # the same, given also that no ⁇ comes: span corruption may put one anywhere
    question_share: float = float("nan")  # as page_share, given the question
    bits_asked: float = float("nan")  # of pairs: by −log₂ p(place | culture of the name)
    bits_stored: float = float("nan")  # these less the model's code length
    said: str = ""  # answers to questions about people without a page, as JSON
    text: str = ""  # what a model of a text writes, as JSON (see `trial`)


def rows_file(study: str) -> Path:
    """Return the path of a study's rows."""
    return TRIAL_REPORTS / study / "rows.csv"


def read_rows(study: str) -> list[Row]:
    """Return the rows of a study; none where it has no file."""
    path = rows_file(study)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Row.model_validate(row) for row in csv.DictReader(lines)]


def add_row(study: str, row: Row) -> None:
    """Add a row to a study's file; other processes may add rows at the same time."""
    with locked(WORK / f"rows-{study}.lock", PATIENCE):
        write_rows(study, [*read_rows(study), row])


def write_rows(study: str, rows: Iterable[Row]) -> None:
    """Write the file of a study's rows."""
    table = pd.DataFrame([row.model_dump() for row in rows], columns=[*Row.model_fields])
    write_text(rows_file(study), table.to_csv(index=False, lineterminator="\n", na_rep="nan"))


@dataclass(frozen=True)
class Measure:
    """A figure of a row."""

    title: str  # of its column, with its unit
    value: Callable[[Row], float]  # NaN where the row lacks it
    decimals: int = 1
    marks: Callable[[Row], str] | None = None  # behind a share in percent: a character a question
    has_interval: bool = True  # false of what a machine or the settings decide
    may_be_negative: bool = False  # of a percentage: a model may find the places unlikelier than chance does

    @property
    def is_percent(self) -> bool:
        return self.title.endswith("%")


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole and part >= 0 else float("nan")


def _of_text(name: str) -> Callable[[Row], float]:
    return lambda row: float(json.loads(row.text)[name]) if row.text else float("nan")


MEASURES = {
    "answered": Measure("answered, %", lambda row: _share(row.right, row.questions), marks=lambda row: row.right_marks),
    "scratch": Measure("without pretraining, %", lambda row: _share(row.scratch, row.questions)),
    "memorised": Measure(
        "memorised, %", lambda row: _share(row.memorised, row.facts), marks=lambda row: row.memorised_marks
    ),
    "extracted": Measure("answered of memorised, %", lambda row: _share(row.both, row.memorised)),
    "own_page": Measure("another phrase of the page, %", lambda row: _share(row.own_page, row.questions)),
    "reader": Measure("what the reader says, %", lambda row: _share(row.reader, row.questions)),
    "page_bits": Measure("bits in the page's form", lambda row: row.page_bits),
    "question_bits": Measure("bits of a question", lambda row: row.question_bits),
    "page_share": Measure(
        "saved of the place's bits, page form, %", lambda row: 100 * row.page_share, may_be_negative=True
    ),
    "page_stored": Measure("stored of the place's bits, %", lambda row: 100 * row.page_stored, may_be_negative=True),
    "question_share": Measure(
        "saved of the place's bits, question, %", lambda row: 100 * row.question_share, may_be_negative=True
    ),
    "stored": Measure(
        "stored of the bits asked, %", lambda row: 100 * row.bits_stored / row.bits_asked, may_be_negative=True
    ),
    "bits_a_parameter": Measure("bits stored a parameter", lambda row: row.bits_stored / row.parameters, 2),
    "loss": Measure("loss, nats", lambda row: row.loss, 3),
    "characters": Measure("characters read, M", lambda row: row.characters / 1e6, 2, has_interval=False),
    "parameters": Measure("parameters", lambda row: row.parameters, 0, has_interval=False),
    "seconds": Measure("seconds", lambda row: row.seconds, 0, has_interval=False),
    "window_loss": Measure("loss on fixed windows, nats", _of_text("window_loss"), 3),
    "non_words": Measure("words that the text lacks, temperature 0.8, %", _of_text("non_words_0.8")),
    **{
        f"recited_{name}": Measure(f"recited, temperature {key}, %", _of_text(f"recited_{key}"))
        for name, key in (("0", "0"), ("0_5", "0.5"), ("0_8", "0.8"), ("1", "1"))
    },
}


def _known(name: str) -> str:
    if name not in MEASURES:
        raise ValueError(f"was '{name}'; allowed: {', '.join(MEASURES)}")
    return name


MeasureName = Annotated[str, AfterValidator(_known)]
