"""params.yaml as a whole."""

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from stages.settings.recipe import AnyRecipe, QuestionRecipe, Recipe
from stages.settings.section import Name, NonNegative, Section, Some, check, read_yaml
from stages.settings.sources import Sources
from stages.system.errors import UserError

PARAMS = Path("params.yaml")
COMPARED = "compared"  # a selection: model.compared
ALL = "all"  # a selection: all variants
MIXERS = Path(__file__).parents[1] / "mixers"


class Selection(Section):
    variant: str  # a key of `variants`, COMPARED or ALL
    compared: Some[Name]


class Compute(Section):
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    kernels: Literal["auto", "torch"]
    deterministic: bool
    checkpoint_seconds: NonNegative
    cluster: Annotated[str, Field(pattern=r"^\w+://\S+$")] | None


class Settings(Section):
    """The whole of params.yaml."""

    recipe: str
    model: Selection
    compute: Compute
    sources: Sources
    recipes: dict[Name, AnyRecipe]
    variants: Annotated[dict[Name, dict[str, Any]], Field(min_length=1)]  # checked by the mixer of the same name

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        """Check the names that a report depends on; a study checks its names when it runs."""
        for name in self.variants:
            if not (MIXERS / f"{name}.py").is_file():
                raise ValueError(f"variants: '{name}' has no file stages/mixers/{name}.py")
        named: list[tuple[str, Sequence[str], Collection[str]]] = [
            ("recipe", [self.recipe], self.recipes),
            ("model.variant", [self.model.variant], [COMPARED, ALL, *self.variants]),
            ("model.compared", self.model.compared, self.variants),
        ]
        for key, names, allowed in named:
            for name in names:
                if name not in allowed:
                    fault = f"{key}: was '{name}'; allowed: {', '.join(allowed)}"
                    if name not in self.variants and (MIXERS / f"{name}.py").is_file():
                        fault += f"; stages/mixers/{name}.py is there: give it a section of `variants`, at least `{{}}`"
                    raise ValueError(fault)
        return self

    def changed(self, values: Mapping[str, Any], path: str, key: str) -> Self:
        """Put values in the place of settings, by dotted key; path, key: where the values stand, for errors.

        Raises UserError: a key is unknown, or a value makes no valid settings.
        """
        content = self.model_dump()
        for dotted, value in values.items():
            *sections, last = dotted.split(".")
            place = content
            for section in sections:
                if not isinstance(place.setdefault(section, {}), dict):
                    place[section] = {}
                place = place[section]
            place[last] = deepcopy(value)  # a later key may change a part of it
        return check(type(self), content, path, key)

    def recipe_named(self, name: str) -> Recipe:
        """Look up the recipe of that name. Raises UserError: there is none."""
        if name not in self.recipes:
            raise UserError(f"unknown recipe '{name}'; allowed: {', '.join(self.recipes)}")
        return self.recipes[name]

    def selected(self, selection: str) -> list[str]:
        """List the variants of a selection: `compared`, `all` or a variant.

        Raises UserError: there is no such selection.
        """
        if selection == ALL:
            return [*self.variants]
        if selection == COMPARED:
            return self.model.compared
        self.check_variant(selection)
        return [selection]

    def check_variant(self, name: str) -> None:
        """Raise UserError unless the name is a key of `variants`."""
        if name not in self.variants:
            raise UserError(f"unknown variant '{name}'; allowed: {', '.join(self.variants)}")

    def question_recipe(self, name: str) -> QuestionRecipe:
        """Look up the recipe of that name. Raises UserError: there is none, or it has no questions."""
        recipe = self.recipe_named(name)
        if not isinstance(recipe, QuestionRecipe):
            raise UserError(
                f"recipe '{name}' has no questions, only a text; see what it learned with: "
                f"python -m stages sample --recipe {name} --variant <variant>"
            )
        return recipe


def load(path: Path = PARAMS) -> Settings:
    """Read and check params.yaml.

    Raises UserError: the file is missing or no YAML, or a key is unknown, missing, of the wrong type or impossible;
    the line names the key, what it was and what is allowed.
    """
    return check(Settings, read_yaml(path), str(path), prefix="")
