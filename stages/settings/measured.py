"""The sections of params.yaml for the studies beside the recipes."""

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from stages.settings.recipe import Model, Optimizer, Schedule
from stages.settings.section import Count, Name, Rate, Section, Seed, Some

FULL = "full"  # the ablation's recipe without a change, which the others are compared with
CHANGEABLE = ("model", "optimizer", "pretrain", "finetune")  # sections of a recipe that its training depends on


class Ablation(Section):
    recipe: Name
    variant: Name
    seed: Seed
    held_out: Count
    changes: dict[Name, dict[str, Any]]  # sections and keys, with the values in place of the recipe's own

    @model_validator(mode="after")
    def _has_what_it_compares_with(self) -> Self:
        if self.changes.get(FULL) != {}:
            raise ValueError(f"changes: '{FULL}: {{}}' is missing, the recipe that the others are compared with")
        return self


RATES = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1]  # a factor of three apart; capacity chooses among them
Matrices = Literal["muon", "adamw"]
Rates = dict[Matrices, Annotated[list[Rate], Field(min_length=3)]]


class CapacityPart(Section):
    """Trainings in all combinations of these values."""

    variants: list[Name] = Field([])  # none: all
    loads: list[Rate] = Field([1.0])
    exposures: list[Count] = Field([100])
    widths: list[Count] = Field([32])
    controls: list[Literal["", "token", "no_mlp"]] = Field([""])
    rates: Rates | None = None  # null: muon, with the best rate


class CapacityParts(Section):
    """All that the page shows."""

    loads: CapacityPart
    doses: CapacityPart
    widths: CapacityPart
    controls: CapacityPart
    optimizers: CapacityPart


class Capacity(Section):
    model: Model  # but for its width
    optimizer: Optimizer  # but for its matrices
    batch_size: Count
    schedule: Schedule
    rates: Rates
    seeds: Some[Annotated[Seed, Field(gt=0)]]  # rates are chosen with seed 0
    parts: CapacityParts

    @field_validator("rates")
    @classmethod
    def _are_those_of_muon_and_in_the_grid(cls, rates: Rates) -> Rates:
        if "muon" not in rates:
            raise ValueError("muon is missing; parts without rates of their own train with it")
        for rate in chain(*rates.values()):
            if rate not in RATES:
                raise ValueError(f"was {rate}; allowed: {', '.join(map(str, RATES))}")
        return rates

    @model_validator(mode="after")
    def _heads_divide_widths(self) -> Self:
        for key, part in self.parts:
            for width in part.widths:
                if width % self.model.heads:
                    raise ValueError(f"parts.{key}.widths: {width} is not divisible by heads {self.model.heads}")
        return self


OF_TEXT = ("pages_only_rope", "pages_only_longer", "unaided", "with_reader")  # models that the article speaks of


class ArticleModel(Section):
    title: Annotated[str, Field(min_length=1, max_length=40)]
    about: Annotated[str, Field(min_length=1, max_length=60)]
    variant: Name
    init: Literal["scratch", "pretrained"]  # what is finetuned
    change: dict[str, Any]  # as of an ablation


class Article(Section):
    recipe: Name
    seed: Seed
    models: Annotated[dict[Name, ArticleModel], Field(max_length=10)]

    @model_validator(mode="after")
    def _has_models_of_text(self) -> Self:
        if lacking := [name for name in OF_TEXT if name not in self.models]:
            raise ValueError(f"models: there is no {', '.join(lacking)}; the page's text speaks of each")
        return self


def merged(content: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Put the change's values in place of the content's own, section by section."""
    result = dict(content)
    for key, value in change.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result
