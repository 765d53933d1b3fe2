"""How often a training writes a checkpoint."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

REST = 50  # times what writing a checkpoint took pass before the next one: writing costs less than 2 % of the time


class Pace:
    """When the next checkpoint is due: `interval` seconds after the last, and no sooner than its cost allows.

    An interval of 0 asks for a checkpoint after every step, whatever that costs.
    """

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.cost = 0.0  # seconds that the last one took to write
        self.written = time.monotonic()

    def due(self) -> bool:
        """Whether it is time to write."""
        rest = max(self.interval, REST * self.cost) if self.interval else 0.0
        return time.monotonic() - self.written >= rest

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Measure what the block takes to write a checkpoint."""
        began = time.monotonic()
        yield
        self.written = time.monotonic()
        self.cost = self.written - began
