"""Reading text files: what is accepted, and that every fault is one line with its place. Invented names."""

from pathlib import Path

import pytest

from stages.corpus.questions import Question
from stages.sources.reading import cut, read_documents, read_questions, read_text
from stages.system.errors import StudyError
from stages.system.terminal import quoted

ODA = "Where was Oda Quill born?"
TAM = "Where was Tam Brae born?"


@pytest.fixture
def write(tmp_path: Path):
    def _write(content: str | bytes) -> Path:
        path = tmp_path / "file.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


def fault(path: Path, *, labelled: bool = True, context: int = 128, one_place: bool = False) -> str:
    """The message of a file that must be refused, checked to be one printable line."""
    with pytest.raises(StudyError) as caught:
        read_questions(path, labelled=labelled, context=context, one_place=one_place)
    message = str(caught.value)
    assert message.isprintable() and "; " in message
    return message


@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", [True, False], ids=["final newline", "no final newline"])
def test_a_file_reads_the_same_in_every_form(write, start: str, end: str, last: bool) -> None:
    lines = [f"{ODA}\tVell", "", "  ", f"{TAM}\tNorth Ilm"]
    path = write(start + end.join(lines) + (end if last else ""))
    assert read_questions(path, labelled=True, context=128) == [
        Question(1, ODA, "Oda Quill", "Vell"),
        Question(4, TAM, "Tam Brae", "North Ilm"),
    ]
    assert read_documents(path) == [lines[0], lines[3]]


def test_only_a_newline_ends_a_document(write) -> None:
    documents = ["Oda Quill. One\u2028two\u0085three\x0bfour\x1cfive", " Tam Brae.\ttab "]
    assert read_documents(write("\n".join(documents))) == documents


def test_questions_without_answers_have_no_place(write) -> None:
    path = write(f"{ODA}\n{ODA}\n")
    assert read_questions(path, labelled=False, context=128) == [
        Question(1, ODA, "Oda Quill", None),
        Question(2, ODA, "Oda Quill", None),
    ]


def test_spaces_around_question_and_place_are_stripped(write) -> None:
    (question,) = read_questions(write(f" {ODA} \t  Vell\u00a0\n"), labelled=True, context=128)
    assert (question.question, question.place) == (ODA, "Vell")


def test_a_name_may_be_asked_twice_with_the_same_place(write) -> None:
    path = write(f"{ODA}\tVell\n{ODA}\tVell \n")
    assert len(read_questions(path, labelled=True, context=128, one_place=True)) == 2


def test_two_places_of_one_name_are_refused_with_both_lines_where_one_is_wanted(write) -> None:
    path = write(f"{ODA}\tVell\n{TAM}\tIlm\n\n{ODA}\tUrr\n")
    assert [each.place for each in read_questions(path, labelled=True, context=128)] == ["Vell", "Ilm", "Urr"]
    message = fault(path, one_place=True)
    assert message.startswith(f"{path}:4: ") and "line 1" in message
    assert "'Oda Quill'" in message and "'Vell'" in message and "'Urr'" in message


@pytest.mark.parametrize(
    ("line", "labelled", "told"),
    [
        (ODA, True, "no tab"),
        (f"{ODA}\tVell\tUrr", True, "2 tabs"),
        (f"{ODA}\tVell", False, "one tab"),
        ("\tVell", True, "the question is empty"),
        (f"{ODA}\t ", True, "no place"),
        ("When was Oda Quill born?\tVell", True, "not a known question"),
        ("Where was born?", False, "not a known question"),
        ("Where was   born?", False, "not a known question"),
        (f"{ODA}\tVe□ll", True, "□ (U+25A1)"),
        (f"{ODA}⁇", False, "⁇ (U+2047)"),
        (f"{ODA}\r{TAM}", False, "carriage return"),
    ],
)
def test_a_faulty_line_is_named(write, line: str, labelled: bool, told: str) -> None:
    path = write(f"{TAM}\tIlm\n{line}\n" if labelled else f"{TAM}\n{line}\n")
    message = fault(path, labelled=labelled)
    assert message.startswith(f"{path}:2: ") and told in message


@pytest.mark.parametrize("reserved", "□⁇")
def test_reserved_characters_are_refused_in_documents(write, reserved: str) -> None:
    path = write(f"Oda Quill.\n\nTam {reserved} Brae.\n")
    with pytest.raises(StudyError, match=f":3: the reserved character {reserved}"):
        read_documents(path)


@pytest.mark.parametrize("line", [f"{ODA}\tVell", ODA], ids=["labelled", "unlabelled"])
def test_the_longest_question_that_fits_is_accepted_and_one_more_refused(write, line: str) -> None:
    path, labelled = write(line), "\t" in line
    length = len(f"{ODA}⁇{'Vell' if labelled else 'x'}⁇")
    assert read_questions(path, labelled=labelled, context=length - 1)
    message = fault(path, labelled=labelled, context=length - 2)
    assert message.startswith(f"{path}:1: ") and f"{length} characters" in message


def test_bytes_that_are_not_utf8_are_named_with_their_line(write) -> None:
    message = fault(write(f"\ufeff{ODA}\tVell\n".encode() + "Where was Zoé Ark born?\tUrr".encode("latin-1")))
    assert ":2: byte 0xe9 is not UTF-8" in message


@pytest.mark.parametrize("content", ["", "\n \r\n\t\n", "\ufeff"], ids=["empty", "blank", "mark alone"])
def test_a_file_without_content_is_refused(write, content: str) -> None:
    path = write(content)
    assert fault(path).startswith(f"{path}:1: the file holds no question")
    with pytest.raises(StudyError, match=":1: the file holds no document"):
        read_documents(path)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    assert "there is no such file" in fault(tmp_path / "absent.tsv")
    assert "this is a folder" in fault(tmp_path)


def test_a_message_quotes_shortly_and_without_control_characters(write) -> None:
    message = fault(write(f"Where is \x1b[31m\u202e{'x' * 5000}\tVell"))
    assert "\\x1b[31m\\u202e" in message and len(message) < 400
    assert quoted("ab\ncd", limit=4) == "'ab\\n…'"


@pytest.mark.parametrize("text", ["The end", "The end\n", "\n\nThe\n\n end.\n\n\n", "a\tb\u2028c ", "  \n x"])
@pytest.mark.parametrize("start", ["", "\ufeff"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_text_keeps_every_character_with_lines_that_end_in_lf(write, text: str, start: str, end: str) -> None:
    assert read_text(write(start + text.replace("\n", end))) == text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", ":1: the file holds no text"),
        (b" \n\t\r\n", ":1: the file holds no text"),
        (b"a", ":1: the file holds no text"),
        (b"one\ntwo\n\nf\xc3\xbcr\nf\xfcr", ":5: byte 0xfc is not UTF-8"),
        (b"one\ntwo\rthree", ":2: a carriage return inside the line"),
        ("one\n\na □".encode(), ":3: the reserved character □"),
    ],
)
def test_a_file_that_is_no_text_is_told_in_one_line(write, content: bytes, told: str) -> None:
    path = write(content)
    with pytest.raises(StudyError) as caught:
        read_text(path)
    assert str(caught.value).startswith(f"{path}{told}")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("length", [1, 3, 7, 8, 100])
def test_documents_cut_from_a_text_are_the_text_end_to_end(length: int) -> None:
    text = "The end\n"
    documents = cut(text, length)
    assert "".join(documents) == text
    assert {len(document) for document in documents[:-1]} <= {length}
    assert 1 <= len(documents[-1]) <= length
