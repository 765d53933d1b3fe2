"""Folders of one's own: any words and scripts, spelled, quoted and separated as people's programs do it."""

import csv
import io
import unicodedata
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.corpus.questions import Question
from stages.corpus.titles import longest_title
from stages.sources.own import notes, read_own
from stages.sources.parsing import read_questions

SCRIPTS = ["abcdexyz", "áéñöçåüž", "αβγδέή", "бвгдёй", "กขคงจ", "अकखगघ", "가나다라마", "漢字水火木"]
WORDS = st.sampled_from(SCRIPTS).flatmap(lambda letters: st.text(letters, min_size=3, max_size=6)).map(str.capitalize)
NAMES = st.tuples(WORDS, st.sampled_from([" ", " D'", "'s "]), WORDS).map("".join)
# no two names begin one another, nor hold one another with other capitals
PEOPLE = st.lists(NAMES, min_size=4, max_size=8, unique_by=str.casefold).filter(
    lambda names: not any(a != b and a.casefold() in b.casefold() for a in names for b in names)
)
# letters, signs and spaces of any script; lines end, fields part and masks stand elsewhere
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="□⁇\ufeff"), min_size=1)
FIELDS = TEXTS.map(str.strip).filter(bool)
CELLS = st.lists(FIELDS, min_size=1, max_size=3).map("\n".join)
SPELLINGS: list[Callable[[str], str]] = [
    lambda text: unicodedata.normalize("NFC", text),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: text.replace("'", "’"),
]
SPELLED = st.sampled_from([*SPELLINGS, lambda text: text.replace(" ", "\u00a0")])


