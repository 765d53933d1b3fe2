"""The executor runs the jobs of a stage, in processes here or on the workers of a cluster, and publishes their results.

A small model keeps no more than one core busy, so on a CPU several jobs with a part of the threads each end sooner than
one after another with all of them. How many threads a job has follows from the recipe's seeds alone, for the bits of a
result may depend on it. A GPU takes one job at a time.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import Any

from stages.jobs.job import KINDS, Job, code_digest, jobs_of, publish, restore
from stages.settings.params import PARAMS, load
from stages.system import progress
from stages.system.errors import Parser, UserError, tell
from stages.system.files import locked
from stages.system.lifetime import AGAIN, Stop, stop_requests

LOOK_EVERY = 0.2  # seconds
PATIENCE = 10.0  # seconds: a job whose executor was killed needs some to stop
MOST_BREAKS = 3  # of a pool in which no job ends meanwhile: the jobs are likely to be the reason
STOPPED = 130  # exit code

Submit = Callable[[Job], "Future[Any]"]


@dataclass(frozen=True)
class Watch:
    """What goes on while jobs run: the bar, and what is called with each that ended."""

    bar: progress.JobsBar
    ended: Callable[[Job], None]


def run_stage(stage: str, description: str | None) -> list[Job]:
    """Run those of a stage's jobs that have no result, publish the results of all, and return the jobs.

    Raises UserError: params.yaml or a variant is faulty, a job fails, or settings changed while they ran.
    """
    Parser(description=description).parse_args()
    params = load()
    jobs = jobs_of(stage, params)
    if missing := [job for job in jobs if job.result is None]:
        restore(missing)
    if any(job.result is None for job in missing):
        run_jobs(stage, jobs, len(params.recipe_named(params.recipe).seeds))
    else:
        print(f"{stage}: jobs done before: {len(jobs)} of {len(jobs)}", file=sys.stderr)

    # DVC reads params.yaml when a stage ends, and would store what it then has as what the results were made with
    code_digest.cache_clear()
    if [job.key for job in jobs_of(stage, load())] != [job.key for job in jobs]:
        what = f"settings or code were changed while stage {stage} ran"
        raise UserError(f"{PARAMS}: {what}; undo that to keep what was made, then run the same command again")
    publish(jobs, KINDS[stage].output / params.recipe / params.model.variant)
    return jobs


def lowest_loss(jobs: Sequence[Job], training: str) -> float:
    """Return the loss of the variant that has the lowest after a training: its seeds' mean, in nats a character."""
    by_variant: dict[str, list[float]] = {}
    for job in jobs:
        by_variant.setdefault(job.variant, []).append(job.record["trainings"][training]["loss"])
    return min(map(fmean, by_variant.values()))


def run_jobs(
    title: str, jobs: Sequence[Job], side_by_side: int, ended: Callable[[Job], None] = lambda job: None
) -> None:
    """Run those of the jobs that have no result.

    title: of the bar, the stage's or the study's; side_by_side: into how many parts a CPU's threads are divided; ended:
    is called with each job that ended. Raises UserError: a variant is faulty, and nothing has begun; or a job failed,
    and the others were stopped. Raises KeyboardInterrupt: after a signal to stop, or when the parent is gone; trainings
    leave checkpoints.
    """
    cluster = jobs[0].params.compute.cluster
    missing = [job for job in jobs if job.result is None]
    bar = progress.JobsBar(title, len(jobs), len(jobs) - len(missing))
    watch = Watch(bar, ended)
    try:
        if cluster:
            from stages.jobs.cluster import run_on_cluster  # it needs a package that others can do without

            check_jobs(jobs)
            run_on_cluster(missing, cluster, watch)
        else:
            run_here(jobs, side_by_side, watch)
    finally:
        bar.close()


def check_jobs(jobs: Sequence[Job]) -> None:
    """Build the model of each variant once, without memory, and find the GPU if the jobs are for one.

    Raises UserError: a variant is faulty, or torch does not find the GPU.
    """
    from stages.experiment.experiment import choose_backend  # these load torch
    from stages.model.gpt import settings_of

    compute = jobs[0].params.compute
    if jobs[0].traits[0] == "cuda" and choose_backend(compute).device.type == "cpu":
        raise UserError(
            f"{PARAMS}: compute.device: was '{compute.device}'; NVIDIA's driver reports a GPU, but torch finds none: "
            "install torch for it, or set cpu"
        )
    try:
        for job in {job.variant: job for job in jobs}.values():
            settings_of(job.variant, job.params.variants, job.params.recipe_named(job.recipe_name).model)
    except UserError as error:
        if not str(error).startswith(str(PARAMS)):  # a fault in the file of a variant
            raise
        raise UserError(f"{error}; `git diff {PARAMS}` shows what was changed") from error


