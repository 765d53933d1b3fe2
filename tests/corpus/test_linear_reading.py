"""Readers take time in proportion to what they read: they find what plain code finds, and touch few characters."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.corpus.titles import ABBREVIATION, headings
from stages.corpus.word_cloze import words_around
from stages.sources import own
from stages.sources.audit import own_pages

FORMS = st.text("aA. \nJrSt", max_size=24)  # initials and abbreviations with what they look like
SHORT = st.text("ab.", max_size=8)


class Counted(str):
    """A text that counts the characters that are looked at, at most."""

    touched = 0

    def _counted(self, characters: int) -> None:
        Counted.touched += characters

    def __getitem__(self, key: SupportsIndex | slice) -> "Counted":
        found = Counted(super().__getitem__(key))
        self._counted(len(found))
        return found

    def __iter__(self) -> Any:
        self._counted(len(self))
        return super().__iter__()

    def __lt__(self, other: str) -> bool:
        self._counted(min(len(self), len(other)))
        return super().__lt__(other)

    def __contains__(self, other: object) -> bool:
        self._counted(len(self))
        return super().__contains__(other)  # type: ignore[operator]

    def startswith(self, prefix: Any, *place: Any) -> bool:
        self._counted(len(prefix))
        return super().startswith(prefix, *place)


def touched(read: Callable[[], object]) -> int:
    """How many characters a reader looks at."""
    Counted.touched = 0
    read()
    return Counted.touched


def plain_heading(document: str) -> int:
    return next((end for end in full_stops(document) if not ABBREVIATION.search(document[:end])), 0)


def full_stops(document: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\.\s", document)]


def plain_own_pages(documents: list[str], names: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for document in documents:
        for end in (place for place, letter in enumerate(document) if letter == "."):
            if document[:end] in names:
                found.setdefault(document[:end], []).append(document)
    return found


@given(FORMS)
def test_a_heading_ends_where_the_whole_text_before_it_says(document: str) -> None:
    assert headings([document]).tolist() == [plain_heading(document)]


@given(st.lists(SHORT), st.sets(SHORT))
def test_own_pages_are_those_whose_beginning_before_a_full_stop_is_a_name(
    documents: list[str], names: set[str]
) -> None:
    assert own_pages(documents, names) == plain_own_pages(documents, names)


def names_of(monkeypatch: pytest.MonkeyPatch, documents: list[str], questions: list[str]) -> list[str]:
    """Whom the questions are about, as `read_own` finds it."""
    monkeypatch.setattr(own, "read_documents", lambda path: documents)
    monkeypatch.setattr(own, "read_questions", lambda path, wanted, **_: [*map(wanted.name, questions)])
    found: Any = own.read_own(Path("mine"), 128)[1]["train"]
    return found


@given(st.lists(st.text("aab. ", max_size=12), max_size=8), st.lists(st.text("ab ", min_size=1), max_size=4))
def test_a_question_is_about_the_longest_title_in_it(documents: list[str], questions: list[str]) -> None:
    titles = {document[:end] for document in documents for end in full_stops(document)} - {""}
    wanted = [min((t for t in titles if t in q), key=lambda t: (-len(t), q.index(t)), default=q) for q in questions]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert names_of(monkeypatch, documents, questions) == wanted


@given(
    st.lists(st.sampled_from(["Ulm", "born", "in", "1900", "Peru", "Oda"]), min_size=1, max_size=30),
    st.sets(st.integers(0, 29)),
    st.sets(st.integers(0, 29)),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_words_of_a_cue_reach_to_the_nearest_fence(
    text: list[str], phrases: set[int], fenced: set[int], before: int, after: int
) -> None:
    ends = [sum(len(word) + 1 for word in text[: number + 1]) - 1 for number in range(len(text))]
    words = [(end - len(word), end) for word, end in zip(text, ends, strict=True)]
    fences = [word for number, word in enumerate(words) if number in fenced]
    for start, end in (word for number, word in enumerate(words) if number in phrases):
        first = max((fence_end for _, fence_end in fences if fence_end <= start), default=0)
        last = min((fence_start for fence_start, _ in fences if fence_start >= end), default=words[-1][1])
        left = [word for word in words if first <= word[0] and word[1] <= start]
        right = [word for word in words if end <= word[0] and word[1] <= last]
        wanted = left[max(0, len(left) - before) :] + right[:after]
        assert words_around((start, end), words, fences, before, after) == wanted


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
