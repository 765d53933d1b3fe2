"""What the evaluation stages left behind, read and checked before anything is reported."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic import AliasPath, BaseModel, Field, FiniteFloat, ValidationError

from stages.system.errors import StudyError
from stages.system.files import read_json

BASELINE = "baseline"
INITS = ("scratch", "pretrained")
PREDICTION_COLUMNS = (
    "variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability",
)  # fmt: skip
CURVE_COLUMNS = ("variant", "seed", "phase", "step", "epoch", "loss", "learning_rate")
REMAKE = "make it with: dvc repro"
Record = TypeVar("Record", bound=BaseModel)


class Provenance(BaseModel):
    """Where a result comes from; `seconds` are those of its pretraining, all seeds added.

    `kernels` names what computed between the matrix products: torch, or compiled kernels by their identity.
    """

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str
    libraries: dict[str, str]
    seconds: FiniteFloat


class Run(BaseModel):
    """run.json of a variant.

    `pretrain_loss` is in nats a character, the mean over seeds of the last epoch's mean; `documents_per_second` is the
    rate of one pretraining, which may have shared the machine with those of other seeds.
    """

    parameters: int
    pretrain_loss: FiniteFloat
    documents_per_second: FiniteFloat
    provenance: Provenance


class Evaluation(BaseModel, arbitrary_types_allowed=True):
    """One variant's evaluation: its tables (every cell a string, as written) and its run's figures."""

    variant: str
    predictions: pd.DataFrame
    curves: pd.DataFrame
    run: Run


class Baseline(BaseModel):
    """baseline.json: the baseline's constant answer, the most frequent place of training and the ceiling, in percent.

    If `held_out` is not 0, so many of the training questions stand in for the dev questions.
    """

    place: str
    dev_accuracy: FiniteFloat
    dev_questions: int
    constant_place: str = Field(validation_alias=AliasPath("best_constant", "place"))
    constant_accuracy: FiniteFloat = Field(validation_alias=AliasPath("best_constant", "dev_accuracy"))
    audited_questions: int = Field(validation_alias=AliasPath("audit", "dev_questions"))
    answer_in_page: int = Field(validation_alias=AliasPath("audit", "answer_in_page"))
    ceiling: FiniteFloat = Field(validation_alias=AliasPath("audit", "ceiling"))
    held_out: int


def read_baseline(folder: Path) -> Baseline:
    """Read `<folder>/baseline/baseline.json`, `folder` being a recipe's evaluations.

    Raises StudyError where the file is missing or broken.
    """
    return checked(folder / BASELINE / "baseline.json", Baseline)


def read_evaluation(folder: Path) -> Evaluation:
    """Read predictions.tsv, curves.csv and run.json of the variant that `folder` is named after.

    Raises StudyError where a file is missing or broken.
    """
    return Evaluation(
        variant=folder.name,
        predictions=_table(folder / "predictions.tsv", "\t", PREDICTION_COLUMNS),
        curves=_table(folder / "curves.csv", ",", CURVE_COLUMNS),
        run=checked(folder / "run.json", Run),
    )


def device_of(provenance: Mapping[str, Any]) -> str:
    """The device that a result's provenance names, with one thread in the singular."""
    return re.sub(r"\b1 threads\b", "1 thread", str(provenance["device"]))


def _table(path: Path, separator: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Read every cell as the string it is: a person may be called NA, and 0.10 shall stay 0.10."""
    require(path)
    try:
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_filter=False)
    except ValueError as error:  # pandas' ParserError is one
        raise broken(path, error) from None
    if tuple(table.columns) != columns:
        raise StudyError(f"{path}:1: the columns are not {' '.join(columns)}; {REMAKE}")
    return table


def checked(path: Path, kind: type[Record]) -> Record:
    """Read a JSON file that has all fields of `kind`; raises StudyError where it is missing or broken."""
    try:
        return kind.model_validate(read_record(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise broken(path, ValueError(f"{where}: {first['msg']}" if where else first["msg"])) from None


def read_record(path: Path) -> Any:
    """Read a JSON file; raises StudyError where it is missing or no JSON."""
    require(path)
    try:
        return read_json(path)
    except ValueError as error:  # no JSON, or no UTF-8
        raise broken(path, error) from None


def require(path: Path) -> None:
    """Raise StudyError where a file is missing."""
    if not path.is_file():
        raise StudyError(f"{path}: missing; {REMAKE}")


def broken(path: Path, error: Exception) -> StudyError:
    """What a reader is told of a file that lacks something."""
    what = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return StudyError(f"{path}: broken ({what}); {REMAKE}")
