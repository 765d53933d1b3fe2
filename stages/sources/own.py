"""A user's own pages and questions: read, checked, and noted where they prove little.

A page is a line, `Title. Text`; a question of any form names a title. A note is a line for each cause, with the first
places.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from stages.corpus.questions import Form, Question, form_of
from stages.corpus.text import Vocabulary, folded
from stages.corpus.titles import longest_title, pages_about, possible_titles, title_lengths
from stages.settings.params import QuestionRecipe
from stages.settings.sources import OWN_FILES, OWN_PAGES
from stages.sources.parsing import SHOWN, fields, read_documents, read_lines, read_questions
from stages.system.errors import UserError, quoted

SEPARATOR = re.compile(r"[:。：．|;\t]|\.[^\S ]| [-–—] ")  # what people write between title and text in place of `. `
NEAR = 80  # the separator is looked for in so many characters of a page
HEADER = "ends as no other in its file, and names no page, though most others do: if it is a header row, remove it"
ALMOST = "names a page with other capitals or invisible characters: write it as its page does"
REVERSED = "names no page, and its answer is the title of one: a model finds a page by its title alone"
NOBODY = "names no page"
ABSENT = "has an answer that its page does not have"
TRAINED = "is a training question, too: the model has been told an answer"
OTHER_FORM = "is asked in a form that no training question has"
CAUSES = (HEADER, ALMOST, REVERSED, NOBODY, ABSENT, TRAINED, OTHER_FORM)


def read_own(folder: Path, context: int) -> tuple[list[str], dict[str, list[Question]]]:
    """Read the pages of a folder, and its questions by split; a question's name is the longest title in it.

    A title is found in any spelling (see `text`); the name is spelled as in its page. The name of a question without
    a title is the question itself. Raises UserError: a file is missing or faulty, or a question exceeds `context`.
    """
    lines = [line.rstrip("\t") for line in read_documents(folder / OWN_PAGES)]  # without a spreadsheet's empty columns
    documents = [line if len(page := fields(line)) > 1 else page[0] for line in lines]
    titles: dict[str, str] = {}  # as spelled, by the folded title
    for document in documents:
        for title in possible_titles(document):
            titles.setdefault(folded(title), title)

    def name_of(question: str) -> str:
        title = longest_title(titles, folded(question[:context]))  # longer questions are refused
        return titles[title] if title else question

    questions: dict[str, list[Question]] = {"test": []}
    for split, name in OWN_FILES.items():
        labelled = None if split == "test" else True
        if labelled or ((folder / name).exists() and (folder / name).read_bytes().strip()):
            questions[split] = read_questions(folder / name, labelled=labelled, context=context, name_of=name_of)
    return documents, questions


def check_lengths(
    folder: Path, questions: dict[str, list[Question]], vocabulary: Vocabulary, name: str, recipe: QuestionRecipe
) -> None:
    """Check how long questions and answers are as a model of the recipe reads them: `…` may be read as `...`.

    Raises UserError: an answer is longer than generation.max_characters, or a question with it than the context.
    """
    most, room = recipe.generation.max_characters, recipe.model.context + 1
    too_long = []
    for split, asked in questions.items():
        for question in asked:
            where = f"{folder / OWN_FILES[split]}:{question.row}"
            answer = question.place or ""
            length = len(vocabulary.encode(answer))
            if length > most:
                too_long.append((length, f"{where}: the answer {quoted(answer)}"))
            whole = len(vocabulary.encode(question.question)) + length + 2
            if whole > room:
                what = f"{quoted(question.question)} takes {whole} characters as the model reads it, {room} fit"
                raise UserError(f"{where}: {what}: shorten it or raise `recipes.{name}.model.context`")
    if too_long:
        length, which = too_long[0]
        raise UserError(
            f"{which} has {length} characters, and a model of this recipe says {most} at most: "
            f"answers that would be cut: {len(too_long)}; "
            f"allow them with -S recipes.{name}.generation.max_characters={max(too_long)[0]}"
        )


def notes(folder: Path, documents: list[str], questions: dict[str, list[Question]]) -> list[str]:
    """Write a line for each kind of page or question: how many, and where the first ones stand."""
    names = {question.name for rows in questions.values() for question in rows}
    ends = title_lengths(documents, names).tolist()
    titles = [document[:end] for document, end in zip(documents, ends, strict=True)]
    loose_titles = {*map(_loose, titles)} - {""}
    pages = pages_about(documents, names)
    trained = {question.question for question in questions["train"]}
    forms = {*map(_form, questions["train"])} - {None}
    answered = {split: [row for row in rows if row.place is not None] for split, rows in questions.items()}

    def is_header(question: Question, rows: Sequence[Question]) -> bool:
        """Whether a question without a page stands first and ends as no other, and most others name one."""
        if question is not rows[0] or question.question[-1] in {other.question[-1] for other in rows[1:]}:
            return False
        return 2 * sum(other.name in pages for other in rows) > len(rows)

    def causes(split: str, question: Question) -> Iterator[str]:
        """Name the reasons why a question proves little."""
        about, answer = pages.get(question.name, []), folded(question.place or "")
        if not about and is_header(question, answered[split]):
            yield HEADER
            return
        if not about:
            almost = longest_title(loose_titles, _loose(question.question))
            yield ALMOST if almost else REVERSED if _loose(answer) in loose_titles else NOBODY
        elif not any(answer in folded(page) for page in about):
            yield ABSENT
        if split != "train" and question.question in trained:
            yield TRAINED
        if split != "train" and about and forms and _form(question) not in forms:
            yield OTHER_FORM

    places: dict[str, list[str]] = {cause: [] for cause in CAUSES}
    for split, rows in answered.items():
        for question in rows:
            for cause in causes(split, question):
                places[cause].append(f"{folder / OWN_FILES[split]}:{question.row}")

    total = sum(map(len, answered.values()))
    lines = []
    if not all(ends):
        untitled = _untitled(folder / OWN_PAGES, documents, [row for row, end in enumerate(ends) if not end])
        lines.append(f"{untitled}; {len(places.pop(NOBODY))} of {total} questions name no page")
    for cause, found in places.items():
        if found:
            most = cause == NOBODY and 2 * len(found) > total  # a fault of the pages, more likely
            which = f"; the title of the first page was read as {quoted(titles[0])}" if most else ""
            lines.append(f"{len(found)} of {total} questions: each {cause}{which} ({_first(found)})")
    return lines


def _untitled(path: Path, documents: list[str], untitled: list[int]) -> str:
    """Describe the pages without a title: how many, where, and which separators they have."""
    rows = [row for row, _ in read_lines(path)]
    separators = Counter(match[0] for number in untitled if (match := SEPARATOR.search(documents[number][:NEAR])))
    seen = ", ".join(f"{quoted(separator)} in {count}" for separator, count in separators.most_common(SHOWN))
    what = f"each has no title; write `Title. Text` in one line{f'; instead of `. ` they have {seen}' if seen else ''}"
    places = _first([f"{path}:{rows[number]}" for number in untitled])
    return f"{len(untitled)} of {len(documents)} pages: {what} ({places})"


def _form(question: Question) -> Form | None:
    """Read off what stands around the name, in one spelling."""
    return form_of(folded(question.question), folded(question.name))


def _loose(text: str) -> str:
    """Strip the text of capitals and invisible characters."""
    return "".join(letter for letter in folded(text).casefold() if unicodedata.category(letter) != "Cf")


def _first(places: list[str]) -> str:
    return ", ".join(places[:SHOWN]) + (", …" if len(places) > SHOWN else "")
