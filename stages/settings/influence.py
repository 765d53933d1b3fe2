"""The section `influence`: whose shape the pictures of influence have, and what else is drawn for them."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from stages.settings.section import Count, Name, Section


class InfluenceSettings(Section):
    recipe: str
    seed: Annotated[int, Field(ge=0)]
    passes: Count
    settings: dict[Name, list[dict[str, Any]]]  # each checked by the mixer of the key's name


def pictured(own: Section, further: Sequence[Section]) -> list[Section]:
    """The settings of a variant that are drawn, each once: its own first, unless it stands among the further ones."""
    wanted = list(further) if own in further else [own, *further]
    return [each for place, each in enumerate(wanted) if each not in wanted[:place]]
