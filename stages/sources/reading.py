"""Documents, questions and plain texts from files, with every fault told as one line `path:line: …`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stages.corpus.questions import Question
from stages.corpus.vocabulary import MASK, PAD
from stages.system.errors import StudyError
from stages.system.files import read_input
from stages.system.terminal import harmless, quoted

MOST_BYTES = 1_000_000_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BIRTH = re.compile(r"Where was (\S|\S.*\S) born\?")


@dataclass(frozen=True)
class Asked:
    """What a source's questions are: in words, and whom each asks about; None for what is no question."""

    words: str
    name: Callable[[str], str | None]


BIRTHS = Asked("`Where was NAME born?`", lambda question: (form := BIRTH.fullmatch(question)) and form[1])


def read_documents(path: Path) -> list[str]:
    """Read one document a line, in the file's order.

    In: a UTF-8 file, with or without byte order mark; lines end in LF or CRLF, the last one need not.
    Out: the documents as they stand (surrounding spaces kept), without lines that are empty or blank.
    Raises StudyError: no such file, not UTF-8, a reserved character, no document at all.
    """
    documents = [line for _, line in _lines(path) if line.strip()]
    if not documents:
        raise _fault(path, 1, "the file holds no document", "write one document a line")
    return documents


def read_text(path: Path) -> str:
    """Read a whole file as one text.

    In: a file as for `read_documents`, of any content.
    Out: all of its characters, empty lines and the final newline (or its absence) too; a line ends in LF.
    Raises StudyError: no such file, not UTF-8, a reserved character, nothing but white space, one character.
    """
    text = "\n".join(line for _, line in _lines(path))
    if len(text) < 2 or not text.strip():
        raise _fault(path, 1, "the file holds no text", "name one of two characters or more")
    return text


def cut(text: str, length: int) -> list[str]:
    """Cut a text into documents of `length` characters, the last of what is left; end to end they are the text."""
    return [text[start : start + length] for start in range(0, len(text), length)]


def read_questions(
    path: Path, *, labelled: bool, context: int, one_place: bool = False, asked: Asked = BIRTHS
) -> list[Question]:
    """Read questions, each followed by a tab and the place where `labelled`.

    In: a file as for `read_documents`; `context`, the number of characters the model sees. A labelled
    `question⁇place⁇` has to fit in context + 1 characters (the last one is only ever predicted), a
    question without an answer has to leave room for a place of one character. `one_place` refuses a question
    that is asked twice with two different places; the training file of CS224N holds nine such (a city and its
    country, two namesakes).
    Out: the questions in the file's order, without the spaces around question and place.
    Raises StudyError: no such file, not UTF-8, a reserved character, a missing or extra tab, an empty
    question or place, another form of question, one too long, two places (see above), no question at all.
    """
    wanted = asked.words + (", a tab and the answer" if labelled else "")
    questions: list[Question] = []
    first: dict[str, Question] = {}
    for row, line in _lines(path):
        if not line.strip():
            continue
        try:
            question = _question(row, line, labelled, context, asked)
        except ValueError as fault:
            raise _fault(path, row, str(fault), f"write {wanted}") from None
        earlier = first.setdefault(question.question, question)
        if one_place and earlier.place != question.place:
            what = f"the answer to {quoted(question.question)} is {quoted(question.place or '')} here and "
            raise _fault(path, row, f"{what}{quoted(earlier.place or '')} in line {earlier.row}", "keep one of the two")
        questions.append(question)
    if not questions:
        raise _fault(path, 1, "the file holds no question", f"write {wanted}, one a line")
    return questions


def _question(row: int, line: str, labelled: bool, context: int, asked: Asked) -> Question:
    """The question of a line; ValueError: what is wrong with it."""
    question, *places = (field.strip() for field in line.split("\t"))
    if len(places) != labelled:
        raise ValueError(f"tabs found: {len(places)}, wanted: {int(labelled)}")
    name = asked.name(question)
    if not name:
        raise ValueError(f"{quoted(question)} is not a known question" if question else "the question is empty")
    if "" in places:
        raise ValueError(f"no answer follows {quoted(question)}")
    length = len(question) + len(places[0] if labelled else "x") + 2 * len(MASK)
    if length > context + 1:
        what = f"{quoted(question)} takes {length} characters with answer and marks, {context + 1} fit"
        raise ValueError(f"{what}: shorten it or raise `model.context` of the recipe")
    return Question(row, question, name, places[0] if labelled else None)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines, each with its 1-based row; the last is empty where the file ends with a newline."""
    # Not str.splitlines: it would also split at U+2028, U+0085 and others, which may stand inside a document.
    for row, ended in enumerate(_text(path).split("\n"), start=1):
        line = ended.removesuffix("\r")
        if "\r" in line:
            raise _fault(path, row, "a carriage return inside the line", "end lines with LF or CRLF")
        for reserved in (PAD, MASK):
            if reserved in line:
                what = f"the reserved character {reserved} (U+{ord(reserved):04X}) stands in the text"
                raise _fault(path, row, what, "remove or replace it")
        yield row, line


def _text(path: Path) -> str:
    try:
        content = read_input(path, MOST_BYTES).removeprefix(BYTE_ORDER_MARK)
    except FileNotFoundError:
        advice = "`dvc repro` makes it (`python -m stages.fetch` obtains the CS224N files)"
        raise StudyError(f"{harmless(str(path))}: there is no such file; {advice}") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        what = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise _fault(path, row, what, "save the file as UTF-8") from None


def _fault(path: Path, row: int, what: str, advice: str) -> StudyError:
    return StudyError(f"{harmless(str(path))}:{row}: {what}; {advice}")
