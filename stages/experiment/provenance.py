"""Where a result comes from."""

import hashlib
import json
import platform
import subprocess
from typing import Any

import numpy
import torch

from stages.experiment.backend import Backend


def provenance(settings: Any, backend: Backend, seconds: float) -> dict[str, Any]:
    """Commit, hash of the settings (JSON values), device, libraries and seconds of a result."""
    return {
        "commit": commit(),
        "params_sha256": hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest(),
        "device": backend.device_name,
        "precision": backend.precision,
        "kernels": backend.kernels,
        "libraries": {"python": platform.python_version(), "torch": torch.__version__, "numpy": numpy.__version__},
        "seconds": round(seconds, 1),
    }


def commit() -> str:
    """The commit of the code, with `+` where stages/ was changed since, locks aside; `unknown` outside of git."""
    try:
        found = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--", "stages", ":(exclude,glob)stages/**/dvc.lock")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found + ("+" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()
