"""Bring all cached stages of the selection up to date on Dask workers; a plain `dvc repro` then trains nothing."""

from importlib import import_module

from stages.system.errors import Parser, StudyError, command, within

MOST_WORKERS = 10_000


@command
def main() -> None:
    """Complete what is to do; exit code 1 if something failed."""
    parser = Parser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["study"], help="stages, as `dvc repro` names them")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--local", type=within(1, MOST_WORKERS), nargs="?", const=0, metavar="N", help="workers here")
    where.add_argument("--scheduler", metavar="ADDRESS", help="of one that runs already, such as tcp://host:8786")
    given = parser.parse_args()
    try:
        scheduling = import_module("stages.scheduling.run")
    except ImportError as error:  # the other commands can do without Dask
        raise StudyError(f"{error}; run `pip install -r requirements-cluster.txt -c requirements.lock`") from None
    scheduling.complete(given.targets, given.scheduler, given.local)
