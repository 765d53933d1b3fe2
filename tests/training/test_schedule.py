"""The learning rate of the assignment's recipe, against values reckoned by hand and those of a published training."""

import pytest

from stages.settings import Finetune, Pretrain, Schedule
from stages.training.loop import Phase
from stages.training.phases import epochs
from tests.support.tiny import HANDOUT, SETTINGS

DOCUMENTS, QUESTIONS = 2937, 2000  # rows of the assignment's files


def phase_of(section: Pretrain | Finetune, rows: int, epochs: int) -> Phase:
    rate, schedule, context = section.learning_rate, section.schedule, HANDOUT.model.context
    return Phase("any", "recipes.any", pytest.fail, rows, epochs, section.batch_size, rate, schedule, context)


def printed(rate: float) -> str:
    """As the assignment's code prints it."""
    return f"{rate:.6e}"


@pytest.mark.parametrize(
    ("epochs", "rate"),
    [(48, "5.619852e-04"), (49, "5.604195e-04"), (60, "5.413034e-04"), (75, "5.100024e-04")],
)
def test_the_published_log_of_a_finetuning_from_scratch_is_met_to_the_digit(epochs: int, rate: str) -> None:
    finetuning = phase_of(HANDOUT.finetune, QUESTIONS, HANDOUT.finetune.scratch_epochs)
    assert printed(finetuning.rate(epochs * 8)) == rate  # 8 batches of 256 hold 2000 questions


def test_the_pretraining_is_the_assignments() -> None:
    pretraining = phase_of(HANDOUT.pretrain, DOCUMENTS, HANDOUT.pretrain.epochs)
    assert pretraining.steps == 650 * 23  # 23 batches of 128 hold 2937 documents
    assert pretraining.decay_tokens == pytest.approx(200 * 2938 * 128, abs=5)  # the knob has four decimals
    # 128 x 127 tokens exceed the warm-up; after 200 epochs the cosine, all but at its end, is below the minimum
    assert (pretraining.rate(0), printed(pretraining.rate(200 * 23))) == (6e-3, "6.000000e-04")
    assert pretraining.rate(400 * 23) == pytest.approx(6e-3, rel=0.01)  # and rises again


@pytest.mark.parametrize(
    ("pages", "passes"),
    [(1, 1000), (32, 1000), (33, 500), (120, 250), (150, 200), (300, 100), (400, 77), (417, 72), (3000, 72)],
)
def test_few_pages_of_ones_own_are_read_more_often(pages: int, passes: int) -> None:
    own = SETTINGS.recipes["own"].pretrain.model_copy(update={"epochs": 72, "least_steps": 1000, "batch_size": 32})
    assert epochs(own, pages) == passes


def test_a_recipe_without_least_steps_has_its_epochs() -> None:
    for recipe in (recipe for name, recipe in SETTINGS.recipes.items() if name != "own"):
        assert epochs(recipe.pretrain, 1) == recipe.pretrain.epochs


@pytest.mark.parametrize("epochs", [2, 4, 40])
def test_a_schedule_without_lengths_of_its_own_follows_the_run(epochs: int) -> None:
    schedule = Schedule(warmup_share=0.25, decay_epochs=None, min_lr_ratio=0.1)
    run = Phase("any", "recipes.any", pytest.fail, 1000, epochs, 10, 1.0, schedule, context=1001)
    rates = [run.rate(step) for step in range(run.steps)]
    assert rates.index(max(rates)) == pytest.approx(run.steps / 4, abs=1)
    assert rates[: run.steps // 4] == sorted(rates[: run.steps // 4])
    assert rates[run.steps // 4 + 1 :] == sorted(rates[run.steps // 4 + 1 :], reverse=True)  # and never up again
    assert rates[-1] == 0.1
