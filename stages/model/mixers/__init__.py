"""The registry: a variant's name is its file's name."""

from importlib import import_module
from typing import Any

from stages.errors import StudyError
from stages.model.mixer import Mixer
from stages.settings import PARAMS, Model, Section, check


def settings_of(variant: str, variants: dict[str, dict[str, Any]], model: Model) -> Section:
    """The typed section `variants.<variant>`, tried on the model's shape.

    Raises:
        StudyError: one line with the key that is unknown, of the wrong type or impossible.
    """
    key = f"variants.{variant}"
    module = import_module(f"{__name__}.{variant}")
    settings: Section = check(module.Settings, variants[variant], str(PARAMS), key)
    try:
        module.Mixer(model, settings)
    except ValueError as error:
        raise StudyError(f"{PARAMS}: {key}: {error}") from error
    return settings


def build(variant: str, model: Model, settings: Section) -> Mixer:
    """A new mixer of the variant, with random weights."""
    mixer: Mixer = import_module(f"{__name__}.{variant}").Mixer(model, settings)
    return mixer
