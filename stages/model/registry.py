"""The registry: a variant's name is its file's name."""

import traceback
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

from stages.model.backbone import Backbone
from stages.settings import PARAMS, Model, Section, check
from stages.system.errors import StudyError


def settings_of(variant: str, variants: dict[str, dict[str, Any]], model: Model, prefix: str = "variants") -> Section:
    """The typed section `<prefix>.<variant>` of params.yaml, tried on the model's shape; variants: by name.

    The trial takes no memory and no time: its weights have shapes only, so a mixer's `__init__` reads none of them.
    Raises StudyError: one line with the key that is unknown, of the wrong type or impossible.
    """
    key, path = f"{prefix}.{variant}", f"stages/mixers/{variant}.py"
    try:
        module = _module(variant)
        settings: Section = check(getattr(module, "Settings", Section), variants[variant], str(PARAMS), key)
        with torch.device("meta"):
            build(variant, model, settings)
    except StudyError:
        raise
    except ValueError as error:
        raise StudyError(f"{PARAMS}: {key}: {error}") from error
    except Exception as error:  # in a file that people write
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f"line {frame.lineno}: " for frame in frames if frame.filename.endswith(path)]
        raise StudyError(f"{path}: {''.join(lines[-1:])}{type(error).__name__}: {error}") from error
    return settings


def build(variant: str, model: Model, settings: Section) -> Backbone:
    """A new backbone of the variant, with random weights: the file's own `Backbone`, or blocks with its `Mixer`.

    Raises ValueError: the settings do not fit the model's shape.
    """
    module = _module(variant)
    if hasattr(module, "Backbone"):
        return module.Backbone(model, settings)
    return Backbone(model, settings, module.Mixer)


def _module(variant: str) -> ModuleType:
    module = import_module(f"stages.mixers.{variant}")
    if not hasattr(module, "Backbone") and not hasattr(module, "Mixer"):
        raise StudyError(f"stages/mixers/{variant}.py defines no class `Mixer`; docs/variants.md shows one")
    return module
