"""What the study trains, and what it measures: a row of rows.csv. No torch: pages are made of rows alone."""

from itertools import product
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from stages.experiment.provenance import settings_digest
from stages.settings import Settings
from stages.settings.measured import CHANGEABLE

ROWS = Path("reports/prediction/rows.csv")  # in git, so that the page can be made of them
RECIPE = "quick"


class Cell(BaseModel):
    """What is trained."""

    model_config = ConfigDict(frozen=True)

    variant: str
    world: int  # its seed
    seed: int  # of weights and order
    settings: str  # digest of what else the result depends on


class Row(Cell):
    """What was measured."""

    alignment: float  # of the untrained weights
    question_bits: float  # after finetuning
    page_bits: float  # before it
    parameters: int
    seconds: float
    commit: str
    device: str


def cells(settings: Settings) -> list[Cell]:
    """List all cells, one world and seed after the other."""
    section = settings.prediction
    recipe = settings.question_recipe(RECIPE).model_dump(include={*CHANGEABLE})
    common = [section.change, section.facts, recipe, settings.sources.synthetic.model_dump(exclude={"seed"})]
    digests = {name: settings_digest([*common, own])[:8] for name, own in settings.every_variant.items()}
    return [
        Cell(variant=variant, world=world, seed=seed, settings=digest)
        for world, seed in product(section.worlds, section.seeds)
        for variant, digest in digests.items()
    ]
