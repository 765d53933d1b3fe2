"""Time the plain reference, the same under torch.compile, and the study, by processor class."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from stages.model.cpu.processor import CLASSES, processor_class
from stages.plain.attention import ATTENTION
from stages.settings import Compute, Settings, load
from stages.system.errors import StudyError, command
from stages.system.files import read_json, write_json
from tests.benchmark.workload import check_comparable

OUTPUT = Path("reports/benchmark.json")
NOTES = {
    "seconds": "of a training step; of all questions",
    "plain": "one padded batch of whole contexts, float32, AdamW not fused; questions one at a time, scaled up",
    "compiled": "the same with its model under torch.compile, under autocast where the study computes in bfloat16",
    "study": "the study's own step; questions in float32, all answers as long as can be",
    "share_of_gemm_peak": "6 operations a linear weight and character, the perceiver's latents counted as characters; "
    "attention's own products are not counted",
    "recurrence": "products that wait for one another; the shortest step has all others at the GEMM peak",
}
CUDA = "cuda"
# What holds a faster processor to a class: oneDNN, MKL (on Intel's processors) and torch's own loops read these
# when they start; the compiled kernels and torch.compile follow
LIMITS = {
    "avx512-bf16": ("AVX512_CORE_BF16", "AVX512_E3", "avx512"),
    "avx512": ("AVX512_CORE", "AVX512", "avx512"),
    "float32-avx2": ("AVX2", "AVX2", "avx2"),
}
LIMITED = ("ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY")
ROOT = Path(__file__).parents[2]
COMPILED = Path("work/benchmark")  # what torch.compile keeps, a folder a class: its own cache tells none from another


def parse(settings: Settings, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line's arguments. Raises StudyError: the plain reference lacks a variant or the recipe's task."""
    comparable = [variant for variant in settings.variants if variant in ATTENTION]
    compared = [variant for variant in settings.study.compared if variant in ATTENTION]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--recipe", default="handout", help="whose model and hyper-parameters are timed")
    parser.add_argument("--variants", nargs="+", default=comparable, help="by default all that have a plain reference")
    parser.add_argument("--classes", nargs="+", help="by default a GPU alone, or all that this processor can run as")
    parser.add_argument("--compile", nargs="*", default=compared, help="variants of which torch.compile is timed, too")
    parser.add_argument("--rounds", type=int, default=3, help="of all sides of a variant")
    chosen = parser.parse_args(arguments)

    check_comparable(chosen.recipe, settings.recipe_named(chosen.recipe))
    for variant in [*chosen.variants, *chosen.compile]:
        if variant not in comparable:
            raise StudyError(f"variant {variant!r} has no plain reference in stages/plain/attention.py to be timed")
    possible = possible_classes(settings.compute)
    chosen.classes = chosen.classes or ([CUDA] if CUDA in possible else possible)
    for name in chosen.classes:
        if name not in possible:
            raise StudyError(f"--classes: was {name!r}; this machine can run as {', '.join(possible)}")
    return chosen


def possible_classes(compute: Compute) -> list[str]:
    """What the machine can run as, the fastest first."""
    own, slower = processor_class(), list(CLASSES)
    on_cpu = [own, *slower[slower.index(own) + 1 :]] if own in slower else [own]
    return [CUDA, *on_cpu] if compute.device != "cpu" and torch.cuda.is_available() else on_cpu


def environment(name: str) -> dict[str, str]:
    """The environment of a class's process: that of this one where the class is the processor's own."""
    held = {} if name in (CUDA, processor_class()) else dict(zip(LIMITED, LIMITS[name], strict=True))
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "TORCHINDUCTOR_CACHE_DIR": str((COMPILED / name).resolve()), **held}


def measured(variant: str, name: str, chosen: argparse.Namespace, evaluates: bool) -> dict[str, Any]:
    """The row of a variant, timed in a process of the class. Raises StudyError: that failed, and said why."""
    options = ["compile"] * (variant in chosen.compile) + ["evaluate"] * evaluates
    device = CUDA if name == CUDA else "cpu"
    arguments = [chosen.recipe, variant, device, str(chosen.rounds), *options]
    process = [sys.executable, "-m", "tests.benchmark.worker", *arguments]
    ended = subprocess.run(process, env=environment(name), stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise StudyError(f"the process of class {name} ended; see above")
    return {"class": name, "variant": variant, "recipe": chosen.recipe, **json.loads(ended.stdout)}


def keep(row: dict[str, Any]) -> None:
    """Write a row among those that are kept of other processors, classes, recipes and variants."""

    def place(kept: dict[str, Any]) -> tuple[str, ...]:
        return kept["processor"], kept["class"], kept["recipe"], kept["variant"]

    before = read_json(OUTPUT)["rows"] if OUTPUT.exists() else []
    rows = {place(kept): kept for kept in [*before, row]}
    write_json(OUTPUT, {"notes": NOTES, "rows": sorted(rows.values(), key=lambda kept: place(kept)[:3])})


def benchmark(settings: Settings, chosen: argparse.Namespace) -> None:
    """Time all that was chosen; print a line a row, and write the file, in which rows replace those of their name."""
    own = possible_classes(settings.compute)[0]
    for variant in chosen.variants:
        for name in chosen.classes:
            row = measured(variant, name, chosen, evaluates=name == own)
            keep(row)  # at once: a later failure loses none
            plain, study = row["plain"]["median"], row["study"]["median"]
            times = f"plain {plain:.3f} s, study {study:.3f} s, {row['study_over_plain']} times"
            print(f"{name:14}{variant:20}{times}, {row['share_of_gemm_peak']:.1%} of the peak", flush=True)


@command
def main() -> None:
    """Time what the command line chooses."""
    settings = load()
    benchmark(settings, parse(settings))


if __name__ == "__main__":
    main()
