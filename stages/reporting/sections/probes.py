"""What `stages.probing` found, read and checked before anything is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from stages.reporting.evaluations import read_table
from stages.reporting.statistics.intervals import accuracy_interval

WEIGHTS = ("pretrained", "finetuned")
FORMS = ("continuation", "cloze", "words", "infilling", "other_name")
MEASURES = ("memorised", "extracted")
COLUMNS = {
    "extraction.tsv": ("seed", "row", *(f"{weights}_{measure}" for weights in WEIGHTS for measure in MEASURES)),
    "prefix_offset.tsv": ("seed", "row", "offset", *WEIGHTS),
    "origins.tsv": ("asked", "init", "seed", "row", "origin"),
}


@dataclass(frozen=True)
class Probe:
    """What one variant's weights were asked; the tables are those of `probing.probe`, perhaps without rows."""

    variant: str
    extraction: pd.DataFrame
    prefix_offset: pd.DataFrame
    origins: pd.DataFrame

    @property
    def forms(self) -> list[str]:
        """The page forms that pretraining practised and, where it was asked, the control, in the order of FORMS."""
        return [form for form in FORMS if f"pretrained_{form}" in self.extraction.columns]


def read_probes(folder: Path, variants: Sequence[str]) -> list[Probe]:
    """The probes `<folder>/<variant>/` of those of `variants` that have one, sorted by name.

    Raises StudyError where one is broken.
    """
    found = []
    for each in [folder / name for name in sorted(variants) if (folder / name).is_dir()]:
        found.append(Probe(each.name, *(read_table(each / name, columns) for name, columns in COLUMNS.items())))
    return found


def share(outcomes: pd.DataFrame, column: str, stream: str) -> dict[str, float]:
    """The mean of what is 0 or 1 of each row and seed, with its 95 % interval over questions and seeds: in 0…1."""
    marks = outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)
    low, high = accuracy_interval(marks, stream)
    return {"share": float(marks.mean()), "ci_low": low, "ci_high": high}


def percent(share: float) -> str:
    """A share in percent; a dash for the share of nothing."""
    return "–" if np.isnan(share) else f"{100 * share:.1f}"
