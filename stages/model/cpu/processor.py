"""What the operating system tells of the processor."""

import platform
from functools import cache
from pathlib import Path


def processor_name() -> str:
    """What the processor calls itself."""
    return _field("model name") or platform.processor() or platform.machine()


def processor_features() -> str:
    """What the processor can do, names separated by spaces; only its kind where that is not told."""
    return _field("flags", "Features") or platform.processor()


@cache
def _field(*names: str) -> str:
    """The first line of one of the names; empty where the system has no such file (it is Linux's)."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    fields = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in fields if key.strip() in names), "")
