"""Which phrase of a page a question may be about: the chance of each to be the answer.

It is learned from the training questions, whose answers stand in their pages: a conditional logit (McFadden 1974) among
the phrases of a page, by what stands before and after each, by its number, and by whether it answers other training
questions. Salient spans (Guu et al. 2020, arXiv 2002.08909) are found by a tagger instead. Every page is weighed by the
same coefficients. No answer of dev or test is known here, nor what the questions ask.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.optimize import minimize  # type: ignore[import-untyped]
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from stages.corpus.page import Page, Pages
from stages.corpus.prepared import Prepared

PIECE = re.compile(r"\w+|[^\w\s]")
DIGIT = re.compile(r"\d")
BEFORE, AFTER = 4, 2  # pieces of text that count, in the `NEAR` characters on that side
NEAR = 80
LAST_NUMBER = 6  # that of all later phrases, too
MOST_QUESTIONS = 5000  # are learned from: they suffice, and a large corpus has no place in memory for all
LEAST = 1e-6  # chance of a phrase
PENALTY = 0.3  # on half the sum of the squared coefficients

Described = list[list[str]]  # of each phrase of a page: its features


def phrase_chances(prepared: Prepared, pages: Pages) -> Iterator[list[float]]:
    """Of each page the chances of its phrases; all alike where no training answer is a phrase of its page.

    They are rounded, so that the last digits of a processor's sums do not matter.
    """
    counts = Counter(prepared.of_split("train").place)
    coefficients = learned(*examples(prepared, pages, counts))
    for row, text in enumerate(prepared.each_text()):
        scores = [
            sum(coefficients.get(feature, 0.0) for feature in phrase) for phrase in features(text, pages[row], counts)
        ]
        likelihoods = np.exp(np.array(scores) - max(scores, default=0.0))
        yield np.maximum(likelihoods / likelihoods.sum(), LEAST).round(6).tolist()


def features(text: str, parts: Page, counts: Mapping[str, int], own_answer: str = "") -> Described:
    """What is said of each phrase of a page.

    counts: how many training questions have an answer; own_answer: that of the page's own question, if that is one.
    """
    found = []
    for number, (start, end) in enumerate(parts.phrases):
        before = PIECE.findall(DIGIT.sub("0", text[max(parts.heading, start - NEAR) : start]))[: -BEFORE - 1 : -1]
        after = PIECE.findall(DIGIT.sub("0", text[end : end + NEAR]))[:AFTER]
        others = counts.get(text[start:end], 0) - (text[start:end] == own_answer)
        found.append(
            [f"{place} before: {piece}" for place, piece in enumerate(before)]
            + [f"{place} after: {piece}" for place, piece in enumerate(after)]
            + [f"number {min(number, LAST_NUMBER)}", f"answers others: {others > 0}"]
        )
    return found


def examples(prepared: Prepared, pages: Pages, counts: Mapping[str, int]) -> tuple[list[Described], list[list[bool]]]:
    """Of training questions whose answer is a phrase of the page: the features of its phrases, and which are it."""
    headings: dict[str, int] = {}
    for row, text in enumerate(prepared.each_text()):
        headings.setdefault(text[: pages[row].heading], row)
    asked = prepared.of_split("train")[:MOST_QUESTIONS]
    described, right = [], []
    for name, answer in zip(asked.name, asked.place, strict=True):
        if name not in headings:
            continue
        row = headings[name]
        text, parts = prepared.text(row), pages[row]
        is_answer = [text[start:end] == answer for start, end in parts.phrases]
        if any(is_answer):
            described.append(features(text, parts, counts, answer))
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
