"""More names than names.yaml lists, made by rule, for worlds of more people than the lists have names for.

A made name has the first consonants of one listed name and the rest of another of the same culture, as Rackson has
those of Reid and Jackson. So it can be spoken, and looks like its culture's.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import ceil, log

from stages.sources.world.lexicon import CULTURES, HOMES, Culture

VOWELS = "aeiouyàáâãåäèéêëěíîïıòóôõöøőúûüű"
PARTS = re.compile(f"((?:y|qu)?[^{VOWELS}]*+)(.+)", re.IGNORECASE)  # a name's first consonants, and its rest
SPARE = 2.0  # full names a person: few are passed over, and no culture's are used up


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
    """The cultures with enough names for so many people, at most `most_people()`; the made ones among them are drawn.

    Given and family names grow alike: both lists go the same part of the way to all names, in logarithms.
    """

    def grown(listed: list[str], names: list[str], part: float) -> list[str]:
        count = ceil(len(listed) * (len(names) / len(listed)) ** part)
        return listed + rng.sample(names[len(listed) :], min(count, len(names)) - len(listed))

    cultures = {}
    for key, culture in CULTURES.items():
        every, wanted = _every_name()[key], SPARE * people * _share(culture)
        part = max(0.0, log(wanted / culture.full_names) / log(every.full_names / culture.full_names))
        given, family = grown(culture.given, every.given, part), grown(culture.family, every.family, part)
        cultures[key] = replace(culture, given=given, family=family)
    return cultures


def most_people() -> int:
    """For how many the rule has names."""
    return int(min(culture.full_names / SPARE / _share(culture) for culture in _every_name().values()))


def _share(culture: Culture) -> float:
    """Of the people, those who bear a culture's names."""
    return culture.weight / sum(each.weight for each in CULTURES.values())


@cache
def _every_name() -> dict[str, Culture]:
    """The cultures with their listed names, then all that the rule makes of them."""
    return {
        key: replace(culture, given=culture.given + made(culture.given), family=culture.family + made(culture.family))
        for key, culture in CULTURES.items()
    }
