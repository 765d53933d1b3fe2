"""A job: a training or an evaluation of a variant and a seed, named by all that its result depends on.

Its result lies in work/<key>/ complete or not at all: record.json is written last. DVC deletes a stage's outputs before
it reruns the stage, so checkpoints lie there, too, and what has ended stays there when it is published: seeds `[1, 2]`
after `[1]` train the second alone. DVC also removes from data/ what another selection has no place for; results that
the last commit names come back from its cache. No torch: a stage that finds all its jobs done need not load it.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stages.experiment.provenance import KEY_DIGITS, traits
from stages.settings.params import Settings
from stages.system.errors import UserError
from stages.system.files import PREPARED, WORK, digest, files_digest, new_folder, read_json, write_bytes, write_json

PACKAGE = Path(__file__).parents[1]
RECORD = "record.json"
WEIGHTS = "weights"  # name of the training of a pretraining
INITS = ("pretrained", "scratch")  # names of the trainings of a finetuning: the weights that it begins with
ROW_FILE = "row.json"  # the result of a trial
SOURCES = (".py", ".yaml", ".cpp", ".h")  # suffixes of files that a result depends on


@dataclass(frozen=True)
class Kind:
    """What the jobs of a stage depend on, and where it publishes their results."""

    output: Path
    sections: tuple[str, ...]  # of the recipe
    code: tuple[str, ...]  # files and folders of stages/; of mixers/ the variant's own file comes to these
    needs: tuple[str, ...] = ()  # stages whose results a job of the same variant and seed builds on
    module: str = ""  # of stages/, with the function that carries a job out; by default the stage's


MODEL = ("model", "optimizer", "pretrain")
TRAINING = ("corpus", "experiment", "model", "training")
ASKING = ("asking", "corpus", "experiment", "model", "sources/world")
TRIAL = ("trials/trial.py", *ASKING, "sources/pairs.py")
KINDS = {
    "pretrain": Kind(Path("data/pretrained"), MODEL, ("pretrain.py", *TRAINING)),
    "finetune": Kind(Path("data/finetuned"), (*MODEL, "finetune"), ("finetune.py", *TRAINING), ("pretrain",)),
    "evaluate": Kind(
        Path("data/evaluations"),
        (*MODEL, "finetune", "generation"),
        ("evaluate.py", *ASKING),
        ("pretrain", "finetune"),
    ),
    "trial": Kind(
        Path("data/trials"),  # nothing is published there: the row of a trial stands in its study's file
        (*MODEL, "finetune", "generation"),
        TRIAL,
        ("pretrain", "finetune"),
        "trials.trial",
    ),
    "pretrain_trial": Kind(Path("data/trials"), MODEL, TRIAL, ("pretrain",), "trials.trial"),
}


@dataclass(frozen=True)
class Job:
    """A training or an evaluation of a variant and a seed."""

    stage: str  # a key of KINDS
    params: Settings
    recipe_name: str
    variant: str
    seed: int
    prepared: Path  # the folder of the recipe's data
    traits: tuple[str, ...]  # of the device (see `experiment.provenance`)

    @property
    def name(self) -> str:
        """The name that people read."""
        return f"{self.stage} {self.variant}, seed {self.seed}"

    @property
    def kind(self) -> Kind:
        return KINDS[self.stage]

    @property
    def settings(self) -> dict[str, Any]:
        """What the result depends on, as JSON values."""
        recipe = self.params.recipe_named(self.recipe_name)
        return {
            "variant": {self.variant: self.params.variants[self.variant]},
            "recipe": {name: getattr(recipe, name).model_dump() for name in self.kind.sections},
            "compute": [*self.traits],
        }

    @cached_property
    def inputs(self) -> list["Job"]:
        """The jobs that this one builds on."""
        return [replace(self, stage=stage) for stage in self.kind.needs]

    @cached_property
    def key(self) -> str:
        """The name of the result's folder: a digest of settings, code, data, libraries and what it builds on."""
        mixer = f"mixers/{self.variant}.py"
        depends_on = [
            self.settings,
            code_digest(*self.kind.code, mixer),
            data_digest(self.prepared),
            [version("torch"), version("numpy")],
            [job.key for job in self.inputs],
        ]
        return f"{self.stage}-{self.recipe_name}-{self.variant}-{self.seed}-{digest(depends_on)[:KEY_DIGITS]}"

    @property
    def folder(self) -> Path:
        """Where it is carried out."""
        return WORK / self.key

    @property
    def published(self) -> Path:
        """Where its result lies below the folder of a selection."""
        return Path(self.variant) / f"seed-{self.seed}"

    @property
    def result(self) -> Path | None:
        """The folder with its result: of work, or published for any selection; None if there is none."""
        selections = sorted((self.kind.output / self.recipe_name).glob("*"))
        for folder in (self.folder, *(selection / self.published for selection in selections)):
            record = folder / RECORD
            if record.is_file() and read_json(record).get("key") == self.key:
                return folder
        return None

    @property
    def result_folder(self) -> Path:
        """The folder with its result. Raises UserError: there is none."""
        if (folder := self.result) is None:
            raise UserError(f"{self.name}: its result is missing; `dvc repro` makes it")
        return folder

    @property
    def record(self) -> dict[str, Any]:
        """Read the record of its result. Raises UserError: there is none."""
        record: dict[str, Any] = read_json(self.result_folder / RECORD)
        return record

    @property
    def result_files(self) -> list[Path]:
        """The files of its result; the record comes last. Raises UserError: there is none."""
        folder = self.result_folder
        return [folder / name for name in (*self.record["files"], RECORD)]

    def end(self, files: list[str], **record: Any) -> None:
        """Write the record of a result whose files lie in the folder: it is complete from now on."""
        write_json(self.folder / RECORD, {"key": self.key, "files": files, "settings": self.settings, **record})


