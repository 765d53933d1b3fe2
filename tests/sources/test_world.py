"""The generated world keeps its promises: form, sizes, shares, and nothing that gives a birthplace away."""

import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise

import pytest

from stages.settings.sources import Synthetic
from stages.sources.world.people import (
    CULTURES,
    HOMES,
    LISTED_SUFFICE,
    LONDON,
    SENTENCES,
    NameRegister,
    Person,
    World,
    files_of,
    generate_world,
    with_made_names,
)
from stages.system.errors import UserError


def made(train: int = 400, dev: int = 200, test: int = 100, **settings: object) -> World:
    """A world of so many people; the other settings unless given: another place on half of the pages, 40 forms."""
    content = {"seed": 2021, "templates": 40, "distractors": 0.5, "missing": 0.05, "pages": 1, "characters": 0}
    content |= settings
    return generate_world(Synthetic.model_validate(content | {"people": {"train": train, "dev": dev, "test": test}}))


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
    return made(8000, 4000, 10, templates=len(SENTENCES))


def test_london_is_the_commonest_birthplace_and_exactly_one_in_twenty(world: World) -> None:
    for split in (world.train, world.dev, world.test):
        assert Counter(person.birthplace for person in split).most_common(1) == [(LONDON, round(0.05 * len(split)))]


def test_places_and_personal_names_are_no_parts_of_places() -> None:
    names = [name for culture in CULTURES.values() for name in culture.given + culture.family]
    assert not [(text, place) for text in [*names, *HOMES] for place in HOMES if text != place and place in text]
    assert set(HOMES.values()) <= set(CULTURES)


def test_no_name_of_many_begins_with_another_and_each_culture_keeps_its_share() -> None:
    rng, people = random.Random(2021), 60_000
    assert with_made_names(LISTED_SUFFICE, rng) is CULTURES
    names = NameRegister(with_made_names(people, rng), rng)
    drawn = [names.draw(None) for _ in range(people)]
    full = sorted(f"{given} {family}" for _, given, family in drawn)
    # in sorted order a name that begins others stands directly before one of them
    assert not [pair for pair in pairwise(full) if pair[1].startswith(pair[0])]
    weight = sum(culture.weight for culture in CULTURES.values())
    shares = Counter(culture for culture, _, _ in drawn)
    for key, culture in CULTURES.items():
        # a name that begins another is passed over
        assert shares[key] / people == pytest.approx(culture.weight / weight, rel=0.15)


def test_listed_names_suffice_for_as_many_people_as_are_given_no_others() -> None:
    assert len(made(LISTED_SUFFICE - 300).people) == LISTED_SUFFICE


HASHES = {  # of all four files, by seed; of the code before there were made names
    2021: "005696b2827f2f47a56688c057e525aab9cad842468bb0de2ffa32f12ff62824",
    4711: "14d95e8e35243993c001cc4a8d0983947326d5d3a9519aaf574a2261a8627ae5",
}


@pytest.mark.parametrize("seed", HASHES)
def test_a_world_of_listed_names_is_the_same_for_ever(seed: int) -> None:
    digest = hashlib.sha256()
    for file in sorted(files_of(made(200, 100, 50, seed=seed, templates=6, distractors=0.3)).items()):
        digest.update("".join(file).encode())
    assert digest.hexdigest() == HASHES[seed]


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
    assert {person.form for person in large.people} == set(range(len(SENTENCES)))
    for person in large.people:
        assert person.biographies[0][0].isupper() and person.biographies[0].endswith(" .")
        assert not re.search(r"None|  | ,|,,", person.biographies[0])
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


def test_further_pages_tell_the_same_in_other_forms_and_change_no_first_page() -> None:
    one, eight = made(templates=24), made(templates=24, pages=8)
    for person, richer in zip(one.people, eight.people, strict=True):
        assert richer.pages[0] == person.page
        assert len({*richer.pages}) == 8
        assert all((person.birthplace in page) == person.named for page in richer.pages)
        years = {year for page in richer.pages for year in re.findall(r"\b(?:17|18|19)\d\d\b", page)}
        assert len(years) <= 3  # of birth, of something later, of death


def test_longer_pages_have_the_birth_anywhere_and_name_its_place_once() -> None:
    world = made(characters=480)
    pages = [person.page for person in world.people]
    assert min(map(len, pages)) >= 480 and max(map(len, pages)) < 570
    named = [person for person in world.people if person.named]
    assert all(person.page.count(person.birthplace) == 1 for person in named)
    places = [person.page.index(person.birthplace) / len(person.page) for person in named]
    assert min(places) < 0.1 and max(places) > 0.9
    assert all(page.endswith(" .") for page in pages)


def test_too_few_forms_for_so_many_pages_are_one_line() -> None:
    with pytest.raises(UserError, match=r"sources.synthetic.templates: was 4; raise it, as not 8 forms fit"):
        made(templates=4, pages=8)
