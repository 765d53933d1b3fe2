"""Variants by name: that of a file in mixers/, which defines a mixer or a backbone of its own."""

import traceback
from importlib import import_module
from typing import Any

import torch

from stages.model.mixer import Backbone, Mixer
from stages.settings import PARAMS, ModelSettings, Section, check
from stages.system.errors import UserError


def settings_of(variant: str, variants: dict[str, dict[str, Any]], model: ModelSettings) -> Section:
    """Typed section `variants.<variant>` of params.yaml, tried on the model's shape; variants: by name.

    The trial takes no memory and no time: its weights have shapes only, so a mixer's `__init__` reads none of them.
    Raises UserError: one line with the key that is unknown, of the wrong type or impossible.
    """
    key = f"variants.{variant}"
    path = f"stages/mixers/{variant}.py"
    try:
        settings: Section = check(defined(variant, Section) or Section, variants[variant], str(PARAMS), key)
        with torch.device("meta"):
            build(variant, model, settings)
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{PARAMS}: {key}: {error}") from error
    except Exception as error:  # in a file that people write
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f"line {frame.lineno}: " for frame in frames if frame.filename.endswith(path)]
        raise UserError(f"{path}: {''.join(lines[-1:])}{type(error).__name__}: {error}") from error
    return settings


def build(variant: str, model: ModelSettings, settings: Section) -> Backbone:
    """Build a backbone of the variant, with random weights: the file's own, or blocks with its mixer.

    Raises ValueError: the settings do not fit the model's shape.
    """
    if backbone := defined(variant, Backbone):
        return backbone(model, settings)
    if mixer := defined(variant, Mixer):
        return Backbone(model, settings, mixer)
    raise UserError(f"stages/mixers/{variant}.py defines no subclass of `Mixer`; docs/variants.md shows one")


def defined(variant: str, kind: type) -> Any:
    """Find the subclass of `kind` that the variant's file defines, the last of several; None if there is none."""
    module = import_module(f"stages.mixers.{variant}")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, kind)]
    return next((value for value in reversed(classes) if value.__module__ == module.__name__), None)
