"""A generated world of people, places and short biographies, in files of the course data's form.

A page heads with its person's name, and mostly names the birthplace among other facts:

    Ada Smith. Ada Smith (born 3 May 1921 in Prague) was a poet who died in Oslo .

The question is `Where was Ada Smith born?`, the answer `Prague`. Only the birth statement tells the place: the rest of
a page and the name are hardly correlated with it, so guessing is no better than always answering London.

Names, places and sentences are listed in the files beside this one. For larger worlds more names are made by a rule: a
made name has the first consonants of one listed name and the rest of another of the same culture, as Rackson has those
of Reid and Jackson. It can be spoken, and looks like its culture's.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from math import ceil, sqrt
from pathlib import Path

import yaml

from stages.settings.sources import CORPUS_FILE, QUESTION_FILES, Synthetic
from stages.system.errors import UserError

HOME_SHARE = 0.1  # share of people with a name of their birthplace's culture; with more, names would tell places
LONGEST_PAGE = 150  # characters; training costs as much as its pages are long
PLACE_WITHIN = 112  # characters: pretraining reads no more of a page (handout, span corruption)
NATIONALITY_SHARE = 0.6  # share of professions with a nationality before them
DEAD_SHARE = 0.4  # share of dead people where the form leaves it open
OF_DEATH = ("{death_year}", " died ", " ended ")  # a sentence with one of them tells of a dead person
LONDON = "London"
LONDON_SHARE = 0.05  # its share of the birthplaces; every other place is rarer
LISTED_SUFFICE = 45_000  # people: a world of more has made names, too
SPARE = 1.5  # full names a person, so that no culture's are used up
VOWELS = "aeiouyàáâãåäèéêëěíîïıòóôõöøőúûüű"
PARTS = re.compile(f"((?:y|qu)?[^{VOWELS}]*+)(.+)", re.IGNORECASE)  # a name's first consonants, and its rest

Words = dict[str, str | None]  # by slot: what fills it


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


_names, _places, _sentences = (
    # as safe as `safe_load`, and ten times as fast
    yaml.load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    for name in ("names", "places", "sentences")
)
CULTURES = {key: Culture(**culture) for key, culture in _names.items()}
FREQUENCIES: dict[str, float] = {}  # of the places without London
HOMES = {LONDON: "english"}  # the culture of each place
for _tier in _places:
    for _culture, _of_culture in _tier["places"].items():
        FREQUENCIES |= dict.fromkeys(_of_culture, _tier["frequency"])
        HOMES |= dict.fromkeys(_of_culture, _culture)
SENTENCES: list[str] = _sentences["forms"]
LIFE: list[str] = _sentences["life"]
ELSEWHERE: dict[str, list[str]] = _sentences["elsewhere"]  # by slot
WORDS: dict[str, list[str]] = _sentences["words"]  # by what they name


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
    names = NameRegister(with_made_names(sum(sizes), rng), rng)
    return World(*(_split(size, settings, names, rng) for size in sizes))


def files_of(world: World) -> dict[str, str]:
    """Write the world's four files, by name; test questions have no places."""
    lines = {
        CORPUS_FILE: [page for person in world.people for page in person.pages],
        QUESTION_FILES["train"]: [f"{person.question}\t{person.birthplace}" for person in world.train],
        QUESTION_FILES["dev"]: [f"{person.question}\t{person.birthplace}" for person in world.dev],
        QUESTION_FILES["test"]: [person.question for person in world.test],
    }
    return {name: "\n".join([*content, ""]) for name, content in lines.items()}


@cache
def place_shares() -> Mapping[str, float]:
    """Return p(place)."""
    others = sum(FREQUENCIES.values())
    return {LONDON: LONDON_SHARE} | {
        place: (1 - LONDON_SHARE) * weight / others for place, weight in FREQUENCIES.items()
    }


@cache
def shares_in(culture: str) -> Mapping[str, float]:
    """Return p(place | culture), by Bayes' rule from p(place) and p(culture | place)."""
    anywhere = (1 - HOME_SHARE) * CULTURES[culture].weight / sum(other.weight for other in CULTURES.values())
    joint = {}
    for place, share in place_shares().items():
        joint[place] = share * (anywhere + HOME_SHARE * (HOMES[place] == culture))
    total = sum(joint.values())
    return {place: share / total for place, share in joint.items()}


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


def with_made_names(people: int, rng: random.Random) -> dict[str, Culture]:
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


def _split(size: int, settings: Synthetic, names: NameRegister, rng: random.Random) -> tuple[Person, ...]:
    named = _flags(size, size - round(settings.missing * size), rng)
    distracted = _flags(size, round(settings.distractors * size), rng)
    people = []
    for index, birthplace in enumerate(_birthplaces(size, rng)):
        culture, given, family = names.draw(HOMES[birthplace] if rng.random() < HOME_SHARE else None)
        elsewhere = _another_place(birthplace, rng) if distracted[index] else None
        told = birthplace if named[index] else None
        of_names: Words = {"full": f"{given} {family}", "last": family, "place": told, "other": elsewhere}
        while True:  # ends: with few words the first form fits every name and place
            form = rng.randrange(settings.templates)
            sentence = _sentence(form, told, elsewhere, rng)
            words = of_names | _words(sentence, culture, rng)
            biographies = (_filled(sentence, words),)
            person = Person(given, family, culture, birthplace, named[index], elsewhere, form, biographies)
            if _fits(person):
                people.append(_with_more_pages(person, words, settings))
                break
    return tuple(people)


def _with_more_pages(person: Person, words: Words, settings: Synthetic) -> Person:
    """Give a person further pages, and pages more sentences, as the settings say; a world of others stays the same."""
    rng = random.Random(f"{settings.seed} {person.name}")
    forms = [form for form in range(settings.templates) if form != person.form]
    texts = [*person.biographies]
    for form in rng.sample(forms, len(forms)):
        if len(texts) == settings.pages:
            break
        sentence = _sentence(form, words["place"], words["other"], rng)
        if words["is"] == "is" and any(sign in sentence for sign in OF_DEATH):
            continue
        text = _filled(sentence, words)
        # without a place, two forms may read alike
        if text not in texts and _fits(replace(person, biographies=(text,))):
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


def _words(sentence: str, culture: str, rng: random.Random) -> Words:
    """Draw what fills the slots of a sentence that stand for neither a name nor a place.

    The nationality follows the name's culture, not a place, and tells no more of the birthplace than it.
    """
    dead = any(sign in sentence for sign in OF_DEATH) or rng.random() < DEAD_SHARE
    year = rng.randint(1790, 1930) if dead else rng.randint(1925, 1985)
    profession = job = rng.choice(WORDS["profession"])
    if rng.random() < NATIONALITY_SHARE:
        job = f"{rng.choice(CULTURES[culture].nationalities)} {profession}"
    month, day = rng.choice(WORDS["month"]), rng.randint(1, 28)
    return {
        "date": f"{day} {month} {year}" if rng.random() < 0.6 else f"{month} {day}, {year}",
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
