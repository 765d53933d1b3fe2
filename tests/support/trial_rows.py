"""Rows of trials as short as can be reckoned by hand."""

from typing import Any

from stages.trials.row import Row

MADE: dict[str, Any] = {"commit": "0123456789abcdef", "device": "a <machine>"}


def row(
    change: str = "any",
    correct: str = "11000",
    memorised: str = "1011-",
    *,
    variant: str = "rope",
    seed: int = 1,
    epochs: int = 60,
) -> Row:
    """A training that was asked five questions; the page of the last does not tell the answer."""
    return Row(
        recipe="quick",
        variant=variant,
        change=change,
        seed=seed,
        epochs=epochs,
        correct=correct,
        memorised=memorised,
        of_own_page="1" * (len(correct) - 2) + "00",
        says={"reader": "1101" + "0" * (len(correct) - 4), "drawn": "0" * (len(correct) - 1) + "1"},
        pretrain_loss=0.5,
        seconds=12.0,
        provenance=MADE,
    )