def run_here(jobs: Sequence[Job], side_by_side: int, watch: Watch) -> None:
    """Run jobs in processes of this machine; arguments and errors as of `run_jobs`."""
    on_gpu = jobs[0].traits[0] == "cuda"
    each = threads() if on_gpu else max(1, threads() // side_by_side)
    most = 1 if on_gpu else threads() // each
    os.environ["OMP_NUM_THREADS"] = str(each)  # read by the processes that are started from now on
    breaks = 0
    while left := [job for job in jobs if job.result is None]:
        workers = min(len(left), most)
        with pool(workers) as (executor, halt, shares), stop_requests() as stop:

            def submit(job: Job, executor: Executor = executor) -> Future[Any]:
                return executor.submit(_run_in_pool, job)

            try:
                executor.submit(check_jobs, jobs).result()  # there torch is loaded anyway
                submit_all(left, submit, lambda: len(shares), stop, halt, watch, lambda: sum(shares))
            except BrokenProcessPool as error:
                if stop.requested():  # by a signal to processes that were starting
                    raise _stopped(stop) from error
                breaks = breaks + 1 if all(job.result is None for job in left) else 1
                if breaks == MOST_BREAKS:
                    raise UserError(f"processes were killed {breaks} times (out of memory?); {AGAIN}") from error
                tell("a process was killed; its job goes on from its checkpoint")


def submit_all(
    jobs: Sequence[Job],
    submit: Submit,
    workers: Callable[[], int],
    stop: Stop,
    halt: Callable[[], None],
    watch: Watch,
    shares: Callable[[], float] = lambda: 0.0,
) -> None:
    """Submit each job as soon as one of the workers is free, and wait for all.

    halt: tells the running ones to stop; shares: the sum of what is done of them. Raises what the first that failed
    raised, and KeyboardInterrupt when a stop was requested; no job runs then.
    """
    waiting = deque(jobs)
    running: dict[Future[Any], Job] = {}
    failed: BaseException | None = None
    while running or waiting:
        while waiting and len(running) < max(1, workers()):
            job = waiting.popleft()
            running[submit(job)] = job
        done, _ = wait(running, LOOK_EVERY, FIRST_COMPLETED)
        for future in done:
            job = running.pop(future)
            if error := future.exception():
                failed = failed or error
            else:
                watch.bar.end()
                watch.ended(job)
        if failed or stop.requested():
            halt()
            waiting.clear()
        else:
            watch.bar.show(shares())
    if stop.requested():
        raise _stopped(stop)
    if failed:
        raise failed


def _stopped(stop: Stop) -> KeyboardInterrupt:
    return KeyboardInterrupt(f"stopped{stop.reason}; {AGAIN}")


@contextmanager
def pool(workers: int) -> Iterator[tuple[ProcessPoolExecutor, Callable[[], None], Any]]:
    """Start a pool of processes; with it, what tells them to stop, and the share done of each one's job.

    No lock is shared: a process that is killed would keep it.
    """
    context = multiprocessing.get_context("spawn")
    halted = context.Value("b", 0, lock=False)
    shares = context.Array("d", workers, lock=False)

    def halt() -> None:
        halted.value = 1

    with ProcessPoolExecutor(workers, context, _begin, (halted, shares)) as executor:
        try:
            yield executor, halt, shares
        except BaseException:
            halt()
            raise


def _begin(halted: Any, shares: Any) -> None:
    """Prepare a process of the pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and tells by `halt`
    number = int(multiprocessing.current_process().name.rpartition("-")[2])  # they are counted over all pools
    mine = number % len(shares)

    def report(share: float) -> None:
        shares[mine] = share % 1  # an ended job counts as such

    progress.in_process(mine + 1, report)
    threading.Thread(target=_end_in_time, args=(halted,), daemon=True).start()


def _end_in_time(halted: Any) -> None:
    """End this process when it is told to, or when its parent was killed: a training leaves a checkpoint first."""
    parent = multiprocessing.parent_process()
    while not halted.value and parent and parent.is_alive():
        time.sleep(LOOK_EVERY)
    os.kill(os.getpid(), signal.SIGTERM)


def _run_in_pool(job: Job) -> None:
    """Run a job in a process of the pool, which ends if it was told to stop."""
    try:
        run_job(job)
    except KeyboardInterrupt:
        os._exit(STOPPED)  # its checkpoint is written


def run_job(job: Job, patience: float = PATIENCE) -> None:
    """Carry out a job in this process unless it has a result; wait so many seconds for a process that is at work on it.

    Raises UserError: that one still is.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    with locked(job.folder / "lock", patience):
        if job.result is None:
            import_module(f"stages.{job.kind.module or job.stage}").carry_out(job)


def threads() -> int:
    """How many threads torch has here: OMP_NUM_THREADS, or one for each core that this process may use."""
    given, *_ = os.environ.get("OMP_NUM_THREADS", "").split(",")  # "4,2": of nested loops, the outer first
    if given.isdecimal():
        return int(given)
    cores = {path.read_text() for path in Path("/sys/devices/system/cpu").glob("cpu*/topology/core_cpus_list")}
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(len(cores) or allowed, allowed)
