"""The tables of the report: accuracies of all variants, and where the figures come from."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Evaluation
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result

# Exact match on the 500 dev questions in percent, usual (range), from the results that public repositories with
# solutions of CS224N's assignment state for it (2021–2024), all of single runs. The synthesizer is the dense one, the
# perceiver has a bottleneck of 64, and its highest figure is a single claim (the next is 12.6). Low ends are often
# runs with a known fault. Vanilla from scratch: 1.8 (0.2 to 2.6).
PUBLISHED = {
    "vanilla": "22.4 (10.8 to 27.2)",
    "synthesizer": "14.7 (5.2 to 25.2)",
    "perceiver": "12.6 (5.0 to 16.7)",
    "rope": "31.8 (17.2 to 40.4)",
}


def results_table(metrics: dict[str, Any], published: Mapping[str, str]) -> Markdown:
    """Return the table of `metrics` (metrics.json), best variant first; no column of what nobody published.

    Accuracies in percent of the dev questions, lift in points, loss in nats a character.
    """
    header = [
        "variant", "pretrained, % (95 % interval)", "scratch, %", "over the baseline, points", "pretraining loss",
        "parameters", *(["published, %: usual (range)"] if published else []),
    ]  # fmt: skip
    rows = []
    for name, figures in sorted(metrics["variants"].items(), key=lambda each: -each[1]["dev_accuracy"]):
        low, high = figures["dev_accuracy_ci_low"], figures["dev_accuracy_ci_high"]
        row = [name, f"{figures['dev_accuracy']:.1f} ({low:.1f} to {high:.1f})"]
        row += [f"{figures['scratch_dev_accuracy']:.1f}", f"{figures['lift_over_baseline']:+.1f}"]
        row += [f"{figures['pretrain_loss']:.4f}", f"{figures['parameters']:,}"]
        rows.append([*row, *([published.get(name, "–")] if published else [])])
    return table(header, rows, right=header[1:])


def provenance_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return commit, params hash, device, precision, kernels, libraries, seconds of all seeds and rate of one."""
    header = (
        "variant", "commit", "params", "device", "precision", "kernels", "libraries", "seconds", "documents/s"
    )  # fmt: skip
    rows = []
    for each in evaluations:
        made = each.run.provenance
        row = [each.variant, short(made.commit), made.params_sha256[:10], made.device, made.precision]
        row += [kernels_in_words(made.kernels), versions(made.libraries)]
        rows.append([*row, f"{made.seconds:,.0f}", f"{each.run.documents_per_second:,.1f}"])
    return table(header, rows, right=header[-2:])


def short(commit: str) -> str:
    """The beginning of a commit's hash, with the + of one whose code was changed before the run."""
    return commit[:10] + ("+" if commit.endswith("+") else "")


def kernels_in_words(kernels: str) -> str:
    """What computed between the matrix products: torch's own kernels or the compiled ones."""
    return "torch's" if kernels == "torch" else "compiled"


def versions(libraries: Mapping[str, str]) -> str:
    """Libraries with their versions, as one text."""
    return ", ".join(f"{name} {version}" for name, version in libraries.items())


def accuracy_rows(results: Sequence[Result]) -> pd.DataFrame:
    """Return the columns model, variant, init, accuracy (percent): a row is a bar of a plot, `model` its name."""
    rows = [
        (f"{result.variant}, {init}", result.variant, init, accuracy.mean)
        for result in results
        for init, accuracy in (("scratch", result.scratch), ("pretrained", result.pretrained))
    ]
    return pd.DataFrame(rows, columns=["model", "variant", "init", "accuracy"])


def percent(share: float) -> str:
    """A share in percent; a dash for the share of nothing."""
    return "–" if isnan(share) else f"{100 * share:.1f}"
