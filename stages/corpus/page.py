"""The parts of a person's page: its heading, and the capitalised phrases of the text after it.

They are found by their form, in all pages alike; nothing here knows of birthplaces.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from stages.corpus.ragged import Ragged

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
ABBREVIATION = re.compile(r"(?:^|[\s.])(?:\w|Jr|Sr|St|Dr|Mr|Mrs)$")  # 5 characters at most: `.Mrs\n`

SPAN = np.dtype((np.int32, 2))  # start and end


@dataclass(frozen=True)
class Page:
    """Where a document's parts lie, in characters from its start."""

    heading: int  # the name is document[:heading]
    phrases: tuple[tuple[int, int], ...]  # start and end of each capitalised phrase of the text after it


def page(document: str) -> Page:
    """Find the parts of a document of the form `Name. Text`.

    The heading ends at the first full stop and space that do not follow an initial or an abbreviation. A phrase
    is a run of capitalised words with single spaces between them that are not all words of the heading. Where
    there is none, every word counts as one.
    """
    ends = [match.start() for match in re.finditer(r"\. ", document)]
    heading = next((end for end in ends if not ABBREVIATION.search(document[max(0, end - 5) : end])), 0)
    own = set(WORD.findall(document[:heading]))
    words = [match.span() for match in WORD.finditer(document, heading)]
    phrases: list[tuple[int, int]] = []
    for start, end in words:
        if not document[start].isupper():
            continue
        if phrases and phrases[-1][1] == start - 1 and document[start - 1] == " ":
            phrases[-1] = (phrases[-1][0], end)
        else:
            phrases.append((start, end))
    told = [(start, end) for start, end in phrases if not set(WORD.findall(document[start:end])) <= own]
    return Page(heading, tuple(told or words))


@dataclass(frozen=True)
class Pages:
    """The parts of many documents, in little memory."""

    headings: np.ndarray  # (documents,)
    phrases: Ragged  # rows of (phrases, 2)

    @classmethod
    def of(cls, documents: Iterable[str]) -> "Pages":
        """Find the parts of each document."""
        headings = []

        def phrases() -> Iterator[tuple[tuple[int, int], ...]]:
            for parts in map(page, documents):
                headings.append(parts.heading)
                yield parts.phrases

        return cls(phrases=Ragged.gather(phrases(), SPAN), headings=np.array(headings))

    def __getitem__(self, row: int) -> Page:
        return Page(int(self.headings[row]), tuple((start, end) for start, end in self.phrases[row].tolist()))


def shared_by(pages: Iterable[Iterable[str]]) -> Counter[str]:
    """How many pages each phrase or word is in; pages: the phrases or words of each."""
    return Counter(piece for pieces in pages for piece in dict.fromkeys(pieces))
