"""How fast a cost grows with length: the exponent of a power law."""

import math
from dataclasses import dataclass

from scipy import stats  # type: ignore[import-untyped]

FEWEST = 3  # points of a fit; fewer leave no error to speak of


@dataclass(frozen=True)
class Exponent:
    """A log-log slope and its standard error."""

    slope: float
    error: float


def upper_half(lengths: list[int]) -> list[int]:
    """The longer half of ascending lengths, the middle one included: there the leading term shows best."""
    return lengths[len(lengths) // 2 :]


def fitted(lengths: list[int], values: list[float]) -> Exponent | None:
    """The exponent of values over the upper half of ascending lengths, by least squares of the logarithms.

    None where that half has fewer than three points or a value is not positive.
    """
    chosen = upper_half(lengths)
    kept = values[len(values) - len(chosen) :]
    if len(chosen) < FEWEST or min(kept) <= 0:
        return None
    if min(kept) == max(kept):  # linregress divides by their spread
        return Exponent(0.0, 0.0)
    line = stats.linregress(_logarithms(chosen), _logarithms(kept))
    return Exponent(float(line.slope), float(line.stderr))


def growth(first: tuple[int, float], second: tuple[int, float]) -> float:
    """The exponent of the power law through two points (length, value)."""
    return math.log(second[1] / first[1]) / math.log(second[0] / first[0])


def _logarithms(values: list[float] | list[int]) -> list[float]:
    return [math.log(value) for value in values]
