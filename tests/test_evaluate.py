"""What `evaluate` writes of models that know their eight facts by heart, and of those from scratch, which do not."""

import json
import shutil
from pathlib import Path

import pandas as pd

from stages import evaluate
from stages.evaluate import summary_of_trainings
from tests.support.talking import QUICK, Run


def test_predictions_are_each_models_own(project: Path, run: Run) -> None:
    folder = project / "data/evaluations"
    try:
        assert run(evaluate, *QUICK.split()).code == 0
        predictions = pd.read_csv(folder / "quick/vanilla/predictions.tsv", sep="\t")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    dev = predictions[predictions.split == "dev"]
    assert dev.groupby("init").correct.mean().to_dict() == {"pretrained": 1, "scratch": 0}
    assert len(dev) == 16 and {*predictions.seed} == {1}


def test_figures_of_trainings_are_means_and_rates_over_the_seeds(tmp_path: Path) -> None:
    made = {"phase": "pretrain", "parameters": 7, "settings": {}, "vocabulary_sha256": "0" * 64}
    origin = {"device": "cpu", "precision": "float32", "kernels": "torch", "environment": "python"}
    for seed, loss, seconds in ((1, 0.25, 10.0), (2, 0.75, 30.0)):
        facts = {"seed": seed, "loss": loss, "examples": 400, "seconds": seconds, "commit": f"c{seed}"}
        (tmp_path / f"seed-{seed}.json").write_text(json.dumps(made | origin | facts))
    (tmp_path / "provenance.json").write_text(json.dumps({"settings": {"epochs": 3}}))
    figures = summary_of_trainings(tmp_path, tmp_path, [1, 2])
    assert (figures["pretrain_loss"], figures["documents_per_second"]) == (0.5, 20.0)
    assert figures["pretrain_seconds"] == {1: 10.0, 2: 30.0}
    assert [entry["commit"] for entry in figures["provenance"]] == ["c1", "c2"]
