"""What the probe stages left behind, read and checked before anything is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages.reporting.answers import Marks
from stages.reporting.evaluations import broken, read_record

ENOUGH = 10  # facts that a share needs to be told in a sentence
WEIGHTS = ("pretrained", "finetuned")
FORMS = ("continuation", "cloze", "words", "infilling")
FACT_COLUMNS = ("variant", "seed", "row", "position", "train_count", "born")
SHIFT_COLUMNS = ("variant", "seed", "row", "shift", *WEIGHTS)
PEOPLE_COLUMNS = ("variant", "seed", "culture", "name", "answer", "probability")
ASKED, ASKED_BEFORE = "finetuned_question", "pretrained_question"
RANKS = ("pretrained_page_rank", "pretrained_question_rank", "finetuned_page_rank", "finetuned_question_rank")


@dataclass(frozen=True)
class Probe:
    """What one variant's weights were asked: knowledge.tsv, shifted.tsv, invented.tsv and the entries of probe.json.

    Without facts, shifts or invented people the table is empty and what follows from it None.
    """

    variant: str
    questions: int  # of dev
    facts: int  # dev questions whose place the person's own page tells
    cue: int
    words: int
    trained_forms: list[str]
    control: str  # the form in which another person's name was tried
    ranked_form: str  # the page form in which places were ranked
    places: int  # among which each was ranked
    furthest: int  # rank that is counted out; greater ones are one more than this
    known: pd.DataFrame
    shifted: pd.DataFrame
    said: pd.DataFrame
    origins: list[dict[str, Any]]
    made_up: list[str]
    people: dict[str, Any] | None
    saliency: dict[str, Any] | None


def read_probes(folder: Path, variants: Sequence[str]) -> list[Probe]:
    """The probes `<folder>/<variant>/` of those of `variants` that have one, sorted by name.

    Raises StudyError where one is broken.
    """
    return [read_probe(folder / name) for name in sorted(variants) if (folder / name / "probe.json").is_file()]


def read_probe(folder: Path) -> Probe:
    """Read the probe of the variant that `folder` is named after; raises StudyError where it is broken."""
    path = folder / "probe.json"
    record = read_record(path)
    try:
        forms = [f"{weights}_{form}" for weights in WEIGHTS for form in (*FORMS, "other_name")]
        known = _table(
            folder / "knowledge.tsv", (*FACT_COLUMNS, *forms, ASKED_BEFORE, ASKED, *RANKS), bool(record["facts"])
        )
        trained = [form for form in FORMS if form in record["trained_forms"]]
        return Probe(
            variant=folder.name,
            questions=int(record["questions"]),
            facts=int(record["facts"]),
            cue=int(record["cue"]),
            words=int(record["words"]),
            trained_forms=trained,
            control=str(record["control"]),
            ranked_form=str(record["ranked_form"]),
            places=int(record["places"]),
            furthest=int(record["furthest"]),
            known=known.assign(
                memorised=spelled(known, "pretrained", trained),
                kept=spelled(known, "finetuned", trained),
            ),
            shifted=_table(folder / "shifted.tsv", SHIFT_COLUMNS, bool(record["shifts"])),
            said=_table(folder / "invented.tsv", PEOPLE_COLUMNS, record["people"] is not None),
            origins=list(record["origins"]),
            made_up=[str(answer) for answer in record["made_up"]],
            people=record["people"],
            saliency=record["saliency"],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise broken(path, error) from None


def spelled(known: pd.DataFrame, weights: str, forms: Sequence[str]) -> pd.Series:
    """Whether the `weights` (pretrained or finetuned) spell each fact of knowledge.tsv in any of the forms: 1 or 0."""
    return known[[f"{weights}_{form}" for form in forms]].max(axis=1)


def best_asked(probes: Sequence[Probe]) -> Probe:
    """The probe with the most right answers to the questions of its facts, the first by name among equals."""
    return min(probes, key=lambda probe: (-probe.known[ASKED].mean() if len(probe.known) else 0.0, probe.variant))


def marks(outcomes: pd.DataFrame, column: str) -> Marks:
    """What is 1 or 0 of each fact and seed, (facts, seeds)."""
    return outcomes.pivot(index="row", columns="seed", values=column).to_numpy(np.int64)


def percent(share: float) -> str:
    """A share in percent; a dash for the share of nothing."""
    return "–" if np.isnan(share) else f"{100 * share:.1f}"


def _table(path: Path, columns: Sequence[str], wanted: bool) -> pd.DataFrame:
    """A table with these columns and perhaps more; an answer may be called NA."""
    if not wanted:
        return pd.DataFrame(columns=list(columns))
    if not path.is_file():
        raise ValueError(f"{path.name} is missing")
    table = pd.read_csv(path, sep="\t", keep_default_na=False, dtype={"name": str, "answer": str})
    if missing := [name for name in columns if name not in table.columns]:
        raise KeyError(f"{path.name}: {missing[0]}")
    return table
