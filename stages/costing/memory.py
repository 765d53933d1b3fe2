"""The highest memory in use."""

import contextlib
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from stages.system.memory import LARGEST_KEPT, release_free_memory, set_thresholds

UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in which getrusage counts
EXACT = 2**16  # bytes


class Meter:
    """The peak of a device's memory in bytes.

    On a CPU it is that of the process's resident pages, whoever asked for them (torch, its libraries, this project's
    kernels), on a GPU what torch's allocator gave out.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def peak(self) -> int:
        """The highest use since the start or the last `restart`."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT

    def restart(self) -> int:
        """Forget the peak so far; what is in use now.

        On a CPU pages that the C library holds for later are given back first, so that whoever needs them next is
        seen to. Only Linux forgets a peak; elsewhere it is the one that stood before.
        """
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)
        else:
            release_free_memory()
            with contextlib.suppress(OSError):  # not Linux, or not allowed here
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return self.peak()


@contextlib.contextmanager
def nothing_held_back() -> Iterator[None]:
    """Within this the C library returns freed blocks to the system at once: the resident pages are those in use.

    That takes time. Otherwise it keeps blocks up to 32 MiB for later, in pieces that may not fit what comes. Only the
    GNU C library can be told so; elsewhere nothing changes.
    """
    set_thresholds(EXACT, EXACT)
    try:
        yield
    finally:
        set_thresholds(LARGEST_KEPT, 2 * LARGEST_KEPT)  # where its own come to rest
