"""The section `influence`: whose shape the pictures of influence have, and what else is drawn for them."""

from typing import Annotated, Any

from pydantic import Field

from stages.settings.section import Count, Name, Section


class InfluenceSettings(Section):
    recipe: str
    seed: Annotated[int, Field(ge=0)]
    passes: Count
    settings: dict[Name, list[dict[str, Any]]]  # each checked by the mixer of the key's name
