"""Evaluations of variants, read and checked before anything is reported, and metrics.json, their figures."""

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

from stages.corpus.tables import ASKED_COLUMNS, CURVE_COLUMNS, PREDICTION_COLUMNS, read_table
from stages.reporting.statistics import Marks, accuracy_interval
from stages.settings.section import other_setting
from stages.system.errors import UserError
from stages.system.files import read_json

PROBED = ("pretrained", "finetuned")
DIGITS = 4  # decimals of a percent in metrics.json, which a table rounds again


class Baseline(BaseModel):
    """baseline.json: the baselines and the ceiling, in percent."""

    place: str  # the constant answer
    dev_questions: int
    accuracy: dict[str, float]  # of the answers constant, letters, rule and reader
    ceiling: float
    held_out: int  # how many training questions stand in for the dev questions; 0: none do

    def titles(self, *names: str) -> dict[str, str]:
        """Return what tables call these baselines, by name."""
        return {name: f"always {self.place}" if name == "constant" else f"the {name}" for name in names}


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
    """One variant's evaluation: its tables, the records of its runs and its answers.

    `predictions`, which has ASKED_COLUMNS, too, and `curves` keep text and figures as they are in the file.
    """

    variant: str
    runs: list[dict[str, Any]]  # run.json of each part, which has one seed or more (see `stages.evaluate.summary`)
    curves: pd.DataFrame
    extraction: pd.DataFrame  # the tables of `asking.recall.probe`
    prefix_offset: pd.DataFrame
    origins: pd.DataFrame
    predictions: pd.DataFrame
    scratch: Answers  # to dev
    pretrained: Answers  # to dev
    test: Answers | None  # after pretraining; None where no answer to a test is known

    @property
    def pretrainings(self) -> list[dict[str, Any]]:
        """Where the weights of each pretraining come from: commit, device and more."""
        return [made for run in self.runs for made in run["provenance"]]

    @property
    def minutes(self) -> float:
        """How long a pretraining took, perhaps beside those of other seeds: the mean."""
        return fmean(seconds for run in self.runs for seconds in run["pretrain_seconds"].values()) / 60


def read_evaluation(folder: Path, baselines: Path) -> Evaluation:
    """Read the evaluation of the variant that `folder` is named after; baselines: the folder of its recipe's.

    Below it each seed has a folder, or several seeds share one. Raises UserError: their settings differ, or a seed has
    not answered each question once.
    """
    parts = sorted(path.parent for path in folder.rglob("run.json")) or [folder]
    runs = [read_json(part / "run.json") for part in parts]
    settings = [made["settings"] for run in runs for made in run["provenance"]]
    for other in settings:
        if key := other_setting(settings[0], other, "compute", "seeds"):
            raise UserError(f"run.json: parts of one evaluation have another `{key}`; leave one of them out")

    def joined(name: str, types: Mapping[str, type]) -> pd.DataFrame:
        return pd.concat([read_table(part / name, types) for part in parts], ignore_index=True)

    questions = read_table(baselines / "questions.tsv", ASKED_COLUMNS)
    predictions = joined("predictions.tsv", PREDICTION_COLUMNS).merge(questions, "left", ["split", "row"])
    marked = predictions[predictions.correct != ""].astype({"correct": int, "probability": float})
    return Evaluation(
        folder.name,
        runs,
        joined("curves.csv", CURVE_COLUMNS),
        joined("extraction.tsv", {}),
        joined("prefix_offset.tsv", {}),
        joined("origins.tsv", {}),
        predictions,
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


def report_metrics(
    recipe: str, selection: str, evaluations: Sequence[Evaluation], baseline: Baseline
) -> dict[str, Any]:
    """Return the content of metrics.json; `selected` has the name and the figures of the best of `evaluations`.

    evaluations: by name; selection: a variant, or the name of several.
    """
    accuracy = baseline.accuracy
    variants = {evaluation.variant: figures_of(evaluation, accuracy["constant"]) for evaluation in evaluations}
    best = max(variants, key=lambda name: variants[name]["dev_accuracy"])  # the first by name among equals
    return {
        "recipe": recipe,
        "variant": selection,
        "baseline": {"dev_accuracy": accuracy["constant"]},
        **{name: {"dev_accuracy": accuracy[name]} for name in ("letters", "rule", "reader")},
        "selected": {"variant": best, **variants[best]},
        "variants": variants,
    }


def figures_of(evaluation: Evaluation, constant: float) -> dict[str, Any]:
    """Return a variant's figures; constant: the accuracy of the constant answer. Those of runs are means over seeds."""
    runs, pretrained = evaluation.runs, evaluation.pretrained
    seeds = [len(run["pretrain_seconds"]) for run in runs]
    low, high = pretrained.interval
    return {
        "scratch_dev_accuracy": evaluation.scratch.mean,
        "dev_accuracy": pretrained.mean,
        "dev_accuracy_ci_low": low,
        "dev_accuracy_ci_high": high,
        "lift_over_baseline": round(pretrained.mean - constant, DIGITS),
        **({"test_accuracy": evaluation.test.mean} if evaluation.test else {}),
        "seeds": len(pretrained.by_seed),
        "parameters": runs[0]["parameters"],
        "pretrain_loss": round(fmean([run["pretrain_loss"] for run in runs], seeds), 4),
        "documents_per_second": round(harmonic_mean([run["documents_per_second"] for run in runs], seeds), 1),
    }
