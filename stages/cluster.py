"""Bring all cached stages of the selection up to date on Dask workers; a plain `dvc repro` then trains nothing."""

import argparse
import contextlib
import logging
from collections import Counter
from pathlib import Path
from typing import Any

from distributed import Client
from distributed.comm.addressing import get_address_host_port

from stages.scheduling import home, pool
from stages.scheduling.lock import entries
from stages.scheduling.run import Run
from stages.scheduling.schedule import Schedule, Unit, seeds_of
from stages.settings import load
from stages.system.errors import Parser, StudyError, command
from stages.system.locks import WORK, locked

CONNECTED_WITHIN = 20  # seconds


@command
def main() -> None:
    """Complete what is to do; exit code 1 if something failed."""
    parser = Parser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=["study"], help="stages, as `dvc repro` names them")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--local", type=number, nargs="?", const=0, metavar="N", help="workers on this machine")
    where.add_argument("--scheduler", type=address, metavar="ADDRESS", help="of a running one, such as tcp://host:8786")
    where.add_argument("--slurm", type=number, metavar="N", help="jobs of SLURM, by dask-jobqueue's settings")
    parser.add_argument("--gpu", action="store_true", help="train only on workers with --resources GPU=1")
    parser.add_argument("--remote", action="store_true", help="by DVC's remote: workers do not share cache and work/")
    chosen = parser.parse_args()
    logging.disable(logging.ERROR)  # Dask's: what matters is told here
    settings = load()
    WORK.mkdir(exist_ok=True)
    with locked(WORK / "cluster.lock"):
        upstream = home.upstream_of(chosen.targets)
        stale = home.restore(upstream, chosen.remote)
        seeds = {} if chosen.remote else {stage: seeds_of(stage, settings) for stage in upstream}
        schedule = Schedule(upstream, stale, entries(Path(), upstream), seeds)
        kinds = Counter(Unit(stage).kind for stage in sorted(stale))
        counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        print(f"{len(stale)} of {len(upstream)} cached stages to do{': ' if stale else ''}{counted}", flush=True)
        if not stale:
            return
        gpus = pool.gpus_here(settings.compute) if chosen.local is not None else []
        with contextlib.ExitStack() as stack:
            snapshot = stack.enter_context(home.snapshot(chosen.remote))
            cluster: Any = chosen.scheduler
            if not cluster:
                cluster = pool.local(chosen.local, gpus) if chosen.local is not None else pool.slurm(chosen.slurm)
                stack.enter_context(cluster)
            client = stack.enter_context(_client(cluster))
            _await_workers(client)
            Run(client, schedule, snapshot, chosen.gpu or bool(gpus)).carry_out()
        home.fetch(schedule.entries, chosen.remote)
        if schedule.failed:
            lost = ", ".join(unit.name for unit in schedule.left)
            lost = f"; not run for want of them: {lost}" if lost else ""
            raise StudyError(f"failed: {', '.join(unit.name for unit in schedule.failed)}{lost}")
        print("All up to date; `dvc repro` makes the report.")


def _client(cluster: Any) -> Client:
    try:
        return Client(cluster, timeout=CONNECTED_WITHIN)
    except OSError as error:
        raise StudyError(f"no scheduler answers at {cluster}; start one with `dask scheduler`") from error


def _await_workers(client: Client) -> None:
    """Wait for the first worker, and say which there are; more may come later."""
    print("waiting for workers", flush=True)
    client.wait_for_workers(1)
    for worker in pool.workers_of(client).values():
        threads = worker["nthreads"]
        print(f"worker   {worker['host']}, {threads} thread{'s' if threads > 1 else ''}", flush=True)


def address(text: str) -> str:
    """Parse a scheduler's address. Raises ValueError: it is none."""
    get_address_host_port(text)
    return text


def number(text: str) -> int:
    """Parse how many; its own name stands in the message about what is no number."""
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return count


if __name__ == "__main__":
    main()
