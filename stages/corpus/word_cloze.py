"""Word cloze: a page's name among a few words from around a capitalised phrase, in any order, then ⁇ and the phrase.

A title cloze keeps the page's wording up to the phrase; a question shares only some words with it. Here the cue is such
a handful of words: `in Ada Lovelace 1815 born⁇London⁇`. Which words, how many and in which order is drawn anew each
time, for every capitalised phrase of every page alike.
"""

import re
from dataclasses import dataclass

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.page import page
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.settings import WordCloze

WORD = re.compile(r"\w(?:[\w'’-]*\w)?")

Span = tuple[int, int]  # start and end in a document


@dataclass(frozen=True)
class Phrase:
    """A phrase to ask for, and the words around it that may be its cue."""

    span: Span
    words: tuple[Span, ...]


class WordClozes:
    """Draws word clozes from documents."""

    def __init__(self, documents: Ragged, vocabulary: Vocabulary, settings: WordCloze, context: int) -> None:
        """context: the longest sequence a model can read; words that do not fit are left out."""
        self.documents = documents
        self.settings = settings
        self.context = context
        self.space = vocabulary.encode(" ")  # empty where no document has one
        self.headings: list[int] = []
        self.phrases: list[list[Phrase]] = []
        for row in range(len(documents)):
            document = vocabulary.decode(documents[row])
            parts = page(document)
            words = [match.span() for match in WORD.finditer(document, parts.heading)]
            self.headings.append(parts.heading)
            self.phrases.append([Phrase(phrase, self._around(phrase, words)) for phrase in parts.phrases])

    def _around(self, phrase: Span, words: list[Span]) -> tuple[Span, ...]:
        """The words within reach of a phrase, on both sides."""
        start, end = phrase
        before = [word for word in words if word[1] <= start]
        after = [word for word in words if word[0] >= end]
        reach = self.settings
        return (*before[len(before) - min(len(before), reach.words_before) :], *after[: reach.words_after])

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the ⁇, the phrase and the closing ⁇.

        The cue has 0…most_words of the words within reach; in a share `in_order` of the examples they stand as in
        the page, else in any order. The name stands at a random place among them.
        """
        cues, answers = zip(*(self._example(row, generator) for row in rows), strict=True)
        sequences = [np.concatenate([cue, [MASK], answer, [MASK]]) for cue, answer in zip(cues, answers, strict=True)]
        return Examples.of_rows(sequences, [len(cue) for cue in cues])

    def _example(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document, phrases, settings = self.documents[row], self.phrases[row], self.settings
        name = document[: self.headings[row]]
        if not phrases:
            return name[: self.context - 1], document[:0]
        phrase = phrases[generator.integers(len(phrases))]
        answer = document[slice(*phrase.span)][: self.context // 2]
        room = self.context - 1 - len(answer)  # a mask; the last character of all is not read
        name = name[:room]
        count = generator.integers(0, min(settings.most_words, len(phrase.words)), endpoint=True)
        chosen = generator.permutation(len(phrase.words))[:count]
        if generator.random() < settings.in_order:
            chosen = np.sort(chosen)
        pieces = [document[slice(*phrase.words[i])] for i in chosen]
        while pieces and len(name) + sum(len(piece) + 1 for piece in pieces) > room:
            pieces.pop()
        pieces.insert(int(generator.integers(0, len(pieces), endpoint=True)), name)
        spaced = [part for piece in pieces for part in (self.space, piece)]
        return np.concatenate(spaced[1:]), answer
