"""The figures of metrics.json from predictions: accuracies with intervals, the lift, the best variant."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stages.reporting.evaluations import Baseline, Evaluation
from stages.reporting.statistics import Marks, accuracy_interval
from stages.system.errors import StudyError
from stages.system.files import read_json

DIGITS = 4  # decimals of a percent


@dataclass(frozen=True, eq=False)
class Answers:
    """The N answers of each seed after one way of training, in the order of the rows and of the seeds."""

    correct: Marks
    probability: npt.NDArray[np.float64]  # (N, seeds) of the whole answer
    predicted: npt.NDArray[np.str_]  # (N, seeds)
    asked: pd.DataFrame  # (N rows) with the columns of QUESTIONS

    @property
    def mean(self) -> float:
        """The exact-match accuracy in percent, the mean over seeds."""
        return in_percent(self.correct.mean())

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The accuracy's 95 % interval in percent."""
        low, high = accuracy_interval(self.correct)
        return in_percent(low), in_percent(high)

    def shown(self, unit: str = "") -> str:
        """Return the accuracy with its interval."""
        low, high = self.interval
        return f"{self.mean:.1f}{unit} ({low:.1f} to {high:.1f})"

    @property
    def by_seed(self) -> tuple[float, ...]:
        """Each seed's own accuracy in percent."""
        return tuple(in_percent(share) for share in self.correct.mean(axis=0))


@dataclass(frozen=True, eq=False)
class Result:
    """One variant's evaluation, with the dev answers of its two ways of training and, if known, those of test."""

    evaluation: Evaluation
    scratch: Answers
    pretrained: Answers
    test: Answers | None = None

    @property
    def variant(self) -> str:
        return self.evaluation.variant


def summarise(evaluation: Evaluation, questions: int) -> Result:
    """Return `evaluation` with its answers to the `questions` dev questions; raises as `read_answers`."""
    scratch, pretrained = (read_answers(evaluation, init, questions) for init in ("scratch", "pretrained"))
    table = evaluation.predictions
    marked = table[(table["split"] == "test") & (table["correct"] != "")]["row"].nunique()
    test = read_answers(evaluation, "pretrained", marked, "test") if marked else None
    return Result(evaluation, scratch, pretrained, test)


def read_answers(evaluation: Evaluation, init: str, questions: int, split: str = "dev") -> Answers:
    """Return the answers of `init` (scratch or pretrained) to a split.

    Raises StudyError unless every seed answered each of its `questions` questions once, and the baseline's.
    """
    table = evaluation.predictions
    rows = table[(table["split"] == split) & (table["init"] == init)]
    rows = rows.astype({"correct": int, "probability": float})
    counts = rows.groupby("seed")["row"].agg(["size", "nunique"])
    is_whole = len(counts) and (counts == questions).all(axis=None)
    if not is_whole or ((rows["predicted"] == rows["gold"]) != rows["correct"]).any():
        raise StudyError(
            f"predictions.tsv of {evaluation.variant}: {init} does not answer each of the baseline's {questions} "
            f"{split} questions once per seed; `dvc repro` makes it"
        )
    by_seed = rows.pivot(index="row", columns="seed", values=["correct", "probability", "predicted"])
    return Answers(
        by_seed["correct"].to_numpy(np.int64),
        by_seed["probability"].to_numpy(float),
        by_seed["predicted"].to_numpy(str),
        rows.drop_duplicates("row").sort_values("row", ignore_index=True),
    )


def in_percent(share: float) -> float:
    """Return a share as metrics.json has it: percent, with more decimals than a table prints, which rounds it again."""
    return round(100 * float(share), DIGITS)


def study_metrics(recipe: str, selection: str, results: Sequence[Result], baseline: Baseline) -> dict[str, Any]:
    """Return the content of metrics.json; `selected` has the name and the figures of the best of `results`.

    selection: a variant, or the name of several.
    """
    constant = baseline.dev_accuracy
    variants = {result.variant: _figures(result, constant) for result in sorted(results, key=lambda r: r.variant)}
    best = max(variants, key=lambda name: variants[name]["dev_accuracy"])  # the first by name among equals
    return {
        "recipe": recipe,
        "variant": selection,
        "baseline": {"dev_accuracy": constant},
        "letters": {"dev_accuracy": baseline.letters_accuracy},
        "rule": {"dev_accuracy": baseline.rule_accuracy},
        "reader": {"dev_accuracy": baseline.reader_accuracy},
        "selected": {"variant": best, **variants[best]},
        "variants": variants,
    }


def read_metrics(report: Path) -> dict[str, Any]:
    """Read metrics.json of the folder of a report."""
    return read_json(report / "metrics.json")


def _figures(result: Result, constant: float) -> dict[str, Any]:
    run = result.evaluation.run
    low, high = result.pretrained.interval
    return {
        "scratch_dev_accuracy": result.scratch.mean,
        "dev_accuracy": result.pretrained.mean,
        "dev_accuracy_ci_low": low,
        "dev_accuracy_ci_high": high,
        "lift_over_baseline": round(result.pretrained.mean - constant, DIGITS),
        **({"test_accuracy": result.test.mean} if result.test else {}),
        "seeds": len(result.pretrained.by_seed),
        "parameters": run.parameters,
        "pretrain_loss": round(run.pretrain_loss, 4),
        "documents_per_second": round(run.documents_per_second, 1),
    }
