"""Ask a finetuned model one question: its likeliest answers, whether the page has them, and notes on the question."""

from dataclasses import dataclass
from difflib import get_close_matches

from stages.corpus.folding import folded
from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.corpus.questions import prompt
from stages.corpus.vocabulary import Vocabulary
from stages.inference.generation import beam_search
from stages.model.gpt import GPT
from stages.sources.audit import own_pages
from stages.sources.own import longest_title
from stages.system.errors import StudyError
from stages.system.terminal import quoted

WIDTH = 10  # least hypotheses of the beam
CLOSE = 0.8  # difflib's likeness of two names: one or two letters of ten differ


@dataclass(frozen=True)
class Answer:
    """One answer; `in_page`: whether a page about the question's name has it."""

    answer: str
    probability: float
    in_page: bool


@dataclass(frozen=True)
class Reply:
    """A model's answers to a question, and what the corpus has about its name."""

    question: str
    answers: list[Answer]  # the likeliest first
    name: str | None  # whom it asks about; None: it has not the form of the training questions, and names no page
    has_page: bool
    did_you_mean: str | None  # the page most alike in name, where there is none of this name
    notes: list[str]  # reasons not to rely on the answers


def ask(model: GPT, prepared: Prepared, question: str, top: int, max_characters: int) -> Reply:
    """Return the `top` likeliest answers; a question of another form than the training questions gets a note.

    Raises StudyError: the question is too long, or has no character that the corpus has.
    """
    question = question.removeprefix("\ufeff").strip()  # a byte order mark begins many a file
    vocabulary = prepared.vocabulary
    tokens = prompt(vocabulary.encode(question))
    if len(tokens) == 1:
        raise StudyError(f"{quoted(question)} has no character that the corpus has; ask: {usual_form(prepared)}")
    if len(tokens) > model.context:
        raise StudyError(
            f"{quoted(question)} has {len(tokens) - 1} characters; the model reads {model.context - 1} at most"
        )
    continuations = beam_search(model, [tokens], max_characters, max(top, WIDTH))[0][:top]
    probabilities = {vocabulary.decode(answer.tokens): answer.probability for answer in continuations}

    asked = next(filter(None, (form.name(question) for form in question_forms(prepared))), None)
    title = "" if asked else title_in(question, prepared)
    name = asked or (title if title and title in question else None)
    pages = [folded(page) for page in own_pages(prepared.texts, {name}).get(name, [])] if name else []
    answers = [
        Answer(text, round(probabilities[text], 6), bool(text) and any(folded(text) in page for page in pages))
        for text in sorted(probabilities, key=probabilities.__getitem__, reverse=True)
    ]

    suggestion = None
    notes = []
    if asked is None:
        notes.append(f"the model was finetuned on questions of the form `{usual_form(prepared)}` only")
        if title and not name:
            suggestion = title
            notes.append(f"did you mean {quoted(suggestion)}?")
    elif not pages:
        titles = titles_of(prepared)
        near = get_close_matches(asked.casefold(), sorted(titles), 1, CLOSE)
        suggestion = titles[near[0]] if near else None
        advice = f"did you mean {quoted(suggestion)}?" if suggestion else "the model can but guess"
        notes.append(f"no page of the corpus is about {quoted(asked)}: {advice}")
    # around the name stands what training questions have, too: only the name may have characters that the corpus lacks
    if note := lacking(prepared.vocabulary, name or question):
        notes.append(note)
    return Reply(question, answers, name, bool(pages), suggestion, notes)


def titles_of(prepared: Prepared) -> dict[str, str]:
    """Return the titles of the pages, each by its small letters."""
    titles = [prepared.title(row) for row in range(len(prepared.documents))]
    return dict(zip(map(str.casefold, titles), titles, strict=True))


def title_in(question: str, prepared: Prepared) -> str:
    """Return the longest title that stands in a question, whatever its capitals; empty if there is none."""
    titles = titles_of(prepared)
    return titles.get(longest_title(titles, question.casefold()), "")


def usual_form(prepared: Prepared) -> str:
    """Return the form of most training questions, with NAME for the name."""
    return question_forms(prepared)[0].about("NAME")


def lacking(vocabulary: Vocabulary, text: str) -> str:
    """Return a note on the characters of a text that a vocabulary lacks; empty if it has all."""
    unknown = " ".join(dict.fromkeys(vocabulary.unknown(text)))
    read = vocabulary.decode(vocabulary.encode(text))
    return f"the corpus lacks {unknown}, so the model reads '{read}'" if unknown else ""
