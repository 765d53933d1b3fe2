"""Word cloze: a page's name among a few words from around a phrase, in any order, then ⁇ and the phrase.

A title cloze keeps the page's wording up to the phrase; a question shares only some words with it. Here the cue is such
a handful of words: `in Ada Lovelace 1815 born⁇London⁇`. Which words, how many and in which order is drawn anew each
time.

Words that few pages have tell the page, so that its name is not needed; a cue can be of common ones alone.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import ClassVar

import numpy as np

from stages.corpus.phrase_cloze import PhraseClozes
from stages.corpus.phrases import SPAN, Phrases, Span
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.settings import WordCloze

MOST_WORDS = 4  # of a cue; their number is drawn uniformly: a question shares a handful of words with its page
WORD = re.compile(r"\w(?:[\w'’-]*\w)?")


class WordClozes(PhraseClozes):
    """Draws word clozes from documents.

    The cue is at most four of the words within the phrase's reach; in a share `in_order` of the cues they
    stand as in the page, else in any order. The name stands anywhere among them, or alone. The ⁇ that ends a cue is
    no target: nothing tells where a handful of words ends.

    Words that do not fit the model's context are left out, and phrases are cut at half of it.
    """

    opening_is_target: ClassVar[bool] = False
    settings: WordCloze

    def __init__(self, prepared: Prepared, phrases: Phrases, settings: WordCloze, context: int) -> None:
        super().__init__(prepared, phrases, settings, context)
        self.words = Ragged.gather(self._words_within_reach(prepared), SPAN)  # of each phrase, page after page

    def _words_within_reach(self, prepared: Prepared) -> Iterator[list[Span]]:
        common = common_words(prepared, self.settings.common_words)
        answers = prepared.training_answers
        reach = self.settings.words_before, self.settings.words_after
        for row, text in enumerate(prepared.each_text()):
            phrases: list[Span] = self.spans[row].tolist()
            fences = fences_of(text, phrases, answers)
            words = [match.span() for match in WORD.finditer(text, prepared.headings[row])]
            for phrase in phrases:
                yield [word for word in words_around(phrase, words, fences, *reach) if text[slice(*word)] in common]

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document = self.documents[row]
        spans = self.spans[row]
        name = document[: self.headings[row]][: self.context - 1]
        first = self.spans.offsets[row]

        # Sorted exponential waiting times of these rates draw phrases one after another by their weights (Efraimidis &
        # Spirakis 2006). The first is asked for; on a page without a name, the first with words around it.
        for number in np.argsort(generator.exponential(size=len(spans)) / self.weights[row]):
            answer = document[slice(*spans[number])][: self.context // 2]
            words = [document[slice(*word)] for word in self.words[first + number].tolist()]
            cue = self._cue(words, name, self.context - len(answer) - 1, generator)
            if cue:
                return np.concatenate(cue), answer
        return name, document[:0]

    def _cue(
        self, words: list[np.ndarray], name: np.ndarray, room: int, generator: np.random.Generator
    ) -> list[np.ndarray]:
        """Draw some of the words, put the name among them and spaces between; at least one without a name."""
        least, most = int(not len(name)), min(MOST_WORDS, len(words))
        if most < least:
            return []
        chosen = generator.permutation(len(words))[: generator.integers(least, most, endpoint=True)]
        if generator.random() < self.settings.in_order:
            chosen = np.sort(chosen)
        pieces = [words[i] for i in chosen]
        names = [name[:room]] if len(name) else []
        while pieces and sum(len(piece) + 1 for piece in [*names, *pieces]) - 1 > room:
            pieces.pop()

        split = int(generator.integers(0, len(pieces), endpoint=True))
        cue = []
        for piece in (*pieces[:split], *names, *pieces[split:]):
            cue += [self.space, piece]
        return cue[1:]


def words_around(phrase: Span, words: list[Span], fences: Sequence[Span], before: int, after: int) -> list[Span]:
    """At most so many words before and after a phrase, up to the nearest fence; words, fences: in the page's order."""
    start, end = phrase
    first = max((fence_end for _, fence_end in fences if fence_end <= start), default=0)
    last = min((fence_start for fence_start, _ in fences if fence_start >= end), default=words[-1][1] if words else 0)
    left = bisect_right(words, start, key=itemgetter(1))
    right = bisect_left(words, end, key=itemgetter(0))
    near = words[max(0, left - before) : left] + words[right : right + after]
    return [word for word in near if first <= word[0] and word[1] <= last]


def fences_of(text: str, phrases: Sequence[Span], answers: frozenset[str]) -> list[Span]:
    """Find the phrases of a page that answer a training question: a cue has no words from beyond one.

    In `born in Ulm, Peru` the words before Ulm are not Peru's: else the same cue would have two right answers.
    """
    return [(start, end) for start, end in phrases if text[start:end] in answers]


def common_words(prepared: Prepared, most: int | None) -> frozenset[str]:
    """Find the words that stand in most pages, so many of them (None: all); among equals the alphabet's first.

    A page's name does not count.
    """
    counts = Counter[str]()
    for text, heading in zip(prepared.each_text(), prepared.headings, strict=True):
        counts.update({*WORD.findall(text, heading)})
    return frozenset(sorted(counts, key=lambda word: (-counts[word], word))[:most])
