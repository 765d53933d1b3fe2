"""Results are published together, with what they were trained with; what was trained once is not trained again."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from stages.experiment.cell import Cell
from stages.experiment.experiment import Experiment
from stages.settings import load
from stages.system.errors import StudyError
from stages.system.files import read_json
from stages.training.run import Run, Training
from stages.training.seeds import train_and_publish
from stages.training.work import ORIGIN, files_of, publish
from tests.support.project import GONE, save_prepared, write_params
from tests.support.tiny import FLOAT32, HANDOUT, MODEL, SETTINGS, VARIANTS, tiny_prepared
from tests.training.test_loop import JOB

PREPARED = tiny_prepared()
OUTPUT = Path("data/weights/handout/vanilla/pretrained")
PUBLISHED = [f"seed-{seed}.{suffix}" for seed in (1, 2) for suffix in ("csv", "json", "safetensors")]
LOSSES = np.arange(1.0, JOB.steps + 1)
Stage = Callable[[Sequence[int]], list[int]]


def run_of(seeds: Sequence[int]) -> Run:
    """The trainings of a tiny experiment with these seeds, in work/."""
    recipe = HANDOUT.model_copy(update={"seeds": [*seeds], "model": MODEL})
    params = SETTINGS.model_copy(update={"recipes": {"handout": recipe}})
    experiment = replace(Experiment.of(params, "handout", VARIANTS[0]), backend=FLOAT32)
    return Run("pretrain", experiment, PREPARED, {"epochs": 3}, Path("prepared"))


@pytest.fixture(name="stage")
def stage_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage of some seeds in a folder of its own; gives those that were still to be trained."""
    monkeypatch.chdir(tmp_path)
    save_prepared(tmp_path / "prepared")
    trained: list[int] = []

    def train(_: Any, __: Any, seed: int, **___: Any) -> tuple[np.ndarray, float]:
        trained.append(seed)
        return LOSSES, 1.0

    monkeypatch.setattr("stages.training.run.train", train)

    def stage(seeds: Sequence[int]) -> list[int]:
        run = run_of(seeds)
        trainings = [Training(f"seed-{seed}", seed, JOB) for seed in seeds]
        trained.clear()
        run.complete(trainings)
        publish(run.work, [training.name for training in trainings], seeds, OUTPUT)
        return [*trained]

    return stage


def test_a_further_seed_is_trained_alone_and_published_with_what_it_was_trained_with(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stage([1]) == [1]
    assert capsys.readouterr().err == ""
    (work,) = Path("work").iterdir()
    (work / "seed-1.checkpoint").write_text("left by a kill")
    assert stage([1, 2]) == [2]
    assert capsys.readouterr().err == f"seed-1: trained before; to train it anew, delete {work}\n"
    assert not (work / "seed-1.checkpoint").exists()
    assert sorted(path.name for path in OUTPUT.iterdir()) == sorted(["provenance.json", *PUBLISHED])
    made = read_json(OUTPUT / "provenance.json")
    assert made["settings"] == {"epochs": 3, "seeds": [1, 2]} and made["seconds"] == 2.0
    assert made["vocabulary_sha256"] == PREPARED.vocabulary.sha256
    assert stage([3, 2]) == [3]
    assert {path.stem for path in OUTPUT.glob("seed-*")} == {"seed-2", "seed-3"}  # those that are asked for, no others


@pytest.mark.usefixtures("stage")
def test_a_training_begins_with_the_weights_that_it_names_or_else_with_its_seeds() -> None:
    run = run_of([1, 2])
    first = run.work / "first.safetensors"
    run.complete([Training("first", 1, JOB), Training("same", 2, JOB, first), Training("other", 2, JOB)])
    weights = {name: (run.work / f"{name}.safetensors").read_bytes() for name in ("first", "same", "other")}
    assert weights["first"] == weights["same"] != weights["other"]  # nothing is learned here


def test_the_loss_is_the_mean_of_each_epochs_steps_and_a_records_that_of_the_last(stage: Stage) -> None:
    stage([1])
    assert JOB.steps == 15  # five epochs of three steps, whose losses are 1, 2, 3, …
    curve = pd.read_csv(OUTPUT / "seed-1.csv")
    assert curve.loss.tolist() == [2, 5, 8, 11, 14] and curve.step.tolist() == [3, 6, 9, 12, 15]
    assert read_json(OUTPUT / "seed-1.json")["loss"] == 14


@pytest.mark.parametrize("suffix", ["safetensors", "csv", "json"])
def test_a_training_that_lacks_a_file_is_trained_anew(stage: Stage, suffix: str) -> None:
    stage([1, 2])
    published = {path.name: path.read_bytes() for path in OUTPUT.iterdir()}
    (lacking,) = Path("work").glob(f"*/seed-2.{suffix}")
    lacking.unlink()
    shutil.rmtree(OUTPUT)
    assert stage([1, 2]) == [2]
    assert {path.name: path.read_bytes() for path in OUTPUT.iterdir()} == published


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({}, True),
        ({"recipes.handout.finetune.batch_size": 7, "recipes.open.pretrain.epochs": 7}, True),  # of other stages
        ({"recipes.handout.pretrain.epochs": 7}, False),
        ({"recipes.handout.seeds": [1, 2]}, False),
        ({"compute.precision": "bfloat16"}, False),
        ({"variants.vanilla": GONE}, False),
    ],
)
def test_settings_that_change_while_a_cell_trains_are_not_stored_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], stored: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    before: dict[str, Any] = {"recipes.handout.seeds": [1], "compute.precision": "float32"}
    write_params(tmp_path, values=before)

    def train(cell: Cell) -> Path:
        facts = {"settings": {"recipe": {"model": {}, "optimizer": {}, "pretrain": {}}}, "seconds": 1.0}
        work = tmp_path / "work"
        work.mkdir()
        for path in files_of(work, "seed-1"):
            path.write_text(json.dumps(facts | dict.fromkeys(ORIGIN)))
        write_params(tmp_path, values=before | change)
        return work

    with nullcontext() if stored else pytest.raises(StudyError, match=r"params\.yaml: "):
        train_and_publish("pretrain", Cell(load(), "handout", "vanilla"), train, ["seed-1"], OUTPUT)
    assert OUTPUT.exists() == stored
