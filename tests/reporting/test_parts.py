"""An evaluation in parts: of seeds that were trained apart."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages.reporting.evaluations import PROBES, read_evaluation
from stages.reporting.markdown import run_origin
from stages.reporting.metrics import summarise
from stages.system.errors import StudyError
from stages.system.files import write_json
from tests.support.example import PROVENANCE, write_baseline, write_variant

TABLES = ("predictions", *PROBES)


def part(folder: Path, whole: Path, seed: int, provenance: dict[str, Any], **figures: Any) -> None:
    """The evaluation of one of the seeds of a whole one."""
    folder.mkdir(parents=True)
    for name in (*(f"{table}.tsv" for table in TABLES), "curves.csv"):
        separator = "," if name.endswith(".csv") else "\t"
        table = pd.read_csv(whole / name, sep=separator, dtype=str, keep_default_na=False)
        table[table.seed == str(seed)].to_csv(folder / name, sep=separator, index=False)
    run = json.loads((whole / "run.json").read_text()) | {"pretrain_seconds": {str(seed): 10.0 * seed}}
    settings = {"settings": {"variant": {"rope": {"theta": 1.0}}, "seeds": [seed]}}
    write_json(folder / "run.json", run | figures | {"provenance": [PROVENANCE | settings | provenance]})


@pytest.fixture(name="whole")
def whole_fixture(tmp_path: Path) -> Path:
    """An evaluation of two seeds; beside its folder `study` an empty one, `parts`."""
    write_baseline(tmp_path / "study")
    write_variant(tmp_path / "study", "rope", ([0, 0],) * 2, ([1, 0], [1, 1]))
    (tmp_path / "parts" / "rope").mkdir(parents=True)
    return tmp_path / "study" / "rope"


def test_parts_are_the_whole_again(tmp_path: Path, whole: Path) -> None:
    parts = tmp_path / "parts" / "rope"
    first = {"device": "one", "seconds": 10.0, "libraries": {"torch": "2.13.0", "numpy": "2"}}
    second = {"device": "two", "seconds": 20.0, "libraries": {"torch": "2.14.0", "numpy": "2"}}
    part(parts / "a", whole, 1, first, pretrain_loss=0.5, documents_per_second=10.0)
    part(parts / "b", whole, 2, second, pretrain_loss=0.25, documents_per_second=2.5)

    before, after = (read_evaluation(folder, tmp_path / "study/baseline") for folder in (whole, parts))
    for name in ("curves", *TABLES):
        tables = [getattr(evaluation, name) for evaluation in (before, after)]
        rows = [table.sort_values([*table.columns]).reset_index(drop=True) for table in tables]
        pd.testing.assert_frame_equal(*rows)
    assert after.run.pretrain_seconds == {1: 10.0, 2: 20.0}
    assert after.run.pretrain_loss == 0.375
    assert after.run.documents_per_second == 4.0  # two seeds of 10 documents take 1 and 4 seconds
    assert run_origin(after.run)[2:4] == ["one + two", "float32"]
    assert run_origin(after.run)[5] == "torch 2.13.0, numpy 2 + torch 2.14.0, numpy 2"


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path, whole: Path) -> None:
    part(tmp_path / "parts/rope/a", whole, 1, {})
    part(tmp_path / "parts/rope/b", whole, 1, {})
    with pytest.raises(StudyError, match="does not answer each of the baseline's 2 dev questions once per seed"):
        summarise(read_evaluation(tmp_path / "parts/rope", tmp_path / "study/baseline"), 2)
    part(tmp_path / "parts/rope/c", whole, 2, {"settings": {"variant": {"rope": {"theta": 2.0}}}})
    with pytest.raises(StudyError, match=r"another `variant\.rope\.theta`"):
        read_evaluation(tmp_path / "parts/rope", tmp_path / "study/baseline")
