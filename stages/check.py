"""Stage `check`: params.yaml as a whole."""

import shutil
from math import inf
from pathlib import Path

from stages.settings import Settings, load
from stages.settings.needs import check_needs
from stages.system.errors import Parser, command
from stages.system.files import write_text
from stages.system.memory import machine_memory


@command
def main() -> None:
    """Check params.yaml before anything is computed: its keys, then each variant on each recipe's shape."""
    parser = Parser(prog="python -m stages.check", description=main.__doc__)
    parser.add_argument("--keys", action="store_true", help="check the keys only, which takes a tenth of the time")
    parser.add_argument("--stamp", type=Path, help="file to write when all is well")
    arguments = parser.parse_args()
    settings = load()
    has_gpu = settings.compute.device != "cpu" and shutil.which("nvidia-smi")  # whose memory is looked at in training
    check_needs(settings, settings.recipe, inf if has_gpu else machine_memory(), bytes_a_number=2)
    if not arguments.keys:
        try_shapes(settings)
    if arguments.stamp:
        write_text(arguments.stamp, "params.yaml was checked\n")


def try_shapes(settings: Settings) -> None:
    """Try the section of every variant that is trained, ablated or drawn on the shape that its model gets.

    Raises StudyError: one line with the key that does not fit.
    """
    from stages.model.registry import settings_of  # torch, which the keys do not need

    for recipe in settings.recipes.values():
        for variant in settings.study.variants:
            settings_of(variant, settings.variants, recipe.model)
    ablation = settings.ablation
    for shape in {settings.ablated(change).recipes[ablation.recipe].model for change in ablation.changes}:
        settings_of(ablation.variant, settings.variants, shape)
    for variant, sections in settings.influence.settings.items():
        for section in sections:
            shape = settings.recipes[settings.influence.recipe].model
            settings_of(variant, {variant: section}, shape, "influence.settings")


if __name__ == "__main__":
    main()
