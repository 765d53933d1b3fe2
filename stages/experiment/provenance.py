"""The origin of a result: commit, settings, device and libraries."""

import hashlib
import json
import platform
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # publishing needs no torch, which takes a second to load
    from stages.experiment.backend import Backend


def provenance(settings: Any, backend: "Backend", seconds: float) -> dict[str, Any]:
    """Return commit, digest of the settings (JSON values), device, libraries and seconds of a result."""
    return {
        "commit": commit(),
        "params_sha256": settings_digest(settings),
        "device": backend.device_name,
        "precision": backend.precision,
        "kernels": backend.kernels,
        "libraries": {"python": platform.python_version(), "torch": version("torch"), "numpy": version("numpy")},
        "seconds": round(seconds, 1),
    }


def settings_digest(settings: Any) -> str:
    """Return the SHA-256 of JSON values, in hex digits."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


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
