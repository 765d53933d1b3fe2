"""The section `cost`: what is measured of each variant, and how long at most."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from stages.settings.section import Count, Rate, Section


class CostLimits(Section):
    recipe: str
    lengths: Annotated[list[Annotated[int, Field(ge=16, multiple_of=8)]], Field(min_length=1)]
    repeats: Count
    seconds: Rate
    characters: Annotated[int, Field(gt=0, lt=16)]
    longest_run: Rate
    memory: Rate

    @model_validator(mode="after")
    def _lengths_ascend(self) -> Self:
        if any(later <= earlier for earlier, later in pairwise(self.lengths)):
            raise ValueError(f"lengths {self.lengths} do not ascend")
        return self
