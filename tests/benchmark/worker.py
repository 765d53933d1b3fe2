"""A variant timed as one processor class: `python -m tests.benchmark.worker RECIPE VARIANT DEVICE ROUNDS [OPTIONS]`.

Started by the benchmark with the class's environment; prints the row as JSON. Options: compile, evaluate.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
# runs of a side in a round
RUNS = {"plain": 1, "compiled": 1, "study": 2, "product": 5, "serial": 1, "question": 2, "questions": 1}


class Sides:
    """The sides of one variant, warm, and facts that their row needs."""

    def __init__(self, experiment: Experiment, prepared: Prepared, compiles: bool, evaluates: bool) -> None:
        backend = experiment.backend
        plain, study = PlainTraining(experiment, prepared), StudyTraining(experiment, prepared)
        model, width = study.trainer.model, experiment.recipe.model.width
        self.facts: dict[str, Any] = {"flop": step_flop(linear_weights(model), study.tokens())}
        self.runs: dict[str, Callable[[], object]] = {"plain": plain.step, "study": study.step}
        self.runs["product"], self.facts["product_flop"] = product(width, backend.dtype, backend.device)

        if compiles:
            compiled = CompiledTraining(experiment, prepared)
            self.facts["compile"] = first_step(compiled.step)
            if "seconds" in self.facts["compile"]:
                self.runs["compiled"] = compiled.step

        if recurrences := sum(mixer.layers for mixer in model.modules() if isinstance(mixer, RecurrentMixer)):
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

    def rounds(self, number: int) -> dict[str, list[float]]:
        """Seconds of each run of each side, one side after the other, so many rounds."""
        taken: dict[str, list[float]] = {name: [] for name in self.runs}
        for _ in range(number):
            for name, run in self.runs.items():
                taken[name] += [seconds(run) for _ in range(RUNS[name])]
        return taken


def seconds(run: Callable[[], object]) -> float:
    """How long the run takes."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def first_step(step: Callable[[], object]) -> dict[str, Any]:
    """The `seconds` of the step that compiles, or the `error` for which nothing is compiled."""
    try:
        return {"seconds": round(seconds(step), 1)}
    except Exception as error:  # whatever the compiler raises: the row says so, and the other sides are timed
        lines = [line for line in str(error).splitlines() if line.strip() and not line.endswith("raised:")]
        return {"error": lines[0] if lines else repr(error)}


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    figures = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: round(value, 5) for name, value in figures.items()}


def row(facts: Mapping[str, Any], seconds: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Seconds a step of each side, and how they compare; facts and seconds: of `Sides`."""
    sides = ("plain", "compiled", "study")
    figures: dict[str, Any] = {side: spread(seconds[side]) for side in sides if side in seconds}
    plain, study = figures["plain"]["median"], figures["study"]["median"]
    peak = facts["product_flop"] / statistics.median(seconds["product"])
    figures["study_over_plain"] = round(plain / study, 2)
    if "compiled" in figures:
        figures["study_over_compiled"] = round(figures["compiled"]["median"] / study, 2)
    if "compile" in facts:
        figures["compile"] = facts["compile"]
    figures["gemm_tflop_per_second"] = round(peak / 1e12, 4)
    figures["share_of_gemm_peak"] = round(facts["flop"] / study / peak, 3)

    if "serial" in seconds:
        serial = statistics.median(seconds["serial"])
        shortest = serial + (facts["flop"] - facts["serial_flop"]) / peak
        figures["recurrence"] = {
            "serial_products": spread(seconds["serial"]),
            "share_of_step": round(serial / study, 3),
            "shortest_step": round(shortest, 5),
            "largest_study_over_plain": round(plain / shortest, 2),
        }

    if "question" in seconds:
        one_by_one = spread([facts["questions"] * taken for taken in seconds["question"]])
        together = spread(seconds["questions"])
        ratio = round(one_by_one["median"] / together["median"], 1)
        asked = {"number": facts["questions"], "plain": one_by_one, "study": together}
        figures["questions"] = asked | {"study_over_plain": ratio}
    return figures


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
    """Time a variant and print its row."""
    recipe, variant, device, rounds, *options = sys.argv[1:]
    answer, sys.stdout = sys.stdout, sys.stderr  # what others print is no part of the row
    settings = load()
    settings = settings.model_copy(update={"compute": settings.compute.model_copy(update={"device": device})})
    prepared, data = read_data(recipe)
    experiment = Experiment.of(settings, recipe, variant)

    sides = Sides(experiment, prepared, "compile" in options, "evaluate" in options)
    figures = row(sides.facts, sides.rounds(int(rounds)))
    print(json.dumps({"data": data, "rounds": int(rounds), **origin(experiment.backend), **figures}), file=answer)


if __name__ == "__main__":
    main()
