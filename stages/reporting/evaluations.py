"""What the evaluation stages left behind, read and checked before anything is reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, harmonic_mean
from typing import Annotated, Any

import pandas as pd
from pydantic import AliasPath, BaseModel, BeforeValidator, Field, FiniteFloat

from stages.reporting.records import REMAKE, read_as_made
from stages.system.digests import verified
from stages.system.errors import StudyError
from stages.system.terminal import quoted

BASELINE = "baseline"
QUESTION_COLUMNS = ("split", "row", "question", "gold")  # of the baseline, for all variants
PREDICTION_COLUMNS = ("variant", "split", "row", "seed", "init", "predicted", "correct", "probability")
COLUMNS = {  # of a probe's table, those that every report reads
    "extraction": ("seed", "row", "pretrained_memorised", "finetuned_memorised", "finetuned_extracted"),
    "prefix_offset": ("seed", "row", "offset", "pretrained", "finetuned"),
    "origins": ("asked", "init", "seed", "row", "origin"),
    "neighbours": ("seed", "row", "letters", "state", "chance"),
    "decodings": ("seed", "row", "greedy", "beam", "draw"),
}
WEIGHTS = ("pretrained", "finetuned")
FORMS = ("continuation", "cloze", "words", "infilling", "other_name")
DECODINGS = ("greedy", "beam", "draw")


class Provenance(BaseModel):
    """Where a result comes from."""

    commit: str
    params_sha256: str
    device: str
    precision: str
    kernels: str  # torch, or the identity of the compiled ones
    libraries: dict[str, str]
    seconds: FiniteFloat  # of pretraining
    settings: dict[str, Any] = {}


class Run(BaseModel):
    """run.json of a variant."""

    parameters: int
    pretrain_loss: FiniteFloat  # nats a character, the mean over seeds of the last epoch's mean
    documents_per_second: FiniteFloat  # of one pretraining, perhaps beside those of other seeds
    pretrain_seconds: dict[int, FiniteFloat]  # by seed
    # of each pretraining; evaluations of earlier code have one for those that were published together
    provenance: Annotated[list[Provenance], BeforeValidator(lambda each: each if isinstance(each, list) else [each])]

    @property
    def seconds(self) -> list[float]:
        """How long each pretraining took, in the order of the seeds."""
        return [taken for _, taken in sorted(self.pretrain_seconds.items())]

    @staticmethod
    def joined(runs: Sequence["Run"]) -> "Run":
        """Of seeds that were trained apart; raises StudyError where their settings differ."""
        made = [one for run in runs for one in run.provenance]
        for key in ("variant", "recipe"):
            if any(one.settings.get(key) != made[0].settings.get(key) for one in made):
                raise StudyError(f"run.json: parts of one evaluation have another `{key}`; leave one of them out")
        by_seed = [run for run in runs for _ in run.pretrain_seconds]
        figures = {
            "pretrain_loss": fmean(run.pretrain_loss for run in by_seed),
            "documents_per_second": harmonic_mean([run.documents_per_second for run in by_seed]),
            "pretrain_seconds": {seed: taken for run in runs for seed, taken in run.pretrain_seconds.items()},
        }
        return runs[0].model_copy(update=figures | {"provenance": made})


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One variant's evaluation: its tables and its run's figures; the last five are those of `probing.probe`.

    Every cell of the first two is the string it is in the file: a person may be called NA, and 0.10 shall stay 0.10.
    The predictions have the baseline's `question` and `gold` beside them.
    """

    variant: str
    predictions: pd.DataFrame
    curves: pd.DataFrame
    run: Run
    extraction: pd.DataFrame
    prefix_offset: pd.DataFrame
    origins: pd.DataFrame
    neighbours: pd.DataFrame
    decodings: pd.DataFrame

    @property
    def forms(self) -> list[str]:
        """The page forms that pretraining practised and, where it was asked, the control, in the order of FORMS."""
        return [form for form in FORMS if f"pretrained_{form}" in self.extraction.columns]


class Baseline(BaseModel):
    """baseline.json: the baseline's constant answer, the most frequent place of training, the ceiling in percent."""

    place: str
    dev_accuracy: FiniteFloat
    dev_questions: int
    constant_place: str = Field(validation_alias=AliasPath("best_constant", "place"))
    constant_accuracy: FiniteFloat = Field(validation_alias=AliasPath("best_constant", "dev_accuracy"))
    answer_in_page: int = Field(validation_alias=AliasPath("audit", "answer_in_page"))
    ceiling: FiniteFloat = Field(validation_alias=AliasPath("audit", "ceiling"))
    held_out: int  # so many of the training questions stand in for the dev questions; or 0


def read_baseline(folder: Path) -> Baseline:
    """Read baseline.json below a recipe's evaluations; raises StudyError where it is missing or broken."""
    path = folder / BASELINE / "baseline.json"
    with read_as_made(path):
        return Baseline.model_validate_json(verified(path).read_bytes())


def read_evaluation(folder: Path) -> Evaluation:
    """Read the evaluation of the variant that `folder` is named after; raises StudyError where it is broken.

    Of seeds that were trained apart it has a folder for each part, with seeds of its own.
    """
    parts = sorted(path.parent for path in folder.rglob("run.json")) or [folder]
    runs = []
    for part in parts:
        with read_as_made(part / "run.json"):
            runs.append(Run.model_validate_json(verified(part / "run.json").read_bytes()))

    def whole(name: str, separator: str = "\t", dtype: type | None = None) -> pd.DataFrame:
        table = pd.concat([read_table(part / name, separator, dtype) for part in parts], ignore_index=True)
        if others := {*map(str, table.get("variant", ()))} - {folder.name}:
            raise StudyError(f"{folder / name}: of variant {quoted(min(others))}, its folder is another's; {REMAKE}")
        return table

    answered = whole("predictions.tsv", dtype=str)[[*PREDICTION_COLUMNS]]
    asked = read_table(folder.parent / BASELINE / "questions.tsv", dtype=str)
    columns = [*PREDICTION_COLUMNS[:5], *QUESTION_COLUMNS[2:], *PREDICTION_COLUMNS[5:]]
    return Evaluation(
        variant=folder.name,
        predictions=answered.merge(asked, "left", ["split", "row"])[columns],
        curves=whole("curves.csv", ",", str),
        run=Run.joined(runs),
        **{name: whole(f"{name}.tsv") for name in COLUMNS},
    )


def read_table(path: Path, separator: str = "\t", dtype: type | None = None) -> pd.DataFrame:
    """Read a table; raises StudyError where it is missing, not as it was written, or of code with other columns."""
    table = pd.read_csv(verified(path), sep=separator, dtype=dtype, keep_default_na=False)
    columns = COLUMNS | {"predictions": PREDICTION_COLUMNS, "questions": QUESTION_COLUMNS, "curves": ("variant",)}
    if missing := sorted({*columns.get(path.stem, ())} - {*table}):
        raise StudyError(f"{path}: no column {', '.join(missing)}: it is of other code; {REMAKE}")
    return table
