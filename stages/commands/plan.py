"""Say what the selection of params.yaml will train, and about how long that takes on this machine."""

import time
from math import ceil
from statistics import median

import torch

from stages.corpus.prepared import Prepared
from stages.experiment.backend import Backend
from stages.experiment.cell import Cell
from stages.experiment.experiment import Experiment
from stages.settings import Settings, load
from stages.settings.sources import People
from stages.sources.own import read_own
from stages.sources.world.prepared import prepared_world
from stages.system.errors import Parser, command
from stages.training.cuda_graph import trainer_for
from stages.training.jobs import pretraining
from stages.training.lengths import length, phases
from stages.training.loop import Job, step
from stages.training.seeds import side_by_side, threads, threads_each

TRIED = 5  # steps; the first prepares kernels and does not count
CS224N = People(train=2000, dev=500, test=437)  # the numbers of its files' questions
# Seconds beside the trainings, on two cores of an AMD Zen 4: world, report and DVC; a variant's evaluation and starts
REST = 15.0
REST_A_VARIANT = 20.0


@command
def main() -> None:
    """Print the plan; nothing is written."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    variants = settings.selected(settings.model.variant)
    cell = Experiment.to_train(Cell(settings, settings.recipe, variants[0]))
    seeds = len(cell.recipe.seeds)
    print(f"Recipe {settings.recipe}: {', '.join(variants)}; {seeds} seed{'s' if seeds > 1 else ''} each.")
    print(f"{len(variants) * 3 * seeds} trainings: pretraining, finetuning, and finetuning from scratch.")
    data = invented(cell, settings)
    print(length(cell.recipe.pretrain, len(data.documents)))
    minutes = duration(estimate(cell, len(variants), data))
    by = f"by steps of {variants[0]} tried now: {machine(cell.backend)}"
    print(f"About {minutes} on this machine, less what is up to date, {by}.")


def estimate(experiment: Experiment, variants: int, data: Prepared) -> float:
    """Estimate the seconds of experiments like this one, by a few steps with the threads that its seeds will have.

    variants: how many experiments; data: any of the recipe's size.
    """
    seeds = len(experiment.recipe.seeds)
    at_once = 1
    if side_by_side(experiment.backend.device.type == "cpu", seeds):
        at_once = threads()
        torch.set_num_threads(threads_each(seeds))
    steps = sum(phases(experiment.recipe, data).values()) * max(1.0, seeds / at_once)
    return variants * (steps * pace(experiment, pretraining(experiment, data), data) + REST_A_VARIANT) + REST


def pace(experiment: Experiment, job: Job, data: Prepared) -> float:
    """Measure the median seconds of a step."""
    model = experiment.new_model(data, experiment.recipe.seeds[0])
    trainer = trainer_for(model, experiment.recipe.optimizer, experiment.backend)
    taken = []
    for number in range(min(TRIED, job.steps)):
        started = time.monotonic()
        step(trainer, job, 1, number)
        experiment.backend.wait()
        taken.append(time.monotonic() - started)
    return median(taken[1:] or taken)


def invented(experiment: Experiment, settings: Settings) -> Prepared:
    """Return data of the recipe's size, which may not be prepared yet: a user's own pages, or a generated world."""
    if experiment.recipe.data.source == "own":
        return Prepared.of(*read_own(settings.sources.own.path(), experiment.recipe.model.context))
    people = CS224N if experiment.recipe.data.source == "cs224n" else settings.sources.synthetic.people
    return prepared_world(settings.sources.synthetic.model_copy(update={"people": people}))


def duration(seconds: float) -> str:
    """Return seconds as hours and minutes, rounded up."""
    hours, minutes = divmod(ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def machine(backend: Backend) -> str:
    """Return the device, the precision and, for a CPU, which kernels compute."""
    if backend.device.type == "cuda":
        return f"{backend.device_name}, {backend.precision}"
    kernels = "no compiled kernels" if backend.kernels == "torch" else "compiled kernels"
    return f"{backend.device_name}, {backend.precision}, {kernels}"
