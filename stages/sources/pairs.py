"""Pairs of a name and a place from the generated world's tables, and the bits that they hold.

A name tells its culture, and the culture a little of the place. So a model that has stored nothing can know
p(place | culture), and a pair holds −log₂ of it. Places are drawn independently: the world itself deals them out in
fixed counts, and what is dealt holds fewer bits.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from stages.corpus.prepared import Prepared
from stages.corpus.questions import Question
from stages.settings.sources import Pairs
from stages.sources.world.people import HOME_SHARE, HOMES, NameRegister, place_shares, shares_in, with_made_names

BITS_OF_A_PLACE = 7.234  # mean of −log₂ p(place | culture) over the tables; it decides the number of people alone
FIRST_SYMBOL = 0xF0000  # private planes: a name as one token is one of their characters
SOME = 1000  # people whose characters stand for those of all


@dataclass(frozen=True)
class Pair:
    """One person: name and place, and the bits that the place holds for those who know the name's culture."""

    name: str
    place: str
    bits: float


def draw_pairs(people: int, seed: int) -> list[Pair]:
    """Draw people with distinct names; equal arguments give equal pairs."""
    rng = random.Random(seed)
    names = NameRegister(with_made_names(people, rng), rng)
    places = rng.choices([*place_shares()], [*place_shares().values()], k=people)
    pairs = []
    for place in places:
        culture, given, family = names.draw(HOMES[place] if rng.random() < HOME_SHARE else None)
        pairs.append(Pair(f"{given} {family}", place, -log2(shares_in(culture)[place])))
    return pairs


def prepared_pairs(pairs: Sequence[Pair], token: bool) -> Prepared:
    """Encode pairs as training questions and answers; token: a name is one character."""
    asked = []
    for row, pair in enumerate(pairs):
        name = chr(FIRST_SYMBOL + row) if token else pair.name
        asked.append(Question(row + 1, name, name, pair.place))
    texts = [f"{question.name}{question.place}" for question in asked]  # a document each: its characters are known
    return Prepared.of(texts, {"train": asked, "dev": [], "test": []})


def people_for(settings: Pairs, parameters: int) -> int:
    """Return how many people a model with so many parameters is asked about."""
    return max(1, round(settings.load * parameters / BITS_OF_A_PLACE))
