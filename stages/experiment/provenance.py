"""What decides a result, and where it came from; needs no torch, which takes a second to load."""

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from stages.model.cpu.processor import MULTIPLY_BFLOAT16, found_compilers, processor_class, processor_features
from stages.settings.params import Compute
from stages.system.files import digest

if TYPE_CHECKING:
    from stages.experiment.experiment import Backend

FIRST_WITH_BFLOAT16 = 8.0  # CUDA's compute capability
KEY_DIGITS = 16  # of a digest in hex


def traits(compute: Compute) -> list[str]:
    """Return what decides a result's bits: kind of device, number format, kernels, whether CUDA's sums have an order.

    compute: the section that asks for them. A CPU's sums always have an order.
    """
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
    """Return the compute capability of the first GPU that NVIDIA's driver reports; None where torch may use none."""
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if hidden or version("torch").endswith("+cpu") or not shutil.which("nvidia-smi"):
        return None
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    reported = subprocess.run(query, capture_output=True, text=True, check=False)
    try:
        return float(reported.stdout.split()[0]) if reported.returncode == 0 else None
    except (IndexError, ValueError):
        return None


def provenance(settings: Any, backend: "Backend", seconds: float) -> dict[str, Any]:
    """Return commit, digest of the settings (JSON values), device, libraries and seconds of a result."""
    return {
        "commit": commit(),
        "params_sha256": digest(settings),
        "device": backend.device_name,
        "precision": backend.precision,
        "kernels": backend.kernels,
        "libraries": {"python": platform.python_version(), "torch": version("torch"), "numpy": version("numpy")},
        "seconds": round(seconds, 1),
    }


def commit() -> str:
    """Return the code's commit, with `+` where stages/ was changed since, locks aside; `unknown` outside of git."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--", "stages", ":(exclude,glob)stages/**/dvc.lock")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()
