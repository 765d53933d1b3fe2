"""What the operating system tells of the processor and the compilers, and what torch may use of it. No torch."""

import os
import platform
import shutil
from functools import cache
from pathlib import Path

LIMIT = "ONEDNN_MAX_CPU_ISA"  # oneDNN's own setting holds a processor back to an earlier class, for measurements
# each class: what the processor must have, and the words that its limit, if there is one, must begin with
CLASSES = {
    "amx": ("amx_bf16", ("AVX512_CORE_AMX", "AVX10", "DEFAULT")),
    "avx512-bf16": ("avx512_bf16", ("AVX512_CORE_BF16", "AVX512_CORE_FP16", "AVX512_CORE_AMX", "AVX10", "DEFAULT")),
    "avx512": ("avx512vl", ("AVX512", "AVX10", "DEFAULT")),
    "float32-avx2": ("avx2", ("AVX2", "AVX512", "AVX10", "DEFAULT")),
}
COMPILERS = ("c++", "g++", "clang++")  # tried in this order; the environment's CXX comes first
NATIVE = "DEFAULT"  # the limit that is none
# bfloat16 is multiplied eight times as fast as float32 with matrix tiles (AMX), five times with AVX-512's vectors, and
# several times slower without either (measured with torch 2.13)
MULTIPLY_BFLOAT16 = ("amx", "avx512-bf16")


def processor_class(limit: str | None = None) -> str:
    """Fastest class of CLASSES that this processor belongs to and is not held back from; else `other`.

    limit: the latest class allowed, as oneDNN names it; that of the environment if None.
    """
    features = processor_features().split()
    limit = (limit or os.environ.get(LIMIT, "")).upper()
    if not limit.startswith(("SSE", "AVX")):  # oneDNN passes over what it does not know, and so does this
        limit = NATIVE
    fitting = (name for name, (needed, limits) in CLASSES.items() if needed in features and limit.startswith(limits))
    return next(fitting, "other")


def processor_name() -> str:
    """Name that the processor gives itself, with family and model: a cloud's processors of two makes share a name."""
    name = _field("model name") or platform.processor() or platform.machine()
    family, model = _field("cpu family"), _field("model")
    return f"{name}, family {family} model {model}" if family else name


def processor_features() -> str:
    """Abilities of the processor, names separated by spaces; only its kind where the system does not tell."""
    return _field("flags", "Features") or platform.processor()


def found_compilers() -> list[str]:
    """Return the C++ compilers that this machine has, in the order in which they are tried."""
    found = (shutil.which(name) for name in (os.environ.get("CXX", ""), *COMPILERS) if name)
    return [path for path in found if path]


@cache
def _field(*names: str) -> str:
    """First line of one of the names; empty where the system has no such file (it is Linux's)."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    fields = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in fields if key.strip() in names), "")
