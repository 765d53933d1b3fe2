"""Word cloze: a page's name among a few words from around a capitalised phrase, in any order, then ⁇ and the phrase.

A title cloze keeps the page's wording up to the phrase; a question shares only some words with it. Here the cue is such
a handful of words: `in Ada Lovelace 1815 born⁇London⁇`. Which words, how many and in which order is drawn anew each
time, for every capitalised phrase of every page alike. More phrases of the page may follow in the same example, without
its name: `in Ada Lovelace 1815 born⁇London⁇ first Engine⁇Charles Babbage⁇`, so that more of what is read is a target.
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
        """One example from each document in `rows` (B,): targets are the phrases, each with the ⁇ that closes it.

        As many phrases as fit, but at most `most_phrases`, are asked in random order, each after a cue of 0…most_words
        of the words within its reach; in a share `in_order` of the cues they stand as in the page, else in any order.
        The name stands at a random place in the first cue. The ⁇ that ends a cue is no target: nothing tells where a
        handful of words ends.
        """
        sequences, wanted = zip(*(self._example(row, generator) for row in rows), strict=True)
        return Examples.of_marked(sequences, wanted)

    def _example(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A sequence, and which of its characters are targets."""
        document, phrases = self.documents[row], self.phrases[row]
        name = [document[: self.headings[row]][: self.context - 1]]
        room = self.context + 1  # the last character of all is not read
        clozes = []
        for number in generator.permutation(len(phrases))[: self.settings.most_phrases]:
            answer = document[slice(*phrases[number].span)][: self.context // 2]
            cue = self._cue(document, phrases[number], name, room - len(answer) - 2, generator)
            if cue is None:
                break
            clozes.append((cue, answer))
            room -= len(cue) + len(answer) + 2
            name = []
        pieces = [part for cue, answer in clozes or [(name[0], name[0][:0])] for part in (cue, [MASK], answer, [MASK])]
        wanted = [np.full(len(part), place % 4 >= 2) for place, part in enumerate(pieces)]
        return np.concatenate(pieces), np.concatenate(wanted)

    def _cue(
        self, document: np.ndarray, phrase: Phrase, name: list[np.ndarray], room: int, generator: np.random.Generator
    ) -> np.ndarray | None:
        """Words from around a phrase with the name, if there is one, among them; None if there is no room."""
        if room < 0:
            return None
        settings = self.settings
        name = [part[:room] for part in name]
        count = generator.integers(0, min(settings.most_words, len(phrase.words)), endpoint=True)
        chosen = generator.permutation(len(phrase.words))[:count]
        if generator.random() < settings.in_order:
            chosen = np.sort(chosen)
        words = [document[slice(*phrase.words[i])] for i in chosen]
        while words and sum(len(part) + 1 for part in [*name, *words]) - 1 > room:
            words.pop()
        place = int(generator.integers(0, len(words), endpoint=True))
        spaced = [part for piece in (*words[:place], *name, *words[place:]) for part in (self.space, piece)]
        return np.concatenate(spaced[1:]) if spaced else document[:0]
