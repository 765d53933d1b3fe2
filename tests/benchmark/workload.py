"""What is timed: a training step and answers, by the plain model and by the study, and a matrix product."""

from collections.abc import Callable, Iterator
from itertools import cycle

import torch
from torch import nn

from stages.asking.generation import generate
from stages.corpus.example import MASK
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.experiment.backend import Backend
from stages.experiment.experiment import Experiment
from stages.model.gpt import GPT
from stages.plain.generation import answer
from stages.plain.model import PlainGPT
from stages.plain.training import PlainTrainer
from stages.training import loop
from stages.training.phases import pretraining
from stages.training.trainer import trainer_for
from tests.support.tiny import padded

SEED = 1
CHARACTERS = 8192  # rows of the product: about the characters of a batch of 128 documents
Timed = Callable[[], object]


def plain_model(experiment: Experiment, model: GPT) -> PlainGPT:
    """The plain model with the same weights."""
    settings = experiment.mixer.model_dump()
    return PlainGPT.of(experiment.variant, experiment.recipe.model, settings, model.state_dict())


def full_steps(phase: loop.Phase) -> range:
    """The first epoch's steps but for the last one, whose batch may be short."""
    return range(max(1, phase.rows // phase.batch_size))


def plain_step(experiment: Experiment, prepared: Prepared, compiles: bool = False) -> Timed:
    """One padded batch of whole contexts in float32.

    compiles: with the model under torch.compile, and under autocast where the study computes in bfloat16.
    """
    backend, phase = experiment.backend, pretraining(experiment, prepared)
    model = plain_model(experiment, experiment.new_model(prepared, SEED)).to(backend.device)
    trainer = PlainTrainer(model, experiment.recipe.optimizer)
    steps: Iterator[int] = cycle(full_steps(phase))
    if compiles:
        model.compile()
    autocast = torch.autocast(backend.device.type, backend.dtype, enabled=compiles and backend.dtype != torch.float32)

    def step() -> None:
        number = next(steps)
        inputs, targets = padded(loop.examples_of_step(phase, SEED, number), phase.context)
        with autocast:
            trainer.step(inputs.to(backend.device), targets.to(backend.device), phase.rate(number))
        _wait(backend)

    return step


def study_step(experiment: Experiment, prepared: Prepared) -> Timed:
    """The study's own step, as its loop calls it."""
    backend, phase = experiment.backend, pretraining(experiment, prepared)
    trainer = trainer_for(experiment.new_model(prepared, SEED), experiment.recipe.optimizer, backend)
    steps: Iterator[int] = cycle(full_steps(phase))

    def step() -> None:
        number = next(steps)
        loop.step(trainer, phase, SEED, number, loop.examples_of_step(phase, SEED, number))
        _wait(backend)

    return step


def answering(experiment: Experiment, prepared: Prepared) -> tuple[Timed, Timed]:
    """The plain model's greedy answer to one dev question, and the study's to all.

    Untrained weights that never say MASK give the longest answers that there are.
    """
    questions = prepared.questions["dev"]
    prompts = [prompt(questions[row]) for row in range(len(questions))]
    most = experiment.question_recipe.generation.max_characters
    model = experiment.new_model(prepared, SEED).to(experiment.backend.device).eval()
    with torch.no_grad():
        model.head.weight[MASK] = 0.0  # among so many random logits zero is never the largest
    plain, asked = plain_model(experiment, model).eval(), cycle(prompts)
    return lambda: answer(plain, next(asked).tolist(), most), lambda: generate(model, prompts, most)


def product(width: int, backend: Backend) -> tuple[Timed, float]:
    """The product of the MLP's first layer, (8192, C) x (C, 4C), and its floating point operations."""
    left = torch.randn(CHARACTERS, width, device=backend.device).to(backend.dtype)
    right = torch.randn(width, 4 * width, device=backend.device).to(backend.dtype)
    result = torch.empty(CHARACTERS, 4 * width, device=backend.device, dtype=backend.dtype)

    def multiply() -> None:
        torch.mm(left, right, out=result)
        _wait(backend)

    return multiply, 2.0 * CHARACTERS * width * 4 * width


def step_flop(experiment: Experiment, prepared: Prepared) -> float:
    """Floating point operations of the linear layers' products in a training step, on average.

    2 a weight and character forward, 4 backward. Attention's own products are not counted: they differ from variant to
    variant, and in the handout's recipe are about 2 % of the sum.
    """
    modules = experiment.new_model(prepared, SEED).modules()
    weights = sum(module.weight.numel() for module in modules if isinstance(module, nn.Linear))
    phase = pretraining(experiment, prepared)
    characters = [loop.examples_of_step(phase, SEED, step).lengths.sum() for step in full_steps(phase)]
    return 6.0 * weights * float(sum(characters)) / len(characters)


def _wait(backend: Backend) -> None:
    """Wait until the device has done all that it was given."""
    if backend.device.type != "cpu":
        torch.cuda.synchronize(backend.device)
