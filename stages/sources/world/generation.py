"""A generated world of people, places and short biographies, in files of the course data's form.

A page heads with its person's name, and mostly names the birthplace among other facts:

    Ada Smith. Ada Smith (born 3 May 1921 in Prague) was a poet who died in Oslo .

The question is `Where was Ada Smith born?`, the answer `Prague`. Only the birth statement tells the place: the rest of
a page and the name are hardly correlated with it, so guessing is no better than always answering London.
"""

import random
from dataclasses import dataclass, replace
from pathlib import Path

from stages.settings.sources import CORPUS_FILE, QUESTION_FILES, Synthetic
from stages.sources.world.lexicon import HOMES, LONDON, LONDON_SHARE, WEIGHTS
from stages.sources.world.names import NameRegister, enlarged
from stages.sources.world.pages import Words, biography, retold, with_life
from stages.system.errors import StudyError
from stages.system.files import new_folder, write_text

HOME_SHARE = 0.1  # share of people with a name of their birthplace's culture; with more, names would tell places
LONGEST_PAGE = 150  # characters; training costs as much as its pages are long
PLACE_WITHIN = 112  # characters: pretraining reads no more of a page (handout, span corruption)


@dataclass(frozen=True)
class Person:
    """One inhabitant: what is true of them, and what their page says."""

    given: str  # given name, with a middle initial where there is one
    family: str  # family name or names, with particles
    culture: str  # a key of names.yaml
    birthplace: str
    named: bool  # whether the biography names the birthplace
    elsewhere: str | None  # the other place that the biography names
    form: int  # index in FORMS, of the first page
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


def write(world: World, folder: Path) -> None:
    """Write the world's four files into `folder`, which they replace as a whole; test questions have no places."""
    files = {
        CORPUS_FILE: [page for person in world.people for page in person.pages],
        QUESTION_FILES["train"]: [f"{person.question}\t{person.birthplace}" for person in world.train],
        QUESTION_FILES["dev"]: [f"{person.question}\t{person.birthplace}" for person in world.dev],
        QUESTION_FILES["test"]: [person.question for person in world.test],
    }
    with new_folder(folder) as new:
        for name, lines in files.items():
            write_text(new / name, "".join(f"{line}\n" for line in lines))


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
            text, words = biography(form, given, family, culture, told, elsewhere, rng)
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
        text = retold(form, words, rng)
        # without a place, two forms may read alike
        if text and text not in texts and _fits(replace(person, biographies=(text,))):
            texts.append(text)
    if len(texts) < settings.pages:
        what = f"was {settings.templates}; raise it, as not {settings.pages} forms fit {person.name}"
        raise StudyError(f"params.yaml: sources.synthetic.templates: {what}")
    if settings.characters:
        length = settings.characters - len(person.name) - 2  # the heading's full stop and a space
        texts = [with_life(text, words, length, rng) for text in texts]
    return replace(person, biographies=tuple(texts))


def _flags(size: int, true: int, rng: random.Random) -> list[bool]:
    flags = [True] * true + [False] * (size - true)
    rng.shuffle(flags)
    return flags


def _birthplaces(size: int, rng: random.Random) -> list[str]:
    """London at its exact share, the other places within one person of theirs (systematic sampling)."""
    london = round(LONDON_SHARE * size)
    places = list(WEIGHTS.items())
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
    table = WEIGHTS | {LONDON: sum(WEIGHTS.values()) * LONDON_SHARE / (1 - LONDON_SHARE)}
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
