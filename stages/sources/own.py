"""A user's own pages, one a line as `Title. Text`, and questions of any form that name a title."""

from collections.abc import Collection
from pathlib import Path

from stages.corpus.folding import folded
from stages.corpus.questions import Question
from stages.corpus.titles import LONGEST, possible_titles
from stages.corpus.vocabulary import Vocabulary
from stages.settings import QuestionRecipe
from stages.settings.sources import OWN_FILES, OWN_PAGES
from stages.sources.reading import fields, read_documents, read_questions
from stages.system.errors import StudyError
from stages.system.terminal import quoted


def read_own(folder: Path, context: int) -> tuple[list[str], dict[str, list[Question]]]:
    """Read the pages of a folder, and its questions by split; a question's name is the longest title in it.

    A title is found in any spelling (see `folding`); the name is spelled as in its page. The name of a question without
    a title is the question itself. Raises StudyError: a file is missing or faulty, or a question exceeds `context`.
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


def longest_title(titles: Collection[str], question: str) -> str:
    """Find the longest title in a question, of LONGEST characters at most; empty without.

    Of several as long the first that stands alone is taken, without a letter or digit beside it, or else the first.
    """
    whole = len(question)
    ends = ((start, end) for start in range(whole) for end in range(start + 1, min(start + LONGEST, whole) + 1))
    found = [(start, end) for start, end in ends if question[start:end] in titles]

    def rank(part: tuple[int, int]) -> tuple[int, bool]:
        start, end = part
        beside = question[start - 1 : start] + question[end : end + 1]
        return end - start, not any(map(str.isalnum, beside))

    start, end = max(found, key=rank, default=(0, 0))
    return question[start:end]


def check_lengths(
    folder: Path, questions: dict[str, list[Question]], vocabulary: Vocabulary, name: str, recipe: QuestionRecipe
) -> None:
    """Check how long questions and answers are as a model of the recipe reads them: `…` may be read as `...`.

    Raises StudyError: an answer is longer than generation.max_characters, or a question with it than the context.
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
                raise StudyError(f"{where}: {what}: shorten it or raise `recipes.{name}.model.context`")

    if too_long:
        length, which = too_long[0]
        raise StudyError(
            f"{which} has {length} characters, and a model of this recipe says {most} at most: "
            f"answers that would be cut: {len(too_long)}; "
            f"allow them with -S recipes.{name}.generation.max_characters={max(too_long)[0]}"
        )
