"""Cells and tables of the report: accuracies, losses, and where the figures come from."""

from collections.abc import Sequence
from math import isnan

import numpy as np
import pandas as pd

from stages.reporting.evaluations import Evaluation, Provenance
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Answers, Result


def interval(answers: Answers, unit: str = "") -> str:
    """Return an accuracy and its interval."""
    low, high = answers.interval
    return f"{answers.mean:.1f}{unit} ({low:.1f} to {high:.1f})"


def provenance_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return commit, params hash, device, precision, kernels, libraries, seconds of all seeds and rate of one."""
    header = ("variant", "commit", "params", "device", "precision", "kernels", "libraries", "seconds", "documents/s")
    rows = []
    for evaluation in evaluations:
        run = evaluation.run
        columns = zip(*map(_origin, run.provenance), strict=True)
        seconds = sum(provenance.seconds for provenance in run.provenance)
        joined = [" + ".join(dict.fromkeys(column)) for column in columns]
        rows.append([evaluation.variant, *joined, f"{seconds:,.0f}", f"{run.documents_per_second:,.1f}"])
    return table(header, rows, right=header[-2:])


def _origin(provenance: Provenance) -> list[str]:
    return [
        short(provenance.commit),
        short(provenance.params_sha256),
        provenance.device,
        provenance.precision,
        kernels_in_words(provenance.kernels),
        ", ".join(map(" ".join, provenance.libraries.items())),
    ]


def short(identity: str) -> str:
    """Return the beginning of a hash, with the + of a commit whose code was changed before the run."""
    return identity[:10] + ("+" if identity.endswith("+") else "")


def kernels_in_words(kernels: str) -> str:
    """Return what computed between the matrix products: torch's own kernels or the compiled ones."""
    return "torch's" if kernels == "torch" else "compiled"


def accuracy_rows(results: Sequence[Result]) -> pd.DataFrame:
    """Return the columns model, variant, init, accuracy (percent): a row is a bar of a plot, `model` its name."""
    rows = [
        (f"{result.variant}, {init}", result.variant, init, accuracy.mean)
        for result in results
        for init, accuracy in (("scratch", result.scratch), ("pretrained", result.pretrained))
    ]
    return pd.DataFrame(rows, columns=["model", "variant", "init", "accuracy"])


def thin(curves: pd.DataFrame, points: int = 200) -> pd.DataFrame:
    """Return at most `points` evenly spaced rows of each variant's seed and phase, first and last kept."""
    kept = []
    for _, rows in curves.groupby(["variant", "seed", "phase"], sort=False):
        spread = np.linspace(0, len(rows) - 1, min(len(rows), points))
        kept.append(rows.iloc[spread.round().astype(np.intp)])
    return pd.concat(kept, ignore_index=True)


def percent(share: float) -> str:
    """Return a share in percent; a dash for the share of nothing."""
    return "–" if isnan(share) else f"{100 * share:.1f}"
