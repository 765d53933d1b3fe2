"""Memory that was freed goes back to the system."""

import ctypes
from functools import cache
from typing import Any


def release_free_memory() -> None:
    """Give freed memory back, where the C library can (glibc).

    A step frees gigabytes in blocks of sizes that follow the batch; kept for later they fragment, and within an hour a
    training that needs one gigabyte holds eight.
    """
    library = _library()
    if library is not None:
        library.malloc_trim(0)


@cache
def _library() -> Any:
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "malloc_trim") else None
    except (OSError, TypeError):  # TypeError: Windows
        return None
