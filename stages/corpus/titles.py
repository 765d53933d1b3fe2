"""Titles of pages: where they end, which pages are about a name, and which of them a question names."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from stages.corpus.text import folded

END = re.compile(r"\.(?=\s)")
LONGEST = 200  # characters of a title
LAST_WORD = re.compile(r"\w+$")
ABBREVIATION = re.compile(r"(?:^|[\s.])(?:\w|Jr|Sr|St|Dr|Mr|Mrs)$")  # 5 characters at most: `.Mrs\n`


def possible_titles(document: str) -> Iterator[str]:
    """List what stands before each full stop that a space follows, the shortest first."""
    return (document[: match.start()] for match in END.finditer(document, 0, LONGEST + 1))


def title_lengths(documents: Sequence[str], names: Collection[str] = ()) -> np.ndarray:
    """(documents,) the length of each document's title; 0 where there is none.

    names: whom questions ask about, in any spelling. A title is the longest possible one that is among them. Else it
    ends at the first full stop that does not follow an initial or an abbreviation. Which words these are is learned
    from the titles among the names, where they settle it: in Malcolm X a letter ends the title, in J. R. Smith none.
    """
    names = {*map(folded, names)}
    named: list[str] = []  # the title of each document if it is among the names, else ""
    closing, inner = Counter[str](), Counter[str]()  # last words of these titles, and words before a full stop in them
    for document in documents:
        title = max((part for part in possible_titles(document) if folded(part) in names), key=len, default="")
        named.append(title)
        if title:
            closing[_last_word(title)] += 1
            inner.update(_last_word(part) for part in possible_titles(title + " ") if part)

    def closes(title: str) -> bool:
        word = _last_word(title)
        if closing[word] != inner[word]:
            return closing[word] > inner[word]
        return not ABBREVIATION.search(title[-5:])

    lengths = np.zeros(len(documents), np.int64)
    for row, (title, document) in enumerate(zip(named, documents, strict=True)):
        lengths[row] = len(title or next(filter(closes, possible_titles(document)), ""))
    return lengths


def _last_word(title: str) -> str:
    """Find the last word of a title; letters that stand alone are of one kind, and so are numbers."""
    match = LAST_WORD.search(title[-LONGEST:])
    word = match[0] if match else ""
    return "0" if word.isdecimal() else "a" if len(word) == 1 else word


def pages_about(documents: Sequence[str], names: Collection[str]) -> dict[str, list[str]]:
    """Find the documents whose title is a name, by name, in any spelling; not all have one."""
    pages: dict[str, list[str]] = {}  # by folded title
    for document, end in zip(documents, title_lengths(documents, names), strict=True):
        pages.setdefault(folded(document[:end]), []).append(document)
    return {name: pages[folded(name)] for name in names if folded(name) in pages}


def longest_title(titles: Collection[str], question: str) -> str:
    """Find the longest title in a question, of LONGEST characters at most; empty without.

    Of several as long the first that stands alone is taken, without a letter or digit beside it, or else the first.
    """
    whole = len(question)
    ends = ((start, end) for start in range(whole) for end in range(start + 1, min(start + LONGEST, whole) + 1))
    found = [(start, end) for start, end in ends if question[start:end] in titles]

    def rank(part: tuple[int, int]) -> tuple[int, bool]:
        start, end = part
        beside = question[start - 1 : start] + question[end : end + 1]
        return end - start, not any(map(str.isalnum, beside))

    start, end = max(found, key=rank, default=(0, 0))
    return question[start:end]
