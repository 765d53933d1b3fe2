"""Documents, questions and plain texts from files; every fault is one line `path:line: …`."""

import codecs
import csv
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stages.corpus.questions import Question
from stages.corpus.text import MASK_CHARACTER, PAD_CHARACTER, folded
from stages.system.errors import UserError, quoted

UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE  # how a file in UTF-16 begins
ZIP = b"PK\x03\x04"
SHOWN = 3  # places of a fault
MOST_LINES = 100  # of a row: a quoted cell that does not end within them is no cell
REPLACED = {PAD_CHARACTER: "■", MASK_CHARACTER: "??"}  # what reserved characters may be written as
BIRTH = re.compile(r"Where was (\S|\S.*\S) born\?")

NameOf = Callable[[str], str | None]  # whom a question asks about; None: it is not a known question


def read_documents(path: Path) -> list[str]:
    """Read one document a line, in the file's order, with the spaces around it; blank lines are left out.

    The file is in UTF-8, or in UTF-16 with a byte order mark, and its lines end in LF or CRLF; a cell in quotes may
    have several. Raises UserError: there is no such file, or it is in another encoding, has a reserved character or no
    document.
    """
    documents = [line for _, line in read_lines(path)]
    if not documents:
        raise _fault(path, 1, "the file holds no document", "write one document a line")
    return documents


def read_text(path: Path) -> str:
    """Read a whole file as one text, empty lines and the final newline or its absence included; a line ends in LF.

    Raises UserError: as `read_documents`, or the text has fewer than two characters or is white space alone.
    """
    text = "\n".join(_lines(path))
    if len(text) < 2 or not text.strip():
        raise _fault(path, 1, "the file holds no text", "name one of two characters or more")
    return text


def read_questions(path: Path, *, labelled: bool | None, context: int, name_of: NameOf | None = None) -> list[Question]:
    """Read questions, in the file's order and without the spaces around them.

    labelled: whether a tab and the place follow each, in a field as CSV has it; None: as in the first line.
    context: how many characters the model reads. `question⁇place⁇` has to fit into one more, which is only predicted;
    without an answer there has to be room for a place of one character. name_of: finds whom a question asks about; by
    default its form is `Where was NAME born?`, and it may have two places, as nine of the assignment's have.
    Raises UserError: as `read_documents`, or a tab is missing or too many, a question or place is empty, a question
    has another form, is too long or, with `name_of`, has two places, or there is no question.
    """
    rows = [*read_lines(path)]
    if labelled is None:
        labelled = any(any(fields(line)[1:]) for _, line in rows[:1])
    expected = "a question that names a page" if name_of else "`Where was NAME born?`"
    expected += ", a tab and the answer" if labelled else ""
    questions: list[Question] = []
    for row, line in rows:
        try:
            questions.append(_question(row, line, labelled, context, name_of or _who_was_born))
        except ValueError as fault:
            raise _fault(path, row, str(fault), f"write {expected}") from None

    if not questions:
        raise _fault(path, 1, "the file holds no question", f"write {expected}, one a line")
    if name_of:
        _check_places(path, questions)
    return questions


def _check_places(path: Path, questions: list[Question]) -> None:
    """Raise UserError where a question has two places, other than in spelling."""
    first: dict[str, Question] = {}
    for question in questions:
        first.setdefault(question.question, question)
    pairs = [(question, first[question.question]) for question in questions]
    differing = [(now, then) for now, then in pairs if folded(now.place or "") != folded(then.place or "")]
    if differing:
        now, then = differing[0]
        what = f"the answer to {quoted(now.question)} is {quoted(now.place or '')} here and {quoted(then.place or '')} "
        what += f"in line {then.row}"
        what += f"; in all {len(differing)} lines differ" if len(differing) > 1 else ""
        swapped = all((question.place or "").endswith("?") for question in questions[1:])  # after a header
        advice = "write the question first, then the answer" if swapped else "keep one of the two"
        raise _fault(path, now.row, what, advice)


def _who_was_born(question: str) -> str | None:
    form = BIRTH.fullmatch(question)
    return form and form[1]


