"""A recipe that section `ablation` takes apart refers to the page that tells what its parts are worth."""

from stages.reporting.sections.changes import changes_part
from tests.tiny import SETTINGS


def test_the_recipe_that_is_taken_apart_names_the_changes_and_their_page() -> None:
    settings = SETTINGS.ablation
    part = changes_part(settings, settings.recipe)
    assert part is not None and not part.files
    assert "(../ablation/report.md)" in part.text and f"on {settings.held_out} held-out" in part.text
    assert f": {', '.join(f'`{name}`' for name in settings.changes if name != 'full')}.\n`dvc repro" in part.text


def test_other_recipes_have_no_such_section() -> None:
    assert changes_part(SETTINGS.ablation, "handout") is None
