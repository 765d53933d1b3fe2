"""The section `probe`: what trained weights are asked beside the questions."""

from typing import Annotated

from pydantic import Field

from stages.settings.section import Count, Section


class ProbeSettings(Section):
    seed: Annotated[int, Field(ge=0)]
    people: Count
    cue: Annotated[int, Field(ge=0)]
