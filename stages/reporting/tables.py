"""The tables of the report: accuracies of all variants, losses, and where the figures come from."""

from collections.abc import Sequence
from math import isnan
from statistics import fmean

import numpy as np
import pandas as pd

from stages.reporting.evaluations import Baseline, Evaluation, Provenance
from stages.reporting.markdown import Markdown, table
from stages.reporting.metrics import Result


def results_table(results: Sequence[Result], baseline: Baseline) -> Markdown:
    """Return the table of `results` and of the two baselines, a row each.

    Accuracies in percent of the dev questions; memorised and extracted in percent of the facts, a dash without any;
    loss in nats a character; the mean time of a pretraining in minutes.
    """
    header = [
        "variant", "pretrained, % (95 % interval)", "scratch, % (95 % interval)", "memorised, %", "extracted, %",
        "seeds", "pretraining loss", "minutes", "parameters",
    ]  # fmt: skip
    rows = []
    for result in results:
        found, run, facts = result.pretrained, result.evaluation.run, result.evaluation.extraction
        row = [result.variant, f"{found.mean:.1f} ({found.low:.1f} to {found.high:.1f})"]
        row += [f"{result.scratch.mean:.1f} ({result.scratch.low:.1f} to {result.scratch.high:.1f})"]
        row += [percent(facts.pretrained_memorised.mean()), percent(facts.finetuned_extracted.mean())]
        minutes = fmean(run.seconds) / 60
        made = [str(len(found.by_seed)), f"{run.pretrain_loss:.4f}", f"{minutes:.1f}", f"{run.parameters:,}"]
        rows.append([*row, *made])
    for name, accuracy in (
        ("the reader", baseline.reader_accuracy),
        (f"always {baseline.place}", baseline.dev_accuracy),
    ):
        rows.append([name, f"{accuracy:.1f}", *["–"] * (len(header) - 2)])
    return table(header, rows, right=header[1:])


def summary_table(best: Result, baseline: Baseline) -> Markdown:
    """Return the result: the best variant, what it is compared with, and the most that can be right."""
    found, test = best.pretrained, best.test
    rows = [
        ("dev accuracy", f"{found.mean:.1f} % ({found.low:.1f} to {found.high:.1f})"),
        *([("test accuracy", f"{test.mean:.1f} % ({test.low:.1f} to {test.high:.1f})")] if test else []),
        ("from scratch", f"{best.scratch.mean:.1f} %"),
        (f"always {baseline.place}", f"{baseline.dev_accuracy:.1f} %"),
        ("the reader", f"{baseline.reader_accuracy:.1f} %"),
        ("ceiling", f"{baseline.ceiling:.1f} %"),
    ]
    return table(("best variant", best.variant), rows, right=(best.variant,))


def provenance_table(evaluations: Sequence[Evaluation]) -> Markdown:
    """Return commit, params hash, device, precision, kernels, libraries, seconds of all seeds and rate of one."""
    header = ("variant", "commit", "params", "device", "precision", "kernels", "libraries", "seconds", "documents/s")
    rows = []
    for each in evaluations:
        made = each.run.provenance
        row = [" + ".join(dict.fromkeys(column)) for column in zip(*map(_origin, made), strict=True)]
        seconds = sum(one.seconds for one in made)
        rows.append([each.variant, *row, f"{seconds:,.0f}", f"{each.run.documents_per_second:,.1f}"])
    return table(header, rows, right=header[-2:])


def _origin(made: Provenance) -> list[str]:
    libraries = ", ".join(map(" ".join, made.libraries.items()))
    code, settings, kernels = short(made.commit), short(made.params_sha256), kernels_in_words(made.kernels)
    return [code, settings, made.device, made.precision, kernels, libraries]


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
