"""Whether the graphs of this GPU can be trusted: a captured step does what an eager one does, and waits for nothing.

Where a check fails, the trainer goes on eagerly on the same padded parts. The checks change no weight: the random
numbers of each step are its own, and the device's generator is left as it was.
"""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from stages.experiment.backend import Backend

APART = {"loss": 1e-3, "gradient norm": 1e-2}  # how far a replay may be from an eager step, as a share of its value
WATCHED = range(10, 41)  # steps in which nothing may wait for the device
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
        other = tried(step.replay, characters.flip(0))
        replayed = tried(step.replay, characters)
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
    """Looks on while a GPU trains, and finds a step that waits for it. On a CPU it does nothing."""

    def __init__(self, trainer: Any, title: str) -> None:
        """trainer: a `GraphTrainer`, unless on a CPU."""
        self.trainer = trainer
        self.steps = 0
        self.is_on = trainer.backend.device.type != "cpu"
        if self.is_on:
            tqdm.write(f"{title}: {description(trainer.backend)}", file=sys.stderr)

    @contextmanager
    def step(self) -> Iterator[None]:
        """Stand around each step."""
        self.steps += 1
        if not self.is_on or self.steps not in WATCHED:
            yield
            return

        graphs = len(self.trainer.graphs)
        torch.cuda.set_sync_debug_mode("warn")
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                yield
        finally:
            torch.cuda.set_sync_debug_mode("default")

        waits = [warning for warning in warned if SYNCHRONISING in str(warning.message)]
        captured = graphs != len(self.trainer.graphs)  # which does wait
        if waits and not captured and not self.trainer.is_eager:
            self.trainer.refuse(f"a step waits for the device, at {Path(waits[0].filename).name}:{waits[0].lineno}")


def description(backend: Backend) -> str:
    """Device, number format, driver and CUDA."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        driver = "unknown"
    return f"{backend.device_name}, {backend.precision}, driver {driver}, CUDA {torch.version.cuda}"
