"""An evaluation in parts: of seeds that were trained apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import summarise
from stages.reporting.tables import provenance_table
from stages.system.errors import StudyError
from stages.system.files import write_json
from tests.support.example import PROVENANCE, write_baseline, write_variant
from tests.support.project import with_sums

MADE = PROVENANCE | {"vocabulary_sha256": "ab", "seconds": 30.0}
TABLES = ("predictions.tsv", "extraction.tsv", "prefix_offset.tsv", "origins.tsv", "neighbours.tsv", "decodings.tsv")


def part(folder: Path, whole: Path, seeds: Sequence[int], provenance: dict[str, Any], **run: Any) -> Path:
    """The evaluation of some of the seeds of a whole one."""
    folder.mkdir(parents=True)
    for name in (*TABLES, "curves.csv"):
        separator = "," if name.endswith(".csv") else "\t"
        table = pd.read_csv(whole / name, sep=separator, dtype=str, keep_default_na=False)
        table[table.seed.isin([*map(str, seeds)])].to_csv(folder / name, sep=separator, index=False)
    settings = {"variant": {"rope": {"theta": 1.0}}, "recipe": {"model": 1}, "seeds": [*seeds]}
    facts = {"variant": "rope", "seeds": [*seeds], "parameters": 7, "pretrain_loss": 0.5, "documents_per_second": 10.0}
    facts |= {"pretrain_seconds": {str(seed): 10.0 * seed for seed in seeds}}
    write_json(folder / "run.json", facts | run | {"provenance": {"settings": settings} | MADE | provenance})
    with_sums(folder)
    return folder


@pytest.fixture(name="whole")
def whole_fixture(tmp_path: Path) -> Path:
    write_baseline(tmp_path / "evaluations")
    write_variant(tmp_path / "evaluations", "rope", ([0, 0],) * 2, ([1, 0], [1, 1]))
    return tmp_path / "evaluations" / "rope"


@pytest.fixture(name="parts")
def parts_fixture(tmp_path: Path, whole: Path) -> Path:
    """The folder of the same evaluation in parts, still empty."""
    (tmp_path / "parts" / "rope").mkdir(parents=True)
    (tmp_path / "parts" / "baseline").symlink_to(whole.parent / "baseline")
    return tmp_path / "parts" / "rope"


def test_parts_are_the_whole_again(parts: Path, whole: Path) -> None:
    part(parts / "a", whole, [1], {"device": "one", "seconds": 10.0, "libraries": {"torch": "2.13.0", "numpy": "2"}})
    part(
        parts / "b",
        whole,
        [2],
        {"device": "two", "seconds": 20.0, "libraries": {"torch": "2.14.0", "numpy": "2"}},
        pretrain_loss=0.25,
        documents_per_second=2.5,
    )
    before, after = read_evaluation(whole), read_evaluation(parts)
    for name in ("predictions", "curves", "extraction", "prefix_offset", "origins", "neighbours", "decodings"):
        tables = [getattr(evaluation, name) for evaluation in (before, after)]
        rows = [table.sort_values([*table.columns]).reset_index(drop=True) for table in tables]
        pd.testing.assert_frame_equal(*rows)
    assert after.run.pretrain_seconds == {1: 10.0, 2: 20.0}
    assert after.run.pretrain_loss == 0.375
    assert after.run.documents_per_second == 4.0  # two seeds of 10 documents take 1 and 4 seconds
    row = str(provenance_table([after])).splitlines()[-1]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[3:5] == ["one + two", "float32"]
    assert cells[6:] == ["torch 2.13.0, numpy 2 + torch 2.14.0, numpy 2", "30", "4.0"]


@pytest.mark.parametrize(
    ("seeds", "settings", "message"),
    [
        ([2], {"variant": {"rope": {"theta": 2.0}}, "recipe": {"model": 1}}, "another `variant.rope.theta`"),
        ([2], {"variant": {"rope": {"theta": 1.0}}, "recipe": {"model": 2}}, "another `recipe.model`"),
        ([1, 2], None, "the same seed"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(
    parts: Path, whole: Path, seeds: list[int], settings: Any, message: str
) -> None:
    part(parts / "a", whole, [1], {})
    part(parts / "b", whole, seeds, {"settings": settings} if settings else {})
    with pytest.raises(StudyError, match=message):
        summarise(read_evaluation(parts), 2)
