"""The sentences say what the figures and the tests say."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from stages.reporting.findings import findings
from stages.reporting.statistics.significance import Difference

UP, DOWN = Difference(9, 5, 13, 0.001, 0.01), Difference(-9, -13, -5, 0.001, 0.01)
OPEN, OPEN_BELOW = Difference(3, -1, 7, 0.2, 0.6), Difference(-3, -7, 1, 0.2, 0.6)
SEEDS = Difference(9, -1, 19, 0.001, 0.01)  # clear for these seeds only


def figures(scratch: float, pretrained: float, low: float, high: float, seeds: int = 2) -> dict[str, Any]:
    return {
        "scratch_dev_accuracy": scratch,
        "dev_accuracy": pretrained,
        "dev_accuracy_low": low,
        "dev_accuracy_high": high,
        "lift_over_london": round(pretrained - 5.0, 2),
        "seeds": seeds,
    }


def sentences(level: Sequence[str] = (), **variants: tuple[dict[str, Any], Difference, Difference]) -> str:
    """Of each variant its figures, its gain by pretraining and its lead over the constant answer; the first is best.

    level: those that are not told apart from the first.
    """
    accuracies = {name: each for name, (each, _, _) in variants.items()}
    metrics = {
        "london": {"dev_accuracy": 5.0},
        "selected": next(iter(accuracies.values())),
        "variants": dict(sorted(accuracies.items())),
    }
    gains, leads = ({name: each[place] for name, each in variants.items()} for place in (1, 2))
    return findings(metrics, 500, "London", gains, leads, level)


def test_a_clear_gain() -> None:
    assert sentences(rope=(figures(1.8, 27.2, 23.4, 31.2), UP, UP)) == (
        "With pretraining **rope** answers 27.2 % of the 500 dev questions "
        "(95 % interval 23.4 to 31.2 %, mean over 2 seeds); without it 1.8 %. "
        "Pretrained, it is 22.2 points above answering London every time (5.0 %)."
    )


def test_what_tests_do_not_show_is_not_said_whatever_the_means() -> None:
    for found in (OPEN, OPEN_BELOW, SEEDS):
        for pretrained in (2.0, 5.0, 20.0):
            text = sentences(rope=(figures(5.2, pretrained, 1.0, 28.2, seeds=1), found, found))
            assert "one seed); without it 5.2 %: no change is shown." in text
            assert text.endswith("Pretrained, it is not told apart from answering London every time (5.0 %).")
            assert not any(word in text for word in ("above", "below", "points", "away"))


def test_a_loss_by_pretraining_and_a_fall_below_london() -> None:
    text = sentences(rope=(figures(9.8, 1.2, 0.4, 2.2), DOWN, DOWN))
    assert text.startswith("With pretraining **rope** answers 1.2 %")
    assert "without it 9.8 %: it takes right answers away." in text
    assert text.endswith(
        "Pretrained, it is 3.8 points below answering London every time (5.0 %): no knowledge is shown."
    )


def test_several_variants_name_the_best_and_those_that_tests_tell_nothing_good_of() -> None:
    best = (figures(1, 30, 26, 34), UP, UP)
    text = sentences(
        rope=best,
        vanilla=(figures(9, 8, 6, 12), OPEN_BELOW, UP),
        mqa=(figures(1, 7, 5, 9), UP, OPEN),
        rnn=(figures(9, 3, 2, 5), SEEDS, OPEN_BELOW),
        window=(figures(9, 1, 0, 2), DOWN, DOWN),
    )
    assert text.startswith("With pretraining **rope**, the best of 5 variants, answers 30.0 %")
    assert text.endswith(
        " Pretraining takes right answers away for window; pretraining shows no change for vanilla and rnn; worse than "
        "answering London every time: window; not told apart from answering London every time: mqa and rnn; the last "
        "is window with 1.0 %."
    )
    assert sentences(rope=best, mqa=(figures(1, 20, 17, 24), UP, UP)).endswith(
        " Every variant gains by pretraining and does better than answering London every time; "
        "the last is mqa with 20.0 %."
    )
    assert sentences(rope=best, mqa=(figures(7, 8, 6, 10), OPEN, UP)).endswith(
        "(5.0 %). Pretraining shows no change for mqa; every variant does better than answering London every time; the "
        "last is mqa with 8.0 %."
    )
    assert sentences(rope=best, mqa=(figures(1, 7, 5, 9), UP, OPEN)).endswith(
        " Every variant gains by pretraining; not told apart from answering London every time: mqa; the last is mqa "
        "with 7.0 %."
    )


def test_the_highest_is_the_best_only_where_tests_show_it() -> None:
    several = {name: (figures(1, 30 - place, 26, 34), UP, UP) for place, name in enumerate(("rope", "mqa", "nope"))}
    assert sentences(**several).startswith("With pretraining **rope**, the best of 3 variants, answers")
    assert sentences(["mqa", "nope"], **several).startswith(
        "With pretraining **rope**, the highest of 3 variants but not told apart from mqa and nope, answers"
    )
    assert "not told apart from 4 others, answers" in sentences(["a", "b", "c", "d"], **several)


@pytest.mark.parametrize(("variants", "number"), [(1, 2), (2, 3), (4, 3)])
@pytest.mark.parametrize("found", [UP, OPEN, DOWN])
def test_there_are_two_or_three_sentences(variants: int, number: int, found: Difference) -> None:
    text = sentences(**{f"v{place}": (figures(1, 30 - place, 20, 40), found, found) for place in range(variants)})
    assert len(re.findall(r"\.(?= [A-Z*]|$)", text)) == number
