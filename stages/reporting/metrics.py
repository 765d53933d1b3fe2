"""Figures for programs: metrics.json and, for DVC's plot, accuracy.csv."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from stages.reporting.evaluations import DIGITS, Baseline, Evaluation


def report_metrics(
    recipe: str, selection: str, evaluations: Sequence[Evaluation], baseline: Baseline
) -> dict[str, Any]:
    """Return the content of metrics.json; `selected` has the name and the figures of the best of `evaluations`.

    evaluations: by name; selection: a variant, or the name of several.
    """
    variants = {evaluation.variant: _figures(evaluation, baseline.dev_accuracy) for evaluation in evaluations}
    best = max(variants, key=lambda name: variants[name]["dev_accuracy"])  # the first by name among equals
    return {
        "recipe": recipe,
        "variant": selection,
        "baseline": {"dev_accuracy": baseline.dev_accuracy},
        "letters": {"dev_accuracy": baseline.letters_accuracy},
        "rule": {"dev_accuracy": baseline.rule_accuracy},
        "reader": {"dev_accuracy": baseline.reader_accuracy},
        "selected": {"variant": best, **variants[best]},
        "variants": variants,
    }


def _figures(evaluation: Evaluation, constant: float) -> dict[str, Any]:
    run, pretrained = evaluation.run, evaluation.pretrained
    low, high = pretrained.interval
    return {
        "scratch_dev_accuracy": evaluation.scratch.mean,
        "dev_accuracy": pretrained.mean,
        "dev_accuracy_ci_low": low,
        "dev_accuracy_ci_high": high,
        "lift_over_baseline": round(pretrained.mean - constant, DIGITS),
        **({"test_accuracy": evaluation.test.mean} if evaluation.test else {}),
        "seeds": len(pretrained.by_seed),
        "parameters": run.parameters,
        "pretrain_loss": round(run.pretrain_loss, 4),
        "documents_per_second": round(run.documents_per_second, 1),
    }


def accuracy_rows(metrics: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each bar of a plot: model (its name), variant, init, accuracy (percent)."""
    rows = [
        (f"{variant}, {init}", variant, init, figures[key])
        for variant, figures in metrics["variants"].items()
        for init, key in (("scratch", "scratch_dev_accuracy"), ("pretrained", "dev_accuracy"))
    ]
    return pd.DataFrame(rows, columns=["model", "variant", "init", "accuracy"])
