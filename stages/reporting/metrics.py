"""From predictions to the figures of metrics.json: answers, accuracies with intervals, the lift, the best variant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stages.reporting.evaluations import Baseline, Evaluation
from stages.reporting.headline import best_variant
from stages.reporting.statistics.intervals import Marks, accuracy_interval
from stages.system.errors import StudyError


@dataclass(frozen=True, eq=False)
class Answers:
    """The N dev answers of each seed after one way of training, in the order of the rows and of the seeds.

    Their exact-match accuracy is in percent: the mean over seeds, its 95 % interval, and each seed's own.
    """

    correct: Marks
    probability: npt.NDArray[np.float64]  # (N, seeds) of the whole answer
    predicted: npt.NDArray[np.str_]  # (N, seeds)
    gold: npt.NDArray[np.str_]  # (N,) the right places
    reader: npt.NDArray[np.str_]  # (N,) the reader's answers
    mean: float
    low: float
    high: float
    by_seed: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Result:
    """One variant's evaluation with the answers of its two ways of training; of test, if its answers are known."""

    evaluation: Evaluation
    scratch: Answers
    pretrained: Answers
    test: Answers | None = None

    @property
    def variant(self) -> str:
        return self.evaluation.variant


def summarise(evaluation: Evaluation, questions: int) -> Result:
    """Return `evaluation` with its answers to the `questions` dev questions; raises as `dev_answers`."""
    scratch, pretrained = (dev_answers(evaluation, init, questions) for init in ("scratch", "pretrained"))
    table = evaluation.predictions
    test = table[(table["split"] == "test") & (table["correct"] != "")]["row"].nunique()
    answered = dev_answers(evaluation, "pretrained", test, "test") if test else None
    return Result(evaluation, scratch, pretrained, answered)


def dev_answers(evaluation: Evaluation, init: str, questions: int, split: str = "dev") -> Answers:
    """Return the answers of `init` (scratch or pretrained) to the dev split, or to another one.

    Raises StudyError unless every seed answered each of its `questions` questions once, and the baseline's.
    """
    table = evaluation.predictions
    rows = table[(table["split"] == split) & (table["init"] == init)]
    read = rows.astype({"row": int, "seed": int, "correct": int, "probability": float})
    counts = read.groupby("seed")["row"].agg(["size", "nunique"])
    name = f"predictions.tsv of {evaluation.variant}"
    if counts.empty or not (counts == questions).all(axis=None):
        raise StudyError(
            f"{name}: {init} does not answer each of the {questions} {split} questions once per seed; "
            "`dvc repro` makes it"
        )
    if ((read["predicted"] == read["gold"]) != read["correct"]).any():
        raise StudyError(f"{name}: not of the baseline's {split} questions; `dvc repro` makes it")
    by_seed = read.pivot(index="row", columns="seed", values=["correct", "probability", "predicted"])
    correct = by_seed["correct"].to_numpy().astype(np.int64)
    asked = read.drop_duplicates("row").sort_values("row")
    low, high = accuracy_interval(correct)
    mean, low, high, *seeds = (in_percent(share) for share in (correct.mean(), low, high, *correct.mean(axis=0)))
    return Answers(
        correct,
        by_seed["probability"].to_numpy(float),
        by_seed["predicted"].to_numpy(dtype=str),
        asked["gold"].to_numpy(dtype=str),
        asked["reader"].to_numpy(dtype=str),
        mean,
        low,
        high,
        tuple(seeds),
    )


def in_percent(share: float) -> float:
    """Return a share as metrics.json has it: percent in two decimals."""
    return round(100 * float(share), 2)


def study_metrics(recipe: str, selection: str, results: Sequence[Result], baseline: Baseline) -> dict[str, Any]:
    """Return the content of metrics.json; under `selected` stands the best of `results`.

    selection: the one variant in `results` or the name of several.
    """
    constant = round(baseline.dev_accuracy, 2)
    variants = {result.variant: _figures(result, constant) for result in sorted(results, key=lambda r: r.variant)}
    return {
        "recipe": recipe,
        "variant": selection,
        "baseline": {"dev_accuracy": constant},
        "reader": {"dev_accuracy": round(baseline.reader_accuracy, 2)},
        "selected": variants[best_variant(variants)],
        "variants": variants,
    }


def _figures(result: Result, constant: float) -> dict[str, Any]:
    run = result.evaluation.run
    return {
        "scratch_dev_accuracy": result.scratch.mean,
        "dev_accuracy": result.pretrained.mean,
        "dev_accuracy_ci_low": result.pretrained.low,
        "dev_accuracy_ci_high": result.pretrained.high,
        "lift_over_baseline": round(result.pretrained.mean - constant, 2),
        **({"test_accuracy": result.test.mean} if result.test else {}),
        "seeds": len(result.pretrained.by_seed),
        "parameters": run.parameters,
        "pretrain_loss": round(run.pretrain_loss, 4),
        "documents_per_second": round(run.documents_per_second, 1),
    }
