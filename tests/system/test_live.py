"""The page of what trains: whatever was told last stands in it, and what cannot be written stops no training."""

import re
from pathlib import Path

import numpy as np
import pytest

from stages.system import live
from stages.system.live import Live, to_go


@pytest.fixture(autouse=True)
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PAGE", tmp_path / "live" / "index.html")


PHASES = {"pretrain": 400, "finetune_scratch": 20}  # steps


def trained(variant: str, seed: int, done: int, seconds: float = 10.0) -> Live:
    """A training of four that has told of so many of 400 steps."""
    training = Live("quick", variant, "pretrain", seed, 4, PHASES)
    training.tell(np.linspace(4.0, 1.0, 400)[:done], 400, seconds)
    return training


def test_the_page_shows_every_training_and_refreshes_itself() -> None:
    trained("rope", 1, 400)
    trained("rope", 2, 100)
    text = live.PAGE.read_text("utf-8")
    assert 'http-equiv="refresh"' in text and "http:" not in text and "https:" not in text
    assert "1 of 4 trainings" in text
    # a step takes 25 and 100 ms: 1,100 steps of four times 400 as long as their mean; then four times 20 like them
    assert f"About {(1100 + 80) * 0.0625 / 60:.1f} minutes of training to go" in text
    assert re.findall(r"(\w+), seed\s+(\d)<td>(\d+) of 400", text) == [("rope", "2", "100"), ("rope", "1", "400")]
    assert len(re.findall(r"<polyline", text)) == 2


def test_the_time_to_go_counts_trainings_side_by_side_once() -> None:
    trained("rope", 1, 200)  # 10 s of 20
    assert to_go(live.records()) == pytest.approx(10 + 3 * 20)
    trained("rope", 2, 200)  # the same, beside it
    assert to_go(live.records()) == pytest.approx((10 + 10 + 2 * 20) / 2)
    for number in (1, 2, 3, 4):
        trained("rope", number, 400)
    assert to_go(live.records()) == pytest.approx(0)


def test_trainings_of_an_earlier_study_do_not_count() -> None:
    for number in (1, 2, 3, 4):
        trained("rope", number, 400)
    Live("quick", "min_gru", "pretrain", 1, 2, PHASES).tell(np.ones(100), 400, 10.0)
    text = live.PAGE.read_text("utf-8")
    assert re.findall(r"(\w+), seed", text) == ["min_gru"] and "0 of 2 trainings" in text
    # 700 steps of 0.1 s; then two trainings of 20 like them
    assert f"About {(700 + 40) * 0.1 / 60:.1f} minutes of training to go" in text
    for name in ("rope", "vanilla"):  # two of two again
        for number in (1, 2):
            Live("quick", name, "pretrain", number, 2, PHASES).tell(np.ones(400), 400, 10.0)
    assert "2 of 2 trainings" in live.PAGE.read_text("utf-8")


@pytest.mark.parametrize("fault", ["no folder", "damaged record", "another record"])
def test_what_cannot_be_written_stops_no_training(fault: str) -> None:
    if fault == "no folder":
        live.PAGE.parent.write_text("a file")
    else:
        live.PAGE.parent.mkdir()
        (live.PAGE.parent / "own.json").write_text("{" if fault == "damaged record" else "{}")
    trained("rope", 1, 100)
