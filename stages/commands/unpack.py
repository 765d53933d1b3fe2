"""Unpack a trained cell that `pack` wrote, to ask it without training: `python -m stages unpack quick-rope.zip`."""

from pathlib import Path

from stages.commands.package import unpack
from stages.settings import QuestionRecipe, load
from stages.system.errors import Parser, command


@command
def main() -> None:
    """Put the cell in its place, and say how to ask it."""
    parser = Parser(description=__doc__)
    parser.add_argument("file", type=Path)
    cell = unpack(load(), parser.parse_args().file)
    verb = "ask" if isinstance(cell.recipe, QuestionRecipe) else "sample"
    line = f"python -m stages {verb} --recipe {cell.recipe_name} --variant {cell.variant}"
    seeds = [
        path.stem.removeprefix("seed-") for path in (cell.weights_folder / "pretrained").glob("seed-*.safetensors")
    ]
    if str(cell.seeds[0]) not in seeds:  # that which `ask` takes without the option
        line += f" --seed {min(seeds)}"
    print(f"unpacked; {verb} it: {line}")
