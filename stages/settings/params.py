"""params.yaml as a whole."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from stages.settings.ablation import FULL, Ablation
from stages.settings.method import Cost, Influence
from stages.settings.probe import ProbeSettings
from stages.settings.recipe import AnyRecipe, QuestionRecipe, Recipe, with_questions
from stages.settings.section import Name, Section, check, read_yaml
from stages.settings.sources import Sources
from stages.system.errors import StudyError

PARAMS = Path("params.yaml")
COMPARED = "compared"  # a selection: study.compared
ALL = "all"  # a selection: study.variants
MIXERS = Path(__file__).parents[1] / "mixers"


class Selection(Section):
    variant: str


class Study(Section):
    recipes: list[str]
    asked: list[str]
    variants: Annotated[list[Name], Field(min_length=1)]
    compared: Annotated[list[Name], Field(min_length=1)]


class Compute(Section):
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    kernels: Literal["auto", "torch"]
    deterministic: bool
    checkpoint_seconds: Annotated[float, Field(ge=0)]


class Settings(Section):
    """The whole of params.yaml."""

    recipe: str
    model: Selection
    study: Study
    compute: Compute
    sources: Sources
    recipes: dict[Name, AnyRecipe]
    cost: Cost
    influence: Influence
    probe: ProbeSettings
    ablation: Ablation
    variants: dict[str, dict[str, Any]]  # checked by the mixer of the same name

    @model_validator(mode="after")
    def _recipes_exist(self) -> Self:
        asked = [name for name, recipe in self.recipes.items() if isinstance(recipe, QuestionRecipe)]
        if self.recipe not in self.recipes:
            raise ValueError(f"recipe: unknown recipe '{self.recipe}'; allowed: {', '.join(asked)}")
        if self.recipe not in asked:
            raise ValueError(
                f"recipe: was '{self.recipe}', which has no questions and therefore no report; allowed: "
                f"{', '.join(asked)}; train it with: dvc repro stages/dvc.yaml:pretrain@{self.recipe}-<variant>"
            )
        for key, listed, names in (
            ("recipes", self.study.recipes, list(self.recipes)),
            ("asked", self.study.asked, asked),
        ):
            if sorted(listed) != sorted(names):
                which = "each key of `recipes`" + (" with questions" if key == "asked" else "")
                raise ValueError(f"study.{key}: was {listed}; allowed: {which} once: {', '.join(names)}")
        return self

    @model_validator(mode="after")
    def _cost_and_influence_have_a_shape(self) -> Self:
        for key, name in (("cost", self.cost.recipe), ("influence", self.influence.recipe)):
            if name not in self.recipes:
                raise ValueError(f"{key}.recipe: unknown recipe '{name}'; allowed: {', '.join(self.recipes)}")
        return self

    @model_validator(mode="after")
    def _variants_exist(self) -> Self:
        if len(set(self.study.variants)) < len(self.study.variants):
            raise ValueError(f"study.variants: was {self.study.variants}; allowed: each variant once")
        for name in self.study.variants:
            if name in (COMPARED, ALL):
                raise ValueError(f"study.variants: '{name}' is the name of a selection; choose another")
            if not (MIXERS / f"{name}.py").is_file():
                raise ValueError(f"study.variants: '{name}' has no file stages/mixers/{name}.py")
            if name not in self.variants:
                raise ValueError(f"study.variants: '{name}' has no section variants.{name}")
        for name in self.study.compared:
            if name not in self.study.variants or self.study.compared.count(name) > 1:
                raise ValueError(f"study.compared: '{name}'; allowed: entries of study.variants, each once")
        for name in self.influence.settings:  # one that study.variants leaves out is not drawn
            if not (MIXERS / f"{name}.py").is_file():
                raise ValueError(f"influence.settings: '{name}' has no file stages/mixers/{name}.py")
        unused = sorted(set(self.variants) - set(self.study.variants))
        if unused:
            raise ValueError(f"variants.{unused[0]}: no such entry in study.variants; remove it or add the entry")
        selections = [COMPARED, ALL, *self.study.variants]
        if self.model.variant not in selections:
            allowed = ", ".join(selections)
            raise ValueError(f"model.variant: unknown variant '{self.model.variant}'; allowed: {allowed}")
        return self

    @model_validator(mode="after")
    def _ablations_are_recipes(self) -> Self:
        ablation, recipe = self.ablation, self.recipes.get(self.ablation.recipe)
        if not isinstance(recipe, QuestionRecipe):
            raise ValueError(f"ablation.recipe: was '{ablation.recipe}'; allowed: {', '.join(self.study.asked)}")
        if ablation.variant not in self.study.variants:
            raise ValueError(f"ablation.variant: was '{ablation.variant}'; allowed: {', '.join(self.study.variants)}")
        if ablation.changes.get(FULL) != {}:
            raise ValueError(f"ablation.changes.{FULL}: allowed: {{}}, for what the changes are compared with")
        plain = ablation.applied(FULL, recipe)
        for name in ablation.changes:
            if name != FULL and ablation.applied(name, recipe) == plain:
                raise ValueError(f"ablation.changes.{name}: changes nothing")
        return self

    def ablated(self, change: str) -> Self:
        """These settings with the ablation's recipe changed.

        Raises:
            StudyError: there is no such change.
        """
        if change not in self.ablation.changes:
            raise StudyError(f"unknown change '{change}'; allowed: {', '.join(self.ablation.changes)}")
        name = self.ablation.recipe
        recipe = self.ablation.applied(change, self.question_recipe(name))
        return self.model_copy(update={"recipes": self.recipes | {name: recipe}})

    def recipe_named(self, name: str) -> Recipe:
        """The recipe of that name.

        Raises:
            StudyError: there is none.
        """
        if name not in self.recipes:
            raise StudyError(f"unknown recipe '{name}'; allowed: {', '.join(self.recipes)}")
        return self.recipes[name]

    def check_variant(self, name: str) -> None:
        """Let an entry of study.variants pass.

        Raises:
            StudyError: it is none.
        """
        if name not in self.study.variants:
            raise StudyError(f"unknown variant '{name}'; allowed: {', '.join(self.study.variants)}")

    def question_recipe(self, name: str) -> QuestionRecipe:
        """The recipe of that name, which has questions.

        Raises:
            StudyError: there is none, or it has none.
        """
        return with_questions(name, self.recipe_named(name))


def load(path: Path = PARAMS) -> Settings:
    """Read and check params.yaml.

    Raises:
        StudyError: the file is missing or no YAML, or a key is unknown, missing, of the wrong type or
            impossible; the line names the key, what it was and what is allowed.
    """
    return check(Settings, read_yaml(path), str(path), prefix="")
