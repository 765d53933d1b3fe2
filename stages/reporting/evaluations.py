"""Evaluations of variants, read and checked before anything is reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel

from stages.reporting.statistics import Marks, accuracy_interval
from stages.settings.section import other_setting
from stages.system.errors import UserError
from stages.system.files import CURVES, read_json, read_table

PROBED = ("pretrained", "finetuned")
DIGITS = 4  # decimals of a percent in metrics.json, which a table rounds again

ROW_COLUMNS = {"split": str, "row": int}
ASKED_COLUMNS = {
    **ROW_COLUMNS,
    "question": str,
    "gold": str,
    **dict.fromkeys(("letters", "rule", "reader"), str),  # the baselines' answers
    "training_questions": int,  # how many the gold place answers
    "form": str,  # what training questions have around a name; empty if none has it
}
PREDICTION_COLUMNS = {
    "variant": str,
    **ROW_COLUMNS,
    "seed": int,
    "init": str,
    "predicted": str,
    "correct": str,  # 1 or 0; empty for most tests, whose answers nobody knows
    "probability": str,
}
PROBES: dict[str, dict[str, type]] = {  # the tables of `asking.recall.probe`; columns without a type are whole numbers
    "extraction": {},
    "prefix_offset": {},
    "origins": dict.fromkeys(("asked", "init", "origin"), str),
}


class Baseline(BaseModel):
    """baseline.json: the baselines and the ceiling, in percent."""

    place: str
    dev_accuracy: float  # the constant answer's
    dev_questions: int
    letters_accuracy: float
    rule_accuracy: float
    reader_accuracy: float
    ceiling: float
    held_out: int  # how many training questions stand in for the dev questions; 0: none do


class Provenance(BaseModel):
    """Where a result comes from."""

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str  # torch, or the identity of the compiled ones
    libraries: dict[str, str]
    settings: dict[str, Any] = {}


class Run(BaseModel):
    """run.json of a variant."""

    parameters: int
    pretrain_loss: float  # nats a character, the mean over seeds of the last epoch's mean
    documents_per_second: float  # one pretraining's, perhaps beside those of other seeds
    pretrain_seconds: dict[int, float]  # by seed
    provenance: list[Provenance]  # one for each pretraining

    @staticmethod
    def joined(runs: Sequence["Run"]) -> "Run":
        """Join the runs of seeds; raises UserError where their settings differ."""
        provenances = [provenance for run in runs for provenance in run.provenance]
        for other in provenances:
            if key := other_setting(provenances[0].settings, other.settings, "compute", "seeds"):
                raise UserError(f"run.json: parts of one evaluation have another `{key}`; leave one of them out")

        by_seed = [run for run in runs for _ in run.pretrain_seconds]
        return Run(
            parameters=runs[0].parameters,
            pretrain_loss=fmean(run.pretrain_loss for run in by_seed),
            documents_per_second=harmonic_mean([run.documents_per_second for run in by_seed]),
            pretrain_seconds={seed: seconds for run in runs for seed, seconds in run.pretrain_seconds.items()},
            provenance=provenances,
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """The N answers of each seed after one way of training, in the order of the rows and of the seeds."""

    correct: Marks
    probability: npt.NDArray[np.float64]  # (N, seeds) of the whole answer
    predicted: npt.NDArray[np.str_]  # (N, seeds)
    asked: pd.DataFrame  # (N rows) with the columns of ASKED_COLUMNS

    @property
    def mean(self) -> float:
        """The exact-match accuracy in percent, the mean over seeds."""
        return round(100 * float(self.correct.mean()), DIGITS)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The accuracy's 95 % interval in percent."""
        low, high = accuracy_interval(self.correct)
        return round(100 * low, DIGITS), round(100 * high, DIGITS)

    @property
    def by_seed(self) -> list[float]:
        """Each seed's own accuracy in percent."""
        return [round(100 * float(share), DIGITS) for share in self.correct.mean(axis=0)]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One variant's evaluation: its tables, its run's figures and its answers.

    `predictions`, which has ASKED_COLUMNS, too, and `curves` keep text and figures as they are in the file.
    """

    variant: str
    run: Run
    curves: pd.DataFrame
    extraction: pd.DataFrame
    prefix_offset: pd.DataFrame
    origins: pd.DataFrame
    predictions: pd.DataFrame
    scratch: Answers  # to dev
    pretrained: Answers  # to dev
    test: Answers | None  # after pretraining; None where no answer to a test is known


def read_evaluation(folder: Path, baselines: Path) -> Evaluation:
    """Read the evaluation of the variant that `folder` is named after; baselines: the folder of its recipe's.

    Below it each seed has a folder, or several seeds share one. Raises UserError: their settings differ, or a seed has
    not answered each question once.
    """
    parts = sorted(path.parent for path in folder.rglob("run.json")) or [folder]
    run = Run.joined([Run(**read_json(part / "run.json")) for part in parts])
    questions = read_table(baselines / "questions.tsv", ASKED_COLUMNS)
    predictions = _joined(parts, "predictions.tsv", PREDICTION_COLUMNS).merge(questions, "left", ["split", "row"])
    marked = predictions[predictions.correct != ""].astype({"correct": int, "probability": float})
    return Evaluation(
        folder.name,
        run,
        _joined(parts, "curves.csv", CURVES),
        **{name: _joined(parts, f"{name}.tsv", types) for name, types in PROBES.items()},
        predictions=predictions,
        scratch=read_answers(marked, questions, "scratch", "dev"),
        pretrained=read_answers(marked, questions, "pretrained", "dev"),
        test=read_answers(marked, questions, "pretrained", "test") if (marked.split == "test").any() else None,
    )


def read_answers(predictions: pd.DataFrame, questions: pd.DataFrame, init: str, split: str) -> Answers:
    """Return the answers of `init` (scratch or pretrained) to a split; predictions: those that are marked.

    Raises UserError unless every seed answered each of the split's questions with a gold answer once.
    """
    rows = predictions[(predictions.split == split) & (predictions.init == init)]
    expected = ((questions.split == split) & (questions.gold != "")).sum()
    counts = rows.groupby("seed").row.agg(["size", "nunique"])
    is_whole = len(counts) and (counts == expected).all(axis=None)
    if not is_whole or ((rows.predicted == rows.gold) != rows.correct).any():
        variant = predictions.variant.iloc[0]
        raise UserError(
            f"predictions.tsv of {variant}: {init} does not answer each of the baseline's {expected} {split} questions "
            "once per seed; `dvc repro` makes it"
        )
    by_seed = rows.pivot(index="row", columns="seed", values=["correct", "probability", "predicted"])
    return Answers(
        by_seed["correct"].to_numpy(np.int64),
        by_seed["probability"].to_numpy(float),
        by_seed["predicted"].to_numpy(str),
        rows.drop_duplicates("row").sort_values("row", ignore_index=True),
    )


def _joined(parts: Sequence[Path], name: str, types: Mapping[str, type]) -> pd.DataFrame:
    """Join a table of all parts."""
    return pd.concat([read_table(part / name, types) for part in parts], ignore_index=True)
