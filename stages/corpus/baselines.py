"""Two baselines beside the constant answer and the reader: a rule that sees the page, and the letters of the name.

Where questions have several forms, each is answered by what was learned from training questions of its own form.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

from stages.corpus.phrases import DIGITS, Phrases
from stages.corpus.prepared import Prepared
from stages.corpus.questions import written_forms
from stages.corpus.reader import with_candidates
from stages.corpus.text import folded

EDGE = "\n"  # before and after a name
LONGEST_GRAM = 3  # characters
SMOOTHING = 1.0  # added to each count (Laplace)
BLOCK = 256  # names whose scores are in memory at once
LEAST_FORM_SHARE = 0.05  # of the training questions that a form has, for readers of its own: twenty forms at most


def by_form(prepared: Prepared) -> dict[str, Prepared]:
    """Give by form, as `written_forms` has it, the same pages with the training questions of this form alone.

    The candidates are weighed by these questions. Empty where all have one form; rare forms are left out.
    """
    train = prepared.of_split("train")
    forms = np.array(written_forms(train), str)
    counts = Counter(forms[forms != ""].tolist())
    common = [form for form, count in counts.items() if count >= LEAST_FORM_SHARE * len(train)]
    if len(counts) < 2:
        return {}
    return {form: with_candidates(replace(prepared, table=train[forms == form])) for form in common}


def rule(prepared: Prepared, names: Sequence[str]) -> list[str]:
    """Answer with the first phrase of each name's page that answers any training question; empty without one.

    Phrases are the runs of capitalised words, or the reader's candidates where these are right for more training
    questions, of which each one's own answer counts only if another has it, too.
    """
    train = prepared.of_split("train")
    answers = Counter(map(folded, train.place))
    rows = prepared.rows_by_title

    def first(phrases: Phrases, name: str, own_answer: str = "") -> str:
        if name not in rows:
            return ""
        text = prepared.text(row := rows[name])
        texts = (text[start:end] for start, end in phrases.spans[row].tolist())
        return next((phrase for phrase in texts if answers[folded(phrase)] > (folded(phrase) == own_answer)), "")

    def right(phrases: Phrases) -> int:
        asked = zip(train.name, map(folded, train.place), strict=True)
        return sum(folded(first(phrases, name, answer)) == answer for name, answer in asked)

    best = max(prepared.capitalised, prepared.candidates, key=right)
    return [first(best, name) for name in names]


def letters(prepared: Prepared, names: Sequence[str]) -> list[str]:
    """Answer each name with the likeliest training answer by the letters of the name alone; no page is seen.

    Multinomial naive Bayes (McCallum & Nigam 1998) on the name's runs of 1 to LONGEST_GRAM characters, its edges among
    them: log P(answer) + Σ log P(run | answer), both by the training questions, the second with SMOOTHING. Textbook
    values: none was chosen by questions. Runs unseen in training do not count; ties go to the first by name.
    """
    train = prepared.of_split("train")
    answers, answer_of = np.unique(train.place.to_numpy(str), return_inverse=True)
    number_of = {run: number for number, run in enumerate(sorted({*chain(*map(_runs, train.name))}))}
    given = csr_matrix((np.ones(len(train)), (answer_of, np.arange(len(train)))), shape=(len(answers), len(train)))
    counts = given @ _counted(train.name, number_of)  # (answers, runs)

    # log P(run | answer) = log(1 + count / SMOOTHING) + log SMOOTHING - log(total): the first part is sparse
    total = np.asarray(counts.sum(axis=1)).ravel() + SMOOTHING * len(number_of)  # (answers,)
    log_likelihoods = (counts / SMOOTHING).log1p().T.tocsr()  # (runs, answers)
    prior = np.log(np.bincount(answer_of))  # (answers,) less a constant
    likeliest = []
    for start in range(0, len(names), BLOCK):
        runs = _counted(names[start : start + BLOCK], number_of)
        lengths = np.asarray(runs.sum(axis=1))  # (names, 1)
        scores = (runs @ log_likelihoods).toarray() + prior + lengths * (np.log(SMOOTHING) - np.log(total))
        likeliest += answers[scores.round(DIGITS).argmax(axis=1)].tolist()
    return likeliest


def _runs(name: str) -> list[str]:
    """List the runs of 1 to LONGEST_GRAM characters of a name with its edges."""
    text = f"{EDGE}{name}{EDGE}"
    return [text[start : start + most] for most in range(1, LONGEST_GRAM + 1) for start in range(len(text) - most + 1)]


def _counted(names: Iterable[str], number_of: Mapping[str, int]) -> csr_matrix:
    """(names, runs) how often each name has each run that has a number."""
    rows = [[number_of[run] for run in _runs(name) if run in number_of] for name in names]
    columns = np.fromiter(chain(*rows), np.int64)
    ends = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(number_of)))
