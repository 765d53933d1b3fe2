"""From predictions to the figures of metrics.json: accuracies with intervals, the lift, the best variant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats  # type: ignore[import-untyped]

from stages.errors import StudyError
from stages.reporting.evaluations import ALL, REMAKE, Evaluation

CONFIDENCE = 0.95
RESAMPLES = 9999


@dataclass(frozen=True)
class Accuracy:
    """Exact-match accuracy on dev in percent: mean over seeds, 95 % interval, and each seed's own."""

    mean: float
    low: float
    high: float
    by_seed: tuple[float, ...]


@dataclass(frozen=True)
class Result:
    """One variant's evaluation with the accuracies of its two ways of training."""

    evaluation: Evaluation
    scratch: Accuracy
    pretrained: Accuracy

    @property
    def variant(self) -> str:
        """The variant's name."""
        return self.evaluation.variant


def interval(correctness: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `correctness` (N,), each in 0…1, as two shares in 0…1.

    A percentile bootstrap over the questions (Efron 1979) with a fixed generator; where all questions
    are alike the bootstrap has nothing to draw from and the Wilson interval of the same mean stands in.
    The interval speaks of the choice of questions; the spread between seeds is not in it.
    """
    questions = len(correctness)
    if np.ptp(correctness) == 0:
        hits = round(float(correctness.sum()))
        wilson = stats.binomtest(hits, questions).proportion_ci(CONFIDENCE, method="wilson")
        return float(wilson.low), float(wilson.high)
    bounds = stats.bootstrap(
        (correctness,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=1000,  # keeps the resampled indices small in memory
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(bounds.low), float(bounds.high)


def dev_accuracy(evaluation: Evaluation, init: str, questions: int) -> Accuracy:
    """Return the accuracy of `init` (scratch or pretrained) on the dev split.

    Raises StudyError unless every seed answered each of the `questions` dev questions exactly once.
    """
    table = evaluation.predictions
    rows = table[(table["split"] == "dev") & (table["init"] == init)]
    where = f"predictions.tsv of {evaluation.variant}"
    if not rows["correct"].isin(["0", "1"]).all():
        raise StudyError(f"{where}: a dev row's `correct` is neither 0 nor 1; {REMAKE}")
    counts = rows.groupby("seed")["row"].agg(["size", "nunique"])
    if counts.empty or not (counts == questions).all(axis=None) or rows["row"].nunique() != questions:
        raise StudyError(
            f"{where}: {init} does not answer each of the {questions} dev questions once per seed; {REMAKE}"
        )
    marks = rows.assign(seed=rows["seed"].astype(int), correct=rows["correct"].astype(float))
    by_question = marks.pivot(index="row", columns="seed", values="correct").to_numpy()  # (N, seeds)
    low, high = interval(by_question.mean(axis=1))
    return Accuracy(
        mean=_percent(by_question.mean()),
        low=_percent(low),
        high=_percent(high),
        by_seed=tuple(_percent(share) for share in by_question.mean(axis=0)),
    )


def summarise(evaluation: Evaluation, questions: int) -> Result:
    """Return `evaluation` with its accuracies on the `questions` dev questions; raises as `dev_accuracy`."""
    scratch = dev_accuracy(evaluation, "scratch", questions)
    pretrained = dev_accuracy(evaluation, "pretrained", questions)
    if len(scratch.by_seed) != len(pretrained.by_seed):
        raise StudyError(
            f"predictions.tsv of {evaluation.variant}: {len(scratch.by_seed)} seeds from scratch, "
            f"{len(pretrained.by_seed)} pretrained; {REMAKE}"
        )
    return Result(evaluation, scratch, pretrained)


def study_metrics(recipe: str, selection: str, results: Sequence[Result], london: float) -> dict[str, Any]:
    """Return the content of metrics.json, its keys and their order the same whatever is selected.

    `selection` is `all` or the one variant in `results`; `london` the baseline's dev accuracy in percent.
    Under `selected` stands the selected variant, for `all` the best one.
    """
    variants = {result.variant: _figures(result, london) for result in sorted(results, key=lambda r: r.variant)}
    return {
        "recipe": recipe,
        "variant": selection,
        "london": {"dev_accuracy": round(london, 2)},
        "selected": variants[best_variant(variants) if selection == ALL else selection],
        "variants": variants,
    }


def best_variant(variants: dict[str, dict[str, Any]]) -> str:
    """Return the name with the highest `dev_accuracy`, the first by name among equals."""
    return ranking(variants)[0]


def ranking(variants: dict[str, dict[str, Any]]) -> list[str]:
    """Return all names from the highest to the lowest `dev_accuracy`, equals by name."""
    return sorted(variants, key=lambda name: (-variants[name]["dev_accuracy"], name))


def _figures(result: Result, london: float) -> dict[str, Any]:
    return {
        "scratch_dev_accuracy": result.scratch.mean,
        "dev_accuracy": result.pretrained.mean,
        "dev_accuracy_low": result.pretrained.low,
        "dev_accuracy_high": result.pretrained.high,
        "lift_over_london": round(result.pretrained.mean - round(london, 2), 2),
        "seeds": len(result.pretrained.by_seed),
        "parameters": result.evaluation.parameters,
        "pretrain_loss": round(result.evaluation.pretrain_loss, 4),
        "documents_per_second": round(result.evaluation.documents_per_second, 1),
    }


def _percent(share: float) -> float:
    return round(100 * float(share), 2)
