"""The tables of the report: accuracies of all variants, and where the figures come from."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from stages.reporting.evaluations import Evaluation
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result, ranking
from stages.reporting.published import Published


def results_table(metrics: dict[str, Any], others: Mapping[str, Published | None]) -> Markdown:
    """Return the table scratch / pretrained / London of `metrics` (metrics.json), best variant first.

    `others` is what was published for each variant; without any there is no such column. Accuracies in percent of the
    dev questions, lift in points, loss in nats a character.
    """
    header: tuple[str, ...] = (
        "variant", "parameters", "scratch, %", "pretrained, % (95 % interval)", "London, %", "lift, points",
        "pretraining loss", "seeds",
    )  # fmt: skip
    any_published = any(others.values())
    if any_published:
        header += ("published, %: usual (range)",)
    rows = []
    for name in ranking(metrics["variants"]):
        figures = metrics["variants"][name]
        rows.append(
            (
                name,
                f"{figures['parameters']:,}",
                f"{figures['scratch_dev_accuracy']:.1f}",
                pretrained_with_interval(figures),
                f"{metrics['london']['dev_accuracy']:.1f}",
                f"{figures['lift_over_london']:+.1f}",
                f"{figures['pretrain_loss']:.4f}",
                figures["seeds"],
                *([_published(others[name])] if any_published else []),
            )
        )
    return table(header, rows, right=header[1:])


def _published(found: Published | None) -> str:
    return f"{found.typical:.1f} ({found.low:.1f} to {found.high:.1f})" if found else "–"


def provenance_table(evaluations: Sequence[Evaluation], seeds: int) -> Markdown:
    """Return the table of commit, params hash, device, precision, kernels, libraries, seeds, seconds, rate by variant.

    The kernels are those between the matrix products, the seeds how many; the seconds are of pretraining, those of all
    seeds added, also where these were trained side by side; the rate is in documents a second of one seed's.
    """
    seconds = f"seconds of pretraining{', all seeds added' if seeds > 1 else ''}"
    header = (
        "variant", "commit", "params", "device", "precision", "kernels", "libraries", "seeds", seconds,
        "documents/s per seed",
    )  # fmt: skip
    rows = []
    for evaluation in evaluations:
        made = evaluation.provenance
        libraries = ", ".join(f"{name} {version}" for name, version in made.libraries.items())
        rows.append(
            (
                evaluation.variant,
                short(made.commit),
                made.params_sha256[:10],
                made.device,
                made.precision,
                "torch's" if made.kernels == "torch" else "compiled",
                libraries,
                seeds,
                f"{made.seconds:,.0f}",
                f"{evaluation.documents_per_second:,.1f}",
            )
        )
    return table(header, rows, right=header[-3:])


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


def terminal_table(metrics: dict[str, Any]) -> str:
    """Return variant, scratch, pretrained and London of `metrics` in aligned columns, best variant first."""
    header = ("variant", "scratch %", "pretrained %", "baseline %")
    rows = [
        (
            name,
            f"{metrics['variants'][name]['scratch_dev_accuracy']:.1f}",
            pretrained_with_interval(metrics["variants"][name]),
            f"{metrics['london']['dev_accuracy']:.1f}",
        )
        for name in ranking(metrics["variants"])
    ]
    return pd.DataFrame(rows, columns=header).to_string(index=False)


def pretrained_with_interval(figures: dict[str, Any]) -> str:
    """Return the accuracy after pretraining with its 95 % interval, in percent: `27.2 (23.4 to 31.2)`."""
    low, high = figures["dev_accuracy_low"], figures["dev_accuracy_high"]
    return f"{figures['dev_accuracy']:.1f} ({low:.1f} to {high:.1f})"
