"""The generated world keeps its promises: form, sizes, shares, and nothing that gives a birthplace away."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from stages.settings import Synthetic
from stages.sources.world.generation import (
    NAMES_AVAILABLE,
    TEMPLATES_AVAILABLE,
    Person,
    World,
    generate,
    write,
)
from stages.sources.world.names import CULTURES
from stages.sources.world.pages import biography
from stages.sources.world.places import LONDON, homes
from stages.sources.world.templates import ELSEWHERE, FORMS
from stages.system.errors import StudyError


def made(train: int = 400, dev: int = 200, test: int = 100, **settings: object) -> World:
    """A world of so many people; the other settings unless given: another place on half of the pages, 40 forms."""
    content = {"seed": 2021, "templates": 40, "distractors": 0.5, "missing": 0.05} | settings
    return generate(Synthetic.model_validate(content | {"people": {"train": train, "dev": dev, "test": test}}))


PLACES = list(homes())
A_PLACE = re.compile(rf"\b({'|'.join(map(re.escape, sorted(PLACES, key=len, reverse=True)))})\b")

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


def guesses_right(world: World, feature: Callable[[Person], Hashable]) -> float:
    """Share of dev answered by the commonest training place of the feature's value, London if unseen."""
    seen: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for person in world.train:
        seen[feature(person)][person.birthplace] += 1
    guesses = [
        seen[feature(person)].most_common(1)[0][0] if feature(person) in seen else LONDON for person in world.dev
    ]
    return sum(map(str.__eq__, guesses, (person.birthplace for person in world.dev))) / len(world.dev)


def test_equal_settings_make_equal_worlds_and_another_seed_another(world: World) -> None:
    assert made() == world
    assert made(seed=7) != world
    assert (len(world.train), len(world.dev), len(world.test)) == (400, 200, 100)


@pytest.mark.parametrize("seed", range(3))
def test_london_is_the_commonest_birthplace_and_exactly_one_in_twenty(seed: int) -> None:
    world = made(seed=seed)
    for split in (world.train, world.dev, world.test):
        counts = Counter(person.birthplace for person in split)
        assert counts[LONDON] == round(0.05 * len(split))
        assert counts.most_common(1)[0][0] == LONDON
    assert Counter(person.birthplace for person in world.train).most_common(2)[1][0] == "Paris"


def test_places_and_personal_names_are_no_parts_of_places() -> None:
    names = [name for culture in CULTURES.values() for name in culture.given_names() + culture.family_names()]
    assert not [(text, place) for text in names + PLACES for place in PLACES if text != place and place in text]
    assert set(homes().values()) <= set(CULTURES)


def test_twenty_thousand_people_have_names_of_which_none_begins_with_another() -> None:
    names = sorted(person.name for person in made(20_000).people)
    assert len(set(names)) == 20_300
    # in sorted order a name that begins others stands directly before one of them
    assert not [pair for pair in pairwise(names) if pair[1].startswith(pair[0])]


@pytest.mark.parametrize("share", [0.0, 0.05, 0.333, 1.0])
def test_shares_of_pages_without_the_birthplace_and_with_another_place_are_exact(share: float) -> None:
    silent, distracted = made(missing=share), made(distractors=share)
    for name in ("train", "dev", "test"):
        split = getattr(silent, name)
        missing = [person for person in split if person.birthplace not in person.page]
        assert missing == [person for person in split if not person.named]
        assert len(missing) == round(share * len(split))
        split = getattr(distracted, name)
        others = [set(A_PLACE.findall(person.page)) - {person.birthplace} for person in split]
        assert others == [{person.elsewhere} - {None} for person in split]
        assert sum(map(bool, others)) == round(share * len(split))


