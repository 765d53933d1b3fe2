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

WORD = re.compile(r"\w(?:[\w'’-]*\w)?")


class WordClozes(PhraseClozes):
    """Draws word clozes from documents.

    The cue is at most `most_words` of the words within the phrase's reach; in a share `in_order` of the cues they
    stand as in the page, else in any order. The name stands anywhere among them, or alone. The ⁇ that ends a cue is
    no target: nothing tells where a handful of words ends.

    Words that do not fit the model's context are left out, and phrases are cut at half of it.
    """

    opening_is_target: ClassVar[bool] = False

    def __init__(self, prepared: Prepared, phrases: Phrases, settings: WordCloze, context: int) -> None:
        super().__init__(prepared, phrases, settings, context)
        self.settings = settings
        fencing = frozenset[str]() if settings.past_answers else prepared.training_answers
        common = common_words(prepared, settings.common_words)

        def within_reach() -> Iterator[list[Span]]:
            for row, text in enumerate(prepared.each_text()):
                spans: list[Span] = self.spans[row].tolist()
                fences = fences_of(text, spans, fencing)
                words = [match.span() for match in WORD.finditer(text, prepared.headings[row])]
                for span in spans:
                    yield [word for word in self._around(span, words, fences) if text[slice(*word)] in common]

        self.words = Ragged.gather(within_reach(), SPAN)  # of each phrase, page after page

    def _around(self, span: Span, words: list[Span], fences: list[Span]) -> list[Span]:
        """The words within reach of a phrase, on both sides, up to the nearest fence."""
        start, end = span
        first = max((fence for _, fence in fences if fence <= start), default=0)
        last = min((fence for fence, _ in fences if fence >= end), default=words[-1][1] if words else 0)
        before, after = bisect_right(words, start, key=itemgetter(1)), bisect_left(words, end, key=itemgetter(0))
        near = words[max(0, before - self.settings.words_before) : before]
        near += words[after : after + self.settings.words_after]
        return [word for word in near if first <= word[0] and word[1] <= last]

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document, spans = self.documents[row], self.spans[row]
        name = document[: self.headings[row]][: self.context - 1]
        first = self.spans.offsets[row]
        # the order in which phrases of these weights are drawn one after another: that of exponential waiting times
        # of these rates (Efraimidis & Spirakis 2006). The first is asked for; where a page has no name, the first that
        # has words around it
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
        """Some of the words with the name among them and spaces between; without a name at least one. Empty if none."""
        least, most = int(not len(name)), min(self.settings.most_words, len(words))
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
        return [part for piece in (*pieces[:split], *names, *pieces[split:]) for part in (self.space, piece)][1:]


def fences_of(text: str, spans: Sequence[Span], answers: frozenset[str]) -> list[Span]:
    """The phrases of a page that words do not belong to a cue beyond: those that are among `answers`.

    Of `born in Ulm, Peru` the words before Ulm are not Peru's: else the same cue has two right answers.
    """
    return [(start, end) for start, end in spans if text[start:end] in answers]


def common_words(prepared: Prepared, most: int | None) -> frozenset[str]:
    """The words that stand in most pages, so many of them, None for all; of those in as many, the alphabet's first.

    A page's name does not count.
    """
    texts = zip(prepared.each_text(), prepared.headings, strict=True)
    found = Counter(word for text, heading in texts for word in {*WORD.findall(text, heading)})
    return frozenset(sorted(found, key=lambda word: (-found[word], word))[:most])
