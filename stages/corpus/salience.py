"""Which spans of a page a question may be about: the likeliest of each page, and each one's chance to be the answer.

It is learned from the training questions whose answers stand in their pages: a conditional logit (McFadden 1974) among
all spans of a page. A second one weighs the likeliest spans by their number, by whether they answer other training
questions, and by how many pages have them, too. Salient spans (Guu et al. 2020, arXiv 2002.08909) are found by a tagger
instead. Nothing is known of capitals, scripts or languages beforehand. Every page is weighed by the same coefficients.
No answer of dev or test is known here, nor what the questions ask.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from stages.corpus.folding import folded
from stages.corpus.phrases import CHANCE, SPAN, Phrases
from stages.corpus.pieces import Cutter
from stages.corpus.prepared import Prepared
from stages.corpus.ragged import Ragged
from stages.corpus.spans import Spans, distinct

MOST_CANDIDATES = 16  # of a page
MOST_PIECES = 12  # of a span
MOST_QUESTIONS, MOST_SPANS = (
    5000,
    500_000,
)  # are learned from: they suffice, and memory has no place for all of a corpus
LAST_NUMBER = 6  # that of all later candidates, too
SHARPNESS = 2  # a chance is a likelihood to this power
LEAST = 1e-6  # chance of a candidate
PENALTY = 0.3  # on half the sum of the squared coefficients
DIGITS = 6  # of scores and chances: the last ones of a processor's sums do not matter

Asked = Sequence[tuple[int, str]]  # rows of pages, each with an answer that stands in it


def with_candidates(prepared: Prepared) -> Prepared:
    """The same with the likeliest spans of each page; without any if no training answer stands in its page."""
    asked = [*answered(prepared)]
    return replace(prepared, candidates=Reader(prepared, asked).candidates()) if asked else prepared


def answered(prepared: Prepared) -> Iterator[tuple[int, str]]:
    """The training questions whose answer their page has after its title: the page's row, and the answer, folded."""
    asked = prepared.of_split("train")[:MOST_QUESTIONS]
    rows = prepared.rows_of({*asked.name})
    for name, answer in zip(asked.name, asked.place, strict=True):
        if name in rows and folded(answer) in folded(prepared.text(row := rows[name])[prepared.start(row) :]):
            yield row, folded(answer)


