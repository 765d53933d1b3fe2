"""Which phrase of a page a question may be about: the chance of each to be the answer.

It is learned from the training questions, whose answers stand in their pages: a conditional logit (McFadden 1974) among
the phrases of a page, by what stands before and after each, by its number, by whether it answers other training
questions, and by how many pages have it. Salient spans (Guu et al. 2020, arXiv 2002.08909) are found by a tagger
instead. Every page is weighed by the same coefficients. No answer of dev or test is known here, nor what the questions
ask.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from stages.corpus.page import Page, Pages, shared_by
from stages.corpus.prepared import Prepared

PIECE = re.compile(r"\w+|[^\w\s]")
DIGIT = re.compile(r"\d")
BEFORE, AFTER = 4, 2  # pieces of text that count, in the `NEAR` characters on that side
NEAR = 80
KINDS = 2  # so many before it count by their kind, together
LAST_NUMBER = 6  # that of all later phrases, too
SHARPNESS = 2  # a chance is a likelihood to this power
MOST_QUESTIONS = 5000  # are learned from: they suffice, and a large corpus has no place in memory for all
LEAST = 1e-6  # chance of a phrase
PENALTY = 0.3  # on half the sum of the squared coefficients

Described = list[list[str]]  # of each phrase of a page: its features


def phrase_chances(prepared: Prepared, pages: Pages) -> Iterator[list[float]]:
    """Of each page the chances of its phrases; all alike where no training answer is a phrase of its page.

    They are rounded, so that the last digits of a processor's sums do not matter.
    """
    known = Known.of(prepared, pages)
    coefficients = learned(*examples(prepared, pages, known))
    for row, text in enumerate(prepared.each_text()):
        described = features(text, pages[row], known)
        scores = np.array([sum(coefficients.get(feature, 0.0) for feature in phrase) for phrase in described])
        yield as_chances(scores)


def as_chances(scores: np.ndarray) -> list[float]:
    """The chances of a page's phrases by their log likelihoods (phrases,), rounded."""
    likelihoods = np.exp(SHARPNESS * (scores - scores.max(initial=-np.inf)))
    chances: list[float] = np.maximum(likelihoods / likelihoods.sum(), LEAST).round(6).tolist()
    return chances


def reader_answers(prepared: Prepared) -> dict[str, str]:
    """What a linear reader answers, by a page's heading; it sees the page, which the models do not."""
    pages = Pages.of(prepared.each_text())
    return likeliest(prepared, pages, phrase_chances(prepared, pages))


def likeliest(prepared: Prepared, pages: Pages, chances: Iterable[Sequence[float]]) -> dict[str, str]:
    """The phrase of each page with the best chance, by the page's heading; of pages with one heading the first's."""
    found: dict[str, str] = {}
    for row, each in enumerate(chances):
        text, parts = prepared.text(row), pages[row]
        if parts.phrases:
            found.setdefault(text[: parts.heading], text[slice(*parts.phrases[int(np.argmax(each))])])
    return found


@dataclass(frozen=True)
class Known:
    """What is known of all pages."""

    answered: Counter[str]  # how many training questions a phrase answers
    pages: Counter[str]  # how many pages it is in
    rows: dict[str, int]  # the first page of each heading

    @classmethod
    def of(cls, prepared: Prepared, pages: Pages) -> "Known":
        rows: dict[str, int] = {}

        def phrases() -> Iterator[list[str]]:
            for row, text in enumerate(prepared.each_text()):
                parts = pages[row]
                rows.setdefault(text[: parts.heading], row)
                yield [text[start:end] for start, end in parts.phrases]

        return cls(Counter(prepared.of_split("train").place), shared_by(phrases()), rows)


def features(text: str, parts: Page, known: Known, own_answer: str = "") -> Described:
    """What is said of each phrase of a page; own_answer: that of the page's own question, if it is a training one."""
    found = []
    for number, (start, end) in enumerate(parts.phrases):
        before = PIECE.findall(DIGIT.sub("0", text[max(parts.heading, start - NEAR) : start]))[: -BEFORE - 1 : -1]
        after = PIECE.findall(DIGIT.sub("0", text[end : end + NEAR]))[:AFTER]
        phrase = text[start:end]
        others = known.answered[phrase] - (phrase == own_answer)
        found.append(
            [f"{place} before: {piece}" for place, piece in enumerate(before)]
            + [f"{place} after: {piece}" for place, piece in enumerate(after)]
            + [f"number {min(number, LAST_NUMBER)}", f"answers others: {others > 0}"]
            + [f"pages: 2^{known.pages[phrase].bit_length()}", f"kinds before: {' '.join(map(_kind, before[:KINDS]))}"]
        )
    return found


def examples(prepared: Prepared, pages: Pages, known: Known) -> tuple[list[Described], list[list[bool]]]:
    """Of training questions whose answer is a phrase of the page: the features of its phrases, and which are it."""
    asked = prepared.of_split("train")[:MOST_QUESTIONS]
    described, right = [], []
    for name, answer in zip(asked.name, asked.place, strict=True):
        if name not in known.rows:
            continue
        row = known.rows[name]
        text, parts = prepared.text(row), pages[row]
        is_answer = [text[start:end] == answer for start, end in parts.phrases]
        if any(is_answer):
            described.append(features(text, parts, known, answer))
            right.append(is_answer)
    return described, right


def learned(described: Sequence[Described], right: Sequence[Sequence[bool]]) -> dict[str, float]:
    """The coefficient of each feature that makes the answers likeliest among their pages' phrases."""
    names = {
        name: column for column, name in enumerate(dict.fromkeys(n for page in described for p in page for n in p))
    }
    columns = [names[name] for page in described for phrase in page for name in phrase]
    ends = np.cumsum([0, *(len(phrase) for page in described for phrase in page)])
    matrix = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, len(names)))
    is_answer = np.concatenate([np.empty(0), *right])
    starts = np.cumsum([0, *map(len, right)])[:-1]
    lengths = [len(page) for page in right]

    def loss(coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        """Negative log likelihood with the penalty, and its gradient."""
        scores = matrix @ coefficients
        likelihoods = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), lengths))
        all_chance = likelihoods / np.repeat(np.add.reduceat(likelihoods, starts), lengths)
        answered = np.add.reduceat(all_chance * is_answer, starts)
        among_answers = all_chance * is_answer / np.repeat(answered, lengths)
        gradient = matrix.T @ (all_chance - among_answers) + PENALTY * coefficients
        return PENALTY / 2 * coefficients @ coefficients - np.log(answered).sum(), gradient

    if not described:
        return {}
    return dict(zip(names, minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x.tolist(), strict=True))


def _kind(piece: str) -> str:
    """Whether a piece of text is a capitalised word, another, a number or which sign."""
    return "Aa" if piece[0].isupper() else "a" if piece[0].isalpha() else "0" if piece[0].isdigit() else piece
