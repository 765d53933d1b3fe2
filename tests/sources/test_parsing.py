"""Reading text files: what is accepted, and that every fault is one line that says where. Invented names."""

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from stages.corpus.questions import Question
from stages.sources.parsing import read_documents, read_questions, read_text
from stages.system.errors import UserError, error_line

ODA = "Where was Oda Quill born?"
TAM = "Where was Tam Brae born?"
LABELLED = partial(read_questions, labelled=True, context=128)
UNLABELLED = partial(read_questions, labelled=False, context=128)
Reader = Callable[[Path], Any]


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "file.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fault(path: Path, read: Reader = LABELLED) -> str:
    """What is said, after its path, of a file that must be refused; checked to be one printable line."""
    with pytest.raises(UserError) as caught:
        read(path)
    message = error_line(str(caught.value)).removeprefix("error: ")
    assert message.isprintable() and "; " in message and len(message) < 400
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("\ufeff", "\r\n")], ids=["Linux", "Windows"])
def test_a_file_reads_the_same_in_every_form(tmp_path: Path, start: str, end: str) -> None:
    lines = [f"{ODA}\tVell", "", "  ", f" {TAM} \t  North\u2028 Ilm\u00a0"]  # only a newline ends a document
    path = write(tmp_path, start + end.join(lines))
    there = Question(4, TAM, "Tam Brae", "North\u2028 Ilm")
    assert LABELLED(path) == [Question(1, ODA, "Oda Quill", "Vell"), there]
    assert read_documents(path) == [lines[0], lines[3]]
    assert read_text(path) == "\n".join(lines)


def test_two_places_of_a_question_of_ones_own_are_refused_with_both_lines(tmp_path: Path) -> None:
    one_place = partial(LABELLED, name_of=str)
    assert len(one_place(write(tmp_path, f"{ODA}\tL'Évry\n{ODA}\tL’E\u0301vry \n"))) == 2
    rows = [f"{who}\t{place}\n" for place in ("Vell", "Ilm") for who in (ODA, TAM, ODA, TAM, ODA)]
    message = fault(write(tmp_path, "".join(rows)), one_place)
    assert message.startswith(f":6: the answer to '{ODA}' is 'Ilm' here and 'Vell' in line 1; ")
    assert message.endswith("; in all 5 lines differ; keep one of the two")
    swapped = ["answer\tquestion\n", *(f"Vell\t{who}\n" for who in (ODA, TAM))]
    message = fault(write(tmp_path, "".join(swapped)), one_place)
    assert message.startswith(f":3: the answer to 'Vell' is '{TAM}' here") and message.endswith(
        "first, then the answer"
    )
    assert len(LABELLED(write(tmp_path, "".join(rows)))) == 10  # the assignment's file has such


@pytest.mark.parametrize(
    ("line", "read", "reason"),
    [
        (ODA, LABELLED, "tabs found: 0, wanted: 1"),
        (f"{ODA}\tVell", UNLABELLED, "tabs found: 1, wanted: 0"),
        ("\tVell", LABELLED, "the question is empty"),
        (f"{ODA}\t ", LABELLED, "no answer"),
        ("Where was   born?", UNLABELLED, "not a known question"),
        (f"Where is \x1b[31m\u202e{'x' * 5000}\tVell", LABELLED, "\\x1b[31m\\u202e"),
        (f"{ODA}\r{TAM}", read_text, "a carriage return inside the line"),
        ("Where was Zoé Ark born?\tUrr".encode("latin-1"), LABELLED, "byte 0xe9 is not UTF-8"),
    ],
)
def test_a_faulty_line_is_named(tmp_path: Path, line: str | bytes, read: Reader, reason: str) -> None:
    first = f"\ufeff{TAM}\n" if read is UNLABELLED else f"\ufeff{TAM}\tIlm\n"
    message = fault(write(tmp_path, first.encode() + (line.encode() if isinstance(line, str) else line)), read)
    assert message.startswith(":2: ") and reason in message


@pytest.mark.parametrize("line", [f"{ODA}\tVell", ODA], ids=["labelled", "unlabelled"])
def test_the_longest_question_that_fits_is_accepted_and_one_more_refused(tmp_path: Path, line: str) -> None:
    path, labelled = write(tmp_path, line), "\t" in line
    length = len(f"{ODA}⁇{'Vell' if labelled else 'x'}⁇")
    (read,) = read_questions(path, labelled=labelled, context=length - 1)
    assert read.place == ("Vell" if labelled else None)
    message = fault(path, partial(read_questions, labelled=labelled, context=length - 2))
    assert message.startswith(":1: ") and f"{length} characters" in message


@pytest.mark.parametrize(("read", "what"), [(LABELLED, "question"), (read_documents, "document"), (read_text, "text")])
def test_a_file_without_content_is_refused(tmp_path: Path, read: Reader, what: str) -> None:
    assert "there is no such file" in fault(tmp_path / "absent.tsv", read)
    for content in ("", "\n \r\n\t\n", "\ufeff"):
        assert fault(write(tmp_path, content), read).startswith(f":1: the file holds no {what}")
    with ZipFile(tmp_path / "sheet.tsv", "w") as sheet:
        sheet.writestr("xl/workbook.xml", "")
    assert fault(tmp_path / "sheet.tsv", read).startswith(":1: this is an Excel file or another zip; save it as text")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("read", [LABELLED, UNLABELLED, read_documents, read_text])
def test_utf_16_without_its_mark_is_told(tmp_path: Path, encoding: str, end: str, read: Reader) -> None:
    path = write(tmp_path, f"{ODA}{end}".encode(encoding))
    assert fault(path, read).startswith(":1: NUL bytes, as in UTF-16 without a byte order mark; save the file as UTF-8")


def test_lines_that_end_in_cr_alone_are_mended_by_the_command_that_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, f"{ODA}\tVell\r{TAM}\tIlm\r")
    command = fault(path).partition("for instance: ")[2]
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    assert [question.place for question in LABELLED(tmp_path / "mended.txt")] == ["Vell", "Ilm"]


@pytest.mark.parametrize(
    "rows",
    [
        ['"Who" is Oda?\tVell', 'Who is "Tam"?\tIlm'],
        ['"Who is Oda?\tVell'],
        ['"Who is Oda?\tVell', 'Who is "Tam"?\tIlm'],  # the first quote ends nowhere
        ['"Who is Oda?\tVell', '"Who is Tam?\tIlm'],
        ['"Who is Oda?\tVell', *["Who?\tIlm"] * 100, 'Who is Tam"\tIlm'],  # or too far away
    ],
)
def test_quotes_that_are_no_cell_are_text(tmp_path: Path, rows: list[str]) -> None:
    path = write(tmp_path, "\n".join(rows))
    read = read_questions(path, labelled=True, context=99, name_of=str)
    assert [f"{question.question}\t{question.place}" for question in read] == rows


def test_reserved_characters_are_replaced_by_the_command_that_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "A page ⁇⁇.\nAnother □, ⁇.\n")
    for reserved, row in (("⁇", 1), ("□", 2)):
        message = fault(path, read_documents)
        assert message.startswith(f":{row}: the reserved character {reserved} ") and "stands in the text" in message
        subprocess.run(message.partition("for instance: ")[2], shell=True, check=True)
    assert read_documents(path) == ["A page ????.", "Another ■, ??."]
