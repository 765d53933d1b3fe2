"""What the phases of a recipe train on, and their learning rates, reckoned by hand or of a published training."""

from typing import Any

import numpy as np
import pytest

from stages.experiment.experiment import Experiment
from stages.settings.params import Finetune, Pretrain, Schedule
from stages.training.phases import Phase, epochs, finetuning, pretraining
from tests.support.tiny import HANDOUT, QUESTIONS, SETTINGS
from tests.support.toy import toy_prepared

PAGES, ASKED = 2937, 2000  # rows of the assignment's files


def experiment(change: dict[str, Any]) -> Experiment:
    values = {f"recipes.quick.{key}": value for key, value in change.items()}
    return Experiment.of(SETTINGS.changed(values), "quick", "vanilla")


def seen(phase: Phase) -> list[str]:
    examples = phase.draw(np.arange(phase.row_count), np.random.default_rng(0))
    return [toy_prepared().vocabulary.decode(row).rstrip("□⁇") for row in examples.inputs]


def test_characters_beyond_ascii_and_the_last_question_are_lost() -> None:
    phase = finetuning(experiment({"finetune.starter_code": True}), toy_prepared(), "pretrained")
    assert phase.row_count == len(QUESTIONS) - 1
    assert "Where was Zo Ark born?⁇Brod" in seen(phase)

    usual = finetuning(experiment({}), toy_prepared(), "pretrained")
    assert usual.row_count == len(QUESTIONS) and "Where was Zoé Ark born?⁇Brod" in seen(usual)


def test_unshuffled_examples_come_in_the_order_of_the_file() -> None:
    at_once = {"schedule.warmup_tokens": 0, "shuffled": False}
    both = {f"{section}.{key}": value for section in ("pretrain", "finetune") for key, value in at_once.items()}
    unshuffled = experiment(both | {"finetune.batch_size": 3})
    answers = finetuning(unshuffled, toy_prepared(), "scratch")
    expected = [len(f"Where was {question.name} born?⁇{question.place}") for question in QUESTIONS]
    for step in (0, 3):  # the first step of two epochs
        assert answers.examples(1, step).lengths.tolist() == expected[:3]
    assert not pretraining(unshuffled, toy_prepared()).settings.shuffled


def phase_of(section: Pretrain | Finetune, rows: int, epochs: int) -> Phase:
    return Phase("any", "recipes.any", pytest.fail, rows, epochs, section, HANDOUT.model.context)


@pytest.mark.parametrize(("rows", "batch_size", "last"), [(1, 1, 1), (7, 3, 1), (8, 4, 4), (5, 100, 5)])
def test_an_epoch_holds_every_row_once_and_its_last_batch_alone_is_short(rows: int, batch_size: int, last: int) -> None:
    at_once = Schedule(warmup_tokens=0, decay_epochs=None, min_lr_ratio=0.1)
    settings = HANDOUT.finetune.model_copy(update={"batch_size": batch_size, "schedule": at_once})
    phase = phase_of(settings, rows, epochs=18)
    for epoch in (0, 1, 17):
        first = epoch * phase.steps_per_epoch
        batches = [phase.rows_of_step(1, first + step) for step in range(phase.steps_per_epoch)]
        assert sorted(np.concatenate(batches)) == list(range(rows))
        assert [len(batch) for batch in batches] == [batch_size] * (len(batches) - 1) + [last]


@pytest.mark.parametrize(
    ("epochs", "rate"),
    [(48, "5.619852e-04"), (49, "5.604195e-04"), (60, "5.413034e-04"), (75, "5.100024e-04")],
)
def test_the_published_log_of_a_finetuning_from_scratch_is_met_to_the_digit(epochs: int, rate: str) -> None:
    phase = phase_of(HANDOUT.finetune, ASKED, HANDOUT.finetune.scratch_epochs)
    assert f"{phase.rate(epochs * 8):.6e}" == rate  # 8 batches of 256 hold 2000 questions


def test_the_pretraining_is_the_assignments() -> None:
    phase = phase_of(HANDOUT.pretrain, PAGES, HANDOUT.pretrain.epochs)
    assert phase.steps == 650 * 23  # 23 batches of 128 hold 2937 documents
    assert phase.decay_tokens == pytest.approx(200 * 2938 * 128, abs=5)  # the knob has four decimals
    # 128 x 127 tokens exceed the warm-up; after 200 epochs the cosine, all but at its end, is below the minimum
    assert (phase.rate(0), f"{phase.rate(200 * 23):.6e}") == (6e-3, "6.000000e-04")
    assert phase.rate(400 * 23) == pytest.approx(6e-3, rel=0.01)  # and rises again


@pytest.mark.parametrize(("pages", "passes"), [(1, 1000), (33, 500), (417, 72), (3000, 72)])
def test_few_pages_of_ones_own_are_read_more_often(pages: int, passes: int) -> None:
    own = SETTINGS.recipes["own"].pretrain.model_copy(update={"epochs": 72, "least_steps": 1000, "batch_size": 32})
    assert epochs(own, pages) == passes
    assert epochs(HANDOUT.pretrain, pages) == HANDOUT.pretrain.epochs  # which names no least steps


@pytest.mark.parametrize("epochs", [2, 40])
def test_a_schedule_without_lengths_of_its_own_follows_the_run(epochs: int) -> None:
    schedule = Schedule(warmup_share=0.25, decay_epochs=None, min_lr_ratio=0.1)
    settings = HANDOUT.pretrain.model_copy(update={"schedule": schedule, "batch_size": 10, "learning_rate": 1.0})
    run = Phase("any", "recipes.any", pytest.fail, 1000, epochs, settings, context=1001)
    rates = [run.rate(step) for step in range(run.steps)]
    assert rates.index(max(rates)) == pytest.approx(run.steps / 4, abs=1)
    assert rates[: run.steps // 4] == sorted(rates[: run.steps // 4])
    assert rates[run.steps // 4 + 1 :] == sorted(rates[run.steps // 4 + 1 :], reverse=True)  # and never up again
    assert rates[-1] == 0.1
