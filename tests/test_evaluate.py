"""What `evaluate` writes of models that know their eight facts by heart, and of those from scratch, which do not."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from stages import evaluate
from stages.corpus.tables import PREDICTION_COLUMNS, read_table
from stages.system.files import read_json
from tests.support.project import restored
from tests.support.talking import ChangeParams, Run


def test_predictions_and_record_are_each_models_own(
    project: Path, run: Run, change: ChangeParams, jobs_here: None
) -> None:
    with restored(project):
        change({"model.variant": "vanilla"})
        assert run(evaluate).code == 0
        folder = project / "data/evaluations/quick/vanilla/vanilla/seed-1"
        predictions = read_table(folder / "predictions.tsv", PREDICTION_COLUMNS)
        record = read_json(folder / "run.json")
        shown = read_json(project / "metrics/evaluate.json")
    dev = predictions[predictions.split == "dev"]
    assert dev.groupby("init").correct.apply("".join).to_dict() == {"pretrained": "1" * 8, "scratch": "0" * 8}
    assert {*dev.seed} == {1} and shown == {"scratch": 0, "dev": 100}
    training = read_json(project / "data/pretrained/quick/vanilla/vanilla/seed-1/record.json")["trainings"]["weights"]
    (made,) = record["provenance"]
    assert made["settings"]["recipe"]["finetune"]["pretrained_epochs"] == 120 and made["commit"] == training["commit"]
    assert record["pretrain_loss"] == round(training["loss"], 4) and record["parameters"] == training["parameters"]
    assert record["documents_per_second"] == round(training["examples"] / training["seconds"], 1)


def test_answers_that_a_model_may_not_say_are_refused(project: Path, run: Run, change: ChangeParams) -> None:
    with restored(project):
        change({"model.variant": "vanilla", "recipes.quick.generation.max_characters": 3})
        *_, line = run(evaluate).err.splitlines()  # below the bar
    key = "recipes.quick.generation.max_characters"
    assert line == f"error: params.yaml: {key}: was 3; allowed: at least 4, the length of the longest answer"


def test_the_metrics_are_the_means_of_the_variant_that_is_best_on_dev(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_in: Run
) -> None:
    scores = {"rope": [(1, 70), (3, 80)], "vanilla": [(9, 50), (9, 90)], "nope": [(2, 85), (1, 60)]}
    jobs = [
        SimpleNamespace(variant=variant, record={"dev": {"scratch": scratch, "pretrained": pretrained}})
        for variant, seeds in scores.items()
        for scratch, pretrained in seeds
    ]
    monkeypatch.setattr(evaluate, "run_stage", lambda *_: jobs)
    assert run_in(tmp_path, evaluate).code == 0
    assert read_json(tmp_path / "metrics/evaluate.json") == {"scratch": 2, "dev": 75}
