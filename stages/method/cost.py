"""Stage `cost`: multiply-adds, seconds and bytes of a variant's blocks over lengths."""

import time
from dataclasses import asdict
from pathlib import Path

from stages.experiment.backend import choose_backend
from stages.experiment.provenance import provenance
from stages.method.measurement import Cell, measure_lengths
from stages.model.registry import settings_of
from stages.settings import load
from stages.system.digests import result_folder
from stages.system.errors import Parser, StudyError, command
from stages.system.files import write_json


@command
def main() -> None:
    """Measure what a variant costs, in the shape of the recipe `cost.recipe`."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--variant", required=True, help="a key of `variants`")
    variant = parser.parse_args().variant
    settings = load()
    settings.check_variant(variant)
    cost = settings.cost
    model = settings.recipe_named(cost.recipe).model
    section = settings_of(variant, settings.variants, model)
    models = [model.model_copy(update={"context": length, "dropout": 0.0}) for length in sorted(cost.lengths)]

    started = time.perf_counter()
    cells = [Cell(variant, section, at_length, settings.compute) for at_length in models]
    measurements = measure_lengths(cells, cost.longest_run)
    if not measurements:
        raise StudyError(f"no length of cost.lengths could be measured for {variant}")

    shape = {"layers": model.layers, "heads": model.heads, "width": model.width}
    depends_on = {"variant": section.model_dump(), "shape": shape, "cost": cost.model_dump()}
    record = {
        "recipe": cost.recipe,
        "shape": shape,
        "measurements": [asdict(measurement) for measurement in measurements],
        "provenance": provenance(depends_on, choose_backend(settings.compute), time.perf_counter() - started),
    }
    with result_folder(Path("data/cost") / variant) as folder:
        write_json(folder / "cost.json", record)


if __name__ == "__main__":
    main()
