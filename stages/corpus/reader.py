"""The reader: which spans of a page a question may be about, the likeliest of each page, with their probabilities.

A text is cut into pieces, whatever its script: words, signs, and parts of words where answers begin or end inside of
them. Spans are runs of pieces. What tells answers apart is learned from the training questions whose answers stand in
their pages: a conditional logit (McFadden 1974) among all spans of a page. A second one weighs the likeliest spans by
their number, by whether they answer other training questions, and by how many pages have them, too. Salient spans (Guu
et al. 2020, arXiv 2002.08909) are found by a tagger instead. Nothing is known of capitals, scripts or languages
beforehand. Every page is weighed by the same coefficients. No answer of dev or test is known here, nor what the
questions ask.
"""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from tqdm import tqdm

from stages.corpus.phrases import DIGITS, PROBABILITY, SPAN, Phrases, as_probabilities
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.text import Vocabulary, folded

SPACE, MARK, CAPITAL, LETTER, DIGIT, SIGN = range(6)  # kinds of characters
CHARACTER_KINDS = {"M": MARK, "Cf": MARK, "Lu": CAPITAL, "Lt": CAPITAL, "L": LETTER, "N": DIGIT, "Z": SPACE, "C": SPACE}
LEAST_SHARE = 0.005  # of the answers begin or end beside a character inside of a word, where pieces do
BEFORE, AFTER = 4, 2  # pieces of text that count on that side
NEAR = 2  # so many on either side count by their kinds, together
PRIME = 1_000_003  # the number of a sequence of kinds is a polynomial's value at it
MOST_CANDIDATES = 16  # of a page
MOST_PIECES = 12  # of a span
MOST_QUESTIONS = 5000  # the first so many are learned from
MOST_SPANS = 500_000  # are learned from: the spans of all pages do not fit into memory
LAST_NUMBER = 6  # that of all later candidates, too
PENALTY = 0.3  # on half the sum of the squared coefficients
# Rows of pages, each with an answer that stands in it, and the answers to all questions about the page
Answered = Sequence[tuple[int, str, Counter[str]]]
# (spans, features) of a page's spans, and (spans,) which of them are the answer
LabelledSpans = tuple[np.ndarray, np.ndarray]


