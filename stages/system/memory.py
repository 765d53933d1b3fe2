"""Memory: how much there is, and what becomes of it when freed, where the C library can be asked (GNU's)."""

import ctypes
import os

LIBRARY = ctypes.CDLL(None)
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters
LARGEST_KEPT = 2**25  # bytes: the largest blocks that can be kept


def machine_memory() -> float:
    """Bytes this machine has."""
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def keep_free_memory() -> None:
    """Keep freed blocks for the next step.

    By default their pages go back to the system and are faulted in again and zeroed, some twenty thousand a step of
    recipe `handout`: 5 % of its time.
    """
    set_thresholds(mapped=LARGEST_KEPT, trimmed=-1)  # no limit


def release_free_memory() -> None:
    """Give freed memory back.

    A step frees gigabytes in blocks of sizes that follow the batch; kept for ever they fragment, and within an hour a
    training that needs one gigabyte holds eight.
    """
    if hasattr(LIBRARY, "malloc_trim"):
        LIBRARY.malloc_trim(0)


def set_thresholds(mapped: int, trimmed: int) -> None:
    """Give the system blocks of more than `mapped` bytes, and `trimmed` bytes of free memory at the end, at once."""
    if hasattr(LIBRARY, "mallopt"):
        LIBRARY.mallopt(MMAP_THRESHOLD, mapped)
        LIBRARY.mallopt(TRIM_THRESHOLD, trimmed)
