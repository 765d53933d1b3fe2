"""Evaluations of variants, read before anything is reported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Any

import pandas as pd
from pydantic import BaseModel

from stages.settings.section import other_setting
from stages.system.errors import StudyError
from stages.system.files import CURVES, read_json, read_table

WEIGHTS = ("pretrained", "finetuned")
FORMS = ("continuation", "cloze", "words", "infilling", "other_name")

ROW = {"split": str, "row": int}
QUESTIONS = {
    **ROW,
    "question": str,
    "gold": str,
    **dict.fromkeys(("letters", "rule", "reader"), str),  # the baselines' answers
    "training_questions": int,  # how many the gold place answers
    "form": str,  # what training questions have around a name; empty if none has it
}
PREDICTIONS = {
    "variant": str,
    **ROW,
    "seed": int,
    "init": str,
    "predicted": str,
    "correct": str,  # 1 or 0; empty for most tests, whose answers nobody knows
    "probability": str,
}
PROBES: dict[str, dict[str, type]] = {  # the others are whole numbers
    "extraction": {},
    "prefix_offset": {},
    "origins": dict.fromkeys(("asked", "init", "origin"), str),
}


class Provenance(BaseModel):
    """Where a result comes from."""

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str  # torch, or the identity of the compiled ones
    libraries: dict[str, str]
    seconds: float  # pretraining's
    settings: dict[str, Any] = {}


class Run(BaseModel):
    """run.json of a variant."""

    parameters: int
    pretrain_loss: float  # nats a character, the mean over seeds of the last epoch's mean
    documents_per_second: float  # one pretraining's, perhaps beside those of other seeds
    pretrain_seconds: dict[int, float]  # by seed
    provenance: list[Provenance]  # one for each pretraining

    @staticmethod
    def joined(runs: Sequence["Run"]) -> "Run":
        """Join the runs of seeds; raises StudyError where their settings differ."""
        provenances = [provenance for run in runs for provenance in run.provenance]
        for other in provenances:
            if key := other_setting(provenances[0].settings, other.settings, "compute", "seeds"):
                raise StudyError(f"run.json: parts of one evaluation have another `{key}`; leave one of them out")

        by_seed = [run for run in runs for _ in run.pretrain_seconds]
        return Run(
            parameters=runs[0].parameters,
            pretrain_loss=fmean(run.pretrain_loss for run in by_seed),
            documents_per_second=harmonic_mean([run.documents_per_second for run in by_seed]),
            pretrain_seconds={seed: seconds for run in runs for seed, seconds in run.pretrain_seconds.items()},
            provenance=provenances,
        )


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One variant's evaluation: its tables and its run's figures; the last three tables are those of `asking.probe`.

    `predictions`, which has the columns of QUESTIONS, too, and `curves` keep text and figures as they are in the file.
    """

    variant: str
    predictions: pd.DataFrame
    curves: pd.DataFrame
    run: Run
    extraction: pd.DataFrame
    prefix_offset: pd.DataFrame
    origins: pd.DataFrame

    @property
    def forms(self) -> list[str]:
        """The page forms that pretraining practised and, where it was asked, the control, in the order of FORMS."""
        return [form for form in FORMS if {f"{weights}_{form}" for weights in WEIGHTS} <= {*self.extraction}]


class Baseline(BaseModel):
    """baseline.json: the baselines and the ceiling, in percent."""

    place: str
    dev_accuracy: float  # the constant answer's
    dev_questions: int
    letters_accuracy: float
    rule_accuracy: float
    reader_accuracy: float
    answer_in_page: int
    ceiling: float
    held_out: int  # how many training questions stand in for the dev questions; 0: none do


def read_baseline(folder: Path) -> Baseline:
    """Read baseline.json of a recipe's baselines."""
    return Baseline(**read_json(folder / "baseline.json"))


def read_evaluation(folder: Path, baselines: Path) -> Evaluation:
    """Read the evaluation of the variant that `folder` is named after; baselines: the folder of its recipe's.

    Below it each seed has a folder, or several seeds share one. Raises StudyError: their settings differ.
    """
    parts = sorted(path.parent for path in folder.rglob("run.json")) or [folder]
    run = Run.joined([Run(**read_json(part / "run.json")) for part in parts])
    questions = read_table(baselines / "questions.tsv", QUESTIONS)
    predictions = _joined(parts, "predictions.tsv", PREDICTIONS).merge(questions, "left", ["split", "row"])
    curves = _joined(parts, "curves.csv", CURVES)
    probes = {name: _joined(parts, f"{name}.tsv", types) for name, types in PROBES.items()}
    return Evaluation(folder.name, predictions, curves, run, **probes)


def _joined(parts: Sequence[Path], name: str, types: Mapping[str, type]) -> pd.DataFrame:
    """Join a table of all parts."""
    return pd.concat([read_table(part / name, types) for part in parts], ignore_index=True)
