"""In which order the tests run."""

import pytest

# A file's tests run in one process: the long ones first, so that none is left to the end beside an idle process
LONGEST = ("test_pipeline", "test_readme", "test_interruption", "test_seeds", "test_variants")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))
