"""How much memory there is, and what GNU's C library does with freed memory."""

import ctypes
from contextlib import suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

# Control groups, versions 1 and 2: the first word of a line, where the groups lie, the file with a group's limit
GROUPS = {"memory": ("memory", "memory.limit_in_bytes"), "": ("", "memory.max")}
LIBRARY = ctypes.CDLL(None)
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters
LARGEST_KEPT = 2**25  # bytes: the largest blocks that can be kept


def machine_memory(own_groups: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """Return the bytes that this process may take: the machine's, or the limit of its container or its cluster's job.

    own_groups: the file with the control groups of the process, a line each; root: the folder with their limits.
    """
    memory = float(psutil.virtual_memory().total)
    lines = []
    with suppress(OSError):  # only Linux has the file
        lines = own_groups.read_text("utf-8").splitlines()
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers in GROUPS:
            folder, limit = GROUPS[controllers]
            group = root / folder / name.lstrip("/")
            for above in (group, *group.parents):  # a container may see its own group as the root, or not at all
                with suppress(OSError, ValueError):  # no such file, or no limit
                    memory = min(memory, float(int((above / limit).read_text("ascii"))))
    return memory


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
