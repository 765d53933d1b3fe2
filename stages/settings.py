"""params.yaml as typed, strict settings: an unknown key, a wrong type, an impossible value is one clear line."""

import argparse
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from stages.errors import StudyError, command
from stages.files import write_text

PARAMS = Path("params.yaml")
# the files of any source
CORPUS_FILE = "wiki.txt"
QUESTION_FILES = {"train": "birth_places_train.tsv", "dev": "birth_dev.tsv", "test": "birth_test_inputs.tsv"}
MIXERS = Path(__file__).parent / "model" / "mixers"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]  # of a recipe or a variant: it becomes part of paths
Count = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A part of params.yaml. No value has a default here: what runs is what the file says."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Selection(Section):
    variant: str


class Study(Section):
    recipes: list[str]
    variants: Annotated[list[Name], Field(min_length=1)]


class Compute(Section):
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "float32", "bfloat16"]
    kernels: Literal["auto", "torch"]
    deterministic: bool
    checkpoint_seconds: Annotated[float, Field(ge=0)]


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Fetched(Section):
    addresses: list[str]
    sha256: dict[str, Sha256]

    @model_validator(mode="after")
    def _names_the_four_files(self) -> Self:
        files = {CORPUS_FILE, *QUESTION_FILES.values()}
        if set(self.sha256) != files:
            raise ValueError(f"sha256 names {sorted(self.sha256)}; allowed: {sorted(files)}")
        return self


class People(Section):
    train: Count
    dev: Count
    test: Count


class Synthetic(Section):
    seed: Annotated[int, Field(ge=0)]
    people: People
    templates: Count
    distractors: Share
    missing: Share


class Sources(Section):
    cs224n: Fetched
    synthetic: Synthetic


class Data(Section):
    source: Literal["cs224n", "synthetic"]


class Baseline(Section):
    place: Annotated[str, Field(min_length=1)]


class Model(Section):
    layers: Count
    heads: Count
    width: Count
    context: Annotated[int, Field(ge=16, multiple_of=8)]
    dropout: Annotated[float, Field(ge=0, lt=1)]

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by heads {self.heads}")
        return self


class Optimizer(Section):
    matrices: Literal["adamw", "muon"]
    betas: Annotated[list[Annotated[float, Field(ge=0, lt=1)]], Field(min_length=2, max_length=2)]
    weight_decay: Annotated[float, Field(ge=0)]
    gradient_clip: Rate


class Schedule(Section):
    warmup_tokens: Annotated[int, Field(ge=0)]
    decay_epochs: Rate
    floor: Share


class SpanCorruption(Section):
    share: Share
    shortest_document: Annotated[int, Field(ge=2)]
    longest_document: Annotated[int, Field(ge=2)]
    largest_span: Annotated[float, Field(gt=0, le=1)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.shortest_document > self.longest_document:
            raise ValueError(
                f"shortest_document {self.shortest_document} exceeds longest_document {self.longest_document}"
            )
        return self


class TitleCloze(Section):
    share: Share
    longest_context: Annotated[int, Field(ge=0)]
    free_order: Share
    blanked_rows: Share
    blanked_characters: Share


class Objectives(Section):
    span_corruption: SpanCorruption
    title_cloze: TitleCloze | None = None

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> Self:
        total = self.span_corruption.share + (self.title_cloze.share if self.title_cloze else 0)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"the shares of the objectives sum to {total:g}; allowed: 1")
        return self


class Pretrain(Section):
    epochs: Count
    batch_size: Count
    learning_rate: Rate
    schedule: Schedule
    objectives: Objectives


class Finetune(Section):
    scratch_epochs: Count
    pretrained_epochs: Count
    batch_size: Count
    replay: Annotated[float, Field(ge=0)]
    learning_rate: Rate
    schedule: Schedule


class Generation(Section):
    max_characters: Count


class Report(Section):
    show_questions: bool


class Recipe(Section):
    data: Data
    baseline: Baseline
    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
    model: Model
    optimizer: Optimizer
    pretrain: Pretrain
    finetune: Finetune
    generation: Generation
    report: Report

    @model_validator(mode="after")
    def _fits(self) -> Self:
        longest = self.model.context - 1  # two MASK characters stand beside it; the last character is not read
        document = self.pretrain.objectives.span_corruption.longest_document
        if document > longest:
            raise ValueError(
                f"pretrain.objectives.span_corruption.longest_document {document} does not fit "
                f"model.context {self.model.context}; allowed: at most {longest}"
            )
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {self.seeds} name one twice; allowed: distinct numbers")
        return self


