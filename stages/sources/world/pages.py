"""What a page of the generated world says: a sentence form with its slots filled."""

import random
import re
from collections.abc import Mapping

from stages.sources.world.lexicon import CULTURES, ELSEWHERE, FORMS, LIFE, WORDS

NATIONALITY_SHARE = 0.6  # share of professions with a nationality before them
DEAD_SHARE = 0.4  # share of dead people where the form leaves it open
OF_DEATH = ("{death_year}", " died ", " ended ")  # a sentence with one of them tells of a dead person

Words = dict[str, str | None]  # by slot: what fills it


def biography(
    form: int, given: str, family: str, culture: str, birthplace: str | None, elsewhere: str | None, rng: random.Random
) -> tuple[str, Words]:
    """Write one sentence about a person in form number `form`, which ends in ` .`, and return what fills its slots.

    It names `birthplace` and `elsewhere`, unless they are None. The nationality follows the name's culture, not a
    place, so that it tells no more about the birthplace than the name does.
    """
    text = _sentence(form, birthplace, elsewhere, rng)
    names: Words = {"full": f"{given} {family}", "last": family, "place": birthplace, "other": elsewhere}
    words = names | _words(text, culture, rng)
    return _filled(text, words), words


def retold(form: int, words: Words, rng: random.Random) -> str | None:
    """Say the same of a person in another form; None where it tells of a death and the person lives."""
    text = _sentence(form, words["place"], words["other"], rng)
    if words["is"] == "is" and any(sign in text for sign in OF_DEATH):
        return None
    return _filled(text, words)


def with_life(sentence: str, words: Words, length: int, rng: random.Random) -> str:
    """Put other sentences of a person's life around the one on the birth, until there are `length` characters."""
    drawn = [_filled(text, words) for text in rng.sample(LIFE, len(LIFE))]
    place = words["place"]
    life = [text for text in drawn if place is None or place not in text]
    count = 0
    while count < len(life) and len(" ".join([sentence, *life[:count]])) < length:
        count += 1
    before = rng.randint(0, count)
    return " ".join([*life[:before], sentence, *life[before:count]])


def _sentence(form: int, birthplace: str | None, elsewhere: str | None, rng: random.Random) -> str:
    """Return a form with a clause about another place, where there is one; other slots are left."""
    text = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", r"\1" if birthplace else r"\2", FORMS[form])
    slots = [slot for slot in ELSEWHERE if f"{{{slot}}}" in text]
    chosen = rng.choice(slots) if elsewhere else None
    for slot in slots:
        text = text.replace(f"{{{slot}}}", rng.choice(ELSEWHERE[slot]) if slot == chosen else "")
    return text


def _filled(text: str, words: Mapping[str, str | None]) -> str:
    filled = text.format_map(words)
    return filled[0].upper() + filled[1:]


def _words(text: str, culture: str, rng: random.Random) -> Words:
    """Draw what fills the slots that stand for neither a name nor a place."""
    dead = any(sign in text for sign in OF_DEATH) or rng.random() < DEAD_SHARE
    year = rng.randint(1790, 1930) if dead else rng.randint(1925, 1985)
    profession = rng.choice(WORDS["profession"])
    job = profession
    if rng.random() < NATIONALITY_SHARE:
        job = f"{rng.choice(CULTURES[culture].nationalities)} {profession}"
    return {
        "date": _date(year, rng),
        "year": str(year),
        "later": str(year + rng.randint(18, 35)),
        "death_year": str(year + rng.randint(36, 88)),
        "is": "was" if dead else "is",
        "lives": "lived" if dead else "lives",
        "works": "worked" if dead else "works",
        "profession": profession,
        "job": job,
        "a_job": f"{'an' if job[0] in 'AEIOaeio' else 'a'} {job}",  # but "a Ugandan", "a Ukrainian"
        "trade": rng.choice(WORDS["trade"]),
        "institution": rng.choice(WORDS["institution"]),
    }


def _date(year: int, rng: random.Random) -> str:
    month = rng.choice(WORDS["month"])
    day = rng.randint(1, 28)
    return f"{day} {month} {year}" if rng.random() < 0.6 else f"{month} {day}, {year}"