def test_pages_vary_as_those_of_the_course_do(world: World, large: World) -> None:
    known = {person.birthplace for person in world.train}
    assert 0.85 <= sum(person.birthplace in known for person in world.dev) / len(world.dev) <= 0.97
    assert 0.05 <= sum(not person.name.isascii() for person in large.people) / len(large.people) <= 0.08
    named = [person for person in world.people if person.named]
    distracted = [person for person in named if person.elsewhere]
    before = sum(A_PLACE.findall(person.page)[0] == person.elsewhere for person in distracted)
    assert 0.2 <= before / len(distracted) <= 0.5
    starts = sorted(person.biography.index(person.birthplace) for person in named)
    assert starts[0] == 0 and starts[len(starts) // 10] < 15 and starts[-len(starts) // 10] > 50
    lengths = sorted(len(person.page) for person in world.people)
    assert 75 <= lengths[len(lengths) // 2] <= 85


def test_pages_are_short_of_few_characters_and_name_the_birthplace_early(large: World) -> None:
    assert max(len(person.page) for person in large.people) <= 150
    named = [person for person in large.people if person.named]
    assert max(person.page.index(person.birthplace) + len(person.birthplace) for person in named) <= 112
    characters = set("".join(person.page for person in large.people))
    assert len(characters) <= 120
    assert not characters & set("\t\n\r□⁇?")


@pytest.mark.parametrize("feature", FEATURES)
def test_nothing_but_the_birth_statement_tells_the_place(world: World, large: World, feature: str) -> None:
    london = 0.05
    assert guesses_right(world, FEATURES[feature]) <= london + 0.04
    assert guesses_right(large, FEATURES[feature]) <= london + 0.01  # less noise, so a sharper bound


@pytest.mark.parametrize("templates", [1, 3, 17, TEMPLATES_AVAILABLE])
def test_templates_is_the_number_of_sentence_forms_in_use(templates: int) -> None:
    world = made(2000, templates=templates)
    assert {person.form for person in world.people} == set(range(templates))


@pytest.mark.parametrize("form", range(TEMPLATES_AVAILABLE))
def test_every_form_has_room_for_another_place_and_can_keep_the_birthplace_to_itself(form: int) -> None:
    assert any(f"{{{slot}}}" in FORMS[form] for slot in ELSEWHERE)
    rng = random.Random(0)
    for _ in range(20):
        silent = biography(form, "Ada", "Smith", "english", None, "Oslo", rng)
        assert "Oslo" in silent
        assert not re.search(r"\b(born|native|birthplace)\b( and \w+)? (in|of|from) Oslo", silent)
        alone = biography(form, "Ada", "Smith", "english", "Prague", None, rng)
        assert "Prague" in alone
        for text in (silent, alone):
            assert "Smith" in text
            assert re.match(r"[A-Z].* \.\Z", text)
            assert "None" not in text
            assert not re.search(r"[\[\]{}|_]|  | ,|,,", text)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"templates": TEMPLATES_AVAILABLE + 1}, "templates"),
        ({"test": NAMES_AVAILABLE}, "people"),
        ({"train": NAMES_AVAILABLE - 300}, "people"),
    ],
)
def test_more_than_there_is_is_told_in_one_line(settings: dict[str, int], key: str) -> None:
    with pytest.raises(StudyError, match=rf"^sources\.synthetic\.{key}: .*\Z"):
        made(**settings)


def test_written_files_have_the_form_of_the_course_data(tmp_path: Path, world: World) -> None:
    folder = tmp_path / "world"
    write(replace(world, dev=()), folder)
    write(world, folder)  # replaces the first
    text = {path.name: path.read_bytes().decode() for path in folder.iterdir()}
    assert set(text) == {"wiki.txt", "birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv"}
    assert all(content.endswith("\n") and not content.endswith("\n\n") for content in text.values())
    assert not any("\r" in content for content in text.values())

    pages = text["wiki.txt"].splitlines()
    assert len(pages) == 700
    for page, person in zip(pages, world.people, strict=True):
        assert page.startswith(f"{person.name}. ")
        assert page.endswith(" .")
    for name, split in (("birth_places_train.tsv", world.train), ("birth_dev.tsv", world.dev)):
        assert text[name].splitlines() == [f"Where was {p.name} born?\t{p.birthplace}" for p in split]
    assert text["birth_test_inputs.tsv"].splitlines() == [f"Where was {p.name} born?" for p in world.test]
