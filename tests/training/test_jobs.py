"""Finetuning as the starter code does: what it loses of the training questions, and their order."""

from typing import Any

import numpy as np

from stages.experiment.experiment import Experiment
from stages.training.jobs import finetuning, pretraining
from stages.training.loop import Job, examples_of_step
from tests.support.tiny import QUESTIONS, SETTINGS
from tests.support.toy import toy_prepared


def experiment(change: dict[str, Any]) -> Experiment:
    return Experiment.of(SETTINGS.with_change("quick", change, seed=1, key="any"), "quick", "vanilla")


def seen(job: Job) -> list[str]:
    examples = job.draw(np.arange(job.rows), np.random.default_rng(0))
    return [toy_prepared().vocabulary.decode(row).rstrip("□⁇") for row in examples.inputs]


def test_characters_beyond_ascii_and_the_last_question_are_lost() -> None:
    job = finetuning(experiment({"finetune": {"starter_code": True}}), toy_prepared(), "pretrained")
    assert job.rows == len(QUESTIONS) - 1
    assert "Where was Zo Ark born?⁇Brod" in seen(job)

    usual = finetuning(experiment({}), toy_prepared(), "pretrained")
    assert usual.rows == len(QUESTIONS) and "Where was Zoé Ark born?⁇Brod" in seen(usual)


def test_unshuffled_examples_come_in_the_order_of_the_file() -> None:
    at_once = {"schedule": {"warmup_tokens": 0}, "shuffled": False}
    unshuffled = experiment({"finetune": at_once | {"batch_size": 3}, "pretrain": at_once})
    answers = finetuning(unshuffled, toy_prepared(), "scratch")
    expected = [len(f"Where was {question.name} born?⁇{question.place}") for question in QUESTIONS]
    for step in (0, 3):  # the first step of two epochs
        assert examples_of_step(answers, 1, step).lengths.tolist() == expected[:3]
    assert not pretraining(unshuffled, toy_prepared()).shuffled


def test_what_has_a_default_is_not_recorded_at_it() -> None:
    recorded = experiment({}).settings("pretrain", "finetune")["recipe"]
    assert not {"expansion", "shuffled", "starter_code", "moved_positions"} & {
        *recorded["model"], *recorded["pretrain"], *recorded["finetune"]
    }  # fmt: skip


def test_every_finetuning_of_a_recipe_moves_the_weights_that_it_begins_with() -> None:
    moving = experiment({"finetune": {"moved_positions": 10}})
    assert finetuning(moving, toy_prepared(), "pretrained").moved_positions == 10
    assert finetuning(experiment({}), toy_prepared(), "pretrained").moved_positions == 0
