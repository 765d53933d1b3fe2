"""The registry: a variant's name is its file's name."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
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
    key = f"{prefix}.{variant}"
    with _told_with_its_line():
        module = _module(variant)
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
    module = _module(variant)
    if hasattr(module, "Backbone"):
        return module.Backbone(model, settings)
    return Backbone(model, settings, module.Mixer)


def _module(variant: str) -> ModuleType:
    module = import_module(f"stages.mixers.{variant}")
    if not hasattr(module, "Backbone") and not hasattr(module, "Mixer"):
        raise StudyError(f"stages/mixers/{variant}.py defines no class `Mixer`; docs/variants.md shows one")
    return module


@contextmanager
def _told_with_its_line() -> Iterator[None]:
    """Tell a fault in the file of a variant, which people write, in one line."""
    try:
        yield
    except StudyError:
        raise
    except SyntaxError as error:
        raise StudyError(f"{error.filename}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = [frame for frame in frames if "/mixers/" in frame.filename] or frames
        raise StudyError(f"{last[-1].filename}:{last[-1].lineno}: {type(error).__name__}: {error}") from error
