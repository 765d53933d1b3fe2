"""Where a page's title ends: `Title. Text`."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from stages.corpus.folding import folded

END = re.compile(r"\.(?=\s)")
LONGEST = 200  # characters of a title
LAST_WORD = re.compile(r"\w+$")
ABBREVIATION = re.compile(r"(?:^|[\s.])(?:\w|Jr|Sr|St|Dr|Mr|Mrs)$")  # 5 characters at most: `.Mrs\n`


def possible_titles(document: str) -> Iterator[str]:
    """List what stands before each full stop that a space follows, the shortest first."""
    return (document[: match.start()] for match in END.finditer(document, 0, LONGEST + 1))


def headings(documents: Sequence[str], names: Collection[str] = ()) -> np.ndarray:
    """(documents,) the length of each document's title; 0 where there is none.

    names: whom questions ask about, in any spelling. A title is the longest possible one that is among them. Else it
    ends at the first full stop that does not follow an initial or an abbreviation. Which words are such ones the titles
    among the names tell, if they have any with a full stop behind: Malcolm X ends in one, J. R. Smith in none.
    """
    names = {*map(folded, names)}
    named: list[str] = []  # the title of each document if it is among the names, else ""
    closing, inner = Counter[str](), Counter[str]()  # last words of these titles, and words before a full stop in them
    for document in documents:
        title = max((part for part in possible_titles(document) if folded(part) in names), key=len, default="")
        named.append(title)
        if title:
            closing[_kind(title)] += 1
            inner.update(_kind(part) for part in possible_titles(title + " ") if part)

    def closes(title: str) -> bool:
        kind = _kind(title)
        if closing[kind] != inner[kind]:
            return closing[kind] > inner[kind]
        return not ABBREVIATION.search(title[-5:])

    lengths = np.zeros(len(documents), np.int64)
    for row, (title, document) in enumerate(zip(named, documents, strict=True)):
        lengths[row] = len(title or next(filter(closes, possible_titles(document)), ""))
    return lengths


def _kind(title: str) -> str:
    """Find the last word of a title; letters that stand alone are of one kind, and so are numbers."""
    match = LAST_WORD.search(title[-LONGEST:])
    word = match[0] if match else ""
    return "0" if word.isdecimal() else "a" if len(word) == 1 else word
