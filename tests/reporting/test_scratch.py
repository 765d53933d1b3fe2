"""The page tells what training the accuracy from scratch is of."""

import pandas as pd
import pytest

from stages.reporting.evaluations import CURVE_COLUMNS
from stages.reporting.scratch import scratch_sentence


def curves(variant: str, losses: list[float], seed: int = 1, phase: str = "finetune_scratch") -> pd.DataFrame:
    """A row an epoch, every cell a string, as `read_evaluation` gives them."""
    rows = [(variant, seed, phase, 5 * epoch, epoch, loss, 0.001) for epoch, loss in enumerate(losses, start=1)]
    return pd.DataFrame(rows, columns=CURVE_COLUMNS).astype(str)


def test_one_training_is_told_by_its_epochs_and_its_last_loss() -> None:
    read = pd.concat([curves("rope", [3.0, 2.0, 1.25]), curves("rope", [0.5] * 7, phase="finetune_pretrained")])
    assert scratch_sentence(read) == (
        "From scratch is 3 epochs of finetuning on the training questions, without pretraining; the loss of the last "
        "epoch is 1.250 nats a character of the answers."
    )


def test_seeds_are_averaged_and_variants_give_a_range() -> None:
    read = [curves("rope", [3.0, 1.0]), curves("rope", [3.0, 2.0], seed=2)]
    read += [curves("<b>", [9.0, 0.25]), curves("<b>", [9.0, 0.35], seed=2)]
    text = scratch_sentence(pd.concat(read))
    assert "From scratch is 2 epochs" in text
    assert "the last epoch, mean over seeds, goes from 0.300 (&lt;b&gt;) to 1.500 (rope) nats" in text
    assert "From scratch is 2 to 12 epochs" in scratch_sentence(pd.concat([*read, curves("mqa", [1.0] * 12)]))


def test_of_a_curve_by_steps_the_last_epoch_is_averaged() -> None:
    read = curves("rope", [4.0, 3.0, 2.0, 1.0])
    assert "is 1.500 nats" in scratch_sentence(read.assign(epoch=["0.5", "1.0", "1.5", "2.0"]))


@pytest.mark.parametrize("read", [curves("rope", [1.0], phase="pretrain"), curves("rope", [float("nan")])])
def test_without_such_a_curve_nothing_is_said(read: pd.DataFrame) -> None:
    assert scratch_sentence(read) == ""
