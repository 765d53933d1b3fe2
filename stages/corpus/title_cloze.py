"""Title cloze: a page's name and a few characters of it, then ⁇ and the capitalised phrase that comes next.

It asks of a page what a question asks, in the page's own words: `Ada Lovelace was born in ⁇London⁇`. The phrases
are found by their capitals, in all pages alike; nothing here knows of birthplaces. After salient span masking as
Roberts et al. 2020 (arXiv 2002.08910) use it, with a capital for an entity and the page's name as context.
"""

import re
from dataclasses import dataclass

import numpy as np

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.settings import TitleCloze

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
ABBREVIATION = re.compile(r"(?:^|[\s.])(?:\w|Jr|Sr|St|Dr|Mr|Mrs)$")


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
    heading = next((end for end in ends if not ABBREVIATION.search(document[:end])), 0)
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


class TitleClozes:
    """Draws title clozes from documents."""

    def __init__(self, documents: Ragged, vocabulary: Vocabulary, settings: TitleCloze, context: int) -> None:
        """context: the longest sequence a model can read; examples are cut to it from the left."""
        self.documents = documents
        self.settings = settings
        self.context = context
        self.pages = [page(vocabulary.decode(documents[row])) for row in range(len(documents))]
        self.space = vocabulary.encode(" ")  # empty where no document has one

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the ⁇, the phrase and the closing ⁇.

        The left context is 0…longest_context characters. In a share `free_order` of the examples the name
        stands anywhere in it, else before it. In a share `blanked_rows` some characters of the
        context are PAD, a share `blanked_characters` of them.
        """
        cues, answers = zip(*(self._example(row, generator) for row in rows), strict=True)
        sequences = [np.concatenate([cue, [MASK], answer, [MASK]]) for cue, answer in zip(cues, answers, strict=True)]
        return Examples.of_rows(sequences, [len(cue) for cue in cues])

    def _example(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        parts, document, settings = self.pages[row], self.documents[row], self.settings
        name = document[: parts.heading]
        if not parts.phrases:
            return name, document[:0]
        start, end = parts.phrases[generator.integers(len(parts.phrases))]
        end = min(end, start + self.context // 2)
        name = name[: self.context - (end - start) - 1]
        room = self.context - len(name) - (end - start) - 3  # two masks and a space
        longest = max(0, min(settings.longest_context, start - parts.heading - 2, room))
        context = document[start - generator.integers(0, longest, endpoint=True) : start]
        if generator.random() < settings.blanked_rows:
            blanked = generator.random(len(context)) < settings.blanked_characters
            context = np.where(blanked, PAD, context)
        place = generator.integers(0, len(context), endpoint=True) if generator.random() < settings.free_order else 0
        cue = np.concatenate([context[:place], self.space[: len(context) and 1], name, context[place:]])
        if place == 0:
            cue = np.concatenate([name, self.space[: len(context) and 1], context])
        return cue, document[start:end]
