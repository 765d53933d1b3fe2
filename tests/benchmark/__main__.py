"""Time the plain model, the same under torch.compile, and the study, on recipes whose data are prepared."""

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import torch
from torch import nn

from stages.asking.generation import generate
from stages.corpus.example import MASK, Examples
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_prompt
from stages.experiment.experiment import Experiment
from stages.experiment.provenance import commit
from stages.model.cpu.processor import processor_class, processor_name
from stages.model.gpt import GPT
from stages.plain.attention import MIXERS
from stages.plain.generation import answer
from stages.plain.model import PlainGPT
from stages.plain.training import PlainTrainer
from stages.settings.params import load
from stages.system.errors import Parser, command
from stages.system.files import PREPARED, read_json, write_json
from stages.training.loop import trainer_for
from stages.training.phases import pretraining
from stages.training.trainer import take_step
from tests.support.tiny import padded

OUTPUT = Path("reports/benchmark.json")
COMPILED = Path("work/benchmark")  # what torch.compile keeps, a folder a class: its own cache tells none from another
WARM_UP = {"study": 4}  # runs before those that count, else one; what compiles has run then
RUNS = {"study": 2, "product": 5, "question": 2}  # in a round, else one
SEED = 1
CHARACTERS = 8192  # rows of the product: about the characters of a batch of 128 documents
Run = Callable[[], object]


class Workload:
    """What is timed of a variant on a recipe; every method gives a function that does the work once."""

    def __init__(self, experiment: Experiment, prepared: Prepared) -> None:
        self.experiment, self.prepared = experiment, prepared
        self.backend, self.phase = experiment.backend, pretraining(experiment, prepared)
        self.device = self.backend.device
        # the first epoch's but for the last one, whose batch may be short
        self.steps = range(max(1, self.phase.row_count // self.phase.settings.batch_size))

    def model(self) -> GPT:
        """A new model."""
        return self.experiment.new_model(self.prepared, SEED)

    def plain_model(self, model: GPT) -> PlainGPT:
        """The plain model with the same weights."""
        experiment = self.experiment
        settings = experiment.mixer_settings.model_dump()
        return PlainGPT.of(experiment.variant, experiment.recipe.model, settings, model.state_dict())

    def examples(self, step: int) -> Examples:
        """The batch of a step."""
        return self.phase.examples(SEED, step)

    def in_turn(self, step: Callable[[int], object]) -> Run:
        """Take one step after the other."""
        numbers = cycle(self.steps)
        return lambda: step(next(numbers))

    def plain_step(self, compiles: bool = False) -> Run:
        """One padded batch of whole contexts in float32.

        compiles: with the model under torch.compile, and under autocast where the study computes in bfloat16.
        """
        trainer = PlainTrainer(self.plain_model(self.model()).to(self.device), self.experiment.recipe.optimizer)
        if compiles:
            trainer.model.compile()
        is_rounded = compiles and self.backend.dtype != torch.float32
        autocast = torch.autocast(self.device.type, self.backend.dtype, enabled=is_rounded)

        def step(number: int) -> None:
            inputs, targets = padded(self.examples(number), self.phase.context)
            with autocast:
                trainer.step(inputs.to(self.device), targets.to(self.device), self.phase.rate(number))

        return self.in_turn(step)

    def study_step(self) -> Run:
        """The study's own step, as its loop calls it."""
        trainer = trainer_for(self.model(), self.experiment.recipe.optimizer, self.backend)
        return self.in_turn(lambda number: take_step(trainer, self.phase, SEED, number, self.examples(number)))

    def answers(self) -> tuple[Run, Run]:
        """The plain model's greedy answer to one dev question, and the study's to all.

        Untrained weights that never say MASK give the longest answers that there are.
        """
        questions = self.prepared.questions["dev"]
        prompts = [question_prompt(questions[row]) for row in range(len(questions))]
        most = self.experiment.question_recipe.generation.max_characters
        model = self.model().to(self.device).eval()
        with torch.no_grad():
            model.head.weight[MASK] = 0.0  # among so many random logits zero is never the largest
        plain, asked = self.plain_model(model).eval(), cycle(prompts)
        return lambda: answer(plain, next(asked).tolist(), most), lambda: generate(model, prompts, most)

    def product(self) -> tuple[Run, float]:
        """The product of the MLP's first layer, (8192, C) x (C, 4C), and its floating point operations."""
        width = self.experiment.recipe.model.width
        left, right = torch.randn(CHARACTERS, width), torch.randn(width, 4 * width)
        left, right = (matrix.to(self.device, self.backend.dtype) for matrix in (left, right))
        result = left @ right
        return lambda: torch.mm(left, right, out=result), 2.0 * CHARACTERS * width * 4 * width

    def step_flop(self) -> float:
        """Floating point operations of the linear layers' products in a training step, on average.

        2 a weight and character forward, 4 backward. Attention's own products are not counted: they differ from variant
        to variant, and in the handout's recipe are about 2 % of the sum.
        """
        weights = sum(module.weight.numel() for module in self.model().modules() if isinstance(module, nn.Linear))
        return 6.0 * weights * statistics.mean(float(self.examples(step).lengths.sum()) for step in self.steps)

    def timed(self, runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
        """Seconds of each side's runs, one side after the other, until the device has done all that it was given."""
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for name, run in runs.items():
            for _ in range(WARM_UP.get(name, 1)):
                run()
        for _ in range(rounds):
            for name, run in runs.items():
                for _ in range(RUNS.get(name, 1)):
                    started = time.perf_counter()
                    run()
                    if self.device.type != "cpu":
                        torch.cuda.synchronize(self.device)
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
    prepared = Prepared.load(PREPARED / experiment.recipe_name)
    workload, backend = Workload(experiment, prepared), experiment.backend
    runs = {"plain": workload.plain_step(), "study": workload.study_step()}
    runs["product"], product_flop = workload.product()
    runs["question"], runs["questions"] = workload.answers()
    if compiles:
        runs["compiled"] = workload.plain_step(compiles=True)

    seconds = workload.timed(runs, rounds)
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
        **compared(seconds, workload.step_flop(), product_flop, len(prepared.questions["dev"])),
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
    in_study = [variant for variant in settings.model.compared if variant in MIXERS]
    parser.add_argument("--variants", nargs="+", choices=[*MIXERS], default=in_study)
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