class Settings(Section):
    """The whole of params.yaml."""

    recipe: str
    model: Selection
    study: Study
    compute: Compute
    sources: Sources
    recipes: dict[Name, Recipe]
    variants: dict[str, dict[str, Any]]  # checked by the mixer of the same name

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        allowed = ", ".join(self.recipes)
        if self.recipe not in self.recipes:
            raise ValueError(f"recipe: unknown recipe '{self.recipe}'; allowed: {allowed}")
        if sorted(self.study.recipes) != sorted(self.recipes):
            raise ValueError(f"study.recipes: was {self.study.recipes}; allowed: each key of `recipes` once: {allowed}")
        if len(set(self.study.variants)) < len(self.study.variants):
            raise ValueError(f"study.variants: was {self.study.variants}; allowed: each variant once")
        for name in self.study.variants:
            if not (MIXERS / f"{name}.py").is_file():
                raise ValueError(f"study.variants: '{name}' has no file stages/model/mixers/{name}.py")
            if name not in self.variants:
                raise ValueError(f"study.variants: '{name}' has no section variants.{name}")
        unused = sorted(set(self.variants) - set(self.study.variants))
        if unused:
            raise ValueError(f"variants.{unused[0]}: no such entry in study.variants; remove it or add the entry")
        if self.model.variant not in ["all", *self.study.variants]:
            allowed = ", ".join(["all", *self.study.variants])
            raise ValueError(f"model.variant: unknown variant '{self.model.variant}'; allowed: {allowed}")
        return self

    def recipe_named(self, name: str) -> Recipe:
        """The recipe of that name.

        Raises:
            StudyError: there is none.
        """
        if name not in self.recipes:
            raise StudyError(f"unknown recipe '{name}'; allowed: {', '.join(self.recipes)}")
        return self.recipes[name]


class _Loader(yaml.SafeLoader):
    """YAML 1.2 numbers, as DVC reads them: 3e-3 is one, without a point too."""


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def load(path: Path = PARAMS) -> Settings:
    """Read and check params.yaml.

    Raises:
        StudyError: the file is missing or no YAML, or a key is unknown, missing, of the wrong type or
            impossible; the line names the key, what it was and what is allowed.
    """
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError as error:
        raise StudyError(f"{path} is missing here; run the command in the project's root folder") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise StudyError(f"{path}:{line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: not UTF-8, or an impossible date
        raise StudyError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    return check(Settings, content, str(path), prefix="")


S = TypeVar("S", bound=BaseModel)


def check(section: type[S], content: Any, path: str, prefix: str) -> S:
    """Validate `content` as a `section` that stands under the key `prefix` of the file `path`.

    Raises:
        StudyError: one line for the first fault, and how many more there are.
    """
    try:
        return section.model_validate(content)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise StudyError(f"{path}: {_sentence(faults[0], prefix)}{more}") from error


def _sentence(fault: Any, prefix: str) -> str:
    """A pydantic fault in one line: key, what it was, what is allowed."""
    key = ".".join(str(part) for part in (*filter(None, [prefix]), *fault["loc"])) or "the file"
    if fault["type"] == "extra_forbidden":
        return f"{key}: unknown key; remove it or mend its spelling"
    if fault["type"] == "missing":
        return f"{key}: this key is missing"
    if fault["type"] == "value_error":
        return f"{key}: {fault['ctx']['error']}" if fault["loc"] else str(fault["ctx"]["error"])
    was = repr(fault["input"])
    allowed = fault["msg"][0].lower() + fault["msg"][1:]
    return f"{key}: was {was if len(was) <= 60 else was[:57] + '...'}; {allowed}"


@command
def main() -> None:
    """Check params.yaml, with every variant's section, before anything is computed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--stamp", type=Path, help="file to write when all is well")
    arguments = parser.parse_args()
    settings = load()
    from stages.model.mixers import settings_of  # imports torch: only the check needs it here

    for recipe in settings.recipes.values():
        for variant in settings.study.variants:
            settings_of(variant, settings.variants, recipe.model)
    if arguments.stamp:
        write_text(arguments.stamp, "params.yaml was checked\n")


if __name__ == "__main__":
    main()