def jobs_of(stage: str, params: Settings) -> list[Job]:
    """List a stage's jobs for the selected recipe and variants. Raises UserError: the recipe has no questions."""
    recipe = params.recipe_named(params.recipe) if stage == "pretrain" else params.question_recipe(params.recipe)
    prepared = PREPARED / params.recipe
    device = tuple(traits(params.compute))
    variants = params.selected(params.model.variant)
    return [Job(stage, params, params.recipe, v, seed, prepared, device) for v in variants for seed in recipe.seeds]


def publish(jobs: Sequence[Job], output: Path) -> None:
    """Replace the folder `output` by the results of jobs. Raises UserError: one has none."""
    with new_folder(output) as new:
        for job in jobs:
            for file in job.result_files:
                write_bytes(new / job.published / file.name, file.read_bytes())


def restore(jobs: Sequence[Job]) -> None:
    """Copy into work/ the results that the last commit names, from DVC's cache or a remote.

    So in a clone that only pulled, a part of what was pulled is not trained again.
    """
    from dvc.api import DVCFileSystem  # type: ignore[import-untyped]  # it takes a second to load
    from dvc.exceptions import DvcException  # type: ignore[import-untyped]
    from dvc.scm import SCMError  # type: ignore[import-untyped]

    with suppress(DvcException, SCMError, OSError):  # no repository, no commit, not in the cache
        files = DVCFileSystem(rev="HEAD")
        for job in jobs:
            of_recipe = (job.kind.output / job.recipe_name).as_posix()
            for selection in files.ls(of_recipe, detail=False) if files.exists(of_recipe) else []:
                folder = f"{selection}/{job.published.as_posix()}"
                if not files.exists(f"{folder}/{RECORD}"):
                    continue
                record = files.read_bytes(f"{folder}/{RECORD}")
                if (found := json.loads(record))["key"] == job.key:
                    for name in found["files"]:
                        write_bytes(job.folder / name, files.read_bytes(f"{folder}/{name}"))
                    write_bytes(job.folder / RECORD, record)


@cache
def code_digest(*names: str) -> str:
    """Return the digest of files and folders of stages/."""
    paths = [PACKAGE / name for name in names]
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return files_digest(PACKAGE, [file for file in files if file.suffix in SOURCES])


@cache
def data_digest(folder: Path) -> str:
    """Return the digest of a folder of prepared data. Raises UserError: it is missing."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    if not files:
        raise UserError(f"{folder} is missing; `dvc repro` makes it")
    return files_digest(folder, files)
