"""The few figures of metrics.json that DVC and the terminal show."""

from typing import Any


def headline(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the content of selected.json: the selected variant's figures, then every variant's dev accuracy.

    DVC prints a column a figure, so the names are short.
    """
    figures = metrics["selected"]
    return {
        "dev_accuracy": figures["dev_accuracy"],
        "ci_low": figures["dev_accuracy_ci_low"],
        "ci_high": figures["dev_accuracy_ci_high"],
        "baseline": metrics["baseline"]["dev_accuracy"],
        "reader": metrics["reader"]["dev_accuracy"],
        "loss": figures["pretrain_loss"],
        **{name: of_variant["dev_accuracy"] for name, of_variant in metrics["variants"].items()},
    }


def best_variant(variants: dict[str, dict[str, Any]]) -> str:
    """Return the name with the highest `dev_accuracy`, the first by name among equals."""
    return min(variants, key=lambda name: (-variants[name]["dev_accuracy"], name))
