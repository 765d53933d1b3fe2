"""Groups of names: the generated world's cultures are found again, and letters stand for nothing else."""

from stages.settings.sources import People
from stages.sources.name_groups import GROUPS, culture_of, group_of
from stages.sources.world.generation import generate
from stages.sources.world.lexicon import CULTURES
from stages.sources.world.names import LISTED_SUFFICE
from tests.support.tiny import SETTINGS


def test_each_culture_is_in_one_group() -> None:
    assert sorted(culture for cultures in GROUPS.values() for culture in cultures) == sorted(CULTURES)


def test_the_culture_of_all_people_is_found_by_their_names() -> None:
    world = generate(SETTINGS.sources.synthetic.model_copy(update={"people": People(train=3000, dev=1, test=1)}))
    wrong = [person.name for person in world.people if culture_of(person.name) != person.culture]
    assert wrong == []


def test_a_made_name_is_in_no_group_rather_than_in_a_wrong_one() -> None:
    people = People(train=LISTED_SUFFICE, dev=1, test=1)
    world = generate(SETTINGS.sources.synthetic.model_copy(update={"people": people}))
    sample = world.people[::20]
    wrong = {culture_of(person.name) for person in sample if culture_of(person.name) != person.culture}
    assert wrong == {None}


def test_names_of_other_data_are_told_apart_by_letters_alone() -> None:
    assert group_of("Zoé Ark", "cs224n") == "other letters, too"
    assert group_of("Zoe Ark", "own") == group_of("Oda O'Quill", "cs224n") == "English letters alone"
    assert group_of("Nobody At-All", "synthetic") == ""
