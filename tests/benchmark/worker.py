"""The process of one processor class: it warms a variant's sides up, and times them when it is asked to.

`python -m tests.benchmark.worker <recipe> <device>`, started by the benchmark with the class's environment.
"""

import json
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

from stages.corpus.prepared import Prepared
from stages.experiment.backend import Backend
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import commit
from stages.model.cpu.processor import processor_name
from stages.model.recurrence import RecurrentMixer
from stages.settings import load
from stages.system.errors import command
from stages.training import loop
from tests.benchmark.products import linear_weights, product, serial_products, step_flop
from tests.benchmark.workload import SEED, CompiledTraining, Evaluation, PlainTraining, StudyTraining, read_data

WARM_UP = {"compiled": 0, "study": 4}  # runs before those that count, else one; what compiles has run then
LONGEST_COMPILE = 600  # seconds
# runs of a side in a round
RUNS = {"plain": 1, "compiled": 1, "study": 2, "product": 5, "serial": 1, "question": 2, "questions": 1}


class TooLong(BaseException):
    """The compiler is stopped; no Exception, for it catches those."""


class Sides:
    """The sides of one variant, warm."""

    def __init__(self, experiment: Experiment, prepared: Prepared, compiles: bool, evaluates: bool) -> None:
        backend = experiment.backend
        plain, study = PlainTraining(experiment, prepared), StudyTraining(experiment, prepared)
        model, width = study.trainer.model, experiment.recipe.model.width
        self.facts: dict[str, Any] = {"flop": step_flop(linear_weights(model), study.tokens())}
        self.runs: dict[str, Callable[[], object]] = {"plain": plain.step}
        if compiles:
            compiled = CompiledTraining(experiment, prepared)
            self.facts["compile"] = first_step(compiled.step)
            if "seconds" in self.facts["compile"]:
                self.runs["compiled"] = compiled.step
        self.runs["study"] = study.step
        self.runs["product"], self.facts["product_flop"] = product(width, backend.dtype, backend.device)
        recurrences = sum(mixer.layers for mixer in model.modules() if isinstance(mixer, RecurrentMixer))
        if recurrences:
            lengths = loop.examples_of_step(study.job, SEED, 0).lengths.tolist()
            serial = serial_products(lengths, width, recurrences, backend.device)
            self.runs["serial"], self.facts["serial_flop"] = serial
        if evaluates:
            work = Evaluation(experiment, prepared)
            self.facts["questions"] = len(work.prompts)
            self.runs |= {"question": work.one_question, "questions": work.all_questions}
        for name, run in self.runs.items():
            for _ in range(WARM_UP.get(name, 1)):
                run()

    def round(self) -> dict[str, list[float]]:
        """Seconds of each run of each side, one side after the other."""
        return {name: [seconds(run) for _ in range(RUNS[name])] for name, run in self.runs.items()}


def seconds(run: Callable[[], object]) -> float:
    """How long the run takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def first_step(step: Callable[[], object]) -> dict[str, Any]:
    """The `seconds` of the step that compiles, or the `error` for which nothing is compiled."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"not compiled within {LONGEST_COMPILE} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_COMPILE, 10)  # again, where a finalizer swallows it
    try:
        return {"seconds": round(seconds(step), 1)}
    except (Exception, TooLong) as error:  # whatever the compiler raises: the row says so, the other sides are timed
        told = [each for each in str(error).splitlines() if each.strip() and not each.endswith("raised:")]
        return {"error": told[0] if told else repr(error)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def origin(backend: Backend) -> dict[str, str | int]:
    """What the figures come from."""
    return {
        "processor": backend.device_name if backend.device.type == "cuda" else processor_name(),
        "threads": torch.get_num_threads(),
        "precision": backend.precision,
        "kernels": backend.kernels,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "commit": commit(),
    }


@command
def main() -> None:
    """Answer requests, a line each, until there are no more."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # they are for the one who asks: with that, this one ends, too
    recipe, device = sys.argv[1:]
    answers, sys.stdout = sys.stdout, sys.stderr  # what others print is no answer
    settings = load()
    settings = settings.model_copy(update={"compute": settings.compute.model_copy(update={"device": device})})
    prepared, _ = read_data(recipe)
    sides: Sides | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if "variant" in request:
            sides = None  # its memory is free before the next variant's sides need theirs
            experiment = Experiment.of(settings, recipe, request["variant"])
            sides = Sides(experiment, prepared, request["compiles"], request["evaluates"])
            reply: Any = sides.facts | {"origin": origin(experiment.backend)}
        else:
            assert sides
            reply = sides.round()
        print(json.dumps(reply), file=answers, flush=True)


if __name__ == "__main__":
    main()
