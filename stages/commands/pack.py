"""Pack a trained cell into one file, for others to unpack: `python -m stages pack --recipe quick --variant rope`."""

from pathlib import Path

from stages.commands.options import add_model
from stages.commands.package import pack
from stages.commands.trained import chosen_variant
from stages.experiment.experiment import Experiment
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.system.terminal import harmless, quoted


@command
def main() -> None:
    """Write the file, and say how large it is."""
    parser = Parser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="by default <recipe>-<variant>.zip")
    add_model(parser, seed="the only one to pack; by default all are")
    given = parser.parse_args()
    settings = load()
    recipe = given.recipe or settings.recipe
    settings.recipe_named(recipe)  # refused before any variant
    experiment = Experiment.of(settings, recipe, chosen_variant(settings, recipe, given.variant))
    if given.file is not None and not given.file.name:
        raise StudyError(f"{quoted(str(given.file))} names no file; write for instance {recipe}.zip")
    target = given.file or Path(f"{experiment.recipe_name}-{experiment.variant}.zip")
    pack(experiment, given.seed, target)
    megabytes = target.stat().st_size / 1e6
    print(harmless(f"{target}, {megabytes:.1f} MB; elsewhere: python -m stages unpack {target.name}"))
