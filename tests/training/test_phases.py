"""Finetuning as the starter code does: what it loses of the training questions, and their order."""

from typing import Any

import numpy as np

from stages.experiment.experiment import Experiment
from stages.training.loop import Phase, examples_of_step
from stages.training.phases import finetuning, pretraining
from tests.support.tiny import QUESTIONS, SETTINGS
from tests.support.toy import toy_prepared


def experiment(change: dict[str, Any]) -> Experiment:
    values = {f"recipes.quick.{key}": value for key, value in change.items()}
    return Experiment.of(SETTINGS.changed(values, "", ""), "quick", "vanilla")


def seen(phase: Phase) -> list[str]:
    examples = phase.draw(np.arange(phase.rows), np.random.default_rng(0))
    return [toy_prepared().vocabulary.decode(row).rstrip("□⁇") for row in examples.inputs]


def test_characters_beyond_ascii_and_the_last_question_are_lost() -> None:
    phase = finetuning(experiment({"finetune.starter_code": True}), toy_prepared(), "pretrained")
    assert phase.rows == len(QUESTIONS) - 1
    assert "Where was Zo Ark born?⁇Brod" in seen(phase)

    usual = finetuning(experiment({}), toy_prepared(), "pretrained")
    assert usual.rows == len(QUESTIONS) and "Where was Zoé Ark born?⁇Brod" in seen(usual)


def test_unshuffled_examples_come_in_the_order_of_the_file() -> None:
    at_once = {"schedule.warmup_tokens": 0, "shuffled": False}
    both = {f"{section}.{key}": value for section in ("pretrain", "finetune") for key, value in at_once.items()}
    unshuffled = experiment(both | {"finetune.batch_size": 3})
    answers = finetuning(unshuffled, toy_prepared(), "scratch")
    expected = [len(f"Where was {question.name} born?⁇{question.place}") for question in QUESTIONS]
    for step in (0, 3):  # the first step of two epochs
        assert examples_of_step(answers, 1, step).lengths.tolist() == expected[:3]
    assert not pretraining(unshuffled, toy_prepared()).shuffled


def test_every_finetuning_of_a_recipe_moves_the_weights_that_it_begins_with() -> None:
    moving = experiment({"finetune.moved_positions": 10})
    assert finetuning(moving, toy_prepared(), "pretrained").moved_positions == 10
    assert finetuning(experiment({}), toy_prepared(), "pretrained").moved_positions == 0
