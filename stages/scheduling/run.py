"""All units on the workers of a cluster, one after the other as they become ready."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
from distributed import Client, Future, KilledWorker, as_completed, get_worker

from stages.scheduling import lock, worker
from stages.scheduling.lock import merge
from stages.scheduling.pool import GPU
from stages.scheduling.schedule import Schedule, Unit
from stages.scheduling.worker import PLACE, TOPIC, Clones
from stages.system.errors import StudyError

# a worker need not have the project: what it runs is sent to it
cloudpickle.register_pickle_by_value(lock)
cloudpickle.register_pickle_by_value(worker)


def carry_out(client: Client, schedule: Schedule, clones: Clones, on_gpus: bool) -> None:
    """Complete what is to do, and enter each stage in the lock here at once; of what fails it is told why.

    on_gpus: whether trainings are for workers with a GPU alone.

    Raises:
        StudyError: a worker cannot serve, or the scheduler is gone.
        KeyboardInterrupt: after Ctrl-C; the workers stop, a training with a checkpoint.
    """
    try:
        client.register_plugin(clones)
    except RuntimeError as error:
        raise StudyError(str(error)) from error
    client.subscribe_topic(TOPIC, _tell_start)
    futures: dict[Future[Any], tuple[Unit, float]] = {}
    ended = as_completed()

    def submit() -> None:
        for unit in schedule.take_ready():
            above = {stage: schedule.entries[stage] for stage in schedule.upstream[unit.stage]}
            future = client.submit(
                _task(clones.name, unit, above),
                key=f"{unit.name}-{clones.name}",
                pure=False,
                resources={PLACE: 1} | ({GPU: 1} if on_gpus and unit.trains else {}),
            )
            futures[future] = unit, time.monotonic()
            ended.add(future)

    try:
        submit()
        for future in ended:
            unit, _ = futures.pop(future)
            if future.status == "finished":
                entry, seconds = future.result()
                if unit.seed is None:
                    merge(Path(), {unit.stage: entry})
                schedule.end(unit, entry, seconds)
                _tell_end(unit, seconds, schedule, len(client.scheduler_info()["workers"]))
                submit()
            elif future.status == "error":
                schedule.fail(unit)
                _tell_failure(unit, future.exception())
            else:
                raise StudyError("the scheduler is gone; what ended is in the lock, the same command goes on")
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped; trainings leave their checkpoints, the same command goes on") from None
    finally:
        with suppress(Exception):  # the scheduler may be gone
            client.cancel(list(futures))
            client.unregister_worker_plugin(clones.name)


def _task(plugin: str, unit: Unit, above: dict[str, str]) -> Any:
    """What a worker does; a function within a function is sent by value."""
    name, stage, seed = unit.name, unit.stage, unit.command

    def complete() -> tuple[str, float]:
        started = time.monotonic()
        clones: Any = get_worker().plugins[plugin]
        return clones.complete(name, stage, above, seed), time.monotonic() - started

    return complete


def _tell_start(event: tuple[float, dict[str, str]]) -> None:
    address = event[1]["worker"].rpartition("/")[2]  # Dask adds it
    print(f"started  {event[1]['unit']} on {address}", flush=True)


def _tell_end(unit: Unit, seconds: float, schedule: Schedule, workers: int) -> None:
    rest, (left, more) = len(schedule.left), schedule.seconds_left(workers)
    time_left = f", {'at least' if more else 'about'} {duration(left)}" if rest and left >= 1 else ""
    print(f"done     {unit.name} in {duration(seconds)}; {rest} to go{time_left}", flush=True)


def _tell_failure(unit: Unit, error: BaseException | None) -> None:
    reason = "its workers died, the last one, too" if isinstance(error, KilledWorker) else str(error)
    print(f"failed   {unit.name}:\n" + "\n".join(f"         {line}" for line in reason.splitlines()), flush=True)


def duration(seconds: float) -> str:
    """A duration as one says it."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
