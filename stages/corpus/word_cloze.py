"""Word cloze: a page's name among a few words from around a capitalised phrase, in any order, then ⁇ and the phrase.

A title cloze keeps the page's wording up to the phrase; a question shares only some words with it. Here the cue is such
a handful of words: `in Ada Lovelace 1815 born⁇London⁇`. Which words, how many and in which order is drawn anew each
time, for every capitalised phrase of every page alike. More phrases of the page may follow in the same example, without
its name: `in Ada Lovelace 1815 born⁇London⁇ first Engine⁇Charles Babbage⁇`, so that more of what is read is a target.

Words that few pages have tell the page, so that its name is not needed; a cue can be of common ones alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from stages.corpus.example import MASK, Examples
from stages.corpus.page import Page, page, shared_by
from stages.corpus.phrase_weights import phrase_weights
from stages.corpus.prepared import Prepared
from stages.settings import WordCloze

WORD = re.compile(r"\w(?:[\w'’-]*\w)?")

Span = tuple[int, int]  # start and end in a document


@dataclass(frozen=True)
class Phrase:
    """A phrase to ask for, and the words around it that may be its cue."""

    span: Span
    words: tuple[Span, ...]
    weight: float  # the chance that it is asked for, in proportion to those of the page's other phrases


class WordClozes:
    """Draws word clozes from documents."""

    def __init__(self, prepared: Prepared, settings: WordCloze, context: int) -> None:
        """context: the longest sequence a model can read; words that do not fit are left out."""
        self.documents = documents = prepared.documents
        vocabulary = prepared.vocabulary
        self.settings = settings
        self.context = context
        self.space = vocabulary.encode(" ")  # empty where no document has one
        texts = [vocabulary.decode(documents[row]) for row in range(len(documents))]
        pages = [page(text) for text in texts]
        common = common_words(texts, settings.common_words)
        weights = phrase_weights(prepared, texts, pages, settings)
        self.headings = [parts.heading for parts in pages]
        self.phrases: list[list[Phrase]] = []
        fencing = frozenset[str]() if settings.past_answers else prepared.training_answers
        for text, parts, of_page in zip(texts, pages, weights, strict=True):
            fences = fences_of(text, parts, fencing)
            words = [match.span() for match in WORD.finditer(text, parts.heading)]
            self.phrases.append(
                [
                    Phrase(
                        phrase,
                        tuple(word for word in self._around(phrase, words, fences) if text[slice(*word)] in common),
                        weight,
                    )
                    for phrase, weight in zip(parts.phrases, of_page, strict=True)
                ]
            )

    def _around(self, phrase: Span, words: list[Span], fences: list[Span]) -> tuple[Span, ...]:
        """The words within reach of a phrase, on both sides, up to the nearest fence."""
        start, end = phrase
        first = max((fence_end for _, fence_end in fences if fence_end <= start), default=0)
        last = min((fence_start for fence_start, _ in fences if fence_start >= end), default=words[-1][1])
        before = [word for word in words if first <= word[0] and word[1] <= start]
        after = [word for word in words if end <= word[0] and word[1] <= last]
        reach = self.settings
        return (*before[len(before) - min(len(before), reach.words_before) :], *after[: reach.words_after])

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the phrases, each with the ⁇ that closes it.

        Up to `most_phrases` phrases of those that fit are asked, drawn by their weights, each after a cue of at most
        `most_words` of the words within its reach; in a share `in_order` of the cues they stand as in the page, else
        in any order. The name stands at a random place in the first cue, which may have no word beside it; the others
        have one at least, so that something tells which phrase is meant. The ⁇ that ends a cue is no target: nothing
        tells where a handful of words ends.
        """
        sequences, loss_mask = zip(*(self._example(row, generator) for row in rows), strict=True)
        return Examples.of_marked(sequences, loss_mask)

    def _example(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """A sequence, and which of its characters are targets."""
        document, phrases = self.documents[row], self.phrases[row]
        name = document[: self.headings[row]][: self.context - 1]
        room = self.context + 1  # the last character of all is not read
        clozes: list[tuple[np.ndarray, np.ndarray]] = []
        for number in self._order(row, generator):
            if len(clozes) == self.settings.most_phrases:
                break
            answer = document[slice(*phrases[number].span)][: self.context // 2]
            heading = name[: 0 if clozes else None]
            cue = self._cue(document, phrases[number], heading, room - len(answer) - 2, generator)
            if len(cue):
                clozes.append((cue, answer))
                room -= len(cue) + len(answer) + 2
        pieces = [part for cue, answer in clozes or [(name, name[:0])] for part in (cue, [MASK], answer, [MASK])]
        loss_mask = [np.full(len(part), place % 4 >= 2) for place, part in enumerate(pieces)]
        return np.concatenate(pieces), np.concatenate(loss_mask)

    def _order(self, row: int, generator: np.random.Generator) -> np.ndarray:
        """The page's phrases as drawn one after another by their weights, none twice.

        That is their order by exponential waiting times of these rates (Efraimidis & Spirakis 2006).
        """
        weights = np.array([phrase.weight for phrase in self.phrases[row]])
        order: np.ndarray = np.argsort(generator.exponential(size=len(weights)) / weights)
        return order

    def _cue(
        self, document: np.ndarray, phrase: Phrase, name: np.ndarray, room: int, generator: np.random.Generator
    ) -> np.ndarray:
        """Words from around a phrase with the name among them; without a name at least one word. Empty if none fits."""
        least, most = int(not len(name)), min(self.settings.most_words, len(phrase.words))
        if most < least or room <= 0:
            return document[:0]
        chosen = generator.permutation(len(phrase.words))[: generator.integers(least, most, endpoint=True)]
        if generator.random() < self.settings.in_order:
            chosen = np.sort(chosen)
        words = [document[slice(*phrase.words[i])] for i in chosen]
        names = [name[:room]] if len(name) else []
        while words and sum(len(part) + 1 for part in [*names, *words]) - 1 > room:
            words.pop()
        place = int(generator.integers(0, len(words), endpoint=True))
        pieces = [part for piece in (*words[:place], *names, *words[place:]) for part in (self.space, piece)]
        return np.concatenate(pieces[1:]) if pieces else document[:0]


def fences_of(text: str, parts: Page, answers: frozenset[str]) -> list[Span]:
    """The phrases of a page that words do not belong to a cue beyond: those that are among `answers`.

    Of `born in Ulm, Peru` the words before Ulm are not Peru's: else the same cue has two right answers.
    """
    return [phrase for phrase in parts.phrases if text[slice(*phrase)] in answers]


def common_words(texts: Iterable[str], most: int | None) -> frozenset[str]:
    """The words that stand in most pages, so many of them, None for all; of those in as many, the alphabet's first.

    A page's name does not count.
    """
    found = shared_by(WORD.findall(text, page(text).heading) for text in texts)
    return frozenset(sorted(found, key=lambda word: (-found[word], word))[:most])