class Reader:
    """Weighs the spans of pages by what training questions tell of them."""

    def __init__(self, prepared: Prepared, asked: Asked) -> None:
        self.prepared = prepared
        texts = [(prepared.documents[row][prepared.start(row) :], answer) for row, answer in asked]
        cutter = Cutter.learned(prepared.vocabulary, texts)
        longest = max(len(cutter.cut(prepared.vocabulary.encode(answer))[0]) for _, answer in asked)
        self.spans = Spans(prepared.vocabulary, cutter, min(longest, MOST_PIECES))
        self.of_all = Logit.fitted(self._marked(row, answer, *self._described(row)) for row, answer in asked)

        rows = range(len(prepared.documents))
        self.kept = Ragged.gather((self._likeliest(row)[0].tolist() for row in rows), SPAN)
        self.pages = Counter(text for row in rows for text in {*self._texts(row, self.kept[row])})
        self.answers = Counter(map(folded, prepared.of_split("train").place))
        self.of_kept = Logit.fitted(self._marked(row, answer, *self._counted(row, answer)) for row, answer in asked)

    def candidates(self) -> Phrases:
        """The likeliest spans of each page, with their chances."""
        scores = (self.of_kept.scores(self._counted(row)[1]) for row in range(len(self.prepared.documents)))
        return Phrases(self.kept, Ragged.gather(map(as_chances, scores), CHANCE))

    def _described(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """(spans, 2) all spans of a page, and (spans, features) their features."""
        return self.spans.described(self.prepared.documents[row], int(self.prepared.headings[row]))

    def _likeliest(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of the likeliest spans alone, in the page's order."""
        spans, features = self._described(row)
        order = np.argsort(-self.of_all.scores(features), kind="stable")[:MOST_CANDIDATES]
        return spans[np.sort(order)], features[np.sort(order)]

    def _counted(self, row: int, own_answer: str = "") -> tuple[np.ndarray, np.ndarray]:
        """The same with the features of the second logit; own_answer: of the page's own question."""
        spans, features = self._likeliest(row)
        texts = self._texts(row, spans)
        others = [self.answers[text] > (text == own_answer) for text in texts]
        pages = [self.pages[text].bit_length() for text in texts]
        numbers = [min(number, LAST_NUMBER) for number in range(len(texts))]
        return spans, distinct([*features.T, *np.array([others, pages, numbers], np.int64)])

    def _texts(self, row: int, spans: np.ndarray) -> list[str]:
        """What the spans are, folded: spellings of one text count as one."""
        text = self.prepared.text(row)
        return [folded(text[start:end]) for start, end in spans.tolist()]

    def _marked(self, row: int, answer: str, spans: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(spans, features) the same features, and (spans,) which span is the answer."""
        return features, np.array([text == answer for text in self._texts(row, spans)], bool)


def as_chances(scores: np.ndarray) -> list[float]:
    """The chances of a page's candidates by their log likelihoods (candidates,), rounded."""
    likelihoods = np.exp(SHARPNESS * (scores - scores.max(initial=-np.inf)))
    chances: list[float] = np.maximum(likelihoods / likelihoods.sum(), LEAST).round(DIGITS).tolist()
    return chances


@dataclass(frozen=True)
class Logit:
    """A conditional logit: the score of each span of a page is the sum of its features' coefficients."""

    features: np.ndarray  # (features,) sorted
    coefficients: np.ndarray  # (features + 1,), the last one, 0, of all features that are not known

    @classmethod
    def fitted(cls, pages: Iterable[tuple[np.ndarray, np.ndarray]]) -> "Logit":
        """The coefficients that make the answers likeliest among their pages' spans.

        pages: of each the features of its spans (spans, features), and which spans are the answer (spans,); pages of
        which none is tell nothing.
        """
        told, left = [], MOST_SPANS
        for features, right in pages:
            if right.any() and left > 0:
                told.append((features, right))
                left -= len(right)
        if not told:
            return cls(np.zeros(1, np.int64), np.zeros(2))
        known, columns = np.unique(np.concatenate([features for features, _ in told]), return_inverse=True)
        ends = np.arange(columns.size + 1, step=columns.shape[1])
        matrix = csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(len(columns), len(known)))
        is_answer = np.concatenate([right for _, right in told])
        lengths = [len(right) for _, right in told]
        starts = np.cumsum([0, *lengths])[:-1]

        def loss(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
            """Negative log likelihood with the penalty, and its gradient."""
            scores = matrix @ coefficients
            likelihoods = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
            all_chance = likelihoods / np.repeat(np.add.reduceat(likelihoods, starts), lengths)
            answered = np.add.reduceat(all_chance * is_answer, starts)
            among_answers = all_chance * is_answer / np.repeat(answered, lengths)
            gradient = matrix.T @ (all_chance - among_answers) + PENALTY * coefficients
            return PENALTY / 2 * coefficients @ coefficients - np.log(answered).sum(), gradient

        found = minimize(loss, np.zeros(len(known)), jac=True, method="L-BFGS-B").x
        return cls(known, np.append(found, 0.0))

    def scores(self, features: np.ndarray) -> np.ndarray:
        """(spans,) of spans with these features (spans, features), rounded."""
        places = np.minimum(np.searchsorted(self.features, features), len(self.features) - 1)
        places = np.where(self.features[places] == features, places, len(self.features))
        scores: np.ndarray = self.coefficients[places].sum(axis=1).round(DIGITS)
        return scores
