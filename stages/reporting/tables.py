"""Cells and tables of the report: shares, accuracies, losses, and the origin of the figures."""

from collections.abc import Sequence
from math import isnan

import numpy as np
import pandas as pd

from stages.reporting.evaluations import Run
from stages.reporting.metrics import Result


def origin(run: Run) -> list[str]:
    """Return commit, params hash, device, precision, kernels and libraries of a run; what differs is joined."""
    rows = []
    for made in run.provenance:
        libraries = ", ".join(f"{name} {version}" for name, version in made.libraries.items())
        hashes = short(made.commit), short(made.params_sha256)
        rows.append((*hashes, made.device, made.precision, kernels_in_words(made.kernels), libraries))
    return [" + ".join(dict.fromkeys(column)) for column in zip(*rows, strict=True)]


def origins(results: Sequence[Result]) -> dict[tuple[str, ...], list[str]]:
    """Return the variants by what `origin` says of their runs but for the params hash, which is each one's own."""
    variants: dict[tuple[str, ...], list[str]] = {}
    for result in results:
        commit, _, *made = origin(result.evaluation.run)
        variants.setdefault((commit, *made), []).append(result.variant)
    return variants


def short(identity: str) -> str:
    """Return the beginning of a hash, with the + of a commit whose code was changed before the run."""
    return identity[:10] + ("+" if identity.endswith("+") else "")


def kernels_in_words(kernels: str) -> str:
    """Return what computed between the matrix products: torch's own kernels or the compiled ones."""
    return "torch's" if kernels == "torch" else "compiled"


def accuracy_rows(results: Sequence[Result]) -> pd.DataFrame:
    """Return a row for each bar of a plot: model (its name), variant, init, accuracy (percent)."""
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
    """Return a share in percent; a dash for NaN."""
    return "–" if isnan(share) else f"{100 * share:.1f}"
