"""Multiply-adds, seconds and bytes of a variant's blocks over one sequence.

Each length is measured in a fresh process, so that nothing an earlier one left behind hides what a later one needs. A
system without memory kills that process only.
"""

import functools
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from stages.experiment.backend import Backend, choose_backend
from stages.model.backbone import Backbone
from stages.model.packing import Packing
from stages.model.registry import build
from stages.settings import Compute, Model, Section
from stages.system.errors import is_out_of_memory
from stages.system.memory import LARGEST_KEPT, release_free_memory, set_thresholds

RUNS = 5  # their median counts
GENERATED = 8  # characters at the end of the text that are read one by one
EXACT = 2**16  # bytes: larger blocks go back to the system when freed while memory is measured
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes: the unit of getrusage


@dataclass(frozen=True)
class Cell:
    """A variant at one length."""

    variant: str
    settings: Section
    model: Model  # its context is the length
    compute: Compute


@dataclass(frozen=True)
class Measurement:
    """One sequence of a length through the blocks; seconds are medians."""

    length: int
    multiply_adds: int  # see `count`
    training_seconds: float  # forward and backward
    training_bytes: int  # their peak beyond weights, gradients and the input
    character_seconds: float  # one more character at the end of the length
    state_bytes: int  # what generation remembers of the whole length


def measure_lengths(cells: Sequence[Cell], longest_run: float) -> list[Measurement]:
    """Measure cells of ascending lengths up to the first that memory refuses or that takes more than `longest_run` s.

    Lengths that a variant's settings do not allow are left out.
    """
    measurements: list[Measurement] = []
    for cell in cells:
        try:
            with torch.device("meta"):  # nothing is computed
                build(cell.variant, cell.model, cell.settings)
        except ValueError:  # shorter than its settings allow
            continue
        try:
            measurements.append(measure_apart(cell))
        except (RuntimeError, MemoryError) as error:
            # a process that ends without an answer was killed, as a system without memory does
            if not (isinstance(error, BrokenProcessPool) or is_out_of_memory(error)):
                raise
            print(f"{cell.variant}: {cell.model.context:,} characters do not fit the memory")
            break
        if measurements[-1].training_seconds > longest_run:
            break
    return measurements


def measure_apart(cell: Cell) -> Measurement:
    """Call `measure` in a process of its own."""
    context = multiprocessing.get_context("forkserver")  # a server that has imported everything and computed nothing
    context.set_forkserver_preload([__name__, f"stages.mixers.{cell.variant}"])
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(measure, cell).result()


def measure(cell: Cell) -> Measurement:
    """Measure a length in this process."""
    backend = choose_backend(cell.compute)
    length = cell.model.context
    torch.manual_seed(0)
    backbone = build(cell.variant, cell.model, cell.settings).to(backend.device, backend.dtype)
    text = torch.randn(length, cell.model.width, dtype=backend.dtype, device=backend.device)
    train = functools.partial(_train, backbone, text)
    set_thresholds(EXACT, EXACT)  # freed blocks go back at once: the resident pages are those in use
    train()  # the first run compiles and loads things and makes the gradients
    training_bytes = peak_of(train, backend.device)
    set_thresholds(LARGEST_KEPT, 2 * LARGEST_KEPT)  # which the C library itself arrives at
    training_seconds = statistics.median(_seconds(train, backend) for _ in range(RUNS))
    return Measurement(length, count(cell), training_seconds, training_bytes, *_generate(backbone, text, backend))


def count(cell: Cell) -> int:
    """Count the multiply-adds of a forward pass's matrix products, with torch's counter and tensors without content.

    The counter does not see compiled kernels: it counts torch's operations, which compute all scores and mask.
    """
    with torch.device("meta"), torch.inference_mode(), FlopCounterMode(display=False) as counter:
        backbone = build(cell.variant, cell.model, cell.settings).eval()
        _read(backbone, torch.empty(cell.model.context, cell.model.width))
    return int(counter.get_total_flops()) // 2


def peak_of(work: Callable[[], object], device: torch.device) -> int:
    """Return the peak of the bytes that the work needs beyond those in use; on a CPU, of resident pages."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        in_use = torch.cuda.memory_allocated(device)
        work()
        return torch.cuda.max_memory_allocated(device) - in_use
    release_free_memory()
    with suppress(OSError):  # only Linux forgets an earlier peak, where it is allowed
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    in_use = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    work()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - in_use) * MAXRSS_UNIT


def _read(backbone: Backbone, text: Tensor, states: Sequence[object] | None = None) -> Tensor:
    return backbone(text, Packing.full((1, len(text))), states)


def _train(backbone: Backbone, text: Tensor) -> None:
    """Run a forward and a backward pass; the weights' gradients add up."""
    output = _read(backbone.train(), text.detach().requires_grad_())
    output.backward(torch.ones_like(output))


def _generate(backbone: Backbone, text: Tensor, backend: Backend) -> tuple[float, int]:
    """Return the median seconds of the text's last characters, read one by one, and the bytes of the states then."""
    before = len(text) - GENERATED
    with torch.inference_mode():
        states = backbone.eval().empty_states(1, len(text))
        _read(backbone, text[:before], states)
        steps = [functools.partial(_read, backbone, character, states) for character in text[before:].split(1)]
        seconds = statistics.median([_seconds(step, backend) for step in steps])
    return seconds, sum(state.bytes_per_sequence for state in states)


def _seconds(work: Callable[[], object], backend: Backend) -> float:
    backend.wait()
    started = time.perf_counter()
    work()
    backend.wait()
    return time.perf_counter() - started
