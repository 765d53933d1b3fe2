"""A made-up study on disk, small enough to reckon by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stages.report import write_report
from stages.reporting.evaluations import (
    ASKED_COLUMNS,
    PREDICTION_COLUMNS,
    PROBED,
    Baseline,
    Evaluation,
    read_evaluation,
)
from stages.system.files import write_json
from tests.support.tiny import SETTINGS

CURVE_COLUMNS = ("variant", "seed", "phase", "step", "epoch", "loss", "learning_rate")
Correct = Sequence[Sequence[int]]  # by seed, then by question: 1 right, 0 wrong
PROVENANCE: dict[str, Any] = {
    "commit": "0123456789abcdef",
    "params_sha256": "fedcba9876543210",
    "device": "cpu",
    "precision": "float32",
    "kernels": "kernels-0123456789abcdef",
    "libraries": {"python": "3.11.7", "torch": "2.13.0"},
    "settings": {},
}
PLACES = ("Oslo", "Bergen", "Lima", "Quito", "Cairo", "Accra", "Kyoto", "Osaka", "Turin", "Genoa")
FACTS = 40
OFFSETS = {0: (40, 20), 1: (10, 18), 10: (4, 16)}  # how many facts the pretrained and the finetuned weights match
ORIGINS = {
    ("dev", "scratch"): ["corpus", "hallucination"],
    ("dev", "pretrained"): ["correct", "own_page", "training_answer", "corpus", "hallucination"],
    ("unseen", "pretrained"): ["training_answer", "hallucination", "empty", "training_answer"],
}
BASELINE = Baseline(
    place="London",
    dev_questions=10,
    accuracy={"constant": 10.0, "letters": 0.0, "rule": 40.0, "reader": 50.0},
    ceiling=95.8,
    held_out=0,
)


def write_baseline(folder: Path, place: str = "London", held_out: int = 0) -> None:
    """Write baseline.json of ten dev questions: the constant answer knows 1, the rule 4, the reader 5."""
    write_json(folder / "baseline" / "baseline.json", BASELINE.model_dump() | {"place": place, "held_out": held_out})


def write_variant(
    folder: Path,
    variant: str,
    scratch: Correct,
    pretrained: Correct,
    person: str = "Person {}",
    curve_rows: int = 300,
    provenance: Mapping[str, str] | None = None,
    probability: Sequence[Sequence[float]] | None = None,
    probes: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Write one variant's evaluation and the questions; `person`: of the names.

    The reader knows every other question, the rule 4, 6, 8 and 10 of ten, the letters none. The places in turn answer
    0, 1 … 9 training questions.

    provenance: overrides PROVENANCE.
    probability: of the pretrained answers, as `pretrained`; all others, or all, are 0.50; probes: else probe_tables().
    """
    predictions: list[tuple[object, ...]] = []
    for init, seeds in (("scratch", scratch), ("pretrained", pretrained)):
        for seed, marks in enumerate(seeds, start=1):
            for row, mark in enumerate(marks, start=1):
                gold = PLACES[row % len(PLACES)]
                likely = probability[seed - 1][row - 1] if probability and init == "pretrained" else "0.50"
                answer = gold if mark else "Nowhere"
                predictions.append((variant, "dev", row, seed, init, answer, mark, likely))
            predictions.append((variant, "test", 1, seed, init, "Rome", "", "0.10"))
    questions = [
        (
            "dev",
            row,
            f"Where was {person.format(row)} born?",
            place,
            "London",
            "Rome",
            place if row % 2 == 0 and row % 10 != 2 else "Nowhere",
            place if row % 2 else "Nowhere",
            row % len(PLACES),
            "Where was NAME born?",
        )
        for row, place in ((row, PLACES[row % len(PLACES)]) for row in range(1, len(pretrained[0]) + 1))
    ]
    questions.append(
        ("test", 1, "Where was Tam born?", "", "London", "Rome", "Rome", "Rome", 0, "Where was NAME born?")
    )
    _write_rows(folder / "baseline" / "questions.tsv", "\t", [*ASKED_COLUMNS], questions)
    _write_rows(folder / variant / "predictions.tsv", "\t", [*PREDICTION_COLUMNS], predictions)
    curves = [
        (variant, seed, phase, step, 20 * step / curve_rows, (3.0 + 0.1 * seed) / (1 + step / 10), 0.006)
        for phase in ("pretrain", "finetune_scratch", "finetune_pretrained")
        for seed in range(1, len(pretrained) + 1)
        for step in range(1, curve_rows + 1)
    ]
    _write_rows(folder / variant / "curves.csv", ",", CURVE_COLUMNS, curves)
    record = {"parameters": 3290624, "pretrain_loss": 0.123456, "documents_per_second": 1234.56}
    record |= {"pretrain_seconds": {seed: 10.0 * seed for seed in range(1, len(pretrained) + 1)}}
    write_json(folder / variant / "run.json", record | {"provenance": [PROVENANCE | (provenance or {})]})
    for name, table in (probe_tables() if probes is None else probes).items():
        table.to_csv(folder / variant / name, sep="\t", index=False)


