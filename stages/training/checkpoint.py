"""Weights and checkpoints on disk: safetensors, written atomically."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import safetensors
from safetensors.torch import save
from torch import Tensor

from stages.errors import StudyError
from stages.files import write_bytes

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


def save_tensors(path: Path, tensors: dict[str, Tensor], **facts: object) -> None:
    """Write tensors, with facts (JSON values) in the file's header."""
    content = save(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        metadata={"facts": json.dumps(facts, sort_keys=True)},
    )
    write_bytes(path, content)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, object]]:
    """Read what `save_tensors` wrote: tensors on the CPU, and facts.

    Raises:
        StudyError: the file is missing or damaged.
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, a file is no dict
            facts = json.loads((file.metadata() or {}).get("facts", "{}"))
    except FileNotFoundError as error:
        raise StudyError(f"{path} is missing; `dvc repro` makes it") from error
    except safetensors.SafetensorError as error:
        raise StudyError(f"{path} is damaged ({error}); delete it and run `dvc repro`") from error
    return tensors, facts
