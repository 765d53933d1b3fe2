"""From predictions to the figures of metrics.json: accuracies with intervals, the lift, the best variant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stages.reporting.answers import Answers, dev_answers
from stages.reporting.evaluations import INITS, Evaluation
from stages.reporting.headline import best_variant
from stages.reporting.statistics.intervals import accuracy_interval


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
        return self.evaluation.variant


def summarise(evaluation: Evaluation, questions: int) -> Result:
    """Return `evaluation` with its answers and accuracies on the `questions` dev questions; raises as `dev_answers`."""
    answers = {init: dev_answers(evaluation, init, questions) for init in INITS}
    name = evaluation.variant
    scratch = _accuracy(answers["scratch"], f"{name} scratch")
    return Result(evaluation, answers, scratch, _accuracy(answers["pretrained"], name))


def study_metrics(recipe: str, selection: str, results: Sequence[Result], baseline: float) -> dict[str, Any]:
    """Return the content of metrics.json; under `selected` stands the best of `results`.

    selection: the one variant in `results` or the name of several; baseline: its dev accuracy in percent.
    """
    variants = {result.variant: _figures(result, baseline) for result in sorted(results, key=lambda r: r.variant)}
    return {
        "recipe": recipe,
        "variant": selection,
        "baseline": {"dev_accuracy": round(baseline, 2)},
        "selected": variants[best_variant(variants)],
        "variants": variants,
    }


def _accuracy(answers: Answers, stream: str) -> Accuracy:
    """`stream` names the draws of the interval (see `resampled_means`)."""
    low, high = accuracy_interval(answers.correct, stream)
    by_seed = tuple(_percent(each) for each in answers.correct.mean(axis=0))
    return Accuracy(_percent(answers.correct.mean()), _percent(low), _percent(high), by_seed)


def _figures(result: Result, baseline: float) -> dict[str, Any]:
    run = result.evaluation.run
    return {
        "scratch_dev_accuracy": result.scratch.mean,
        "dev_accuracy": result.pretrained.mean,
        "dev_accuracy_ci_low": result.pretrained.low,
        "dev_accuracy_ci_high": result.pretrained.high,
        "lift_over_baseline": round(result.pretrained.mean - round(baseline, 2), 2),
        "seeds": len(result.pretrained.by_seed),
        "parameters": run.parameters,
        "pretrain_loss": round(run.pretrain_loss, 4),
        "documents_per_second": round(run.documents_per_second, 1),
    }


def _percent(fraction: float) -> float:
    return round(100 * float(fraction), 2)
