"""Stage `check`: params.yaml as a whole."""

import shutil
from math import inf
from pathlib import Path

from stages.settings import load
from stages.settings.needs import check_needs
from stages.system.errors import Parser, command
from stages.system.files import write_text
from stages.system.memory import machine_memory


@command
def main() -> None:
    """Check params.yaml before anything is computed; a cell tries its variant on its shape when it starts."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--stamp", type=Path, help="file to write when all is well")
    arguments = parser.parse_args()
    settings = load()
    has_gpu = settings.compute.device != "cpu" and shutil.which("nvidia-smi")  # whose memory is looked at in training
    check_needs(settings, settings.recipe, inf if has_gpu else machine_memory(), bytes_a_number=2)
    if arguments.stamp:
        write_text(arguments.stamp, "params.yaml was checked\n")


if __name__ == "__main__":
    main()
