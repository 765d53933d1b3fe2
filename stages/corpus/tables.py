"""The pipeline's tables: the columns of each file with their types, and how a table is read and written."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stages.system.files import write_text

if TYPE_CHECKING:  # it takes a third of a second to load
    import pandas as pd

ROW_COLUMNS = {"split": str, "row": int}
QUESTION_COLUMNS = {**ROW_COLUMNS, "question": str, "name": str, "place": str}  # questions.tsv of prepared data
AUDIT_COLUMNS = {**ROW_COLUMNS, "has_page": int, "in_page": int, "position": int, "train_count": int, "unknown": int}
ASKED_COLUMNS = {  # questions.tsv of the baselines
    **ROW_COLUMNS,
    "question": str,
    "gold": str,
    **dict.fromkeys(("constant", "letters", "rule", "reader"), str),  # the baselines' answers
    "training_questions": int,  # how many the gold place answers
    "form": str,  # what training questions have around a name; empty if none has it
}
# predictions.tsv; questions and gold places are in the baselines' table alone: a variant's has no fetched data
PREDICTION_COLUMNS = {
    "variant": str,
    **ROW_COLUMNS,
    "seed": int,
    "init": str,
    "predicted": str,
    "correct": str,  # 1 or 0; empty for most tests, whose answers nobody knows
    "probability": str,
}
# curves.csv: figures as written
CURVE_COLUMNS = dict.fromkeys(("variant", "phase", "step", "epoch", "loss", "learning_rate"), str)


def read_table(path: Path, types: Mapping[str, type]) -> "pd.DataFrame":
    """Read a .csv or a tab-separated table; columns without a type are what they look like.

    Text is as it is written: "NA" is no missing value, "007" no number.
    """
    import pandas as pd

    return pd.read_csv(path, sep=_separator(path), dtype=dict(types), na_filter=False)


def write_table(path: Path, table: "pd.DataFrame") -> None:
    """Write a .csv or a tab-separated table: UTF-8, LF."""
    write_text(path, table_text(table, _separator(path)))


def table_text(table: "pd.DataFrame", separator: str = ",") -> str:
    """Return a table as the text of its file."""
    return table.to_csv(sep=separator, index=False, lineterminator="\n")


def _separator(path: Path) -> str:
    return "," if path.suffix == ".csv" else "\t"
