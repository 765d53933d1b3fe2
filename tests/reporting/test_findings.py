"""The sentences say what the figures say."""

from typing import Any

from stages.reporting.findings import findings


def figures(scratch: float, pretrained: float, low: float, high: float, seeds: int = 2) -> dict[str, Any]:
    return {
        "scratch_dev_accuracy": scratch,
        "dev_accuracy": pretrained,
        "dev_accuracy_low": low,
        "dev_accuracy_high": high,
        "lift_over_london": round(pretrained - 5.0, 2),
        "seeds": seeds,
    }


def sentences(selection: str, selected: str, **variants: dict[str, Any]) -> str:
    metrics = {
        "variant": selection,
        "london": {"dev_accuracy": 5.0},
        "selected": variants[selected],
        "variants": variants,
    }
    return findings(metrics, 500, "London")


def test_a_clear_gain() -> None:
    assert sentences("rope", "rope", rope=figures(1.8, 27.2, 23.4, 31.2)) == (
        "With pretraining **rope** answers 27.2 % of the 500 dev questions "
        "(95 % interval 23.4 to 31.2 %, mean over 2 seeds); without it 1.8 %. "
        "That is 22.2 points above answering London every time (5.0 %)."
    )


def test_an_unsure_gain() -> None:
    text = sentences("rope", "rope", rope=figures(5.2, 6.0, 4.0, 8.2, seeds=1))
    assert "one seed" in text
    assert "without it 5.2 %, a gain that lies within the interval." in text
    assert text.endswith("1.0 points above answering London every time (5.0 %), but the interval reaches down to it.")


def test_pretraining_that_did_not_help_and_a_fall_below_london() -> None:
    text = sentences("rope", "rope", rope=figures(1.8, 1.2, 0.4, 2.2))
    assert text.startswith("Pretraining did not help: after it **rope** answers 1.2 %")
    assert "without it 1.8 %." in text
    assert text.endswith("That is 3.8 points below answering London every time (5.0 %): no knowledge is shown.")


def test_equal_figures_are_called_equal() -> None:
    text = sentences("rope", "rope", rope=figures(5.0, 5.0, 3.2, 7.0))
    assert "it answers just as many without it" in text
    assert text.endswith("That is exactly as good as answering London every time (5.0 %).")


def test_several_variants_name_the_best_and_the_failing_ones() -> None:
    best, idle, low = figures(1, 30, 26, 34), figures(9, 9, 6, 12), figures(1, 3, 2, 5)
    text = sentences("all", "rope", mqa=low, rope=best, vanilla=idle, window=low)
    assert text.startswith("With pretraining **rope**, the best of 4 variants, answers 30.0 %")
    assert text.endswith(
        "The interval reaches down to always answering London for mqa and window, and to the accuracy from scratch for "
        "vanilla; the last is window with 3.0 %."
    )
    assert sentences("all", "rope", mqa=figures(1, 20, 17, 24), rope=best).endswith(
        "The interval of every variant lies above its accuracy from scratch and above always answering London; the "
        "last is mqa with 20.0 %."
    )
    unclear = sentences("all", "rope", mqa=figures(7, 8, 6, 10), rope=best)
    assert unclear.endswith(
        "The interval reaches down to the accuracy from scratch for mqa; the last is mqa with 8.0 %."
    )
