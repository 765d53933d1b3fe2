"""The ablation from data to page: a recipe and its changes are asked held-out training questions."""

from pathlib import Path

import pandas as pd

from stages import data, prepare
from stages.ablation import page, train
from stages.trials.row import ABLATIONS, Row
from tests.support.project import write_params
from tests.support.small_study import small
from tests.support.talking import Run

CHANGES = {"full": {}, "dropout": {"model": {"dropout": 0.5}}}


def test_each_change_is_trained_on_the_other_questions_and_has_its_row_in_the_page(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, small, {"ablation.held_out": 5, "ablation.variant": "rope", "ablation.changes": CHANGES})
    for stage, options in ((data, ()), (prepare, ("--held-out",)), *((train, ("--change", name)) for name in CHANGES)):
        assert run_in(tmp_path, stage, *options).code == 0
    rows = [Row.load(tmp_path / ABLATIONS / f"quick/{change}.json") for change in CHANGES]
    asked = pd.read_csv(tmp_path / "data/held_out/quick/questions.tsv", sep="\t").split.value_counts()
    assert {len(row.correct) for row in rows} == {asked["dev"]} and asked["dev"] >= 5
    assert asked["dev"] + asked["train"] == 40  # of the world's training questions
    assert rows[0].pretrain_loss != rows[1].pretrain_loss
    assert run_in(tmp_path, page).code == 0
    assert list(pd.read_csv(tmp_path / "reports/quick/ablation/ablation.csv").change) == [*CHANGES]
