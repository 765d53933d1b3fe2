"""Stage `cost`: seconds and bytes of a variant's blocks over lengths."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import torch

from stages.costing.exponents import fitted
from stages.costing.series import measure_all
from stages.experiment.backend import choose_backend
from stages.experiment.provenance import provenance
from stages.model.cpu.varlen_attention import serves
from stages.model.registry import settings_of
from stages.settings import load
from stages.system.errors import StudyError, command
from stages.system.files import new_folder, write_json, write_text

FITTED = ("forward_seconds", "forward_bytes", "training_seconds", "training_bytes", "character_seconds", "state_bytes")


@command
def main() -> None:
    """Measure what a variant costs, in the shape of the recipe `cost.recipe`."""
    parser = argparse.ArgumentParser(prog="python -m stages.cost", description=main.__doc__)
    parser.add_argument("--variant", required=True, help="an entry of study.variants")
    variant = parser.parse_args().variant
    settings = load()
    settings.check_variant(variant)
    model, limits = settings.recipe_named(settings.cost.recipe).model, settings.cost
    section = settings_of(variant, settings.variants, model)
    shape = {"layers": model.layers, "heads": model.heads, "width": model.width}
    started = time.perf_counter()
    series = measure_all(variant, section, model, settings.compute, limits)
    seconds = time.perf_counter() - started
    if not series.measurements:
        raise StudyError(f"no length of cost.lengths could be measured for {variant}: {series.left_out}")
    table = pd.DataFrame([asdict(each) for each in series.measurements])
    exponents = {name: fitted(table["length"].tolist(), table[name].tolist()) for name in FITTED}
    backend = choose_backend(settings.compute)
    numbers = torch.empty(0, dtype=backend.dtype, device=backend.device)
    depends_on = {"variant": {variant: section.model_dump()}, "shape": shape, "cost": limits.model_dump()}
    record = {
        "variant": variant,
        "settings": section.model_dump(),
        "recipe": limits.recipe,
        "shape": shape,
        "by_rows": serves(numbers, model.width // model.heads),
        "measurements": table.to_dict("records"),
        "left_out": series.left_out,
        "exponents": {name: asdict(exponent) if exponent else None for name, exponent in exponents.items()},
        "provenance": provenance(depends_on, backend, seconds),
    }
    with new_folder(Path("data/cost") / variant) as folder:
        write_json(folder / "cost.json", record)
        write_text(folder / "cost.tsv", table.to_csv(sep="\t", index=False, lineterminator="\n"))
    for length, reason in series.left_out.items():
        print(f"{variant}: {length} characters left out: {reason}")


if __name__ == "__main__":
    main()
