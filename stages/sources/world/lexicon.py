"""What the generated world is drawn from: the names, places and sentences that the files beside this one list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LONDON = "London"
LONDON_SHARE = 0.05  # its share of the birthplaces; every other place is rarer


@dataclass(frozen=True)
class Culture:
    """One way of naming people (names.yaml); a name is a given name, perhaps a middle initial, and a family name."""

    weight: float
    nationalities: list[str]
    given: list[str]
    family: list[str]
    initials: float = 0.04
    doubled: float = 0.0
    link: str = "-"


def _listed(name: str) -> Any:
    """Read <name>.yaml."""
    text = (Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)  # as safe as `safe_load`, and ten times as fast


CULTURES = {key: Culture(**culture) for key, culture in _listed("names").items()}

_placed = [
    (place, culture, tier["frequency"])
    for tier in _listed("places")
    for culture, places in tier["places"].items()
    for place in places
]
WEIGHTS: dict[str, float] = {place: frequency for place, _, frequency in _placed}  # without London
HOMES: dict[str, str] = {LONDON: "english"} | {place: culture for place, culture, _ in _placed}

_sentences = _listed("sentences")
FORMS: list[str] = _sentences["forms"]
LIFE: list[str] = _sentences["life"]
ELSEWHERE: dict[str, list[str]] = _sentences["elsewhere"]  # by slot
WORDS: dict[str, list[str]] = _sentences["words"]  # by what they name
