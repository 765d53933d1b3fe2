"""Which figure orders the variants, and every training's time and accuracy."""

from pathlib import Path

import pytest

from stages.reporting.evaluations import read_evaluation
from stages.reporting.metrics import Result, summarise
from stages.reporting.sections.order import draw_times, order_part
from tests.support.example import BASELINE, write_variant

VARIANTS = "abcdefghij"
RIGHT = dict(zip(VARIANTS, range(9, -1, -1), strict=True))  # of ten questions
LOSSES = dict(zip(VARIANTS, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 0.9), strict=True))


def results(folder: Path, variants: str) -> list[Result]:
    for name in variants:
        marks = [1] * RIGHT[name] + [0] * (10 - RIGHT[name])
        write_variant(folder, name, [[0] * 10] * 2, [marks, marks], curve_rows=1, pretrain_loss=LOSSES[name])
    return [summarise(read_evaluation(folder / name), 10) for name in variants]


def test_the_order_is_compared_by_ranks(tmp_path: Path) -> None:
    """Losses rise as accuracies fall, but for the last two: 1 - 6 (1 + 1) / (10 (100 - 1)) = 0.988, reversed."""
    part = order_part(results(tmp_path, VARIANTS), BASELINE)
    assert part is not None
    assert "| pretraining loss | -0.99 | &lt; 0.001 |" in part.text  # Student's t of 8 degrees is 18
    assert "| parameters |" not in part.text  # alike in all


@pytest.mark.parametrize(("variants", "shown"), [("a", None), (VARIANTS[:9], False), (VARIANTS, True)])
def test_few_variants_have_no_order(tmp_path: Path, variants: str, shown: bool | None) -> None:
    part = order_part(results(tmp_path, variants), BASELINE)
    assert (part and "rank correlation" in part.text) == shown


def test_seconds_order_only_what_one_device_trained(tmp_path: Path) -> None:
    others = results(tmp_path, VARIANTS[1:])
    for device, ordered in (("cpu", True), ("cpu of another kind", False)):
        write_variant(tmp_path, "a", [[0] * 10], [[1] * 10], curve_rows=1, provenance={"device": device})  # one seed
        part = order_part([summarise(read_evaluation(tmp_path / "a"), 10), *others], BASELINE)
        assert part and ("| seconds of pretraining |" in part.text) == ordered


def test_every_training_is_a_dot_at_its_time_and_accuracy(tmp_path: Path) -> None:
    (axes,) = draw_times(results(tmp_path, "ab"), BASELINE).axes
    dots = [each.get_offsets().tolist() for each in axes.collections]
    assert dots == [[[10.0, 90.0], [20.0, 90.0]], [[10.0, 80.0], [20.0, 80.0]]]
