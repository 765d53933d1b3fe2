"""The section `explore`: what the attention exploration draws."""

from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from stages.settings.section import Rate, Section

Beta = Annotated[float, Field(gt=0, le=30)]  # beyond it errors of about exp(-β) are below a float64's rounding


class Explore(Section):
    seed: Annotated[int, Field(ge=0)]
    samples: Annotated[int, Field(ge=2)]
    dimension: Annotated[int, Field(ge=4, multiple_of=2)]
    pairs: Annotated[int, Field(ge=3)]
    betas: Annotated[list[Beta], Field(min_length=2)]
    alpha: Rate
    positions: Annotated[int, Field(ge=2)]

    @model_validator(mode="after")
    def _keys_can_be_orthogonal(self) -> Self:
        if self.pairs > self.dimension:
            raise ValueError(f"pairs {self.pairs} exceeds dimension {self.dimension}: so many keys are not orthogonal")
        if any(later <= earlier for earlier, later in pairwise(self.betas)):
            raise ValueError(f"betas {self.betas} do not ascend")
        return self
