"""A generated world of people, places and short biographies, in files of the course data's form.

A page heads with its person's name, and mostly names the birthplace among other facts:

    Ada Smith. Ada Smith (born 3 May 1921 in Prague) was a poet who died in Oslo .

The question is `Where was Ada Smith born?`, the answer `Prague`. Only the birth statement tells the place: the rest of
a page and the name are hardly correlated with it, so guessing is no better than always answering London.
"""

import random
import re
from dataclasses import dataclass, replace

from stages.settings.sources import CORPUS_FILE, QUESTION_FILES, Synthetic
from stages.sources.world.lexicon import (
    CULTURES,
    ELSEWHERE,
    FREQUENCIES,
    HOMES,
    LIFE,
    LONDON,
    LONDON_SHARE,
    SENTENCES,
    WORDS,
    NameRegister,
    enlarged,
)
from stages.system.errors import UserError

HOME_SHARE = 0.1  # share of people with a name of their birthplace's culture; with more, names would tell places
LONGEST_PAGE = 150  # characters; training costs as much as its pages are long
PLACE_WITHIN = 112  # characters: pretraining reads no more of a page (handout, span corruption)
NATIONALITY_SHARE = 0.6  # share of professions with a nationality before them
DEAD_SHARE = 0.4  # share of dead people where the form leaves it open
OF_DEATH = ("{death_year}", " died ", " ended ")  # a sentence with one of them tells of a dead person

Words = dict[str, str | None]  # by slot: what fills it


@dataclass(frozen=True)
class Person:
    """One inhabitant: what is true of them, and what their page says."""

    given: str  # given name, with a middle initial where there is one
    family: str  # family name or names, with particles
    culture: str  # a key of names.yaml
    birthplace: str
    named: bool  # whether the biography names the birthplace
    elsewhere: str | None  # the other place that the biography names
    form: int  # index in SENTENCES, of the first page
    biographies: tuple[str, ...]  # what follows the heading of each page

    @property
    def name(self) -> str:
        """The full name, unique in its world."""
        return f"{self.given} {self.family}"

    @property
    def page(self) -> str:
        """The person's first line of wiki.txt: `Name. Text .`"""
        return self.pages[0]

    @property
    def pages(self) -> list[str]:
        """All lines of wiki.txt about the person."""
        return [f"{self.name}. {biography}" for biography in self.biographies]

    @property
    def question(self) -> str:
        """`Where was NAME born?`"""
        return f"Where was {self.name} born?"


@dataclass(frozen=True)
class World:
    """The people of a world by split, each in the order of its file."""

    train: tuple[Person, ...]
    dev: tuple[Person, ...]
    test: tuple[Person, ...]

    @property
    def people(self) -> tuple[Person, ...]:
        """Everyone, in the order of wiki.txt."""
        return self.train + self.dev + self.test


def generate_world(settings: Synthetic) -> World:
    """Make the world that `settings` describe; equal settings make equal worlds.

    In each split London is the birthplace of exactly round(0.05 n) of the n people, and `missing` and `distractors` are
    exact shares, rounded to whole pages.
    """
    rng = random.Random(settings.seed)
    sizes = settings.people.train, settings.people.dev, settings.people.test
    names = NameRegister(enlarged(sum(sizes), rng), rng)
    return World(*(_split(size, settings, names, rng) for size in sizes))


def files_of(world: World) -> dict[str, list[str]]:
    """Write the lines of the world's four files, by name; test questions have no places."""
    return {
        CORPUS_FILE: [page for person in world.people for page in person.pages],
        QUESTION_FILES["train"]: [f"{person.question}\t{person.birthplace}" for person in world.train],
        QUESTION_FILES["dev"]: [f"{person.question}\t{person.birthplace}" for person in world.dev],
        QUESTION_FILES["test"]: [person.question for person in world.test],
    }


