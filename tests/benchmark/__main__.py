"""Time the plain reference, the same under torch.compile, and the study, by processor class, in alternating runs."""

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stages.plain.attention import ATTENTION
from stages.settings import Settings, load
from stages.system.errors import StudyError, command
from stages.system.files import read_json, write_json
from tests.benchmark.classes import ClassProcess, chosen_classes, own_class
from tests.benchmark.table import HEAD, line, row
from tests.benchmark.workload import check_comparable, read_data

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


def parse(settings: Settings, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line's arguments, each with its default."""
    comparable = [variant for variant in settings.study.variants if variant in ATTENTION]
    compared = [variant for variant in settings.study.compared if variant in ATTENTION]
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("--recipe", default="handout", help="whose model and hyper-parameters are timed")
    parser.add_argument("--variants", nargs="+", default=comparable, help="by default all that have a plain reference")
    parser.add_argument("--classes", nargs="+", help="by default a GPU alone, or all that this processor can run as")
    parser.add_argument("--compile", nargs="*", default=compared, help="variants of which torch.compile is timed, too")
    parser.add_argument("--rounds", type=int, default=3, help="of all sides of a variant")
    parsed = parser.parse_args(arguments)
    if parsed.rounds < 1:
        parser.error("--rounds is at least 1")
    return parsed


def check(settings: Settings, chosen: argparse.Namespace) -> None:
    """Whether all that was chosen can be timed.

    Raises:
        StudyError: there is no such recipe or variant, or the plain reference does not know it.
    """
    check_comparable(chosen.recipe, settings.recipe_named(chosen.recipe))
    for variant in [*chosen.variants, *chosen.compile]:
        settings.check_variant(variant)
        if variant not in ATTENTION:
            raise StudyError(f"variant {variant!r} has no plain reference in stages/plain/attention.py to be timed")


def benchmark(settings: Settings, chosen: argparse.Namespace) -> None:
    """Time all that was chosen, print a row each, and write the file, in which rows replace those of the same name."""
    check(settings, chosen)
    names, own = chosen_classes(settings.compute, chosen.classes), own_class(settings.compute)
    started, (_, data) = time.monotonic(), read_data(chosen.recipe)
    processes = [ClassProcess(name, chosen.recipe) for name in names]
    print(f"{data}; seconds a step\n{HEAD}", flush=True)
    try:
        for variant in chosen.variants:
            wishes = {"variant": variant, "compiles": variant in chosen.compile}
            facts: dict[str, dict[str, Any]] = {}
            for each in processes:
                print(f"{variant} warms up as {each.name}", file=sys.stderr)
                facts[each.name] = each.ask(**wishes, evaluates=each.name == own)
            seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
            for _ in range(chosen.rounds):
                for each in processes:
                    for side, measured in each.ask(round=True).items():
                        seconds[each.name][side] += measured
            for name in names:
                which = {"class": name, "variant": variant, "recipe": chosen.recipe, "data": data}
                ran = {**facts[name]["origin"], "rounds": chosen.rounds}
                figures = which | ran | row(facts[name], seconds[name])
                keep(figures)  # at once: a later failure loses none
                print(line(figures), flush=True)
    finally:
        for each in processes:
            each.close()
    print(f"{figures['processor']}; {(time.monotonic() - started) / 60:.1f} min; written to {OUTPUT}")


def keep(figures: dict[str, Any]) -> None:
    """Write a row among those that are kept of other processors, classes, recipes and variants."""

    def place(each: dict[str, Any]) -> tuple[str, ...]:
        return each["processor"], each["class"], each["recipe"], each["variant"]

    before = read_json(OUTPUT)["rows"] if OUTPUT.exists() else []
    kept = {place(each): each for each in [*before, figures]}
    write_json(OUTPUT, {"notes": NOTES, "rows": sorted(kept.values(), key=lambda each: place(each)[:3])})


@command
def main() -> None:
    """Time what the command line chooses."""
    settings = load()
    benchmark(settings, parse(settings))


if __name__ == "__main__":
    main()