class SpanFinder:
    """Cuts texts into pieces, and finds and describes their spans.

    Pieces are signs, and runs of letters, digits and the marks that belong to them. Inside of words pieces end before
    the characters that follow answers there, and after those that precede them: particles, and in a script without
    spaces nearly all.
    """

    def __init__(self, vocabulary: Vocabulary, answered: Sequence[tuple[np.ndarray, str]]) -> None:
        """Learn from encoded texts, each with an answer that stands in it, where pieces end and how long spans are."""
        self.kinds = np.array([_kind(character) for character in vocabulary.characters])
        self.follows = self.precedes = np.zeros(len(self.kinds), bool)  # no word has parts yet
        follows, precedes = np.zeros_like(self.kinds), np.zeros_like(self.kinds)  # how often
        for tokens, answer in answered:
            first, last = map(set, map(np.ndarray.tolist, self.pieces(tokens)))
            found = [match.span() for match in re.finditer(re.escape(answer), vocabulary.decode(tokens.tolist()))]
            if not found or any(start in first and end in last for start, end in found):
                continue
            start, end = found[0]
            if start not in first:
                precedes[tokens[start - 1 : start]] += 1
            if end not in last:
                follows[tokens[end : end + 1]] += 1
        least = max(1, LEAST_SHARE * len(answered))
        self.follows, self.precedes = follows >= least, precedes >= least  # (characters of the vocabulary,)

        self.most = min(MOST_PIECES, max(len(self.pieces(vocabulary.encode(answer))[0]) for _, answer in answered))
        each_sign = SIGN + np.arange(len(self.kinds))  # is a kind of its own
        self.shown_kinds = np.where(self.kinds == SIGN, each_sign, self.kinds)
        characters = zip(vocabulary.characters, self.kinds == DIGIT, strict=True)
        self.characters = ["0" if digit else character for character, digit in characters]

    def pieces(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(pieces,) where each piece of an encoded text starts, and (pieces,) where it ends."""
        kinds = self.kinds[tokens]
        blank = kinds == SPACE
        word = ~blank & (kinds != SIGN)
        inner = word[1:] & word[:-1] & ~self.follows[tokens[1:]] & ~self.precedes[tokens[:-1]]
        joined = inner | (kinds[1:] == MARK) & ~blank[:-1]  # to the character before
        starts = ~blank & ~np.concatenate([[False], joined])[: len(tokens)]
        ends = ~blank & ~np.concatenate([joined, [False]])[: len(tokens)]
        return np.flatnonzero(starts), np.flatnonzero(ends) + 1

    def described(self, title: np.ndarray, text: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(spans, 2) where the spans of an encoded text lie, and (spans, features) what is true of each.

        title: of the page, encoded. Features are numbers, of no order. Two spans have the same one if the same is true
        of them: of the pieces before and after, of the kinds of the pieces inside, of the length, of the place in the
        page, of the words of the title among them. Which words a span has is no feature, so an answer that was never
        seen is found like another.
        """
        starts, ends, words = self._words(text)
        first, length = (grid.ravel() for grid in np.mgrid[: len(words), 1 : self.most + 1])
        inside = first + length <= len(words)
        first, length = first[inside], length[inside]  # (spans,) in pieces
        last = first + length - 1
        begin, end = starts[first], ends[last]  # (spans,) in characters

        title_words = set(self._words(title)[2].tolist())
        of_title = np.cumsum([0, *(word in title_words for word in words.tolist())])
        shared = of_title[last + 1] - of_title[first]
        around = _padded(words, BEFORE, AFTER)
        kinds = _padded(self.shown_kinds[text[starts]] + 1, BEFORE, self.most + AFTER)
        features = [
            *(around[first + BEFORE - 1 - i] for i in range(BEFORE)),
            *(around[last + BEFORE + 1 + i] for i in range(AFTER)),
            _sequence(kinds, first + BEFORE - NEAR, NEAR),
            _sequence(kinds, last + BEFORE + 1, NEAR),
            _sequence(kinds, first + BEFORE, self.most, length),
            kinds[first + BEFORE] * PRIME + kinds[last + BEFORE],
            np.frexp(end - begin)[1],  # the length doubled is another
            np.frexp(first + 1)[1],
            (shared > 0).astype(int) + (shared == length),
        ]
        return np.stack([begin, end], 1), distinct(features)

    def _words(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(pieces,) starts, ends and checksums of the pieces of an encoded text; all digits are alike."""
        starts, ends = self.pieces(tokens)
        text = "".join(map(self.characters.__getitem__, tokens.tolist()))
        words = [crc32(text[start:end].encode()) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return starts, ends, np.array(words, np.int64)


def _kind(character: str) -> int:
    """Tell the kind of a character by its Unicode category; joiners belong to the letters beside them."""
    category = unicodedata.category(character)
    return CHARACTER_KINDS.get(category, CHARACTER_KINDS.get(category[0], SIGN))


def distinct(columns: list[np.ndarray]) -> np.ndarray:
    """(rows, columns) the same numbers, such that no two columns share one."""
    return np.stack(columns, 1) * len(columns) + np.arange(len(columns))


def _padded(numbers: np.ndarray, before: int, after: int) -> np.ndarray:
    """Put so many zeros before and after numbers (n,); np.pad takes ten times as long for the few of a page."""
    return np.concatenate([np.zeros(before, numbers.dtype), numbers, np.zeros(after, numbers.dtype)])


def _sequence(kinds: np.ndarray, first: np.ndarray, most: int, length: np.ndarray | int = BEFORE) -> np.ndarray:
    """(spans,) a number for the `length` kinds from `first` (spans,) on."""
    number = np.zeros(len(first), np.int64)
    for place in range(most):
        number = np.where(place < length, number * PRIME + kinds[first + place], number)  # wraps around
    return number


def with_candidates(prepared: Prepared) -> Prepared:
    """Add the likeliest spans of each page; none if no training answer stands in its page."""
    answers = [*answers_on_pages(prepared)]
    return replace(prepared, candidates=Reader(prepared, answers).candidates()) if answers else prepared


def answers_on_pages(prepared: Prepared) -> Iterator[tuple[int, str, Counter[str]]]:
    """Find the training questions whose page has the answer after its title: the page's row, the answer folded.

    With them come the answers to this and to other questions about the name: a page may answer several. The same
    question twice is about namesakes, and each then has its answer alone.
    """
    asked = prepared.of_split("train")[:MOST_QUESTIONS]
    about: dict[str, dict[str, str]] = {}  # by name: each question's first answer
    for name, question, answer in zip(asked.name, asked.question, asked.place, strict=True):
        about.setdefault(name, {}).setdefault(question, folded(answer))
    rows = prepared.rows_by_title
    for name, question, place in zip(asked.name, asked.question, asked.place, strict=True):
        answer = folded(place)
        if name in rows and answer in folded(prepared.text(row := rows[name])[prepared.start(row) :]):
            yield row, answer, Counter([*(about[name] | {question: answer}).values()])


class Reader:
    """Weighs the spans of pages by what training questions tell of them.

    A first logit chooses the spans of each page that are kept; a second one weighs these.
    """

    def __init__(self, prepared: Prepared, answered: Answered) -> None:
        self.prepared, self.answered = prepared, answered
        texts = [(prepared.documents[row][prepared.start(row) :], answer) for row, answer, _ in answered]
        self.finder = SpanFinder(prepared.vocabulary, texts)
        self.of_all = ConditionalLogit.fitted(
            self._marked(row, answer, *self._described(row)) for row, answer, _ in answered
        )

        self.kept = Ragged.gather((self._likeliest(row).tolist() for row in self._rows("spans")), SPAN)
        self.pages_with = Counter[str]()  # each text among their kept spans
        for row in range(len(self.kept)):
            self.pages_with.update({*self._texts(row, self.kept[row])})
        self.answer_counts = Counter(map(folded, prepared.of_split("train").place))
        self.of_kept = ConditionalLogit.fitted(
            self._marked(row, answer, self.kept[row], self._counted(row, about)) for row, answer, about in answered
        )

    def candidates(self) -> Phrases:
        """Weigh the likeliest spans of each page: phrases with their probabilities.

        A page with several answers is weighed as one of dev, without them: a date that answers nobody else would
        outweigh the rest.
        """
        several = {row: about for row, _, about in self.answered if about.total() > 1}
        scores = (self.of_kept.scores(self._counted(row, several.get(row, {}))) for row in self._rows("candidates"))
        return Phrases(self.kept, Ragged.gather(map(as_probabilities, scores), PROBABILITY))

    def _rows(self, what: str) -> "tqdm[int]":
        """Iterate over the pages, with a bar where they are so many that it takes seconds."""
        often = 0.5 if sys.stderr.isatty() else 15  # seconds; in a log one line follows the other
        return tqdm(range(len(self.prepared.documents)), what, delay=2, mininterval=often, unit=" pages", leave=False)

    def _described(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """(spans, 2) all spans of a page, and (spans, features) their features."""
        document, start = self.prepared.documents[row], self.prepared.start(row)
        spans, features = self.finder.described(document[: self.prepared.title_lengths[row]], document[start:])
        return spans + start, features

    def _likeliest(self, row: int) -> np.ndarray:
        """(spans, 2) the likeliest spans, in the page's order."""
        spans, features = self._described(row)
        likeliest = np.argsort(-self.of_all.scores(features), kind="stable")[:MOST_CANDIDATES]
        return spans[np.sort(likeliest)]

    def _counted(self, row: int, about: Mapping[str, int]) -> np.ndarray:
        """(spans, features) what the second logit has of the kept spans; about: the answers about the page.

        Their features are found anew: those of all pages would take more memory than all the rest.
        """
        spans, features = self._described(row)
        is_kept = (spans[:, None] == self.kept[row]).all(axis=2).any(axis=1)
        texts = self._texts(row, self.kept[row])
        others = [self.answer_counts[text] > about.get(text, 0) for text in texts]
        pages = [self.pages_with[text].bit_length() for text in texts]
        numbers = np.minimum(np.arange(len(texts)), LAST_NUMBER)
        return distinct([*features[is_kept].T, *np.array([others, pages, numbers], np.int64)])

    def _texts(self, row: int, spans: np.ndarray) -> list[str]:
        """Read what the spans are, folded: spellings of one text count as one."""
        text = self.prepared.text(row)
        return [folded(text[start:end]) for start, end in spans.tolist()]

    def _marked(self, row: int, answer: str, spans: np.ndarray, features: np.ndarray) -> LabelledSpans:
        """Pair the features with which spans are the answer."""
        return features, np.array([text == answer for text in self._texts(row, spans)], bool)


@dataclass(frozen=True)
class ConditionalLogit:
    """A conditional logit: the score of each span of a page is the sum of its features' coefficients."""

    features: np.ndarray  # (features,) sorted
    coefficients: np.ndarray  # (features + 1,), the last one, 0, of all features that are not known

    @classmethod
    def fitted(cls, pages: Iterable[LabelledSpans]) -> "ConditionalLogit":
        """Find the coefficients that make answers likeliest among their pages' spans; other pages tell nothing."""
        learned_from: list[LabelledSpans] = []
        left = MOST_SPANS
        for features, is_answer in pages:
            if is_answer.any() and left > 0:
                learned_from.append((features, is_answer))
                left -= len(is_answer)
        if not learned_from:
            return cls(np.zeros(1, np.int64), np.zeros(2))

        all_features = np.concatenate([features for features, _ in learned_from])  # (spans, features of each)
        known, columns = np.unique(all_features, return_inverse=True)
        ends = np.arange(columns.size + 1, step=columns.shape[1])
        matrix = csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(len(columns), len(known)))
        is_answer = np.concatenate([is_answer for _, is_answer in learned_from])  # (spans,)
        lengths = [len(is_answer) for _, is_answer in learned_from]
        starts = np.cumsum([0, *lengths])[:-1]

        def loss(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
            """Compute the penalised negative log likelihood and its gradient, (features,) as the coefficients."""
            scores = matrix @ coefficients
            likelihoods = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
            probabilities = likelihoods / np.repeat(np.add.reduceat(likelihoods, starts), lengths)
            of_answers = np.add.reduceat(probabilities * is_answer, starts)
            among_answers = probabilities * is_answer / np.repeat(of_answers, lengths)
            gradient = matrix.T @ (probabilities - among_answers) + PENALTY * coefficients
            return PENALTY / 2 * coefficients @ coefficients - np.log(of_answers).sum(), gradient

        coefficients = minimize(loss, np.zeros(len(known)), jac=True, method="L-BFGS-B").x
        return cls(known, np.append(coefficients, 0.0))

    def scores(self, features: np.ndarray) -> np.ndarray:
        """(spans,) of spans with these features (spans, features), rounded."""
        columns = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
        columns = np.where(self.features[columns] == features, columns, len(self.features))
        scores: np.ndarray = self.coefficients[columns].sum(axis=1).round(DIGITS)
        return scores
