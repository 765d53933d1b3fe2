"""What is said of pages and questions of one's own that prove little: a line a cause, with the first places."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from stages.corpus.folding import around, folded
from stages.corpus.questions import Question
from stages.corpus.titles import headings
from stages.corpus.vocabulary import Vocabulary
from stages.sources.audit import own_pages
from stages.sources.own import FILES, PAGES, longest_title
from stages.sources.reading import SHOWN, read_lines
from stages.system.terminal import quoted

SEPARATOR = re.compile(r"[:。：．|;\t]|\.[^\S ]| [-–—] ")  # what may stand between title and text, but for `. `
NEAR = 80  # characters of a page in which it is looked for
MOST_CHARACTERS = 10  # are named

HEADER = "ends as no other in its file, and names no page as most others do: a header row? Remove it"
ALMOST = "names a page but for capitals or invisible characters: write it as its page does"
NOBODY = "names no page: nothing that was read tells the answer"
ELSEWHERE = "has an answer that its page does not have, but another"
NOWHERE = "has an answer that no page has"
DISPUTED = "has two pages of its title, one with its answer and one with another"
UNREAD = "has characters that no page has: the model reads it without them"
TRAINED = "is a training question, too: the model has been told an answer"
KINDS = (HEADER, ALMOST, NOBODY, ELSEWHERE, NOWHERE, DISPUTED, UNREAD, TRAINED)


@dataclass(frozen=True)
class Asked:
    """A question with an answer: where it stands, and the pages of its name."""

    split: str
    question: Question
    pages: Sequence[str]

    @property
    def answer(self) -> str:
        return folded(self.question.place or "")

    @property
    def form(self) -> tuple[str, str] | None:
        """What stands around the name: questions that share it ask for the same kind of thing."""
        return around(self.question.question, self.question.name)

    @property
    def answered(self) -> list[bool]:
        """Of each page whether it has the answer."""
        return [self.answer in folded(text) for text in self.pages]

    @property
    def silent(self) -> list[str]:
        """The pages that do not have the answer."""
        return [folded(text) for text, has in zip(self.pages, self.answered, strict=True) if not has]


def notes(
    folder: Path, documents: list[str], questions: dict[str, list[Question]], vocabulary: Vocabulary
) -> list[str]:
    """A line for each kind of page or question: how many, and where the first ones stand."""
    names = {each.name for asked in questions.values() for each in asked}
    pages, ends = own_pages(documents, names), headings(documents, names)
    asked = [Asked(split, each, pages.get(each.name, [])) for split, some in questions.items() for each in some]
    asked = [each for each in asked if each.question.place is not None]
    headers = _headers(asked)
    unread = [{*vocabulary.unknown(each.question.question)} for each in asked if each.pages]
    # what all questions have tells none from another
    lost = {letter for letter, count in Counter(chain(*unread)).items() if count < len(unread)}
    corpus = folded("\n".join(documents))
    titles = sorted({_loose(document[:end]) for document, end in zip(documents, ends, strict=True)} | {""})
    train = [each for each in asked if each.split == "train"]
    trained, alike = {each.question.question for each in train}, defaultdict[object, set[str]](set)
    for each in train:
        alike[each.form].add(each.answer)

    def kinds(each: Asked) -> Iterator[str]:
        text = each.question.question
        if each in headers:
            yield HEADER
        elif not each.pages and longest_title(titles, _loose(text)):
            yield ALMOST
        elif not each.pages:
            yield NOBODY
        elif not any(each.answered):
            yield ELSEWHERE if each.answer in corpus else NOWHERE
        elif any(answer in other for other in each.silent for answer in alike[each.form]):
            yield DISPUTED
        if each.pages and lost.intersection(vocabulary.unknown(text)):
            yield UNREAD
        if each.split != "train" and text in trained and each not in headers:
            yield TRAINED

    told: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for each in asked:
        for kind in kinds(each):
            told[kind].append(f"{folder / FILES[each.split]}:{each.question.row}")
    lines = []
    if untitled := _untitled(folder / PAGES, documents, np.flatnonzero(ends == 0).tolist()):
        nobody = len(told.pop(NOBODY))
        lines.append(f"{untitled}; {nobody} of {len(asked)} questions name no page")
    for kind, places in told.items():
        if places:
            which = f": {' '.join(sorted(lost)[:MOST_CHARACTERS])}" if kind == UNREAD else ""
            lines.append(f"{len(places)} of {len(asked)} questions: each {kind}{which} ({_first(places)})")
    return lines


def _untitled(path: Path, documents: list[str], untitled: list[int]) -> str:
    """How many pages have no title, where, and what stands in its full stop's place; nothing if all have one."""
    if not untitled:
        return ""
    rows = [row for row, _ in read_lines(path)]
    found = Counter(match[0] for number in untitled if (match := SEPARATOR.search(documents[number][:NEAR])))
    seen = ", ".join(f"{quoted(each)} in {count}" for each, count in found.most_common(SHOWN))
    places = _first([f"{path}:{rows[number]}" for number in untitled])
    what = f"each has no title; write `Title. Text` in one line{f'; instead of `. ` they have {seen}' if seen else ''}"
    return f"{len(untitled)} of {len(documents)} pages: {what} ({places})"


def _headers(asked: Sequence[Asked]) -> list[Asked]:
    """The first question of each file, where it alone has its last character and names no page as most others do."""
    found = []
    for split in FILES:
        rows = [each for each in asked if each.split == split]
        ends = {each.question.question[-1] for each in rows[1:]}
        named = sum(bool(each.pages) for each in rows)
        if 2 * named > len(rows) and not rows[0].pages and rows[0].question.question[-1] not in ends:
            found.append(rows[0])
    return found


def _loose(text: str) -> str:
    """The text without capitals and invisible characters."""
    return "".join(letter for letter in folded(text).casefold() if unicodedata.category(letter) != "Cf")


def _first(places: list[str]) -> str:
    return ", ".join(places[:SHOWN]) + (", …" if len(places) > SHOWN else "")
