"""Seconds and bytes of a variant's blocks at one length.

On a CPU each length is measured in a fresh process, so that nothing an earlier one left behind hides what a later one
needs, and a system without memory kills that process only. A server that has imported everything and
computed nothing (threads do not survive a fork) makes such a process in milliseconds.
"""

import functools
import multiprocessing
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import torch
from torch import Tensor

from stages.costing.memory import Meter, nothing_held_back
from stages.experiment.backend import Backend, choose_backend
from stages.model.backbone import Backbone
from stages.model.packing import Packing
from stages.model.registry import build
from stages.settings import Compute, CostLimits, Model, Section
from stages.system.errors import is_out_of_memory

CHUNK = 128  # characters that are read at once before generation is timed


@dataclass(frozen=True)
class Job:
    """A length of a variant, and how long to measure."""

    variant: str
    settings: Section
    model: Model  # its context is the length
    compute: Compute
    limits: CostLimits


@dataclass(frozen=True)
class Measurement:
    """One sequence of a length through the blocks.

    Seconds are medians. Bytes are peaks beyond weights, gradients and the input; `state_bytes` is what generation
    remembers of the whole length, `total_bytes` the highest peak with weights and gradients.
    """

    length: int
    forward_seconds: float
    forward_bytes: int
    training_seconds: float  # forward and backward
    training_bytes: int
    character_seconds: float  # one more character at the end of the length
    state_bytes: int
    total_bytes: int


def measure_apart(job: Job) -> Measurement:
    """`measure` in a process of its own; on a GPU, whose allocator tells one run from the next, in this one.

    Raises:
        ValueError: the variant's settings do not fit the length.
        MemoryError: the process was killed, as a system without memory does, or memory is too small.
    """
    if choose_backend(job.compute).device.type == "cuda":
        return measure(job)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, f"stages.mixers.{job.variant}"])
    with ProcessPoolExecutor(1, mp_context=context) as process:
        try:
            return process.submit(measure, job).result()
        except BrokenProcessPool as error:
            raise MemoryError(f"measuring {job.model.context} characters was killed") from error
        except KeyboardInterrupt:  # SIGTERM reaches this process only, which would wait for the other
            for worker in multiprocessing.active_children():
                worker.terminate()
            raise


def measure(job: Job) -> Measurement:
    """Measure a length in this process.

    Raises:
        ValueError: the variant's settings do not fit the length.
        MemoryError: the system's or the GPU's memory is too small.
    """
    backend, length = choose_backend(job.compute), job.model.context
    meter = Meter(backend.device)
    before = meter.restart()
    torch.manual_seed(0)
    try:
        backbone = build(job.variant, job.model, job.settings).to(backend.device, backend.dtype)
        text = _text(backend, length, job.model.width)
        read, train = functools.partial(_read, backbone, text), functools.partial(_train, backbone, text)
        with nothing_held_back():
            for work in (read, train):  # the first runs of a length compile and load things and make the gradients
                work()
            forward_bytes = _growth(read, meter)
            training_bytes = _growth(train, meter)
            total_bytes = meter.peak() - before
        forward_seconds, training_seconds = (_timed(work, backend, job.limits) for work in (read, train))
        character_seconds, state_bytes = _generate(backbone, text, backend, job.limits.characters)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        where = "GPU" if backend.device.type == "cuda" else "memory"
        raise MemoryError(f"{length} characters do not fit the {where}") from error
    return Measurement(
        length=length,
        forward_seconds=forward_seconds,
        forward_bytes=forward_bytes,
        training_seconds=training_seconds,
        training_bytes=training_bytes,
        character_seconds=character_seconds,
        state_bytes=state_bytes,
        total_bytes=total_bytes,
    )


def _text(backend: Backend, length: int, width: int) -> Tensor:
    """What an embedding could give for one sequence: (length, width)."""
    return torch.randn(length, width, dtype=backend.dtype, device=backend.device)


def _read(backbone: Backbone, text: Tensor) -> None:
    """A forward pass of which nothing is kept."""
    with torch.inference_mode():
        backbone.eval()(text, Packing.full((1, len(text))))


def _train(backbone: Backbone, text: Tensor) -> None:
    """A forward and a backward pass; the weights' gradients add up."""
    output = backbone.train()(text.detach().requires_grad_(), Packing.full((1, len(text))))
    output.backward(torch.ones_like(output))


def _growth(work: Callable[[], object], meter: Meter) -> int:
    """How many bytes the work needs beyond those in use, at its peak."""
    in_use = meter.restart()
    work()
    return meter.peak() - in_use


def _generate(backbone: Backbone, text: Tensor, backend: Backend, characters: int) -> tuple[float, int]:
    """Seconds of each of the text's last characters, read one by one (median), and the bytes of the states then."""
    seconds = []
    before = len(text) - characters
    with torch.inference_mode():
        states = backbone.eval().empty_states(1, len(text))
        for chunk in text[:before].split(CHUNK):
            backbone(chunk, Packing.full((1, len(chunk))), states)
        for character in text[before:].split(1):
            seconds.append(_seconds(functools.partial(backbone, character, Packing.full((1, 1)), states), backend))
    return statistics.median(seconds), sum(state.bytes_per_sequence for state in states)


def _timed(work: Callable[[], object], backend: Backend, limits: CostLimits) -> float:
    """The median seconds of several runs, at least one."""
    seconds: list[float] = []
    while len(seconds) < limits.repeats and sum(seconds) < limits.seconds:
        seconds.append(_seconds(work, backend))
    return statistics.median(seconds)


def _seconds(work: Callable[[], object], backend: Backend) -> float:
    """How long the work takes until its result is there."""
    backend.wait()
    started = time.perf_counter()
    work()
    backend.wait()
    return time.perf_counter() - started
