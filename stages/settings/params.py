"""params.yaml as typed, strict settings: an unknown key, a wrong type, an impossible value is one clear line.

A recipe is a data source and every hyper-parameter but the variant.
"""

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from stages.settings.section import (
    Context,
    Count,
    Name,
    Natural,
    NonNegative,
    Rate,
    Section,
    Seed,
    Share,
    Some,
    check,
    read_yaml,
)
from stages.settings.sources import Sources
from stages.system.errors import UserError

PARAMS = Path("params.yaml")
COMPARED = "compared"  # a selection: model.compared
ALL = "all"  # a selection: all variants
MIXERS = Path(__file__).parents[1] / "mixers"
TEXT = "text"  # a source without questions
PAIRS = "pairs"  # another
FOR_STUDIES = "is for studies alone, such as capacity_loads; select another one"  # a recipe on pairs
ASKING = ("title_cloze", "word_cloze", "training_questions")  # objectives that a text cannot have


class Data(Section):
    source: Literal["cs224n", "synthetic", "text", "own", "pairs"]


class QuestionData(Data):
    held_out: Natural
    left_out: Natural = 0  # people of dev without a page
    question: Annotated[str, Field(pattern=r"^[^{}]*\{name\}[^{}]*$", max_length=200)] | None = None


class ConstantAnswer(Section):
    place: Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")] | None


class ModelSettings(Section):
    layers: Annotated[int, Field(gt=0, le=1000)]
    heads: Count
    width: Annotated[int, Field(gt=0, le=2**16)]
    context: Context
    dropout: Annotated[float, Field(ge=0, lt=1)]
    expansion: Natural = 4  # the MLP's width over the model's; 0: no MLP

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}")
        return self


class OptimizerSettings(Section):
    matrices: Literal["adamw", "muon"]
    weight_decay: NonNegative
    decays: Literal["matrices", "all_but_biases"]
    gradient_clip: Rate


class Schedule(Section):
    warmup_tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    warmup_share: Annotated[float, Field(ge=0, lt=1)] | None = None  # share of the run; it or the tokens are given
    decay_epochs: Rate | None  # null: those of the run
    min_lr_ratio: Share

    @model_validator(mode="after")
    def _has_one_warmup(self) -> Self:
        if (self.warmup_tokens is None) == (self.warmup_share is None):
            raise ValueError("allowed: warmup_tokens or warmup_share, one of them")
        return self


class Objective(Section):
    mixture_weight: Share


