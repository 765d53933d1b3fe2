"""Weights and checkpoints on disk: safetensors, written atomically."""

import json
from pathlib import Path

import safetensors
from safetensors.torch import save
from torch import Tensor

from stages.system.errors import StudyError
from stages.system.files import write_bytes


def save_tensors(path: Path, tensors: dict[str, Tensor], **facts: object) -> None:
    """Write tensors, with facts (JSON values) in the file's header."""
    content = save(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        metadata={"facts": json.dumps(facts, sort_keys=True)},
    )
    write_bytes(path, content)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, object]]:
    """Read what `save_tensors` wrote: tensors on the CPU, and facts.

    Raises:
        StudyError: the file is missing or damaged.
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, a file is no dict
            facts = json.loads((file.metadata() or {}).get("facts", "{}"))
    except FileNotFoundError as error:
        raise StudyError(f"{path} is missing; `dvc repro` makes it") from error
    except safetensors.SafetensorError as error:
        raise StudyError(f"{path} is damaged ({error}); delete it and run `dvc repro`") from error
    return tensors, facts
