"""What a page of the generated world says: a sentence form with its slots filled."""

import random
import re

from stages.sources.world.lexicon import CULTURES, ELSEWHERE, FORMS, WORDS

NATIONALITY_SHARE = 0.6  # share of professions with a nationality before them
DEAD_SHARE = 0.4  # share of dead people where the form leaves it open


def biography(
    form: int, given: str, family: str, culture: str, birthplace: str | None, elsewhere: str | None, rng: random.Random
) -> str:
    """Write one sentence about a person in form number `form`; it ends in ` .`

    It names `birthplace` and `elsewhere`, unless they are None. The nationality follows the name's culture, not a
    place, so that it tells no more about the birthplace than the name does.
    """
    text = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", r"\1" if birthplace else r"\2", FORMS[form])
    slots = [slot for slot in ELSEWHERE if f"{{{slot}}}" in text]
    chosen = rng.choice(slots) if elsewhere else None
    for slot in slots:
        text = text.replace(f"{{{slot}}}", rng.choice(ELSEWHERE[slot]) if slot == chosen else "")
    names = {"full": f"{given} {family}", "last": family, "place": birthplace, "other": elsewhere}
    filled = text.format_map(names | _words(text, culture, rng))
    return filled[0].upper() + filled[1:]


def _words(text: str, culture: str, rng: random.Random) -> dict[str, str]:
    """Draw what fills the slots that stand for neither a name nor a place."""
    dead = any(sign in text for sign in ("{death_year}", " died ", " ended ")) or rng.random() < DEAD_SHARE
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
