"""params.yaml as a whole."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from stages.settings.bounded_yaml import read_yaml
from stages.settings.measured import FULL, Ablation, Article, Cost, Grid, Influence, Passages
from stages.settings.recipe import AnyRecipe, QuestionRecipe, Recipe, with_questions
from stages.settings.section import Name, NonNegative, Section, check
from stages.settings.sources import Sources
from stages.system.errors import StudyError

PARAMS = Path("params.yaml")
COMPARED = "compared"  # a selection: study.compared
LONGEST_PICTURE = 4096  # characters
ALL = "all"  # a selection: study.variants
RESERVED = (COMPARED, ALL, "ablation", "baseline", "evaluations", "method")  # folders beside variants' and recipes'
PLAIN = ("rope", "vanilla")  # variants that the article's model in JavaScript has
MEASURED = ("cost", "influence", "passages")  # sections
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
    checkpoint_seconds: NonNegative


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
    grid: Grid
    passages: Passages
    ablation: Ablation
    article: Article
    variants: dict[str, dict[str, Any]]  # checked by the mixer of the same name

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        study, asked = self.study, [name for name, each in self.recipes.items() if isinstance(each, QuestionRecipe)]
        mixers = (("study.variants", study.variants), ("influence.settings", [*self.influence.settings]))
        for key, names in (("study.recipes", study.recipes), *mixers):
            for name in names:
                if name in RESERVED:
                    raise ValueError(f"{key}: '{name}' is a name that the study itself uses; choose another")
        _each_once("study.recipes", study.recipes, self.recipes, "each key of `recipes`")
        _each_once("study.asked", study.asked, asked, "each key of `recipes` with questions")
        _each_once("study.variants", study.variants, self.variants, "each key of `variants`")
        for key, names in mixers:
            for name in names:
                if not (MIXERS / f"{name}.py").is_file():
                    raise ValueError(f"{key}: '{name}' has no file stages/mixers/{name}.py")
        if len(set(study.compared)) < len(study.compared):
            raise ValueError(f"study.compared: was {study.compared}; allowed: entries of study.variants, each once")
        known = (
            *((f"{key}.recipe", getattr(self, key).recipe, study.recipes) for key in MEASURED),
            ("grid.recipe", self.grid.recipe, [name for name in study.recipes if name not in study.asked]),
            ("ablation.recipe", self.ablation.recipe, study.asked),
            ("ablation.variant", self.ablation.variant, study.variants),
            ("article.recipe", self.article.recipe, study.asked),
            ("passages.variant", self.passages.variant, study.variants),
            ("model.variant", self.model.variant, [COMPARED, ALL, *study.variants]),
            ("recipe", self.recipe, study.asked),
            *(("study.compared", name, study.variants) for name in study.compared),
            *(("grid.variants", name, study.variants) for name in self.grid.variants),
            *((f"article.models.{name}.variant", each.variant, PLAIN) for name, each in self.article.models.items()),
        )
        for key, name, allowed in known:
            if name not in allowed:
                raise ValueError(f"{key}: was '{name}'; allowed: {', '.join(allowed)}")
        if (context := self.recipes[self.influence.recipe].model.context) > LONGEST_PICTURE:
            raise ValueError(
                f"influence.recipe: its context was {context}; allowed: at most {LONGEST_PICTURE}, for a matrix of all "
                "pairs of its characters"
            )
        return self

    @model_validator(mode="after")
    def _ablations_are_recipes(self) -> Self:
        ablation, recipe = self.ablation, self.question_recipe(self.ablation.recipe)
        if ablation.changes.get(FULL) != {}:
            raise ValueError(f"ablation.changes.{FULL}: allowed: {{}}, for what the changes are compared with")
        plain = ablation.applied(FULL, recipe)
        for name in ablation.changes:
            if name != FULL and ablation.applied(name, recipe) == plain:
                raise ValueError(f"ablation.changes.{name}: changes nothing")
        return self

    def ablated(self, change: str) -> Self:
        """These settings with the ablation's recipe changed. Raises StudyError: there is no such change."""
        if change not in self.ablation.changes:
            raise StudyError(f"unknown change '{change}'; allowed: {', '.join(self.ablation.changes)}")
        name = self.ablation.recipe
        recipe = self.ablation.applied(change, self.question_recipe(name))
        return self.model_copy(update={"recipes": self.recipes | {name: recipe}})

    @model_validator(mode="after")
    def _article_has_recipes(self) -> Self:
        for name in self.article.models:
            self.article.applied(name, self.question_recipe(self.article.recipe))
        return self

    def of_article(self, model: str) -> Self:
        """These settings with the article's recipe as that model has it. Raises StudyError: there is no such model."""
        if model not in self.article.models:
            raise StudyError(f"unknown model '{model}'; allowed: {', '.join(self.article.models)}")
        name = self.article.recipe
        recipe = self.article.applied(model, self.question_recipe(name))
        return self.model_copy(update={"recipes": self.recipes | {name: recipe}})

    def recipe_named(self, name: str) -> Recipe:
        """The recipe of that name. Raises StudyError: there is none."""
        if name not in self.recipes:
            raise StudyError(f"unknown recipe '{name}'; allowed: {', '.join(self.recipes)}")
        return self.recipes[name]

    def selected(self, selection: str) -> list[str]:
        """The variants of a selection: `compared`, `all` or a variant.

        Raises StudyError: there is no such selection.
        """
        several = {ALL: self.study.variants, COMPARED: self.study.compared}
        if selection not in several:
            self.check_variant(selection)
        return several.get(selection, [selection])

    def check_variant(self, name: str) -> None:
        """Let an entry of study.variants pass. Raises StudyError: it is none."""
        if name not in self.study.variants:
            raise StudyError(f"unknown variant '{name}'; allowed: {', '.join(self.study.variants)}")

    def question_recipe(self, name: str) -> QuestionRecipe:
        """The recipe of that name, which has questions. Raises StudyError: there is none, or it has none."""
        return with_questions(name, self.recipe_named(name))


def _each_once(key: str, listed: Sequence[str], names: Collection[str], what: str) -> None:
    """Let a list pass that has each of the names once, and no other."""
    for name in dict.fromkeys([*listed, *names]):
        if listed.count(name) != (name in names):
            raise ValueError(f"{key}: '{name}'; allowed: {what} once: {', '.join(names)}")


def load(path: Path = PARAMS) -> Settings:
    """Read and check params.yaml.

    Raises StudyError: the file is missing or no YAML, or a key is unknown, missing, of the wrong type or impossible;
    the line names the key, what it was and what is allowed.
    """
    return check(Settings, read_yaml(path), str(path), prefix="")
