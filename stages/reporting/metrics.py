"""From predictions to the figures of metrics.json: accuracies with intervals, the lift, the best variant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stages.reporting.answers import Answers, dev_answers
from stages.reporting.evaluations import INITS, REMAKE, Evaluation
from stages.reporting.markdown import listed
from stages.reporting.statistics.intervals import accuracy_interval
from stages.system.errors import StudyError


@dataclass(frozen=True)
class Accuracy:
    """Exact-match accuracy on dev in percent: mean over seeds, 95 % interval, and each seed's own."""

    mean: float
    low: float
    high: float
    by_seed: tuple[float, ...]


@dataclass(frozen=True)
class Result:
    """One variant's evaluation with the answers and accuracies of its two ways of training."""

    evaluation: Evaluation
    answers: Mapping[str, Answers]  # by init
    scratch: Accuracy
    pretrained: Accuracy

    @property
    def variant(self) -> str:
        """The variant's name."""
        return self.evaluation.variant


def accuracy(answers: Answers, stream: str) -> Accuracy:
    """Return the accuracy of `answers`; `stream` names the draws of the interval (see `resampled_means`)."""
    low, high = accuracy_interval(answers.correct, stream)
    return Accuracy(
        mean=_percent(answers.correct.mean()),
        low=_percent(low),
        high=_percent(high),
        by_seed=tuple(_percent(share) for share in answers.correct.mean(axis=0)),
    )


def summarise(evaluation: Evaluation, questions: int) -> Result:
    """Return `evaluation` with its answers and accuracies on the `questions` dev questions; raises as `dev_answers`."""
    answers = {init: dev_answers(evaluation, init, questions) for init in INITS}
    scratch, pretrained = answers["scratch"], answers["pretrained"]
    if scratch.seeds != pretrained.seeds:
        raise StudyError(
            f"predictions.tsv of {evaluation.variant}: seeds {listed(scratch.seeds)} from scratch, "
            f"{listed(pretrained.seeds)} pretrained; {REMAKE}"
        )
    name = evaluation.variant
    return Result(evaluation, answers, accuracy(scratch, f"{name} scratch"), accuracy(pretrained, name))


def study_metrics(recipe: str, selection: str, results: Sequence[Result], london: float) -> dict[str, Any]:
    """Return the content of metrics.json, its keys and their order the same whatever is selected.

    `selection` is the one variant in `results` or the name of several; `london` the baseline's dev accuracy in percent.
    Under `selected` stands the selected variant, of several the best one.
    """
    variants = {result.variant: _figures(result, london) for result in sorted(results, key=lambda r: r.variant)}
    return {
        "recipe": recipe,
        "variant": selection,
        "london": {"dev_accuracy": round(london, 2)},
        "selected": variants[best_variant(variants)],
        "variants": variants,
    }


def headline(metrics: dict[str, Any]) -> dict[str, float]:
    """Return the content of selected.json: the selected figures of `metrics` (metrics.json) under short names.

    DVC prints a metrics file as one row, a column a figure: with few and short ones, and no text, it fits a terminal.
    """
    figures = metrics["selected"]
    return {
        "accuracy": figures["dev_accuracy"],
        "low": figures["dev_accuracy_low"],
        "high": figures["dev_accuracy_high"],
        "scratch": figures["scratch_dev_accuracy"],
        "london": metrics["london"]["dev_accuracy"],
        "loss": figures["pretrain_loss"],
        "params": figures["parameters"],
        "seeds": figures["seeds"],
    }


def best_variant(variants: dict[str, dict[str, Any]]) -> str:
    """Return the name with the highest `dev_accuracy`, the first by name among equals."""
    return ranking(variants)[0]


def ranking(variants: dict[str, dict[str, Any]]) -> list[str]:
    """Return all names from the highest to the lowest `dev_accuracy`, equals by name."""
    return sorted(variants, key=lambda name: (-variants[name]["dev_accuracy"], name))


def ranked(results: Sequence[Result]) -> list[Result]:
    """Return the results from the highest to the lowest pretrained accuracy, equals by name."""
    return sorted(results, key=lambda result: (-result.pretrained.mean, result.variant))


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
