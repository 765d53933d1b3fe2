"""What the study trains, and what it measures: a row of rows.csv. No torch: pages are made of rows alone."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from stages.settings import Settings
from stages.system import digests

BITS_OF_A_PLACE = 7.234  # mean of −log₂ p(place | culture) over the tables; it decides the number of people alone


class Cell(BaseModel):
    """What is trained. A model of `load` 1 is asked one bit a parameter."""

    model_config = ConfigDict(frozen=True)

    variant: str
    matrices: Literal["muon", "adamw"]
    learning_rate: float
    exposures: int
    load: float
    width: int
    control: Literal["", "token", "no_mlp"]  # a name is one token; blocks have no MLP
    seed: int  # of the world, the weights and the order
    settings: str  # digest of what else the result depends on


class Row(Cell):
    """What a cell has stored."""

    people: int
    parameters: int
    inner_parameters: int  # without embedding and head
    bits_asked: float
    bits_stored: float
    exact: float  # share of the people whose place is said without a fault
    seconds: float
    commit: str
    device: str
    precision: str


def digest(settings: Settings, variant: str) -> str:
    """Return eight hex digits of what all cells of a variant have in common."""
    section = settings.capacity
    common = [section.model, section.optimizer, section.schedule]
    values = [part.model_dump() for part in common]
    return digests.digest([*values, section.batch_size, settings.variants[variant]])[:8]
