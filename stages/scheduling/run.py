"""All units on the workers of a cluster: each worker has one at a time, and gets the next as soon as it is free."""

import logging
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
from distributed import Client, Future, get_worker
from tqdm import tqdm

from stages.scheduling import home, lock, pool, worker
from stages.scheduling.lock import entries, merge
from stages.scheduling.pool import GPU, workers_of
from stages.scheduling.schedule import Schedule, Unit, seeds_of
from stages.scheduling.worker import LOOK_EVERY, Snapshot
from stages.settings import load
from stages.system.errors import StudyError
from stages.system.locks import WORK, locked
from stages.system.terminal import harmless

MOST_LOSSES = 3  # workers that a unit may lose: it is likely to be the reason

# a worker need not have the project: what it runs is sent to it
cloudpickle.register_pickle_by_value(lock)
cloudpickle.register_pickle_by_value(worker)


def complete(chosen: Namespace) -> None:
    """Complete what the options of `stages.commands.cluster` ask for. Raises StudyError: something failed."""
    logging.disable(logging.ERROR)  # Dask's: the lines printed here say what matters
    settings = load()
    WORK.mkdir(exist_ok=True)
    with locked(WORK / "cluster.lock"):
        upstream = home.upstream_of(chosen.targets)
        stale = home.restore(upstream, chosen.remote)
        kinds = Counter(Unit(stage).kind for stage in sorted(stale))
        counted = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
        print(f"{len(stale)} of {len(upstream)} cached stages to do{': ' if stale else ''}{counted}", flush=True)
        if not stale:
            return

        seeds = {} if chosen.remote else {stage: seeds_of(stage, settings) for stage in upstream}
        schedule = Schedule(upstream, stale, entries(Path(), upstream), seeds)
        gpus = pool.gpus_here(settings.compute) if chosen.local is not None else []
        with ExitStack() as stack:
            snapshot = stack.enter_context(home.snapshot(chosen.remote))
            client = stack.enter_context(pool.connect(_cluster(chosen, gpus, stack)))
            pool.await_workers(client)
            Run(client, schedule, snapshot, chosen.gpu or bool(gpus)).carry_out()

        home.fetch(schedule.entries, chosen.remote)
        if schedule.failed:
            lost = ", ".join(unit.name for unit in schedule.left)
            lost = f"; not run for want of them: {lost}" if lost else ""
            raise StudyError(f"failed: {', '.join(unit.name for unit in schedule.failed)}{lost}")
        print("All up to date; `dvc repro` makes the report.")


def _cluster(chosen: Namespace, gpus: list[str], stack: ExitStack) -> Any:
    """Give a scheduler's address, or start workers that end with the stack."""
    if chosen.scheduler:
        return chosen.scheduler
    workers = pool.local(chosen.local, gpus) if chosen.local is not None else pool.slurm(chosen.slurm)
    return stack.enter_context(workers)


