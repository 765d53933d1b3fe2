"""More names than names.yaml lists, made by rule, for worlds of more people than the lists have names for.

A made name has the first consonants of one listed name and the rest of another of the same culture, as Rackson has
those of Reid and Jackson. So it can be spoken, and looks like its culture's.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import ceil, sqrt

from stages.sources.world.lexicon import CULTURES, HOMES, Culture

MOST_PEOPLE = 2_500_000  # for more the rule does not make names enough in every culture
SPARE = 1.5  # full names a person, so that no culture's are used up
VOWELS = "aeiouyàáâãåäèéêëěíîïıòóôõöøőúûüű"
PARTS = re.compile(f"((?:y|qu)?[^{VOWELS}]*+)(.+)", re.IGNORECASE)  # a name's first consonants, and its rest


def made(names: Sequence[str]) -> list[str]:
    """All names that the rule makes of `names`: none of these, none longer, none with a place in it."""
    plain = [name for name in names if name.isalpha() and name.istitle()]  # no particle, hyphen, second capital
    parts = [match.groups() for match in map(PARTS.fullmatch, plain) if match]
    beginnings = dict.fromkeys(beginning for beginning, _ in parts if beginning)
    rests = dict.fromkeys(rest.lower() for _, rest in parts)
    longest, places = max(map(len, plain)), tuple(HOMES)
    taken = {*names, *(word for place in places for word in place.split())}
    found = dict.fromkeys(map("".join, product(beginnings, rests)))
    return [name for name in found if len(name) <= longest and name not in taken and not name.startswith(places)]


def enlarged(people: int, rng: random.Random) -> dict[str, Culture]:
    """The cultures with made names among the listed ones, drawn, enough for so many people (at most MOST_PEOPLE).

    Given and family names grow by the same factor.
    """
    weights = sum(culture.weight for culture in CULTURES.values())
    cultures = {}
    for key, culture in CULTURES.items():
        factor = sqrt(max(1.0, SPARE * people * culture.weight / weights / culture.full_names))
        given, family = (
            names + rng.sample(made(names), ceil(len(names) * (factor - 1)))
            for names in (culture.given, culture.family)
        )
        cultures[key] = replace(culture, given=given, family=family)
    return cultures
