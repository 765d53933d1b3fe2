"""Where and in which number format to compute."""

import platform
from dataclasses import dataclass
from pathlib import Path

import torch

from stages.errors import StudyError
from stages.model import kernels
from stages.settings import Compute


@dataclass(frozen=True)
class Backend:
    """A device and the format of the weights that multiply on it (float32 masters stand beside them)."""

    device: torch.device
    dtype: torch.dtype

    @property
    def device_name(self) -> str:
        """What the device calls itself."""
        if self.device.type == "cuda":
            return torch.cuda.get_device_name(self.device)
        return f"{_processor()} ({torch.get_num_threads()} threads)"

    @property
    def kernels(self) -> str:
        """What computes between the matrix products: the compiled kernels, by their identity, or torch."""
        return kernels.identity() if self.device.type == "cpu" else "torch"

    @property
    def precision(self) -> str:
        """The format's name, as in params.yaml."""
        return str(self.dtype).removeprefix("torch.")


def choose_backend(compute: Compute) -> Backend:
    """The backend that section `compute` asks for, or the fastest one here where it says auto.

    Raises:
        StudyError: CUDA is asked for and there is none.
    """
    if compute.device == "cuda" and not torch.cuda.is_available():
        raise StudyError(
            "params.yaml: compute.device: was 'cuda', but torch finds no CUDA device here; use auto or cpu"
        )
    torch.use_deterministic_algorithms(compute.deterministic)
    kernels.use_kernels(compute.kernels == "auto")
    wants_cuda = compute.device in ("auto", "cuda") and torch.cuda.is_available()
    device = torch.device("cuda" if wants_cuda else "cpu")
    if compute.precision == "auto":
        fast = torch.cuda.is_bf16_supported() if wants_cuda else _multiplies_bfloat16_fast()
        return Backend(device, torch.bfloat16 if fast else torch.float32)
    return Backend(device, getattr(torch, compute.precision))


def _multiplies_bfloat16_fast() -> bool:
    """Whether this CPU has matrix tiles for bfloat16 (AMX), about eight times as fast as float32."""
    return "amx_bf16" in _cpu_information()


def _cpu_information() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return ""


def _processor() -> str:
    for line in _cpu_information().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