def _split(size: int, settings: Synthetic, names: NameRegister, rng: random.Random) -> tuple[Person, ...]:
    named = _flags(size, size - round(settings.missing * size), rng)
    distracted = _flags(size, round(settings.distractors * size), rng)
    people = []
    for index, birthplace in enumerate(_birthplaces(size, rng)):
        culture, given, family = names.draw(HOMES[birthplace] if rng.random() < HOME_SHARE else None)
        elsewhere = _another_place(birthplace, rng) if distracted[index] else None
        while True:  # ends: with few words the first form fits every name and place
            form = rng.randrange(settings.templates)
            told = birthplace if named[index] else None
            text, words = _biography(form, given, family, culture, told, elsewhere, rng)
            person = Person(given, family, culture, birthplace, named[index], elsewhere, form, (text,))
            if _fits(person):
                people.append(_enlarged(person, words, settings))
                break
    return tuple(people)


def _enlarged(person: Person, words: Words, settings: Synthetic) -> Person:
    """Give a person further pages, and pages more sentences, as the settings say; a world of others stays the same."""
    rng = random.Random(f"{settings.seed} {person.name}")
    forms = [form for form in range(settings.templates) if form != person.form]
    texts = [*person.biographies]
    for form in rng.sample(forms, len(forms)):
        if len(texts) == settings.pages:
            break
        text = _retold(form, words, rng)
        # without a place, two forms may read alike
        if text and text not in texts and _fits(replace(person, biographies=(text,))):
            texts.append(text)
    if len(texts) < settings.pages:
        what = f"was {settings.templates}; raise it, as not {settings.pages} forms fit {person.name}"
        raise UserError(f"params.yaml: sources.synthetic.templates: {what}")
    if settings.characters:
        length = settings.characters - len(person.name) - 2  # the heading's full stop and a space
        texts = [_with_life(text, words, length, rng) for text in texts]
    return replace(person, biographies=tuple(texts))


def _flags(size: int, true: int, rng: random.Random) -> list[bool]:
    flags = [True] * true + [False] * (size - true)
    rng.shuffle(flags)
    return flags


def _birthplaces(size: int, rng: random.Random) -> list[str]:
    """London at its exact share, the other places within one person of theirs (systematic sampling)."""
    london = round(LONDON_SHARE * size)
    places = list(FREQUENCIES.items())
    rng.shuffle(places)  # else a rare place would be drawn at the cost of the next in the table
    step = sum(weight for _, weight in places) / max(size - london, 1)
    mark = rng.random() * step

    drawn = [LONDON] * london
    reached = 0.0
    for place, weight in places:
        reached += weight
        while mark < reached and len(drawn) < size:
            drawn.append(place)
            mark += step
    drawn += [places[-1][0]] * (size - len(drawn))  # rounding may leave the last mark just beyond the end

    rng.shuffle(drawn)
    return drawn


def _another_place(birthplace: str, rng: random.Random) -> str:
    table = FREQUENCIES | {LONDON: sum(FREQUENCIES.values()) * LONDON_SHARE / (1 - LONDON_SHARE)}
    del table[birthplace]
    return rng.choices(list(table), list(table.values()))[0]


def _fits(person: Person) -> bool:
    """Whether the page is short and names the birthplace once and early, or not at all if it must not."""
    page = person.page
    if len(page) > LONGEST_PAGE:
        return False
    if not person.named:
        return person.birthplace not in page  # the place's letters hide in words too, as India in Indian
    end = page.find(person.birthplace) + len(person.birthplace)
    return page.count(person.birthplace) == 1 and end <= PLACE_WITHIN


def _biography(
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


def _retold(form: int, words: Words, rng: random.Random) -> str | None:
    """Say the same of a person in another form; None where it tells of a death and the person lives."""
    text = _sentence(form, words["place"], words["other"], rng)
    if words["is"] == "is" and any(sign in text for sign in OF_DEATH):
        return None
    return _filled(text, words)


def _with_life(sentence: str, words: Words, length: int, rng: random.Random) -> str:
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
    text = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", r"\1" if birthplace else r"\2", SENTENCES[form])
    slots = [slot for slot in ELSEWHERE if f"{{{slot}}}" in text]
    chosen = rng.choice(slots) if elsewhere else None
    for slot in slots:
        text = text.replace(f"{{{slot}}}", rng.choice(ELSEWHERE[slot]) if slot == chosen else "")
    return text


def _filled(text: str, words: Words) -> str:
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
