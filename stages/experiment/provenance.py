"""The origin of a result: commit, settings, device and libraries."""

import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from stages.settings import Settings
from stages.system.files import digest

if TYPE_CHECKING:  # publishing needs no torch, which takes a second to load
    from stages.experiment.backend import Backend


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


def settings_of_result(
    params: Settings, recipe: str, variant: str, sections: Iterable[str], of_device: Iterable[str]
) -> dict[str, Any]:
    """Return what a result depends on, as JSON values: sections of a recipe, a variant, and traits of the device."""
    chosen = {name: getattr(params.recipe_named(recipe), name).model_dump() for name in sections}
    return {"variant": {variant: params.variants[variant]}, "recipe": chosen, "compute": [*of_device]}


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
