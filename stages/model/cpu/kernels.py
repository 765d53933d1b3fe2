"""Kernels in C++ for the CPU, compiled on first use with the compiler this machine has.

Without one, or with compute.kernels `torch`, torch's own operations are used: the same mathematics at two fifths of
the speed.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from stages.model.cpu.processor import processor_features

SOURCES = [Path(__file__).with_name(name) for name in ("kernels.cpp", "varlen_attention.cpp")]
HEADER = Path(__file__).with_name("arithmetic.h")
COMPILERS = ("c++", "g++", "clang++")  # tried in this order; the environment's CXX comes first
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC")
# the first that compile
OPTIONAL_FLAGS = (("-fopenmp", "-mprefer-vector-width=512"), ("-fopenmp",), ("-fopenmp-simd",), ())
DEFINITIONS: dict[torch.dtype, tuple[str, ...]] = {torch.float32: (), torch.bfloat16: ("-DBFLOAT16",)}


class _Switch:
    on = True


def use_kernels(on: bool) -> None:
    """Whether the compiled kernels serve where they can."""
    _Switch.on = on


def identity() -> str:
    """What computes on the CPU: `torch`, or the kernels' name, a hash of source, compiler, flags and processor."""
    library = _library(torch.float32) if _Switch.on else None
    return "torch" if library is None else Path(library._name).stem


def serve(x: Tensor) -> bool:
    """Whether the kernels compute on x."""
    return _Switch.on and x.device.type == "cpu" and x.dtype in DEFINITIONS and _library(x.dtype) is not None


def call(name: str, dtype: torch.dtype, *arguments: Tensor | int | float | ctypes.c_void_p | None) -> None:
    """Run the kernel `name` for numbers of a type; tensors are contiguous."""
    getattr(_library(dtype), name)(*(_argument(value) for value in arguments))


def random_seed(dropout_rate: float) -> int:
    """What governs a kernel's dropout, drawn from torch's generator; 0 where nothing is dropped."""
    return int(torch.randint(2**63 - 1, ())) if dropout_rate else 0


def address(x: Tensor, column: int = 0) -> ctypes.c_void_p:
    """Where a contiguous tensor, of (N, …) its columns from the one given, lies in memory."""
    assert x.is_contiguous()
    return ctypes.c_void_p(x.data_ptr() + column * x.element_size())


def _argument(value: object) -> object:
    if isinstance(value, Tensor):
        return address(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    return value  # None or a ctypes number


@cache
def _library(dtype: torch.dtype) -> ctypes.CDLL | None:
    """The kernels compiled for a type of number, or None where nothing here compiles them."""
    if os.name != "posix":
        return None
    candidates = [shutil.which(name) for name in (os.environ.get("CXX", ""), *COMPILERS) if name]
    reason = ""
    for compiler in filter(None, candidates):
        for flags in OPTIONAL_FLAGS:
            try:
                return ctypes.CDLL(str(_compiled(compiler, [*FLAGS, *flags, *DEFINITIONS[dtype]])))
            except subprocess.CalledProcessError as error:
                reason = next((line for line in error.stderr.splitlines() if "error" in line), f"{compiler} failed")
            except OSError as error:  # also where OpenMP is missing
                reason = str(error)
    if reason:
        _tell(f"kernels not compiled, so torch's operations serve, more slowly: {reason}")
    return None


@cache
def _tell(line: str) -> None:
    """Once, whatever the number of types."""
    print(line, file=sys.stderr)


def _compiled(compiler: str, flags: list[str]) -> Path:
    """The shared library, made unless an earlier run did.

    Raises:
        OSError: there is no folder to keep it in, or the compiler does not start.
        CalledProcessError: the compiler refuses.
    """
    sources = [path.read_text(encoding="utf-8") for path in (*SOURCES, HEADER)]
    identity = [*sources, compiler, *flags, platform.machine(), processor_features()]
    name = f"kernels-{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}.so"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "knowledge-access"
    if not (folder / name).exists():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            target = Path(scratch) / name
            command = [compiler, *flags, *map(str, SOURCES), "-o", str(target)]
            subprocess.run(command, capture_output=True, check=True, text=True)
            os.replace(target, folder / name)
    return folder / name
