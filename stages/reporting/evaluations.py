"""What the evaluation stages left behind, read and checked before anything is reported."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from stages.system.errors import StudyError
from stages.system.files import read_json

BASELINE = "baseline"
INITS = ("scratch", "pretrained")
PREDICTION_COLUMNS = (
    "variant", "split", "row", "seed", "init", "question", "gold", "predicted", "correct", "probability",
)  # fmt: skip
CURVE_COLUMNS = ("variant", "seed", "phase", "step", "epoch", "loss", "learning_rate")
REMAKE = "make it with: dvc repro"


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from; `seconds` are those of its pretraining, all seeds added.

    `kernels` names what computed between the matrix products: torch, or compiled kernels by their identity.
    """

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str
    libraries: dict[str, str]
    seconds: float


@dataclass(frozen=True)
class Evaluation:
    """One variant's evaluation: its tables (every cell a string, as written) and its run's figures.

    `pretrain_loss` is in nats a character, the mean over seeds of the last epoch's mean; `documents_per_second` is the
    rate of one pretraining, which may have shared the machine with those of other seeds.
    """

    variant: str
    predictions: pd.DataFrame
    curves: pd.DataFrame
    parameters: int
    pretrain_loss: float
    documents_per_second: float
    provenance: Provenance


@dataclass(frozen=True)
class Baseline:
    """Constant answers and the ceiling of a recipe's dev questions; accuracies and shares in percent."""

    place: str
    dev_accuracy: float
    dev_questions: int
    constant_place: str
    constant_train_count: int
    constant_train_share: float
    constant_dev_accuracy: float
    audited_questions: int
    answer_in_page: int
    ceiling: float
    held_out: int  # if not 0, the dev questions are so many of the training questions, in place of the real ones


def read_baseline(folder: Path) -> Baseline:
    """Read `<folder>/baseline/baseline.json`, `folder` being a recipe's evaluations.

    Raises StudyError where the file is missing or broken.
    """
    path = folder / BASELINE / "baseline.json"
    record = read_record(path)
    try:
        constant, audit = record["best_constant"], record["audit"]
        return Baseline(
            place=str(record["place"]),
            dev_accuracy=_finite(record["dev_accuracy"]),
            dev_questions=int(record["dev_questions"]),
            constant_place=str(constant["place"]),
            constant_train_count=int(constant["train_count"]),
            constant_train_share=_finite(constant["train_share"]),
            constant_dev_accuracy=_finite(constant["dev_accuracy"]),
            audited_questions=int(audit["dev_questions"]),
            answer_in_page=int(audit["answer_in_page"]),
            ceiling=_finite(audit["ceiling"]),
            held_out=int(record["held_out"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None


def read_evaluation(folder: Path) -> Evaluation:
    """Read predictions.tsv, curves.csv and run.json of the variant that `folder` is named after.

    Raises StudyError where a file is missing or broken.
    """
    predictions = _table(folder / "predictions.tsv", "\t", PREDICTION_COLUMNS)
    curves = _table(folder / "curves.csv", ",", CURVE_COLUMNS)
    path = folder / "run.json"
    record = read_record(path)
    try:
        made = record["provenance"]
        return Evaluation(
            variant=folder.name,
            predictions=predictions,
            curves=curves,
            parameters=int(record["parameters"]),
            pretrain_loss=_finite(record["pretrain_loss"]),
            documents_per_second=_finite(record["documents_per_second"]),
            provenance=Provenance(
                commit=str(made["commit"]),
                params_sha256=str(made["params_sha256"]),
                device=device_of(made),
                precision=str(made["precision"]),
                kernels=str(made["kernels"]),
                libraries={str(name): str(version) for name, version in made["libraries"].items()},
                seconds=_finite(made["seconds"]),
            ),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None


def device_of(provenance: Mapping[str, Any]) -> str:
    """The device that a result's `provenance` names, with one thread in the singular."""
    return re.sub(r"\b1 threads\b", "1 thread", str(provenance["device"]))


def _table(path: Path, separator: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Read every cell as the string it is: a person may be called NA, and 0.10 shall stay 0.10."""
    require(path)
    try:
        table = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_filter=False)
    except (ValueError, pd.errors.ParserError) as error:
        raise broken(path, error) from None
    if tuple(table.columns) != columns:
        raise StudyError(f"{path}:1: the columns are not {' '.join(columns)}; {REMAKE}")
    return table


def read_record(path: Path) -> Any:
    """Read a JSON file; raises StudyError where it is missing or no JSON."""
    require(path)
    try:
        return read_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise broken(path, error) from None


def require(path: Path) -> None:
    """Raise StudyError where a file is missing."""
    if not path.is_file():
        raise StudyError(f"{path}: missing; {REMAKE}")


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} where a finite number is due")
    return number


def broken(path: Path, error: Exception) -> StudyError:
    """What a reader is told of a file that lacks something."""
    what = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return StudyError(f"{path}: broken ({what}); {REMAKE}")