class Run:
    """Completes what is to do, enters each stage in the lock here at once, and says why a unit failed.

    Which worker takes which unit is decided here: Dask would give a busy worker a queue while others have nothing to
    do, as it does not know how long a unit takes.
    """

    def __init__(self, client: Client, schedule: Schedule, snapshot: Snapshot, on_gpus: bool) -> None:
        """on_gpus: whether trainings are for workers with a GPU alone."""
        self.client = client
        self.schedule = schedule
        self.snapshot = snapshot
        self.on_gpus = on_gpus
        self.waiting: list[Unit] = []  # units that wait for a worker
        self.running: dict[Future[Any], tuple[Unit, str, float]] = {}  # with the worker's address, and since when
        self.losses: list[Unit] = []

    def carry_out(self) -> None:
        """Go on until nothing is left, or nothing that can run.

        Raises StudyError: a worker cannot serve, or the scheduler is gone. Raises KeyboardInterrupt: after Ctrl-C; the
        workers stop, a training with a checkpoint.
        """
        try:
            self.client.register_plugin(self.snapshot)
        except RuntimeError as error:
            raise StudyError(str(error)) from error
        try:
            self.waiting += self.schedule.take_ready()
            while self.waiting or self.running:
                workers = self._workers()
                self._collect(workers)
                self._give_out(workers)
                time.sleep(LOOK_EVERY)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; trainings leave their checkpoints, the same command goes on") from None
        finally:
            if self.client.status == "running":
                with suppress(Exception):  # the scheduler may be gone just now
                    self.client.cancel(list(self.running))
                    self.client.unregister_worker_plugin(self.snapshot.name)

    def _workers(self) -> dict[str, Any]:
        """Ask for what there is to know of each worker, by its address."""
        if self.client.status != "running":  # Dask would try for long to connect again
            raise _gone()
        try:
            return workers_of(self.client)
        except (OSError, AttributeError) as error:  # a client that lost its scheduler has None in its place
            raise _gone() from error

    def _collect(self, workers: dict[str, Any]) -> None:
        """Take what ended, and what lost its worker."""
        for future, (unit, address, started) in list(self.running.items()):
            if future.done():
                del self.running[future]
                self._end(future, unit, time.monotonic() - started, len(workers))
            elif address not in workers:
                del self.running[future]
                self.client.cancel([future])
                self.losses.append(unit)
                print(f"lost     {unit.name}: its worker {_short(address)} is gone", flush=True)
                if self.losses.count(unit) < MOST_LOSSES:
                    self.waiting.insert(0, unit)
                else:
                    self._fail(unit, f"lost its worker {MOST_LOSSES} times")

    def _end(self, future: Future[Any], unit: Unit, seconds: float, workers: int) -> None:
        if future.status == "error":
            self._fail(unit, str(future.exception()))
        elif future.status != "finished":
            raise _gone()
        else:
            entry = future.result()
            if unit.seed is None:
                merge(Path(), {unit.stage: entry})
            self.schedule.end(unit, entry, seconds)
            self.waiting += self.schedule.take_ready()

            rest = f"{len(self.schedule.left)} to go"
            left, more = self.schedule.seconds_left(workers)
            if self.schedule.left and left >= 1:
                rest += f", {'at least' if more else 'about'} {tqdm.format_interval(left)}"
            print(f"done     {unit.name} in {tqdm.format_interval(seconds)}; {rest}", flush=True)

    def _fail(self, unit: Unit, reason: str) -> None:
        self.schedule.fail(unit)
        print(f"failed   {unit.name}:", *map(harmless, reason.splitlines()), sep="\n         ", flush=True)

    def _give_out(self, workers: dict[str, Any]) -> None:
        """Give each free worker the first unit that is for it."""
        busy = {address for _, address, _ in self.running.values()}
        for address, worker_facts in workers.items():
            has_gpu = GPU in worker_facts["resources"]
            fitting = [unit for unit in self.waiting if has_gpu or not (self.on_gpus and unit.trains)]
            if address not in busy and fitting:
                unit, *_ = fitting
                self.waiting.remove(unit)
                above = {stage: self.schedule.entries[stage] for stage in self.schedule.upstream[unit.stage]}
                future = self.client.submit(_task(self.snapshot.name, unit, above), pure=False, workers=[address])
                self.running[future] = unit, address, time.monotonic()
                print(f"started  {unit.name} on {_short(address)}", flush=True)


def _task(snapshot: str, unit: Unit, above: dict[str, str]) -> Callable[[], str]:
    """Make what a worker does; unlike a function of a module, a lambda is sent by value."""
    work = unit.name, unit.stage, above, unit.command
    return lambda: get_worker().plugins[snapshot].complete(*work)  # type: ignore[attr-defined]


def _gone() -> StudyError:
    return StudyError("the scheduler is gone; what ended is in the lock, the same command goes on")


def _short(address: str) -> str:
    return harmless(address.rpartition("/")[2])