def _question(row: int, line: str, labelled: bool, context: int, name_of: NameOf) -> Question:
    """Read the question of a line; ValueError: what is wrong with it."""
    question, *places = fields(line)
    while len(places) > labelled and not places[-1]:  # a spreadsheet's empty columns
        places.pop()
    if len(places) != labelled:
        what = f"tabs found: {len(places)}, wanted: {int(labelled)}, in {quoted(line)}"
        raise ValueError(what + _likely_cause(line, question, len(places)))
    name = name_of(question)
    if not name:
        raise ValueError(f"{quoted(question)} is not a known question" if question else "the question is empty")
    if "" in places:
        raise ValueError(f"no answer follows {quoted(question)}")
    length = len(question) + len(places[0] if labelled else "x") + 2 * len(MASK_CHARACTER)
    if length > context + 1:
        what = f"{quoted(question)} takes {length} characters with answer and marks, {context + 1} fit"
        raise ValueError(f"{what}: shorten it or raise `model.context` of the recipe")
    return Question(row, question, name, places[0] if labelled else None)


def _likely_cause(line: str, question: str, tabs: int) -> str:
    """Guess, in brackets, why a line has a wrong number of tabs; empty without a guess."""
    if not tabs and (other := re.search(r"[#,;|]| {2,}", line)):
        return f" (is {quoted(other[0])} to be the tab?)"
    if tabs and re.fullmatch(r"\d*", question):
        return " (an index column, as of pandas without index=False?)"
    return ""


def fields(line: str) -> list[str]:
    """Split a line into its fields, without the spaces around them; one in quotes is read as CSV has it."""
    try:
        split = next(csv.reader([line], delimiter="\t", strict=True))
    except csv.Error:  # a quote that is a part of the text
        split = line.split("\t")
    return [field.strip() for field in split]


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Read the lines that are not blank, each with its 1-based row. Raises UserError: see `read_documents`.

    A row of a spreadsheet, whose cells in quotes may have several lines, is one line, with spaces for the breaks.
    """
    lines = [*_lines(path)]
    start = 0
    while start < len(lines):
        end = start + (_lines_of_row(lines[start : start + MOST_LINES]) if '"' in lines[start] else 1)
        line = " ".join(lines[start:end])
        if line.strip():
            yield start + 1, line
        start = end


def _lines_of_row(lines: Sequence[str]) -> int:
    """Count the lines of the first row as CSV has it."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter="\t", strict=True)
    try:
        next(reader)
    except csv.Error:  # a quote that is a part of the text
        return 1
    return reader.line_num


def _lines(path: Path) -> Iterator[str]:
    """Read the lines; the last one is empty where the file ends with a newline."""
    # not str.splitlines, which also splits at U+2028, U+0085 and others: these may stand inside a document
    text = _text(path)
    for row, ended in enumerate(text.split("\n"), start=1):
        line = ended.removesuffix("\r")
        if "\r" in line:
            advice = "end lines with LF or CRLF"
            if "\n" not in text:  # as old Macs end them
                advice += f", for instance: tr '\\r' '\\n' < {shlex.quote(str(path))} > mended.txt"
            raise _fault(path, row, "a carriage return inside the line", advice)
        for reserved, other in REPLACED.items():
            if reserved in line:
                what = f"the reserved character {reserved} (U+{ord(reserved):04X}) stands in the text"
                mended = f"sed -i.bak 's/{reserved}/{other}/g' {shlex.quote(str(path))}"
                raise _fault(path, row, what, f"replace it, for instance: {mended}")
        yield line


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; `dvc repro` makes it") from None
    if content.startswith(ZIP):
        raise _fault(path, 1, "this is an Excel file or another zip", "save it as text with tabs between the columns")
    if b"\0" in content and not content.startswith(UTF_16):
        raise _fault(path, 1, "NUL bytes, as in UTF-16 without a byte order mark", "save the file as UTF-8")
    encoding = "utf-16" if content.startswith(UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        row = error.object[: error.start].decode(encoding, "replace").count("\n") + 1
        what = f"byte 0x{error.object[error.start]:02x} is not {encoding.removesuffix('-sig').upper()}"
        raise _fault(path, row, what, "save the file as UTF-8") from None


def _fault(path: Path, row: int, what: str, advice: str) -> UserError:
    return UserError(f"{path}:{row}: {what}; {advice}")
