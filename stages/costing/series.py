"""A variant's costs over all lengths that fit the limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stages.costing.exponents import growth
from stages.costing.measurement import Job, Measurement, measure_apart
from stages.settings import Compute, CostLimits, Model, Section

GIB = 2**30


@dataclass(frozen=True)
class Series:
    """Measurements by ascending length, and why each other length was left out."""

    measurements: tuple[Measurement, ...]
    left_out: dict[int, str]


def measure_all(
    variant: str,
    settings: Section,
    shape: Model,
    compute: Compute,
    limits: CostLimits,
    measure: Callable[[Job], Measurement] = measure_apart,
) -> Series:
    """Measure the lengths of `limits` one after another, from the shortest, until one is expected to exceed them.

    shape: layers, heads and width; its context and dropout do not matter (each length is a context, nothing is
    dropped).
    """
    measured: list[Measurement] = []
    left_out: dict[int, str] = {}
    for length in limits.lengths:
        reason = _excess(measured, length, limits)
        if reason is None:
            model = Model(layers=shape.layers, heads=shape.heads, width=shape.width, context=length, dropout=0.0)
            try:
                measured.append(measure(Job(variant, settings, model, compute, limits)))
                continue
            except ValueError as error:  # a shorter length than its settings allow
                left_out[length] = str(error)
                continue
            except MemoryError as error:
                reason = str(error)
        left_out |= {each: reason for each in limits.lengths if each >= length}
        break
    return Series(tuple(measured), left_out)


def _excess(measured: Sequence[Measurement], length: int, limits: CostLimits) -> str | None:
    """Why a length should not be tried: what the lengths before it lead one to expect exceeds a limit."""
    if not measured:
        return None
    seconds = _expected([(each.length, each.training_seconds) for each in measured], length)
    memory = _expected([(each.length, each.total_bytes / GIB) for each in measured], length)
    if seconds > limits.longest_run:
        return f"about {seconds:.1f} s for one run forward and backward; cost.longest_run is {limits.longest_run:g} s"
    if memory > limits.memory:
        return f"about {memory:.1f} GiB; cost.memory is {limits.memory:g} GiB"
    return None


def _expected(points: Sequence[tuple[int, float]], length: int) -> float:
    """A cost at a length if it grows on as between the last two points, linearly at least, quadratically at most."""
    *_, before, last = [(0, 0.0), *points]
    steepness = growth(before, last) if len(points) > 1 else 2.0
    return last[1] * (length / last[0]) ** min(2.0, max(1.0, steepness))
