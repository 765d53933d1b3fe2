"""What a training on a GPU proves of its device before it trusts it: a captured step does what an eager one does.

Where a check fails, the trainer goes on eagerly on the same padded parts. The checks change no weight: every step's
random numbers are its own, and the state of the device's generator is as it was.
"""

import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from stages.experiment.backend import Backend

APART = {"loss": 1e-3, "gradient norm": 1e-2}  # how far a replay's may be from an eager step's, as a share of it
WATCHED = range(10, 41)  # steps in which nothing may wait for the device
TIMED = range(101, 201)  # steps whose times are told; the losses were looked at before, so the device is idle then
SYNCHRONISING = "called a synchronizing CUDA operation"  # torch's warning


def fault_of(step: Any, characters: Tensor) -> str | None:
    """Capture a step and replay it on two batches: why its replays can't be trusted, or None if they can.

    step: run by `eager` or, after `capture`, by `replay`, which take a batch's characters and give its loss and the
    norm of its gradients. An error of the eager step is raised.
    """
    drawn = torch.cuda.get_rng_state()

    def tried(run: Callable[[Tensor], tuple[Tensor, Tensor]], characters: Tensor) -> list[float]:
        torch.cuda.set_rng_state(drawn)  # dropout drops the same
        return torch.stack(run(characters)).cpu().tolist()

    eager = tried(step.eager, characters)
    try:
        step.capture()
        other, replayed = tried(step.replay, characters.flip(0)), tried(step.replay, characters)
    except RuntimeError as error:
        first: BaseException = error
        while first.__context__ is not None:  # the last only says that the capture had failed before
            first = first.__context__
        reason, *_ = str(first).split("\n")
        return f"its capture failed: {reason}"
    finally:
        torch.cuda.set_rng_state(drawn)
    if not all(map(isfinite, eager)):
        return None  # it is not the graph that has failed
    for (name, apart), ours, theirs in zip(APART.items(), replayed, eager, strict=True):
        if not abs(ours - theirs) <= apart * abs(theirs):
            return f"the {name} of a replay is {ours:.6g}, of an eager step {theirs:.6g}"
    return f"two batches have one loss, {other[0]:.6g}" if other[0] == replayed[0] else None


class Watch:
    """Looks on while a GPU trains: whether a step waits for it, and how long steps take. On a CPU it does nothing."""

    def __init__(self, trainer: Any, title: str, left: int) -> None:
        """trainer: a `GraphTrainer`, unless on a CPU; left: steps to go."""
        self.trainer, self.title, self.left = trainer, title, left
        self.done, self.host, self.ends = 0, 0.0, list[Any]()  # steps; of those timed seconds on the host, and ends
        self.is_on = trainer.backend.device.type != "cpu"
        if self.is_on:
            tqdm.write(f"{title}: {description(trainer.backend)}", file=sys.stderr)

    def step(self) -> AbstractContextManager[None]:
        """To be around each step."""
        self.done += 1
        if self.is_on and self.done in WATCHED:
            return self._unwaited()
        return self._timed() if self.is_on and self.done in TIMED else nullcontext()

    @contextmanager
    def _unwaited(self) -> Iterator[None]:
        graphs = len(self.trainer.graphs)
        torch.cuda.set_sync_debug_mode("warn")
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                yield
        finally:
            torch.cuda.set_sync_debug_mode("default")
        waits = [each for each in warned if SYNCHRONISING in str(each.message)]
        if waits and graphs == len(self.trainer.graphs) and not self.trainer.is_eager:  # a capture does wait
            self.trainer.refuse(f"a step waits for the device, at {Path(waits[0].filename).name}:{waits[0].lineno}")

    @contextmanager
    def _timed(self) -> Iterator[None]:
        before = time.perf_counter()
        if self.done == TIMED[0]:
            self.trainer.starts = []
        yield
        self.host += (time.perf_counter() - before) / len(TIMED)
        self.ends.append(mark())
        if self.done == TIMED[-1]:
            starts, self.trainer.starts = self.trainer.starts, None
            self.ends[-1].synchronize()
            device = sum(start.elapsed_time(end) for start, end in zip(starts, self.ends, strict=True)) / len(TIMED)
            pace = starts[0].elapsed_time(self.ends[-1]) / len(TIMED)  # ms, as those
            end = time.strftime("%H:%M:%S", time.localtime(time.time() + (self.left - self.done) * pace / 1000))
            times = f"{device:.2f} ms on the device, {self.host * 1000:.2f} ms on the host"
            tqdm.write(f"{self.title}: a step takes {times}; the end is expected at {end}", file=sys.stderr)


def mark() -> Any:
    """An event that the device comes to when it has done all that it was given."""
    return torch.cuda.current_stream().record_event(torch.cuda.Event(enable_timing=True))


def description(backend: Backend) -> str:
    """Device, number format, driver and CUDA."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        driver = "unknown"
    return f"{backend.device_name}, {backend.precision}, driver {driver}, CUDA {torch.version.cuda}"
