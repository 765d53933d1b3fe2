"""What is timed: steps of training and answers, of the plain reference, eager or compiled, and of the study."""

from pathlib import Path

import numpy as np
import torch

from stages.corpus.example import MASK
from stages.corpus.prepared import Prepared
from stages.corpus.questions import prompt
from stages.experiment.experiment import Experiment
from stages.inference.generation import generate
from stages.model.gpt import GPT
from stages.plain.generation import answer
from stages.plain.model import PlainGPT
from stages.plain.text import padded, span_corruption
from stages.plain.training import PlainTrainer
from stages.settings import Recipe
from stages.system.errors import StudyError
from stages.training import loop
from stages.training.cuda_graph import trainer_for
from stages.training.jobs import pretraining
from tests.support.invented import prepared_like_the_handout

SEED = 1


def read_data(recipe: str) -> tuple[Prepared, str]:
    """The prepared data of the recipe, else invented ones of the handout's lengths; and which."""
    if (Path("data/prepared") / recipe).is_dir():
        return Prepared.load(Path("data/prepared") / recipe), f"prepared data of recipe {recipe}"
    return prepared_like_the_handout(), "invented documents and questions of the handout's lengths"


def check_comparable(name: str, recipe: Recipe) -> None:
    """Whether the plain reference knows all that the recipe asks for.

    Raises:
        StudyError: it does not.
    """
    spans = recipe.pretrain.objectives.span_corruption
    plain = spans is not None and spans.mixture_weight == 1
    if not plain or recipe.optimizer.matrices != "adamw":
        raise StudyError(
            f"recipe {name}: the plain reference knows span corruption up to half a document, and AdamW, only; "
            "choose another --recipe, such as handout"
        )


def plain_model(experiment: Experiment, model: GPT) -> PlainGPT:
    """The reference with the model's weights."""
    settings = experiment.mixer.model_dump()
    return PlainGPT.of(experiment.variant, experiment.recipe.model, settings, model.state_dict())


class PlainTraining:
    """The plain loop: a batch of padded contexts in float32, its examples drawn in strings one by one."""

    def __init__(self, experiment: Experiment, prepared: Prepared) -> None:
        self.job = pretraining(experiment, prepared)
        self.spans = experiment.recipe.pretrain.objectives.span_corruption
        self.vocabulary = prepared.vocabulary
        self.documents = prepared.texts
        self.backend = experiment.backend
        model = plain_model(experiment, experiment.new_model(prepared, SEED)).to(self.backend.device)
        self.trainer = PlainTrainer(model, experiment.recipe.optimizer)
        self.number = 0

    def step(self) -> None:
        """One step; returns when its result is there, on a GPU too."""
        draws = np.random.default_rng([SEED, self.number])
        rows = draws.choice(self.job.rows, size=min(self.job.rows, self.job.batch_size), replace=False)
        shortest, longest = self.spans.shortest_document, self.spans.longest_document
        texts = [span_corruption(self.documents[row], draws, shortest, longest) for row in rows]
        inputs, targets = padded(texts, self.vocabulary, self.job.context)
        inputs, targets = (each.to(self.backend.device) for each in (inputs, targets))
        self.trainer.step(inputs, targets, self.job.rate(self.number))
        self.backend.wait()
        self.number += 1


class CompiledTraining(PlainTraining):
    """The plain loop with its model under torch.compile, and under autocast where the study computes in bfloat16."""

    def __init__(self, experiment: Experiment, prepared: Prepared) -> None:
        super().__init__(experiment, prepared)
        dtype = self.backend.dtype
        self.autocast = torch.autocast(self.backend.device.type, dtype, enabled=dtype != torch.float32)
        self.trainer.model.compile()

    def step(self) -> None:
        """One step; the first compiles, for minutes where the model is large."""
        with self.autocast:
            super().step()


class StudyTraining:
    """The study's own step, as its loop calls it."""

    def __init__(self, experiment: Experiment, prepared: Prepared) -> None:
        self.job = pretraining(experiment, prepared)
        self.backend = experiment.backend
        model = experiment.new_model(prepared, SEED)
        self.trainer = trainer_for(model, experiment.recipe.optimizer, experiment.backend)
        self.number = 0

    def step(self) -> None:
        """One step; an epoch's last batch is left out, for it may be short."""
        epoch, batch = divmod(self.number, max(1, self.job.rows // self.job.batch_size))
        loop.step(self.trainer, self.job, SEED, epoch * (self.job.steps // self.job.epochs) + batch)
        self.backend.wait()
        self.number += 1

    def tokens(self) -> float:
        """Characters with an input in a step, the mean over the first epoch's whole batches."""
        steps = range(max(1, self.job.rows // self.job.batch_size))
        return sum(int(loop.examples_of_step(self.job, SEED, step).lengths.sum()) for step in steps) / len(steps)


class Evaluation:
    """Greedy answers to the dev questions, of untrained weights that never say MASK: the most there is to do."""

    def __init__(self, experiment: Experiment, prepared: Prepared) -> None:
        asked = prepared.questions["dev"]
        self.prompts = [prompt(asked[row]) for row in range(len(asked))]
        self.model = experiment.new_model(prepared, SEED).to(experiment.backend.device).eval()
        with torch.no_grad():
            self.model.head.weight[MASK] = 0.0  # of so many random logits zero is never the largest
        self.plain = plain_model(experiment, self.model).eval()
        self.max_characters = experiment.recipe.generation.max_characters
        self.answered = 0

    def all_questions(self) -> None:
        """The fast path: all of them in batches, from cached states."""
        generate(self.model, self.prompts, self.max_characters)

    def one_question(self) -> None:
        """The plain reference: the next question, character by character."""
        answer(self.plain, self.prompts[self.answered % len(self.prompts)].tolist(), self.max_characters)
        self.answered += 1
