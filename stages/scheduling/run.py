"""All units on the workers of a cluster: each worker has one at a time, and gets the next as soon as it is free.

Dask is sent the name of a function of Python's own, `subprocess.run`, and a command line: workers need no project.
"""

import json
import logging
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from dask.system import CPU_COUNT
from distributed import Client, Future, LocalCluster

from stages.scheduling import home
from stages.scheduling.graph import Unit, graph_of
from stages.scheduling.lock import merge
from stages.scheduling.unit import LOOK_EVERY
from stages.settings import load
from stages.system.errors import StudyError
from stages.system.locks import WORK, locked
from stages.system.terminal import say

CONNECTED_WITHIN = 20  # seconds
MOST_LOSSES = 3  # a unit that lost so many workers is likely to be the reason
STOPPED = 130  # exit code of a unit that was stopped on its worker
GONE = "the scheduler is gone; finished stages are in the lock, the same command goes on"


def complete(targets: Collection[str], scheduler: str | None, workers: int) -> None:
    """Complete stages on the workers of a scheduler, or on so many here. Raises StudyError: something failed."""
    logging.disable(logging.ERROR)  # Dask's: the lines printed here say what matters
    settings = load()
    WORK.mkdir(exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(locked(WORK / "cluster.lock"))
        client = stack.enter_context(connect(scheduler or stack.enter_context(local(workers))))
        upstream = home.upstream_of(targets)
        stale = home.restore(upstream) if upstream else set()  # DVC takes no target for all
        print(f"{len(stale)} of {len(upstream)} cached stages to do", flush=True)
        if not stale:
            return

        dispatcher = Dispatcher(client, graph_of(upstream, stale, settings), stack.enter_context(home.snapshot()))
        dispatcher.carry_out()

        home.run("dvc", "checkout", "--allow-missing", *upstream)
        if dispatcher.failed:
            left = ", ".join(unit.name for unit in dispatcher.left)
            left = f"; not run for want of them: {left}" if left else ""
            raise StudyError(f"failed: {', '.join(unit.name for unit in dispatcher.failed)}{left}")
        print("All up to date; `dvc repro` makes the report.")


def local(number: int) -> LocalCluster:
    """Start workers in this process, which share its cores; number: how many, 0 is one a core."""
    number = number or CPU_COUNT
    threads = max(1, CPU_COUNT // number)
    return LocalCluster(n_workers=number, threads_per_worker=threads, processes=False, dashboard_address=":0")


def connect(cluster: Any) -> Client:
    """Connect to a cluster, or to the scheduler at an address. Raises StudyError: none answers."""
    try:
        return Client(cluster, timeout=CONNECTED_WITHIN)
    except (OSError, ValueError) as error:
        raise StudyError(f"no scheduler answers at {cluster}; start one with `dask scheduler`") from error


class Dispatcher:
    """Completes units, writes each finished stage into the lock here, and says why a unit failed.

    Which worker takes which unit is decided here: Dask would give a busy worker a queue while others have nothing to
    do, as it does not know how long a unit takes.
    """

    def __init__(self, client: Client, graph: Mapping[Unit, Collection[Unit]], snapshot: Path) -> None:
        """graph: the units, each with those that end before it begins."""
        self.client = client
        self.snapshot = snapshot
        self.sorter = TopologicalSorter(graph)
        self.sorter.prepare()
        self.waiting = [*self.sorter.get_ready()]  # for a free worker, and for nothing else
        self.left = [*graph]
        self.failed: list[Unit] = []
        self.running: dict[Unit, tuple[Future[Any], str, float]] = {}  # with the worker's address, and since when
        self.losses = Counter[Unit]()

    def carry_out(self) -> None:
        """Go on until nothing is left, or nothing that can run.

        Raises StudyError: the scheduler is gone. Raises KeyboardInterrupt: after Ctrl-C; the workers stop as soon as
        the snapshot is gone, a training with a checkpoint.
        """
        if not self._workers():
            print("waiting for workers; start one with `dask worker ADDRESS`", flush=True)
        try:
            while self.waiting or self.running:
                workers = self._workers()
                self._give_out(workers)
                time.sleep(LOOK_EVERY)
                self._collect(workers)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; trainings leave their checkpoints, the same command goes on") from None
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self.client.cancel([future for future, *_ in self.running.values()])

    def _workers(self) -> dict[str, int]:
        """Ask the scheduler for the workers: their addresses, and how many threads each has."""
        if self.client.status != "running":  # Dask would try for long to connect again
            raise StudyError(GONE)
        try:
            return dict(self.client.nthreads())
        except (OSError, AttributeError) as error:  # a client that lost its scheduler has None in its place
            raise StudyError(GONE) from error

    def _give_out(self, workers: dict[str, int]) -> None:
        """Give each free worker a unit."""
        busy = {address for _, address, _ in self.running.values()}
        free = [address for address in workers if address not in busy]
        given, self.waiting = self.waiting[: len(free)], self.waiting[len(free) :]
        for unit, address in zip(given, free, strict=False):
            command = [sys.executable, "-m", "stages.scheduling.unit", unit.stage, "--threads", str(workers[address])]
            command += [] if unit.seed is None else ["--seed", str(unit.seed)]
            options = {"cwd": str(self.snapshot), "capture_output": True, "encoding": "utf-8"}
            future = self.client.submit(subprocess.run, command, **options, pure=False, workers=[address])
            self.running[unit] = future, address, time.monotonic()
            say(f"started  {unit.name} on worker {address}")

    def _collect(self, workers: dict[str, int]) -> None:
        """Take what ended, and what lost its worker."""
        for unit, (future, address, started) in list(self.running.items()):
            if future.done():
                del self.running[unit]
                self._end(unit, future, time.monotonic() - started)
            elif address not in workers:
                del self.running[unit]
                self.client.cancel([future])
                self._lose(unit)

    def _end(self, unit: Unit, future: Future[Any], seconds: float) -> None:
        if future.status == "error":
            self._fail(unit, str(future.exception()))
        elif future.status != "finished":
            raise StudyError(GONE)
        elif (ended := future.result()).returncode == STOPPED:
            self._lose(unit)
        elif ended.returncode:
            self._fail(unit, ended.stderr.strip().rpartition("\n")[2] or f"it ended with code {ended.returncode}")
        else:
            if unit.seed is None:
                for root in (Path(), self.snapshot):
                    merge(root, unit.stage, json.loads(ended.stdout))
            self.left.remove(unit)
            self.sorter.done(unit)
            self.waiting += self.sorter.get_ready()
            print(f"done     {unit.name} in {seconds:.0f} s; {len(self.left)} to go", flush=True)

    def _lose(self, unit: Unit) -> None:
        """Let a unit wait again, if it did not lose its worker too often."""
        print(f"lost     {unit.name}: its worker is gone", flush=True)
        self.losses[unit] += 1
        if self.losses[unit] == MOST_LOSSES:
            self._fail(unit, f"lost its worker {MOST_LOSSES} times")
        else:
            self.waiting.append(unit)

    def _fail(self, unit: Unit, reason: str) -> None:
        """Say why a unit failed. What is below it will not run."""
        self.left.remove(unit)
        self.failed.append(unit)
        say(f"failed   {unit.name}: {reason}")
