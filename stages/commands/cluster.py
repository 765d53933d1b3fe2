"""Bring all cached stages of the selection up to date on Dask workers; a plain `dvc repro` then trains nothing."""

from importlib import import_module
from typing import Any

from stages.commands.options import within
from stages.system.errors import Parser, StudyError, command

MOST_WORKERS = 10_000


@command
def main() -> None:
    """Complete what is to do; exit code 1 if something failed."""
    parser = Parser(description=__doc__)
    number = within(1, MOST_WORKERS)
    parser.add_argument("targets", nargs="*", default=["study"], help="stages, as `dvc repro` names them")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--local", type=number, nargs="?", const=0, metavar="N", help="workers on this machine")
    where.add_argument("--scheduler", type=address, metavar="ADDRESS", help="of a running one, such as tcp://host:8786")
    where.add_argument("--slurm", type=number, metavar="N", help="jobs of SLURM, by dask-jobqueue's settings")
    parser.add_argument("--gpu", action="store_true", help="train only on workers with --resources GPU=1")
    parser.add_argument("--remote", action="store_true", help="by DVC's remote: workers do not share cache and work/")
    chosen = parser.parse_args()
    _with_dask("stages.scheduling.run").complete(chosen)


def _with_dask(module: str) -> Any:
    """Import what needs Dask, which the other commands can do without."""
    try:
        return import_module(module)
    except ImportError as error:
        raise StudyError(f"{error}; run `pip install -r requirements-cluster.txt -c requirements.lock`") from None


def address(text: str) -> str:
    """Parse a scheduler's address. Raises ValueError: it is none."""
    _with_dask("distributed.comm.addressing").get_address_host_port(text)
    return text
