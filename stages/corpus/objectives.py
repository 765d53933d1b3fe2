"""What pretraining asks of a document: one objective, or several by chance.

*Span corruption*: `prefix ⁇ suffix ⁇ masked content` (CS224N assignment 5, after Raffel et al. 2019). *Clozes*: a
cue, ⁇ and a phrase of the page, drawn by its probability to be an answer. They ask of a page what a question asks, in
the page's own words. A *title cloze* keeps the page's wording up to the phrase, as salient span masking does (Roberts
et al. 2020, arXiv 2002.08910), with the page's name as context: `Ada Lovelace was born in ⁇London⁇`. A question
shares only some words with its page, and so does the cue of a *word cloze*: `in Ada Lovelace 1815 born⁇London⁇`.
Words that few pages have tell the page, so that its name is not needed; a cue can be of common ones alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

import numpy as np

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.phrases import SPAN, WORD, Phrases, Span, common_words, fences_of, words_around
from stages.corpus.prepared import Prepared
from stages.corpus.questions import question_examples
from stages.corpus.ragged import Ragged
from stages.settings.params import Objectives, PhraseCloze, SpanCorruption, TitleCloze, WordCloze

LARGEST_SPAN = 0.5  # share of the truncated document that is masked at most: a quarter on average, as in the assignment
LONGEST_CONTEXT = 32  # characters left of the phrase: about the words that a question repeats
BLANKED = 0.3  # share of the characters that are blanked where some are
MOST_WORDS = 4  # of a cue; their number is drawn uniformly: a question shares a handful of words with its page
Draw = Callable[[np.ndarray, np.random.Generator], Examples]  # rows (B,) → one example from each document


def span_corruption(
    documents: Ragged, rows: np.ndarray, settings: SpanCorruption, generator: np.random.Generator
) -> Examples:
    """Draw one example from each document in `rows` (B,).

    The document is truncated to a length L uniform in shortest_document…longest_document (or its own, if
    shorter); a span of a length uniform in 1…L/2, at a uniform start, is cut out and said at the end.
    For instance `Ada. Born in Ulm.` with the span `Ulm` becomes `Ada. Born in ⁇.⁇Ulm`. Every character but the
    first is a target.
    """
    drawn = generator.integers(settings.shortest_document, settings.longest_document, size=len(rows), endpoint=True)
    lengths = np.minimum(drawn, documents.lengths[rows])
    longest_spans = np.maximum((lengths * LARGEST_SPAN).astype(np.int64), 1)
    spans = generator.integers(1, longest_spans, endpoint=True)
    starts = generator.integers(0, lengths - spans, endpoint=True)
    return corrupt(documents, rows, lengths, starts, spans)


def corrupt(
    documents: Ragged, rows: np.ndarray, lengths: np.ndarray, starts: np.ndarray, spans: np.ndarray
) -> Examples:
    """Mask the given spans of the given documents; all arguments but the first are (B,) int64."""
    lengths, starts, spans = lengths[:, None], starts[:, None], spans[:, None]
    position = np.arange(lengths.max() + 2)[None]  # (1, T + 1) in the sequence
    second_mask = lengths - spans + 1  # the first stands at `starts`
    source = np.where(position < starts, position, position - 1 + spans)  # prefix and suffix: where in the document
    source = np.where(position > second_mask, position - second_mask - 1 + starts, source)  # masked content
    is_mask = (position == starts) | (position == second_mask)
    is_pad = position >= lengths + 2
    source = np.where(is_mask | is_pad, 0, source)
    sequences = documents.values[documents.offsets[rows][:, None] + source]
    sequences = np.where(is_mask, MASK, np.where(is_pad, PAD, sequences))
    return Examples.of(sequences, lengths[:, 0] + 2)


class PhraseClozeDrawer(ABC):
    """Draws clozes from documents.

    In a share `salient` of the examples the phrase is drawn by its probability (reader.py), else any of the page's.
    """

    opening_is_target: ClassVar[bool]  # whether the ⁇ that ends a cue is a target

    def __init__(self, prepared: Prepared, settings: PhraseCloze, context: int, phrases: Phrases | None) -> None:
        """context: the longest sequence a model can read; phrases: see `Mixture`."""
        phrases = phrases or prepared.phrases(settings.salient)
        self.documents, self.title_lengths = prepared.documents, prepared.title_lengths
        self.spans = phrases.spans
        self.weights = phrases.weights(settings.salient)
        self.settings = settings
        self.context = context
        self.space = prepared.vocabulary.encode(" ")  # empty where no document has one

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,): targets are the phrase and the ⁇ that closes it."""
        return Examples.of_cues([self.cloze(row, generator) for row in rows], self.opening_is_target)

    @abstractmethod
    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the cue and the phrase of an example; a page without a phrase gives its name and nothing."""


class TitleClozeDrawer(PhraseClozeDrawer):
    """Draws title clozes from documents.

    The left context is 0…32 characters. In a share `free_order` of the examples the name stands anywhere
    in it, else before it. In a share `blanked_rows` about three tenths of the context are PAD.

    To fit the model's context the left context gets shorter; a phrase or a name that is too long is cut at its end.
    """

    opening_is_target: ClassVar[bool] = True
    settings: TitleCloze

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document, title_length = self.documents[row], int(self.title_lengths[row])
        cumulated = np.cumsum(self.weights[row])
        if not len(cumulated):
            return document[:title_length], document[:0]

        drawn = np.searchsorted(cumulated, generator.random() * cumulated[-1], side="right")
        start, end = self.spans[row][drawn].tolist()
        phrase = document[start:end][: self.context // 2]
        name = document[:title_length][: self.context - len(phrase) - 1]

        room = self.context - len(name) - len(phrase) - 3  # two masks and a space
        longest = max(0, min(LONGEST_CONTEXT, start - title_length - 2, room))
        left = document[start - generator.integers(0, longest, endpoint=True) : start]
        if generator.random() < self.settings.blanked_rows:
            left = np.where(generator.random(len(left)) < BLANKED, PAD, left)

        free = generator.random() < self.settings.free_order
        split = generator.integers(0, len(left), endpoint=True) if free else 0
        space = self.space if len(left) else self.space[:0]
        named = [left[:split], space, name] if split else [name, space]
        return np.concatenate([*named, left[split:]]), phrase


class WordClozeDrawer(PhraseClozeDrawer):
    """Draws word clozes from documents.

    The cue is at most four of the words within the phrase's reach; in a share `in_order` of the cues they
    stand as in the page, else in any order. The name stands anywhere among them, or alone. The ⁇ that ends a cue is
    no target: nothing tells where a handful of words ends.

    Words that do not fit the model's context are left out, and phrases are cut at half of it.
    """

    opening_is_target: ClassVar[bool] = False
    settings: WordCloze

    def __init__(self, prepared: Prepared, settings: WordCloze, context: int, phrases: Phrases | None) -> None:
        super().__init__(prepared, settings, context, phrases)
        self.words = Ragged.gather(self._words_within_reach(prepared), SPAN)  # of each phrase, page after page

    def _words_within_reach(self, prepared: Prepared) -> Iterator[list[Span]]:
        common = common_words(prepared.each_text(), prepared.title_lengths, self.settings.common_words)
        answers = prepared.training_answers
        reach = self.settings.words_before, self.settings.words_after
        for row, text in enumerate(prepared.each_text()):
            phrases: list[Span] = self.spans[row].tolist()
            fences = fences_of(text, phrases, answers)
            words = [match.span() for match in WORD.finditer(text, prepared.title_lengths[row])]
            for phrase in phrases:
                yield [word for word in words_around(phrase, words, fences, *reach) if text[slice(*word)] in common]

    def cloze(self, row: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        document = self.documents[row]
        spans = self.spans[row]
        name = document[: self.title_lengths[row]][: self.context - 1]
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


class Mixture:
    """Draws each document's example from an objective chosen by the objectives' mixture weights.

    Training questions are drawn whichever the documents are: mixed into pretraining they make facts of other people's
    pages extractable (Allen-Zhu & Li 2023, arXiv 2309.14316).
    """

    def __init__(self, prepared: Prepared, settings: Objectives, context: int, phrases: Phrases | None = None) -> None:
        """phrases: what clozes ask for, and how likely; None for what the settings say (`Prepared.phrases`)."""
        documents, questions, answers = prepared.documents, prepared.questions["train"], prepared.answers["train"]
        draws: dict[str, Draw] = {}  # by the name of the objective
        if spans := settings.span_corruption:
            draws["span_corruption"] = lambda rows, generator: span_corruption(documents, rows, spans, generator)
        if title_cloze := settings.title_cloze:
            draws["title_cloze"] = TitleClozeDrawer(prepared, title_cloze, context, phrases).draw
        if word_cloze := settings.word_cloze:
            draws["word_cloze"] = WordClozeDrawer(prepared, word_cloze, context, phrases).draw
        if settings.training_questions:
            draws["training_questions"] = lambda rows, generator: question_examples(
                questions, answers, generator.integers(len(questions), size=len(rows))
            )
        if settings.causal_lm:
            draws["causal_lm"] = lambda rows, generator: causal_lm(documents, rows, context, generator)
        if settings.pairs:
            draws["pairs"] = lambda rows, _: question_examples(questions, answers, rows, opening_is_target=False)
        self.draws = draws
        self.bounds = np.cumsum([getattr(settings, name).mixture_weight for name in draws])[:-1]

    def draw(self, rows: np.ndarray, generator: np.random.Generator) -> Examples:
        """One example from each document in `rows` (B,)."""
        draws = [*self.draws.values()]
        if len(draws) == 1:
            return draws[0](rows, generator)
        chosen = np.searchsorted(self.bounds, generator.random(len(rows)), side="right")  # (B,) an objective's number
        some = [(draw, rows[chosen == number]) for number, draw in enumerate(draws)]
        return Examples.join([draw(of_draw, generator) for draw, of_draw in some if len(of_draw)])


def causal_lm(documents: Ragged, rows: np.ndarray, context: int, generator: np.random.Generator) -> Examples:
    """One example for each document in `rows` (B,), of at most context + 1 characters, all targets but the first.

    The documents are a text that was cut (`prepare.read`), and an example is a window of that text that starts
    anywhere, whichever the document. Windows reach beyond both ends of the text and are clipped there, so that each
    character of the text but the first is a target equally often.
    """
    size = len(documents.values)
    drawn = generator.integers(1 - context, size - 2, size=len(rows), endpoint=True)
    starts, ends = np.maximum(drawn, 0), np.minimum(drawn + context + 1, size)  # (B,) each
    source = starts[:, None] + np.arange((ends - starts).max())  # (B, T + 1)
    inside = source < ends[:, None]
    sequences = np.where(inside, documents.values[np.where(inside, source, 0)], PAD)
    return Examples.of(sequences, ends - starts)