def evaluated(folder: Path, variant: str, scratch: Correct, pretrained: Correct, **more: Any) -> Evaluation:
    """Write one variant's evaluation and read it; more: as `write_variant` takes it."""
    write_variant(folder, variant, scratch, pretrained, **more)
    return read_evaluation(folder / variant, folder / "baseline")


def reported(
    evaluations: Path, *variants: str, recipe: str = "quick", own_folder: str = "own", **settings: Any
) -> Path:
    """Write the report of variants to the folder `report` beside the evaluations; settings: of the recipe's reports."""
    selection = variants[0] if len(variants) == 1 else "compared"
    values = {
        "recipe": recipe,
        "model.variant": selection,
        "model.compared": [*variants],
        "sources.own.folder": own_folder,
    }
    report = {"show_questions": True, "dev_asked_before": None} | settings
    values |= {f"recipes.{recipe}.report.{key}": value for key, value in report.items()}
    target = evaluations.parent / "report"
    write_report(SETTINGS.changed(values), evaluations / "baseline", evaluations, target)
    return target


def probe_tables(
    offsets: Mapping[int, tuple[int, int]] = OFFSETS, forms: Sequence[str] = ("cloze", "other_name"), facts: int = FACTS
) -> dict[str, pd.DataFrame]:
    """A probe of two equal seeds: 30 of 40 facts memorised, in the first form alone, 20 extracted, 18 both.

    Finetuning keeps every other memorised fact; the pretrained weights extract every other fact.
    """
    row = np.arange(1, facts + 1)
    memorised, extracted = row <= 30, (row <= 18) | (row > 38)
    marks = {"row": row, **{f"{weights}_{form}": 0 * row for weights in PROBED for form in forms}}
    for name in (forms[0], "memorised"):
        marks |= {f"pretrained_{name}": memorised, f"finetuned_{name}": memorised & (row % 2 > 0)}
    marks |= {"pretrained_extracted": extracted & (row % 2 > 0), "finetuned_extracted": extracted}
    moved = [(number, offset, number <= old, number <= new) for offset, (old, new) in offsets.items() for number in row]
    origins = [(*asked, number, origin) for asked, kinds in ORIGINS.items() for number, origin in enumerate(kinds, 1)]
    tables = {
        "extraction.tsv": pd.DataFrame(marks),
        "prefix_offset.tsv": pd.DataFrame(moved, columns=["row", "offset", *PROBED]),
        "origins.tsv": pd.DataFrame(origins, columns=["asked", "init", "row", "origin"]),
    }
    return {
        name: pd.concat([table.replace({True: 1, False: 0}).assign(seed=seed) for seed in (1, 2)])
        for name, table in tables.items()
    }


def _write_rows(path: Path, separator: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows, columns=header).to_csv(path, sep=separator, index=False, lineterminator="\n")
