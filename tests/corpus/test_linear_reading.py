"""Readers take time in proportion to what they read; a question's title is the longest."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.corpus.titles import headings
from stages.sources import own
from stages.sources.audit import own_pages


class Counted(str):
    """A text that counts the characters that are looked at, at most."""

    touched = 0

    def _counted(self, characters: int) -> None:
        Counted.touched += characters

    def __getitem__(self, key: SupportsIndex | slice) -> "Counted":
        part = Counted(super().__getitem__(key))
        self._counted(len(part))
        return part

    def __iter__(self) -> Any:
        self._counted(len(self))
        return super().__iter__()

    def startswith(self, prefix: Any, *place: Any) -> bool:
        self._counted(len(prefix))
        return super().startswith(prefix, *place)


def touched(read: Callable[[], object]) -> int:
    """How many characters a reader looks at."""
    Counted.touched = 0
    read()
    return Counted.touched


def full_stops(document: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\.\s", document)]


def names_of(monkeypatch: pytest.MonkeyPatch, documents: list[str], questions: list[str]) -> list[str]:
    """Whom the questions are about, as `read_own` finds it."""
    monkeypatch.setattr(own, "read_documents", lambda path: documents)
    monkeypatch.setattr(own, "read_questions", lambda path, wanted, **_: [*map(wanted.name, questions)])
    part: Any = own.read_own(Path("mine"), 128)[1]["train"]
    return part


@given(st.lists(st.text("aab. ", max_size=12), max_size=8), st.lists(st.text("ab ", min_size=1), max_size=4))
def test_a_question_is_about_the_longest_title_in_it(documents: list[str], questions: list[str]) -> None:
    titles = {document[:end] for document in documents for end in full_stops(document)} - {""}
    wanted = [min((t for t in titles if t in q), key=lambda t: (-len(t), q.index(t)), default=q) for q in questions]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert names_of(monkeypatch, documents, questions) == wanted


def read_full_stops(size: int) -> object:
    return own_pages([Counted("." * size)], {Counted("Oda Quill"), Counted("Oda. Senn")})


def read_initials(size: int) -> object:
    return headings([Counted("J. " * size)])


def read_titles(size: int) -> object:
    """As many pages as questions, half of them about a page; titles begin one another."""
    documents: list[str] = [Counted(f"Oda {'Q' * (number % 40)}{number}. A painter.") for number in range(size)]
    questions: list[str] = [
        Counted(f"Where was Oda {'Q' * (number % 40)}{number} ?") for number in range(0, 2 * size, 2)
    ]
    with pytest.MonkeyPatch.context() as monkeypatch:
        return names_of(monkeypatch, documents, questions)


@pytest.mark.parametrize("read", [read_full_stops, read_initials, read_titles])
def test_ten_times_as_much_is_about_ten_times_as_much_to_do(read: Callable[[int], object]) -> None:
    few, many = touched(lambda: read(200)), touched(lambda: read(2000))
    assert 0 < many <= 16 * few + 1000  # a binary search takes some steps more
