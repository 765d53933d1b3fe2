"""Time the plain model, the same under torch.compile, and the study, on recipes whose data are prepared."""

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from stages.corpus.prepared import Prepared
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import commit
from stages.model.cpu.processor import processor_class, processor_name
from stages.plain.attention import ATTENTION
from stages.settings import load
from stages.system.errors import Parser, command
from stages.system.files import read_json, write_json
from tests.benchmark import workload

OUTPUT = Path("reports/benchmark.json")
COMPILED = Path("work/benchmark")  # what torch.compile keeps, a folder a class: its own cache tells none from another
WARM_UP = {"study": 4}  # runs before those that count, else one; what compiles has run then
RUNS = {"study": 2, "product": 5, "question": 2}  # in a round, else one


def timed(runs: Mapping[str, workload.Timed], rounds: int) -> dict[str, list[float]]:
    """Seconds of each side's runs, one side after the other."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for name, run in runs.items():
        for _ in range(WARM_UP.get(name, 1)):
            run()

    for _ in range(rounds):
        for name, run in runs.items():
            for _ in range(RUNS.get(name, 1)):
                started = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - started)
    return seconds


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, least and greatest."""
    figures = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: round(value, 5) for name, value in figures.items()}


def compared(
    seconds: Mapping[str, Sequence[float]], flop: float, product_flop: float, questions: int
) -> dict[str, Any]:
    """Seconds a step of each side and how they compare; flop, product_flop: operations of a step and of a product."""
    sides = [side for side in ("plain", "compiled", "study") if side in seconds]
    figures: dict[str, Any] = {side: spread(seconds[side]) for side in sides}
    study = figures["study"]["median"]
    for side in sides[:-1]:
        figures[f"study_over_{side}"] = round(figures[side]["median"] / study, 2)

    peak = product_flop / statistics.median(seconds["product"])
    figures["gemm_tflop_per_second"] = round(peak / 1e12, 4)
    figures["share_of_gemm_peak"] = round(flop / study / peak, 3)

    asked = {"plain": spread([questions * one for one in seconds["question"]]), "study": spread(seconds["questions"])}
    ratio = round(asked["plain"]["median"] / asked["study"]["median"], 1)
    return figures | {"questions": {"number": questions, **asked, "study_over_plain": ratio}}


def row(experiment: Experiment, rounds: int, compiles: bool) -> dict[str, Any]:
    """The row of a variant on a recipe."""
    prepared = Prepared.load(Path("data/prepared") / experiment.recipe_name)
    backend = experiment.backend
    runs = {"plain": workload.plain_step(experiment, prepared), "study": workload.study_step(experiment, prepared)}
    runs["product"], product_flop = workload.product(experiment.recipe.model.width, backend)
    runs["question"], runs["questions"] = workload.answering(experiment, prepared)
    if compiles:
        runs["compiled"] = workload.plain_step(experiment, prepared, compiles=True)

    seconds = timed(runs, rounds)
    figures = compared(seconds, workload.step_flop(experiment, prepared), product_flop, len(prepared.questions["dev"]))
    is_cpu = backend.device.type == "cpu"
    return {
        "class": processor_class() if is_cpu else "cuda",
        "variant": experiment.variant,
        "recipe": experiment.recipe_name,
        "processor": processor_name() if is_cpu else backend.device_name,
        "threads": torch.get_num_threads(),
        "precision": backend.precision,
        "kernels": backend.kernels,
        "torch": torch.__version__,
        "commit": commit(),
        "rounds": rounds,
        **figures,
    }


def keep(new: dict[str, Any]) -> None:
    """Write a row in the place of the one of its processor, class, recipe and variant; all others stay."""
    content = read_json(OUTPUT) if OUTPUT.exists() else {"rows": []}
    names = ("processor", "class", "recipe", "variant")
    others = [row for row in content["rows"] if any(row[name] != new[name] for name in names)]
    write_json(OUTPUT, content | {"rows": [*others, new]})


@command
def main() -> None:
    """Print a line a row and keep it at once: a later failure loses none."""
    settings = load()
    parser = Parser(__doc__)
    parser.add_argument("--recipes", nargs="+", default=["quick", "handout"])
    in_study = [variant for variant in settings.study.compared if variant in ATTENTION]
    parser.add_argument("--variants", nargs="+", choices=[*ATTENTION], default=in_study)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compile", action="store_true", help="time the plain model under torch.compile, too")
    options = parser.parse_args()
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str((COMPILED / processor_class()).resolve()))

    for recipe in options.recipes:
        for variant in options.variants:
            new = row(Experiment.of(settings, recipe, variant), options.rounds, options.compile)
            keep(new)
            times = f"plain {new['plain']['median']:.3f} s, study {new['study']['median']:.3f} s"
            print(f"{recipe} {variant}: {times}, {new['study_over_plain']} times as fast", flush=True)


if __name__ == "__main__":
    main()
