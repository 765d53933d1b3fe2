"""The library of C++ kernels, compiled on first use with the compiler this machine has.

Without one, or with compute.kernels `torch`, torch's own operations are used: the same mathematics, but a training step
takes 1.2 to 1.7 times as long on an AMD Zen 5 (the compared variants, `quick` and `handout`).
"""

import ctypes
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import torch
from filelock import FileLock
from torch import Tensor

from stages.model.cpu.processor import COMPILERS, NATIVE, found_compilers, processor_class, processor_features
from stages.system.errors import tell_once
from stages.system.files import write_bytes

SOURCE = Path(__file__).with_name("kernels.cpp")
HEADER = Path(__file__).with_name("arithmetic.h")
FLAGS = ("-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
# for a processor that is held back to an earlier class than its own
HELD_BACK = {"avx512": "-march=x86-64-v4", "float32-avx2": "-march=x86-64-v3", "other": "-march=x86-64-v2"}
ONE_THREAD = (("-fopenmp-simd",), ())  # the first that compile, where nothing runs threads
DEFINITIONS: dict[torch.dtype, tuple[str, ...]] = {torch.float32: (), torch.bfloat16: ("-DBFLOAT16",)}
Libraries = dict[torch.dtype, ctypes.CDLL]


class _Switch:
    on = True


def use_kernels(on: bool) -> None:
    """Say whether the compiled kernels serve where they can."""
    _Switch.on = on


def identity() -> str:
    """Name of what computes on the CPU: `torch`, or a hash of the kernels' source, compiler, flags and processor."""
    libraries = _libraries() if _Switch.on else None
    return "torch" if libraries is None else libraries[0]


def has_kernels(x: Tensor) -> bool:
    """Whether the kernels compute on x."""
    return _Switch.on and x.device.type == "cpu" and x.dtype in DEFINITIONS and _libraries() is not None


def kernels_for(dtype: torch.dtype) -> ctypes.CDLL:
    """Return the kernels for numbers of a type; only where they serve."""
    libraries = _libraries()
    assert libraries is not None
    return libraries[1][dtype]


@cache
def _libraries() -> tuple[str, Libraries] | None:
    """Name of the kernels, and those for each type of number; None where nothing here compiles them."""
    reason = f"no C++ compiler found ({', '.join(COMPILERS)})"
    for compiler in found_compilers():
        for optional in (_openmp(), *ONE_THREAD):
            try:
                return _compiled(compiler, [*FLAGS, *_processor_flags(), *optional], optional in ONE_THREAD)
            except subprocess.CalledProcessError as error:
                reason = next((line for line in error.stderr.splitlines() if "error" in line), f"{compiler} failed")
            except OSError as error:  # also where OpenMP is missing
                reason = str(error)
    tell_once("KERNELS", f"kernels not compiled, so a training step takes 1.2 to 1.7 times as long: {reason}")
    return None


def _openmp() -> tuple[str, ...]:
    """Return the flags for threads: on macOS torch's own OpenMP, since a process that loads a second one aborts."""
    if sys.platform != "darwin":
        return ("-fopenmp",)
    library = Path(torch.__file__).with_name("lib") / "libomp.dylib"
    return ("-Xclang", "-fopenmp", str(library), f"-Wl,-rpath,{library.parent}")  # Apple's clang takes no -fopenmp


def _processor_flags() -> list[str]:
    if sys.platform == "darwin" and platform.machine() == "arm64":
        return ["-mcpu=native"]  # its clang takes no -march=native
    kind = processor_class()
    is_held_back = kind in HELD_BACK and kind != processor_class(NATIVE)
    flags = [HELD_BACK[kind] if is_held_back else "-march=native"]
    return [*flags, "-mprefer-vector-width=512"] if kind in ("avx512", "avx512-bf16", "amx") else flags


def _compiled(compiler: str, flags: list[str], one_thread: bool) -> tuple[str, Libraries]:
    """Load the kernels, and compile them first unless an earlier run did; one_thread: what to say then.

    Raises OSError: there is no folder to keep them in, or the compiler does not start. Raises CalledProcessError: the
    compiler refuses.
    """
    sources = [path.read_text(encoding="utf-8") for path in (SOURCE, HEADER)]
    identity = [*sources, compiler, *flags, platform.machine(), processor_features()]
    name = f"kernels-{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "knowledge-access")
    if folder.parts[0] == "~":
        raise OSError("this user has no home folder; set XDG_CACHE_HOME")
    files = {dtype: folder / f"{name}-{str(dtype).removeprefix('torch.')}.so" for dtype in DEFINITIONS}

    if not _all_exist(files):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(folder / "lock"):  # the others wait, and find what the first has compiled
            if not _all_exist(files):
                _compile(compiler, flags, files)
                if one_thread:
                    print(f"{compiler} has no OpenMP that serves, so the kernels run on one thread", file=sys.stderr)
    return name, {dtype: ctypes.CDLL(str(file)) for dtype, file in files.items()}


def _all_exist(files: dict[torch.dtype, Path]) -> bool:
    return all(file.exists() for file in files.values())


def _compile(compiler: str, flags: list[str], files: dict[torch.dtype, Path]) -> None:
    """Compile for all types side by side, and tell how long it took."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for dtype, file in files.items():
            command = [compiler, *flags, *DEFINITIONS[dtype], str(SOURCE), "-o", str(Path(folder, file.name))]
            running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        errors = [process.communicate()[1] for process in running]
        for process, error in zip(running, errors, strict=True):
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, compiler, stderr=error)
        for file in files.values():
            write_bytes(file, Path(folder, file.name).read_bytes())
    seconds = time.monotonic() - started
    print(f"kernels compiled for this processor ({processor_class()}) in {seconds:.1f} s, once", file=sys.stderr)
