"""The learning rate of the assignment's recipe, against values reckoned by hand and those of a published training.

The published log of a finetuning from scratch gives 5.619852e-04 after epoch 48; here it is 5.619598e-04. There the
cosine's length counts 2,938 documents: the empty string after the file's last newline is one.
"""

import pytest

from stages.settings import Finetune, Pretrain, Schedule
from stages.training.loop import Job
from stages.training.schedule import learning_rate
from tests.tiny import HANDOUT

DOCUMENTS, QUESTIONS = 2937, 2000  # rows of the assignment's files


def job(phase: Pretrain | Finetune, rows: int, epochs: int) -> Job:
    rate, schedule, context = phase.learning_rate, phase.schedule, HANDOUT.model.context
    return Job("any", pytest.fail, rows, epochs, phase.batch_size, rate, schedule, context)


PRETRAINING = job(HANDOUT.pretrain, DOCUMENTS, HANDOUT.pretrain.epochs)


def rates(epoch: int) -> list[float]:
    """The rates of an epoch's steps in pretraining; epochs count from 1."""
    steps = PRETRAINING.steps // PRETRAINING.epochs
    return [PRETRAINING.rate(step) for step in range((epoch - 1) * steps, epoch * steps)]


def test_the_recipe_has_the_assignments_steps() -> None:
    assert PRETRAINING.steps == 650 * 23  # 23 batches of 128 hold 2937 documents


def test_the_published_rate_after_48_epochs_from_scratch_is_met_to_four_digits_and_not_to_five() -> None:
    finetuning = job(HANDOUT.finetune, QUESTIONS, HANDOUT.finetune.scratch_epochs)
    after = finetuning.rate(48 * 8)  # 8 batches of 256 hold 2000 questions
    assert after == pytest.approx(5.619852e-4, rel=1e-4)
    assert after != pytest.approx(5.619852e-4, rel=1e-5)


@pytest.mark.parametrize(("first", "last"), [(161, 242), (564, 645)])
def test_the_rate_lies_on_its_minimum_twice_and_on_its_peak_at_first_and_in_between(first: int, last: int) -> None:
    for epoch in range(first, last + 1):
        assert rates(epoch)[-1] == pytest.approx(6e-4, rel=1e-12)
    assert rates(first - 1)[-1] > 6e-4
    assert rates(last + 1)[-1] > 6e-4
    assert PRETRAINING.rate(0) == 6e-3  # 128 x 127 tokens exceed the warm-up of 10,240
    assert max(rates(403)) == pytest.approx(6e-3, rel=1e-5)


def test_tokens_count_whole_contexts_and_the_short_last_batch_as_it_is() -> None:
    schedule = Schedule(warmup_tokens=10**9, decay_epochs=1e9, min_lr_ratio=0.0)  # the rate tells the tokens
    short = Job("any", pytest.fail, rows=10, epochs=2, batch_size=4, peak_rate=1e9, schedule=schedule, context=11)
    seen = [round(short.rate(step)) for step in range(short.steps)]
    assert seen == [40, 40, 80, 100, 140, 180]  # the first step's own, then those of all steps before


@pytest.mark.parametrize(("warmup", "first"), [(0, 1.0), (15, 1.0), (40, 1.0), (80, 0.5)])
def test_the_first_step_has_the_peak_unless_the_warm_up_is_longer(warmup: int, first: float) -> None:
    schedule = Schedule(warmup_tokens=warmup, decay_epochs=3.0, min_lr_ratio=0.0)
    short = Job("any", pytest.fail, rows=10, epochs=9, batch_size=4, peak_rate=1.0, schedule=schedule, context=11)
    assert short.rate(0) == first


@pytest.mark.parametrize(
    ("tokens", "rate"),
    [
        (0, 0.0),
        (50, 1.0),  # half of the warm-up
        (100, 2.0),  # its end
        (600, 1.0),  # half of the cosine, which lasts from 100 to 1100
        (850, 2 * 0.14644660940672624),  # three quarters: (1 - 1/√2) / 2
        (900, 0.2),  # (1 + cos 0.8π) / 2 = 0.0955, below the minimum
        (1100, 0.2),
        (1300, 0.2),
        (1600, 1.0),  # and up again
        (2100, 2.0),
        (2600, 1.0),
    ],
)
def test_the_rate_at_given_tokens(tokens: int, rate: float) -> None:
    schedule = Schedule(warmup_tokens=100, decay_epochs=1.0, min_lr_ratio=0.1)
    assert learning_rate(tokens, 2.0, 1100, schedule) == pytest.approx(rate)