def checked(pages: list[str], train: str, dev: str) -> tuple[dict[str, list[Question]], list[str]]:
    """The questions of a folder of these files, and what is noted of it, without the folder's name."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in (("pages.txt", "\n".join(pages)), ("train.tsv", train), ("dev.tsv", dev)):
            (folder / file).write_text(content, encoding="utf-8")
        documents, questions = read_own(folder, 128)
        lines = notes(folder, documents, questions)
        return questions, [line.replace(f"{folder}/", "") for line in lines]


def rows(names: list[str], places: list[str], ask: str = "Where was {} born?") -> str:
    return "".join(f"{ask.format(name)}\t{place}\n" for name, place in zip(names, places, strict=True))


@given(st.lists(st.text("ab ", min_size=1)), st.text("ab "))
def test_a_question_is_about_the_longest_title_in_it(titles: list[str], question: str) -> None:
    longest = max((len(title) for title in titles if title in question), default=0)
    found = longest_title(titles, question)
    assert found in [*titles, ""] and found in question and len(found) == longest


@pytest.mark.parametrize("letter", "IABWhoduce")
def test_of_titles_as_long_one_that_stands_alone_is_taken(letter: str) -> None:
    assert longest_title([*"IABWhoduce"], f"Who discovered {letter}?") == letter
    assert longest_title(["ho", "dis", "cov"], "Who discovered?") == "dis"


@given(PEOPLE, st.sampled_from([",", "\t"]))
def test_pages_in_quotes_are_read_as_csv_has_them(names: list[str], delimiter: str) -> None:
    pages = [f'{name}. {name}, "the Swift",\nwas born in Orsa .' for name in names]
    columns = [""] if delimiter == "\t" else []
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([page, *columns] for page in pages)
    plain, _ = checked(
        [page.replace("\n", " ") for page in pages], rows(names, ["Orsa"] * len(names)), rows(names[:1], ["Orsa"])
    )
    quoted, noted = checked(file.getvalue().splitlines(), rows(names, ["Orsa"] * len(names)), rows(names[:1], ["Orsa"]))
    assert quoted == plain and not any("page" in note for note in noted)


def test_where_most_questions_name_no_page_the_first_title_is_shown() -> None:
    names = ["Mara Vell", "Ilo Marr"]
    pages = [f"{number}. {name}. Born in Orsa ." for number, name in enumerate(names, 1)]
    _, (line,) = checked(pages, rows(names, ["Orsa"] * 2), rows(["Tess Quill"], ["Orsa"]))
    assert "names no page" in line and "; the title of the first page was read as '1. Mara Vell' (train.tsv:1" in line


@given(PEOPLE, SPELLED, SPELLED)
def test_a_question_names_its_page_in_any_spelling(
    names: list[str], of_pages: Callable[[str], str], of_questions: Callable[[str], str]
) -> None:
    places = [f"Orsa{number}" for number in range(len(names))]
    headings = [of_pages(name) for name in names]
    pages = [f"{name}. Born in {place} ." for name, place in zip(headings, places, strict=True)]
    asked = [of_questions(name) for name in names]
    questions, noted = checked(pages, rows(asked[1:], places[1:]), rows(asked[:1], places[:1]))
    assert [question.name for question in questions["dev"] + questions["train"]] == headings
    assert questions["dev"][0].question == f"Where was {asked[0]} born?"  # data stay as written
    assert noted == []


PAGE, OTHERS = "Mara Vell. Born in Orsa .", ["Ilo Marr. Born in Brenn .", "Ada Noor. Born in Orsa ."]
ASKED = "Where was Mara Vell born?\tOrsa\n"


@pytest.mark.parametrize(
    ("page", "dev", "note"),
    [
        (PAGE, ASKED, ""),
        (PAGE, ASKED.replace("Mara Vell", "Zed Zorn"), "names no page (dev.tsv:1)"),
        (PAGE, ASKED.replace("Vell", "vell"), "names a page with other capitals or invisible characters: write it as "),
        (PAGE, ASKED.replace("Mara", "M\u200bara"), "names a page with other capitals or invisible characters"),
        (PAGE, ASKED.replace("Orsa", "Ilm"), "has an answer that its page does not have (dev.tsv:1)"),
        (PAGE, "question\tanswer\n" + ASKED * 2, "ends as no other in its file"),
        (PAGE, rows(["Ilo Marr"], ["Brenn"]), "is a training question, too: the model has been told an answer"),
        (PAGE, ASKED.replace("Where", "And where"), "is asked in a form that no training question has (dev.tsv:1)"),
        (PAGE, ASKED.replace("was Mara", "was\u00a0Mara"), ""),  # another spelling is no other form
        (PAGE, "Who came from Orsa?\tMara Vell\n", "names no page, and its answer is the title of one: a model finds"),
        (PAGE.replace(". Born", ": Born"), "", "1 of 3 pages: each has no title; write `Title. Text` in one line; "),
        ("\n" + PAGE.replace(". Born", "。Born"), "", "instead of `. ` they have '。' in 1 (pages.txt:2)"),
    ],
)
def test_each_cause_has_a_line_of_its_own(page: str, dev: str, note: str) -> None:
    _, noted = checked([page, *OTHERS], rows(["Ilo Marr", "Ada Noor"], ["Brenn", "Orsa"]), dev or ASKED)
    assert len(noted) == bool(note) and all(note in line for line in noted)


@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5, unique_by=lambda row: tuple(row[0].split())), st.data()
)
def test_what_a_program_writes_is_read_as_it_was_with_spaces_for_breaks_and_without_empty_columns(
    table: list[tuple[str, str]], data: st.DataObject
) -> None:
    expected = [tuple(cell.replace("\n", " ") for cell in row) for row in table]
    file, end = io.StringIO(), data.draw(st.sampled_from(["\n", "\r\n"]))
    quoting = data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    columns = [""] * data.draw(st.integers(0, 2))
    csv.writer(file, delimiter="\t", quoting=quoting, lineterminator=end).writerows([*row, *columns] for row in table)
    content = file.getvalue().encode(data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "train.tsv"
        path.write_bytes(content)
        for labelled in (True, None):
            read = read_questions(path, labelled=labelled, context=10**6, name_of=str)
            assert [(question.question, question.place) for question in read] == expected
