"""The traits of a device that decide a result's bits, told without torch, which takes a second to load."""

import shutil
import subprocess

from stages.model.cpu.processor import MULTIPLY_BFLOAT16, found_compilers, processor_class, processor_features
from stages.settings import Compute
from stages.system.files import digest

FIRST_WITH_BFLOAT16 = 8.0  # CUDA's compute capability
KEY_DIGITS = 16  # of a digest in hex


def traits(compute: Compute) -> list[str]:
    """Return the kind of device that section `compute` asks for, its number format, and what computes on it."""
    capability = gpu_capability() if compute.device != "cpu" else None
    if capability is not None:
        fast = capability >= FIRST_WITH_BFLOAT16
        return ["cuda", precision(compute, fast), *(["deterministic"] if compute.deterministic else [])]

    compiler = next(iter(found_compilers()), None) if compute.kernels == "auto" else None
    kernels = digest([compiler, processor_class(), processor_features()])[:KEY_DIGITS] if compiler else "torch"
    return ["cpu", precision(compute, processor_class() in MULTIPLY_BFLOAT16), kernels]


def precision(compute: Compute, fast: bool) -> str:
    """Return the number format of the weights that multiply; fast: whether the device multiplies bfloat16 fast."""
    if compute.precision != "auto":
        return compute.precision
    return "bfloat16" if fast else "float32"


def gpu_capability() -> float | None:
    """Return the compute capability of the first GPU that NVIDIA's driver tells of; None where there is none."""
    if not shutil.which("nvidia-smi"):
        return None
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    told = subprocess.run(query, capture_output=True, text=True, check=False)
    try:
        return float(told.stdout.split()[0]) if told.returncode == 0 else None
    except (IndexError, ValueError):
        return None
