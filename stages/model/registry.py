"""The registry: a variant's name is its file's name."""

from importlib import import_module
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
    key = f"{prefix}.{variant}"
    module = import_module(f"stages.mixers.{variant}")
    settings: Section = check(getattr(module, "Settings", Section), variants[variant], str(PARAMS), key)
    try:
        with torch.device("meta"):
            build(variant, model, settings)
    except ValueError as error:
        raise StudyError(f"{PARAMS}: {key}: {error}") from error
    return settings


def build(variant: str, model: Model, settings: Section) -> Backbone:
    """A new backbone of the variant, with random weights: the file's own `Backbone`, or blocks with its `Mixer`.

    Raises ValueError: the settings do not fit the model's shape.
    """
    module = import_module(f"stages.mixers.{variant}")
    if hasattr(module, "Backbone"):
        return module.Backbone(model, settings)
    return Backbone(model, settings, module.Mixer)