class SpanCorruption(Objective):
    shortest_document: Annotated[int, Field(ge=2, le=10**6)]
    longest_document: Annotated[int, Field(ge=2, le=10**6)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest_document > self.longest_document:
            raise ValueError(f"shortest_document {self.shortest_document} exceeds {self.longest_document}, the longest")
        return self


class PhraseCloze(Objective):
    """What clozes of phrases have in common."""

    salient: Share


class TitleCloze(PhraseCloze):
    free_order: Share
    blanked_rows: Share


class WordCloze(PhraseCloze):
    words_before: Natural
    words_after: Natural
    common_words: Count | None
    in_order: Share


class Objectives(Section):
    """The objectives of pretraining: one or several; the others are left out."""

    span_corruption: SpanCorruption | None = None
    title_cloze: TitleCloze | None = None
    word_cloze: WordCloze | None = None
    training_questions: Objective | None = None
    causal_lm: Objective | None = None
    pairs: Objective | None = None

    @property
    def all_salient(self) -> Self:
        """Objectives like these, but every cloze asks for a phrase drawn by its probability to be an answer."""
        clozes = [(name, objective) for name, objective in self if isinstance(objective, PhraseCloze)]
        return self.model_copy(update={name: cloze.model_copy(update={"salient": 1.0}) for name, cloze in clozes})

    @model_validator(mode="after")
    def _mixture_weights_sum_to_one(self) -> Self:
        mixture_weights = [objective.mixture_weight for _, objective in self if objective]
        if not mixture_weights:
            raise ValueError(f"no objective; allowed: at least one of {', '.join(type(self).model_fields)}")
        if abs(sum(mixture_weights) - 1) > 1e-9:
            raise ValueError(f"the mixture weights of the objectives sum to {sum(mixture_weights):g}; allowed: 1")
        return self


class Pretrain(Section):
    epochs: Count
    least_steps: Count | None = None
    self_training_epochs: Count | None = None
    shuffled: bool = True  # or in the order of the file
    batch_size: Count
    learning_rate: Rate
    schedule: Schedule
    objectives: Objectives


class Finetune(Section):
    scratch_epochs: Count
    pretrained_epochs: Count
    batch_size: Count
    learning_rate: Rate
    scratch_learning_rate: Rate | None = None  # null: learning_rate
    shuffled: bool = True
    # Whether the training questions lack what the starter code loses: characters beyond ASCII, and the last question
    starter_code: bool = False
    moved_positions: Natural = 0  # see `training.loop.move_positions`
    schedule: Schedule


class Generation(Section):
    max_characters: Count


class Report(Section):
    show_questions: bool
    dev_asked_before: Natural | None


class Recipe(Section):
    """What pretraining takes. A recipe on a plain text has nothing more."""

    data: Data
    seeds: Some[Seed]
    model: ModelSettings
    optimizer: OptimizerSettings
    pretrain: Pretrain

    @model_validator(mode="after")
    def _fits(self) -> Self:
        longest = self.model.context - 1  # two MASK characters stand beside it; the last character is not read
        spans = self.pretrain.objectives.span_corruption
        if spans and spans.longest_document > longest:
            raise ValueError(
                f"pretrain.objectives.span_corruption.longest_document {spans.longest_document} does not fit "
                f"model.context {self.model.context}; allowed: at most {longest}"
            )

        for name, objective in self.pretrain.objectives:
            key = f"pretrain.objectives.{name}"
            if objective and self.data.source == TEXT and name in ASKING:
                raise ValueError(f"{key}: a text has no pages with names, nor questions; remove it")
            if objective and self.data.source != TEXT and name == "causal_lm":
                raise ValueError(f"{key}: pages do not go on in one another; remove it")
            if objective and (self.data.source == PAIRS) != (name == "pairs"):
                raise ValueError(f"{key}: source {self.data.source} has nothing to ask so; remove it")
        return self


class QuestionRecipe(Recipe):
    """A recipe whose data have questions: what finetuning, evaluation and report take, too."""

    data: QuestionData
    baseline: ConstantAnswer
    finetune: Finetune
    generation: Generation
    report: Report

    @property
    def any_spelling(self) -> bool:
        """Whether an answer is right in any spelling (see `stages.corpus.text`), or to the letter alone."""
        return self.data.source == "own"

    @model_validator(mode="after")
    def _answers_fit(self) -> Self:
        if self.generation.max_characters > self.model.context:
            raise ValueError(
                f"generation.max_characters {self.generation.max_characters} does not fit model.context "
                f"{self.model.context}"
            )
        return self


def _kind(recipe: Any) -> str:
    """Return the tag of a recipe, or of the content of its section."""
    for key in ("data", "source"):
        recipe = recipe.get(key) if isinstance(recipe, dict) else getattr(recipe, key, None)
    return "<text>" if recipe in (TEXT, PAIRS) else "<questions>"


# unlike a key, a tag in angle brackets is no part of a fault's line
AnyRecipe = Annotated[
    Annotated[Recipe, Tag("<text>")] | Annotated[QuestionRecipe, Tag("<questions>")], Discriminator(_kind)
]


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
        for key, names, allowed in (
            ("recipe", [self.recipe], [*self.recipes]),
            ("model.variant", [self.model.variant], [COMPARED, ALL, *self.variants]),
            ("model.compared", self.model.compared, [*self.variants]),
        ):
            for name in names:
                if name not in allowed:
                    fault = f"{key}: was '{name}'; allowed: {', '.join(allowed)}"
                    if name not in self.variants and (MIXERS / f"{name}.py").is_file():
                        fault += f"; stages/mixers/{name}.py is there: give it a section of `variants`, at least `{{}}`"
                    raise ValueError(fault)
        return self

    def changed(self, values: Mapping[str, Any], where: str = "") -> Self:
        """Put values in the place of settings, by dotted key; where: they stand, for errors.

        Raises UserError: a key is unknown, or a value makes no valid settings.
        """
        content = self.model_dump()
        for dotted, value in values.items():
            *sections, last = dotted.split(".")
            section = content
            for name in sections:
                if not isinstance(section.get(name), dict):  # an objective that the recipe lacks is None
                    section[name] = {}
                section = section[name]
            section[last] = deepcopy(value)  # a later key may change a part of it
        return check(type(self), content, where)

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
        if isinstance(recipe, QuestionRecipe):
            return recipe
        if recipe.data.source == PAIRS:
            raise UserError(f"recipe '{name}' {FOR_STUDIES}")
        raise UserError(
            f"recipe '{name}' has no questions, only a text; see what it learned with: "
            f"python -m stages sample --recipe {name} --variant <variant>"
        )


def load(path: Path = PARAMS) -> Settings:
    """Read and check params.yaml.

    Raises UserError: the file is missing or no YAML, or a key is unknown, missing, of the wrong type or impossible;
    the line names the key, what it was and what is allowed.
    """
    return check(Settings, read_yaml(path), str(path))
