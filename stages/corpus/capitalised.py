"""The capitalised phrases of pages: what is practised where nobody says what questions are about."""

import re

from stages.corpus.phrases import Phrases, Span
from stages.corpus.prepared import Prepared
from stages.settings import PhraseCloze

WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")


def practised(prepared: Prepared, cloze: PhraseCloze) -> Phrases:
    """Choose what a cloze asks of each page: its candidates, where these are wanted and there are any."""
    candidates = prepared.candidates
    return candidates if cloze.salient and len(candidates.spans.tokens) else capitalised(prepared)


def capitalised(prepared: Prepared) -> Phrases:
    """Find the capitalised phrases of each page, all as likely; the candidates where no page has a capital."""
    rows = range(len(prepared.documents))
    candidates = prepared.candidates.spans
    if len(candidates.tokens) and not any(map(str.isupper, prepared.vocabulary.characters)):
        return Phrases.alike(candidates[row].tolist() for row in rows)
    return Phrases.alike(capitalised_phrases(prepared.text(row), prepared.headings[row]) for row in rows)


def capitalised_phrases(document: str, heading: int) -> list[Span]:
    """Find runs of capitalised words with single spaces between, not all of them words of the title; else every word.

    heading: where the title ends.
    """
    words = [match.span() for match in WORD.finditer(document, heading)]
    runs: list[Span] = []
    for start, end in words:
        if not document[start].isupper():
            continue
        if runs and document[runs[-1][1] : start] == " ":
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))

    of_title = set(WORD.findall(document[:heading]))
    return [(start, end) for start, end in runs if not set(WORD.findall(document[start:end])) <= of_title] or words
