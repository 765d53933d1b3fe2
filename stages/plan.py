"""Say what the selection of params.yaml will train, about how long that takes on this machine, and why."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from statistics import fmean, median

import torch

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.experiment.backend import Backend
from stages.experiment.experiment import Experiment
from stages.finetune import finetuning
from stages.model.cpu.processor import multiplies_bfloat16, processor_class
from stages.pretrain import pretraining
from stages.settings import Settings, load
from stages.settings.sources import People
from stages.sources.world.generation import generate
from stages.system.errors import StudyError, command
from stages.training.cuda_graph import trainer_for
from stages.training.loop import Job, step
from stages.training.progress import PHASES, trained
from stages.training.seeds import go_apart, threads_each
from stages.training.trainer import Trainer

PATIENCE = 2.0  # seconds of trying steps, after which none begins
TRIED = 4  # steps of a training, at most
CS224N = People(train=2000, dev=500, test=437)  # of its files, which may not be here yet
# seconds of what is no training, on two cores of an AMD Zen 4: world, report and DVC; evaluation of a variant
REST, REST_A_VARIANT = 15.0, 20.0

Cell = tuple[str, str]  # a variant and a phase


@command
def main() -> None:
    """Print the plan; nothing is written."""
    settings = load()
    names = settings.selected(settings.model.variant)
    selected = {name: settings.variants[name] for name in names}
    cells = {name: replace(Experiment.of(settings, settings.recipe, name), selected=selected) for name in names}
    first = cells[names[0]]
    there, seeds = trained(first), len(first.recipe.seeds)
    missing = [(name, phase) for phase in PHASES for name in names if (name, phase) not in there]
    for line in counted(settings.recipe, names, seeds, len(there)):
        print(line, flush=True)
    if missing:
        here = machine(first.backend)
        try:
            duration = f"about {spoken(estimate(cells, missing, settings))} on this machine, by steps tried now"
        except StudyError:
            raise
        except Exception as error:  # the study itself may well go on
            duration = f"not known, as no step could be tried ({error})"
        print(f"Time: {duration}:\n{here}.", flush=True)


def counted(recipe: str, variants: Sequence[str], seeds: int, there: int) -> list[str]:
    """What is trained, in lines; there: how many phases of variants are trained already."""
    lines = [
        f"Recipe {recipe}: {', '.join(variants)}; {seeds} seed{'s' if seeds > 1 else ''} each.",
        f"{len(variants) * len(PHASES) * seeds} trainings: pretraining, finetuning, and finetuning from scratch.",
    ]
    if there:
        lines.append(f"{there * seeds} of them are in data/; DVC repeats those whose code or data have changed.")
    return lines


def estimate(cells: Mapping[str, Experiment], missing: Sequence[Cell], settings: Settings) -> float:
    """Seconds that the missing trainings and the rest take here, by a few steps with the threads they will have."""
    first = next(iter(cells.values()))
    prepared = invented(first, settings)
    finetunings = [finetuning(first, prepared, init) for init in ("scratch", "pretrained")]
    jobs = {job.phase: job for job in (pretraining(first, prepared), *finetunings)}
    seeds, threads = first.recipe.seeds, 1  # those that seeds share, side by side
    if go_apart(first, seeds):
        threads = torch.get_num_threads()
        torch.set_num_threads(threads_each(len(seeds)))
    end = time.monotonic() + PATIENCE
    paces: dict[Cell, float] = {}
    trainers: dict[str, Trainer] = {}
    for variant, phase in missing:
        if paces and time.monotonic() > end:
            break
        if variant not in trainers:
            model = cells[variant].new_model(prepared, seeds[0])
            trainers[variant] = trainer_for(model, first.recipe.optimizer, first.backend)
        paces[variant, phase] = pace(trainers[variant], jobs[phase], first.backend, end)
    steps = {cell: jobs[cell[1]].steps for cell in missing}
    return seconds_left(steps, paces, rounds(len(seeds), threads))


def invented(experiment: Experiment, settings: Settings) -> Prepared:
    """Data in the place of the recipe's, which may not be here yet: a generated world with as many people."""
    people = CS224N if experiment.recipe.data.source == "cs224n" else settings.sources.synthetic.people
    world = generate(settings.sources.synthetic.model_copy(update={"people": people}))
    splits = {"train": world.train, "dev": world.dev, "test": world.test}
    questions = {
        split: [Question(row, each.question, each.name, each.birthplace) for row, each in enumerate(asked, 1)]
        for split, asked in splits.items()
    }
    return Prepared.of([each.page for each in world.people], questions)


def pace(trainer: Trainer, job: Job, backend: Backend, end: float) -> float:
    """Seconds of a step; the first one of all, which prepares kernels, counts only where there is no time for more."""
    taken: list[float] = []
    while not taken or (len(taken) < TRIED and time.monotonic() < end):
        begun = time.monotonic()
        step(trainer, job, 1, len(taken))
        backend.wait()
        taken.append(time.monotonic() - begun)
    return median(taken[1:] or taken)


def rounds(seeds: int, threads: int) -> float:
    """How many times as long as one training all seeds take, side by side on so many threads."""
    return max(1.0, seeds / threads)


def seconds_left(steps: Mapping[Cell, int], paces: Mapping[Cell, float], rounds: float) -> float:
    """Seconds of trainings of so many steps at such paces, the mean one where none was tried, and of what follows."""
    usual = fmean(paces.values())
    variants = {variant for variant, _ in steps}
    return rounds * sum(n * paces.get(cell, usual) for cell, n in steps.items()) + REST + REST_A_VARIANT * len(variants)


def spoken(seconds: float) -> str:
    """A duration as one says it, rounded up to minutes."""
    hours, minutes = divmod(ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def machine(backend: Backend) -> str:
    """What computes, and what would make it faster."""
    if backend.device.type == "cuda":
        return f"{backend.device_name}, {backend.precision}"
    threads = torch.get_num_threads()
    cores = f"{threads} core{'s' if threads > 1 else ''} of class {processor_class()}"
    slow = backend.dtype == torch.float32 and not multiplies_bfloat16()
    told = f"{cores}, {backend.precision}{' as it multiplies no bfloat16' if slow else ''}"
    if backend.kernels != "torch":
        return f"{told}, compiled kernels"
    remedy = "a C++ compiler (Debian: apt install g++), compute.kernels: auto"
    return f"{told}, no compiled kernels.\nTwo to three times as fast with {remedy}"


if __name__ == "__main__":
    main()
