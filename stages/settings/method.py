"""The sections of what is measured once for the whole project: `cost`, `influence`, `grid`, `passages`."""

from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from stages.settings.section import Context, Count, Name, Rate, Section

LONGEST_SHORTEST = 4096  # characters; no length follows one that takes long, but the first is always measured


class Cost(Section):
    recipe: str
    lengths: Annotated[list[Context], Field(min_length=1, max_length=100)]
    longest_run: Rate

    @model_validator(mode="after")
    def _lengths_ascend(self) -> Self:
        if any(later <= earlier for earlier, later in pairwise(self.lengths)):
            raise ValueError(f"lengths {self.lengths} do not ascend")
        if self.lengths[0] > LONGEST_SHORTEST:
            raise ValueError(f"lengths: the first was {self.lengths[0]}; allowed: at most {LONGEST_SHORTEST}")
        return self


class Influence(Section):
    recipe: str
    settings: dict[Name, list[dict[str, Any]]]  # each checked by the mixer of the key's name


class Grid(Section):
    recipe: str
    variants: Annotated[list[Name], Field(min_length=1, max_length=100)]
    widths: Annotated[list[Count], Field(min_length=1, max_length=100)]
    learning_rates: Annotated[list[Rate], Field(min_length=1, max_length=100)]


class Passages(Section):
    recipe: str
    variant: Name
    beginnings: Annotated[int, Field(gt=0, le=1000)]
    characters: Annotated[int, Field(gt=0, le=10_000)]
