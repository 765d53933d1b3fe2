"""Evaluations of variants, read and checked before anything is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, BeforeValidator, Field

from stages.settings.changes import other_setting
from stages.system.errors import StudyError
from stages.system.records import CURVES, Amount, Count, Mark, Share, Table, read_record, read_table

BASELINE = "baseline"
WEIGHTS = ("pretrained", "finetuned")
FORMS = ("continuation", "cloze", "words", "infilling", "other_name")

INIT = {"init": Literal["scratch", "pretrained"]}
SPLIT = {"split": Literal["dev", "test"], "row": Count}
CORRECT = {"correct": Literal["0", "1", ""]}  # empty for most tests, whose answers nobody knows
# reader: the reader's answer; training_questions: how many the gold place answers
QUESTIONS = Table(SPLIT | {"question": str, "gold": str, "reader": str, "training_questions": Count}, key=(*SPLIT,))
PREDICTIONS = Table(
    {"variant": str, **SPLIT, "seed": Count, **INIT, "predicted": str, **CORRECT, "probability": Share},
    key=(*SPLIT, "seed", "init"),
)
ROW = {"row": Count, "seed": Count}
EXTRACTION = dict.fromkeys((f"{weights}_{what}" for weights in WEIGHTS for what in ("memorised", "extracted")), Mark)
ORIGIN = {"origin": Literal["empty", "correct", "own_page", "training_answer", "corpus", "hallucination"]}
ASKED = {"asked": Literal["dev", "unseen"], **INIT}
PROBES = {  # the columns that every report reads
    "extraction": Table(ROW | EXTRACTION, key=(*ROW,), others=Mark),
    "prefix_offset": Table(ROW | {"offset": Count} | dict.fromkeys(WEIGHTS, Mark), key=(*ROW, "offset")),
    "origins": Table(ROW | ASKED | ORIGIN, key=(*ROW, *ASKED)),
}


class Provenance(BaseModel):
    """Where a result comes from."""

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str  # torch, or the identity of the compiled ones
    libraries: dict[str, str]
    seconds: Amount  # pretraining's
    settings: dict[str, Any] = {}


class Run(BaseModel):
    """run.json of a variant."""

    parameters: Count
    pretrain_loss: Amount  # nats a character, the mean over seeds of the last epoch's mean
    documents_per_second: Amount  # one pretraining's, perhaps beside those of other seeds
    pretrain_seconds: dict[Count, Amount]  # by seed
    # one for each pretraining; earlier code wrote a single one for pretrainings that were published together
    provenance: Annotated[
        list[Provenance],
        Field(min_length=1),
        BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
    ]

    @staticmethod
    def joined(runs: Sequence["Run"]) -> "Run":
        """Join runs of seeds that were trained apart; raises StudyError where their settings differ."""
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
    """One variant's evaluation: its tables and its run's figures; the last three tables are those of `probing.probe`.

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
    """baseline.json: the constant answer, the reader and the ceiling, in percent."""

    place: str
    dev_accuracy: Amount
    dev_questions: Count
    reader_accuracy: Amount
    answer_in_page: Count
    ceiling: Amount
    held_out: Count  # how many training questions stand in for the dev questions; 0: none do


def read_baseline(folder: Path) -> Baseline:
    """Read baseline.json below a recipe's evaluations; raises StudyError where it is missing or broken."""
    return Baseline(**read_record(folder / BASELINE / "baseline.json", Baseline))


def read_evaluation(folder: Path) -> Evaluation:
    """Read the evaluation of the variant that `folder` is named after; raises StudyError where it is broken.

    Seeds that were trained apart have a folder for each part below it.
    """
    parts = sorted(path.parent for path in folder.rglob("run.json")) or [folder]
    run = Run.joined([Run(**read_record(part / "run.json", Run)) for part in parts])
    questions = read_table(folder.parent / BASELINE / "questions.tsv", QUESTIONS)
    predictions = _joined(parts, "predictions.tsv", PREDICTIONS, figures_as_text=True)
    predictions = predictions.merge(questions, "left", [*SPLIT])
    curves = _joined(parts, "curves.csv", CURVES, ",", figures_as_text=True)
    probes = {name: _joined(parts, f"{name}.tsv", table) for name, table in PROBES.items()}
    return Evaluation(folder.name, predictions, curves, run, **probes)


def _joined(parts: Sequence[Path], name: str, *how: Any, **more: Any) -> pd.DataFrame:
    """Join a table of all parts; how, more: what `read_table` takes after the path."""
    return pd.concat([read_table(part / name, *how, **more) for part in parts], ignore_index=True)
