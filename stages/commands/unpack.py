"""Unpack a trained cell that `pack` wrote, to ask it without training: `python -m stages unpack quick-rope.zip`."""

from pathlib import Path

from stages.experiment.package import unpack
from stages.settings import load
from stages.system.errors import Parser, command


@command
def main() -> None:
    """Put the cell in its place, and say how to ask it."""
    parser = Parser(description=__doc__)
    parser.add_argument("file", type=Path)
    cell = unpack(load(), parser.parse_args().file)
    print(f"unpacked; ask it: python -m stages ask --recipe {cell.recipe_name} --variant {cell.variant}")
