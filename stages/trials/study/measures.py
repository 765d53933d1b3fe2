"""What a study can put into its table: a figure of each row, and how it is shown."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from stages.trials.study.row import Row


@dataclass(frozen=True)
class Measure:
    """A figure of a row."""

    title: str  # of its column, with its unit
    value: Callable[[Row], float]  # NaN where the row lacks it
    decimals: int = 1
    marks: Callable[[Row], str] | None = None  # behind a share in percent: a character a question
    has_interval: bool = True  # false of what a machine or the settings decide


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
    "page_share": Measure("stored of the place's bits, page form, %", lambda row: 100 * row.page_share),
    "question_share": Measure("stored of the place's bits, question, %", lambda row: 100 * row.question_share),
    "stored": Measure("stored of the bits asked, %", lambda row: 100 * row.bits_stored / row.bits_asked),
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
