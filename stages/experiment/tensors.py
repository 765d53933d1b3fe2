"""Weights on disk: safetensors, written atomically, verified when they are read."""

from pathlib import Path

from safetensors.torch import load_file, save
from torch import Tensor

from stages.system.digests import verified
from stages.system.files import write_bytes


def save_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors."""
    write_bytes(path, pack(tensors))


def pack(tensors: dict[str, Tensor]) -> bytes:
    """Tensors as the bytes of a safetensors file."""
    return save({name: tensor.contiguous() for name, tensor in tensors.items()})


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read what `save_tensors` wrote, on the CPU.

    Raises:
        StudyError: the file is missing or damaged.
    """
    return load_file(verified(path))
