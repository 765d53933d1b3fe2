"""What the generated world is drawn from: the names, places and sentences that the files beside this one list.

For larger worlds more names are made by a rule: a made name has the first consonants of one listed name and the rest of
another of the same culture, as Rackson has those of Reid and Jackson. It can be spoken, and looks like its culture's.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import yaml

LONDON = "London"
LONDON_SHARE = 0.05  # its share of the birthplaces; every other place is rarer
LISTED_SUFFICE = 45_000  # people: a world of more has made names, too
SPARE = 1.5  # full names a person, so that no culture's are used up
VOWELS = "aeiouyàáâãåäèéêëěíîïıòóôõöøőúûüű"
PARTS = re.compile(f"((?:y|qu)?[^{VOWELS}]*+)(.+)", re.IGNORECASE)  # a name's first consonants, and its rest


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
FREQUENCIES: dict[str, float] = {place: frequency for place, _, frequency in _placed}  # without London
HOMES: dict[str, str] = {LONDON: "english"} | {place: culture for place, culture, _ in _placed}

_sentences = _listed("sentences")
SENTENCES: list[str] = _sentences["forms"]
LIFE: list[str] = _sentences["life"]
ELSEWHERE: dict[str, list[str]] = _sentences["elsewhere"]  # by slot
WORDS: dict[str, list[str]] = _sentences["words"]  # by what they name


def made(names: Sequence[str]) -> list[str]:
    """Make all names that the rule gives: new ones, none longer than the longest, none that begins with a place."""
    plain = [name for name in names if name.isalpha() and name.istitle()]  # no particle, hyphen, second capital
    parts = [match.groups() for match in map(PARTS.fullmatch, plain) if match]
    beginnings = dict.fromkeys(beginning for beginning, _ in parts if beginning)
    rests = dict.fromkeys(rest.lower() for _, rest in parts)
    longest = max(map(len, plain))
    places = tuple(HOMES)
    taken = {*names, *" ".join(places).split()}
    candidates = dict.fromkeys(map("".join, product(beginnings, rests)))
    return [name for name in candidates if len(name) <= longest and name not in taken and not name.startswith(places)]


def enlarged(people: int, rng: random.Random) -> dict[str, Culture]:
    """Add made names to each culture where the listed ones do not suffice for so many people.

    Given and family names grow by the same factor. There are enough made names for MOST_PEOPLE.
    """
    if people <= LISTED_SUFFICE:
        return CULTURES
    weights = sum(culture.weight for culture in CULTURES.values())
    cultures = {}
    for key, culture in CULTURES.items():
        names_listed = len(culture.given) * len(culture.family)
        factor = sqrt(max(1.0, SPARE * people * culture.weight / weights / names_listed))
        given, family = (
            names + rng.sample(made(names), ceil(len(names) * (factor - 1)))
            for names in (culture.given, culture.family)
        )
        cultures[key] = replace(culture, given=given, family=family)
    return cultures


class NameRegister:
    """Full names of the cultures, each given out once; none begins with another one."""

    def __init__(self, cultures: Mapping[str, Culture], rng: random.Random) -> None:
        self._cultures = cultures
        self._rng = rng
        self._pools = {key: list(product(culture.given, culture.family)) for key, culture in cultures.items()}
        for pairs in self._pools.values():
            rng.shuffle(pairs)
        self._names: set[str] = set()
        self._beginnings: set[str] = set()  # all beginnings of the names given out, whole names included

    def draw(self, wanted: str | None) -> tuple[str, str, str]:
        """Draw a new person's culture, given and family name; of culture `wanted` if one is left there."""
        while True:
            keys = [key for key, pairs in self._pools.items() if pairs]
            key = wanted if wanted in keys else self._rng.choices(keys, [self._cultures[k].weight for k in keys])[0]
            given, family = self._extend(self._cultures[key], *self._pools[key].pop())
            name = f"{given} {family}"
            if name not in self._beginnings and not any(name[:end] in self._names for end in range(len(name))):
                self._names.add(name)
                self._beginnings.update(name[: end + 1] for end in range(len(name)))
                return key, given, family

    def _extend(self, culture: Culture, given: str, family: str) -> tuple[str, str]:
        if self._rng.random() < culture.initials:
            given += f" {self._rng.choice('ABCDEFGHJKLMNPRSTVW')}."
        if self._rng.random() < culture.doubled:
            second = self._rng.choice(culture.family)
            # a particle inside a doubled name would read as a third name
            if second != family and " " not in family + second:
                family += culture.link + second
        return given, family
