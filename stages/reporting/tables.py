"""The tables of the report: accuracies of all variants, and where the figures come from."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Evaluation, device_of
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result, ranking
from stages.reporting.published import Published


def results_table(metrics: dict[str, Any], others: Mapping[str, Published | None]) -> Markdown:
    """Return the table of `metrics` (metrics.json), best variant first.

    `others` is what was published for each variant; without any there is no such column. Accuracies in percent of the
    dev questions, lift in points, loss in nats a character.
    """
    header = [
        "variant", "pretrained, % (95 % interval)", "scratch, %", "over the baseline, points", "pretraining loss",
        "parameters",
    ]  # fmt: skip
    rows = []
    for name in ranking(metrics["variants"]):
        figures = metrics["variants"][name]
        row = [name, _pretrained(figures), f"{figures['scratch_dev_accuracy']:.1f}"]
        row += [f"{figures['lift_over_baseline']:+.1f}", f"{figures['pretrain_loss']:.4f}"]
        row.append(f"{figures['parameters']:,}")
        if any(others.values()):
            found = others[name]
            row.append(f"{found.typical:.1f} ({found.low:.1f} to {found.high:.1f})" if found else "–")
        rows.append(row)
    if any(others.values()):
        header.append("published, %: usual (range)")
    return table(header, rows, right=header[1:])


def provenance_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return the table of commit, params hash, device, precision, kernels, libraries, seconds and rate by variant.

    The kernels are those between the matrix products; the seconds are of pretraining, those of all seeds added; the
    rate is in documents a second of one seed's.
    """
    header = (
        "variant", "commit", "params", "device", "precision", "kernels", "libraries", "seconds", "documents/s"
    )  # fmt: skip
    rows = []
    for evaluation in evaluations:
        made = evaluation.run.provenance
        libraries = ", ".join(f"{name} {version}" for name, version in made.libraries.items())
        row = [
            evaluation.variant,
            short(made.commit),
            made.params_sha256[:10],
            device_of(made.model_dump()),
            made.precision,
        ]
        row += ["torch's" if made.kernels == "torch" else "compiled", libraries]
        rows.append([*row, f"{made.seconds:,.0f}", f"{evaluation.run.documents_per_second:,.1f}"])
    return table(header, rows, right=header[-2:])


def short(commit: str) -> str:
    """The beginning of a commit's hash, with the + of one whose code was changed before the run."""
    return commit[:10] + ("+" if commit.endswith("+") else "")


def accuracy_rows(results: Sequence[Result]) -> pd.DataFrame:
    """Return the columns model, variant, init, accuracy (percent): a row is a bar of a plot, `model` its name."""
    rows = [
        (f"{result.variant}, {init}", result.variant, init, accuracy.mean)
        for result in results
        for init, accuracy in (("scratch", result.scratch), ("pretrained", result.pretrained))
    ]
    return pd.DataFrame(rows, columns=["model", "variant", "init", "accuracy"])


def _pretrained(figures: dict[str, Any]) -> str:
    """The accuracy after pretraining with its 95 % interval, in percent: `27.2 (23.4 to 31.2)`."""
    low, high = figures["dev_accuracy_ci_low"], figures["dev_accuracy_ci_high"]
    return f"{figures['dev_accuracy']:.1f} ({low:.1f} to {high:.1f})"
