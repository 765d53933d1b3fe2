"""The section `ablation`: a recipe with one change at a time, compared on training questions."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from stages.settings.recipe import QuestionRecipe
from stages.settings.section import Count, Name, Section, Seed, fault_of

FULL = "full"  # the recipe without a change, which the others are compared with

CHANGEABLE = ("model", "optimizer", "pretrain", "finetune")  # sections of a recipe that its training depends on

Changes = dict[str, Any]  # those sections and their keys, with the values that take the place of the recipe's own


class Ablation(Section):
    recipe: Name
    variant: Name
    seed: Seed
    held_out: Count
    changes: dict[Name, Changes]

    def applied(self, name: str, recipe: QuestionRecipe) -> QuestionRecipe:
        """The recipe with the change `name`.

        Raises ValueError: the result is no valid recipe; the line names the key.
        """
        change, key = self.changes[name], f"ablation.changes.{name}"
        for section in change:
            if section not in CHANGEABLE:
                raise ValueError(f"{key}.{section}: not to be changed; allowed: {', '.join(CHANGEABLE)}")
        shape = change.get("model")
        if isinstance(shape, Mapping) and "context" in shape:  # the held-out questions were checked against it
            raise ValueError(f"{key}.model.context: not to be changed; remove it")
        try:
            return QuestionRecipe.model_validate(merged(recipe.model_dump() | {"seeds": [self.seed]}, change))
        except ValidationError as error:
            raise ValueError(fault_of(error, key)) from error


def merged(content: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The content with the change's values in place of its own, section by section."""
    result = dict(content)
    for key, value in change.items():
        there = result.get(key)
        result[key] = merged(there, value) if isinstance(there, Mapping) and isinstance(value, Mapping) else value
    return result
