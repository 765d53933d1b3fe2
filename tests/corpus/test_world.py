"""The generated world keeps its promises: form, sizes, shares, and nothing that gives a birthplace away."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise
from pathlib import Path

import pytest

from stages.settings import Synthetic
from stages.sources.world.generation import NAMES_AVAILABLE, TEMPLATES_AVAILABLE, Person, World, generate, write
from stages.sources.world.lexicon import CULTURES, HOMES, LONDON
from stages.system.errors import StudyError


def made(train: int = 400, dev: int = 200, test: int = 100, **settings: object) -> World:
    """A world of so many people; the other settings unless given: another place on half of the pages, 40 forms."""
    content = {"seed": 2021, "templates": 40, "distractors": 0.5, "missing": 0.05} | settings
    return generate(Synthetic.model_validate(content | {"people": {"train": train, "dev": dev, "test": test}}))


A_PLACE = re.compile(rf"\b({'|'.join(map(re.escape, sorted(HOMES, key=len, reverse=True)))})\b")

FEATURES: dict[str, Callable[[Person], Hashable]] = {
    "given name": lambda person: person.given.split()[0],
    "family name": lambda person: person.family,
    "culture": lambda person: person.culture,
    "sentence form": lambda person: person.form,
    "other place": lambda person: person.elsewhere,
}


@pytest.fixture(scope="module", name="world")
def world_fixture() -> World:
    return made()


@pytest.fixture(scope="module", name="large")
def large_fixture() -> World:
    return made(8000, 4000, 10, templates=TEMPLATES_AVAILABLE)


def test_equal_settings_make_equal_worlds_and_another_seed_another(world: World) -> None:
    assert made() == world
    assert made(seed=7) != world
    assert (len(world.train), len(world.dev), len(world.test)) == (400, 200, 100)
    assert {person.form for person in world.people} == set(range(40))


def test_london_is_the_commonest_birthplace_and_exactly_one_in_twenty(world: World) -> None:
    for split in (world.train, world.dev, world.test):
        assert Counter(person.birthplace for person in split).most_common(1) == [(LONDON, round(0.05 * len(split)))]


def test_places_and_personal_names_are_no_parts_of_places() -> None:
    names = [name for culture in CULTURES.values() for name in culture.given + culture.family]
    assert not [(text, place) for text in [*names, *HOMES] for place in HOMES if text != place and place in text]
    assert set(HOMES.values()) <= set(CULTURES)


def test_twenty_thousand_people_have_names_of_which_none_begins_with_another() -> None:
    names = sorted(person.name for person in made(20_000).people)
    assert len(set(names)) == 20_300
    # in sorted order a name that begins others stands directly before one of them
    assert not [pair for pair in pairwise(names) if pair[1].startswith(pair[0])]


@pytest.mark.parametrize("share", [0.0, 0.333, 1.0])
def test_shares_of_pages_without_the_birthplace_and_with_another_place_are_exact(share: float) -> None:
    world = made(missing=share, distractors=share)
    for split in (world.train, world.dev, world.test):
        missing = [person for person in split if person.birthplace not in person.page]
        assert missing == [person for person in split if not person.named]
        others = [set(A_PLACE.findall(person.page)) - {person.birthplace} for person in split]
        assert others == [{person.elsewhere} - {None} for person in split]
        assert len(missing) == sum(map(bool, others)) == round(share * len(split))


def test_pages_are_short_of_few_characters_and_name_the_birthplace_early(large: World) -> None:
    assert max(len(person.page) for person in large.people) <= 150
    named = [person for person in large.people if person.named]
    assert max(person.page.index(person.birthplace) + len(person.birthplace) for person in named) <= 112
    characters = set("".join(person.page for person in large.people))
    assert len(characters) <= 120
    assert not characters & set("\t\n\r□⁇?[]{}|_")


def test_each_form_makes_clean_sentences_and_no_other_place_looks_like_the_birthplace(large: World) -> None:
    assert {person.form for person in large.people} == set(range(TEMPLATES_AVAILABLE))
    for person in large.people:
        assert person.biography[0].isupper() and person.biography.endswith(" .")
        assert not re.search(r"None|  | ,|,,", person.biography)
        assert not re.search(rf"\b(born|native|birthplace)\b( and \w+)? (in|of|from) {person.elsewhere}\b", person.page)


@pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES)
def test_nothing_but_the_birth_statement_tells_the_place(large: World, feature: Callable[[Person], Hashable]) -> None:
    """The commonest training place of the feature's value, London if unseen, is hardly more often right than London."""
    seen: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for person in large.train:
        seen[feature(person)][person.birthplace] += 1
    best = {value: places.most_common(1)[0][0] for value, places in seen.items()}
    right = sum(best.get(feature(person), LONDON) == person.birthplace for person in large.dev)
    assert right / len(large.dev) <= 0.05 + 0.01


def test_more_than_there_is_is_told_in_one_line() -> None:
    with pytest.raises(StudyError, match=r"^sources\.synthetic\.templates: .*\Z"):
        made(templates=TEMPLATES_AVAILABLE + 1)
    with pytest.raises(StudyError, match=r"^sources\.synthetic\.people: .*\Z"):
        made(NAMES_AVAILABLE)


def test_written_files_have_the_form_of_the_course_data(tmp_path: Path, world: World) -> None:
    write(world, tmp_path / "world")
    answered = {
        name: "".join(f"Where was {person.name} born?\t{person.birthplace}\n" for person in split)
        for name, split in (("birth_places_train.tsv", world.train), ("birth_dev.tsv", world.dev))
    }
    asked = "".join(f"Where was {person.name} born?\n" for person in world.test)
    pages = "".join(f"{person.name}. {person.biography}\n" for person in world.people)
    written = {path.name: path.read_bytes().decode() for path in (tmp_path / "world").iterdir()}
    assert written == answered | {"birth_test_inputs.tsv": asked, "wiki.txt": pages}
