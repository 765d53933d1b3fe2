"""Stage `prepare`: text → encoded documents, questions and the knowledge audit."""

from dataclasses import replace
from pathlib import Path

from stages.corpus.prepared import SPLITS, Prepared, audit
from stages.corpus.questions import Question, hold_out
from stages.corpus.reader import with_candidates
from stages.corpus.tables import write_table
from stages.corpus.titles import title_lengths
from stages.settings.params import PARAMS, QuestionData, QuestionRecipe, Recipe, load
from stages.settings.sources import CORPUS_FILE, QUESTION_FILES, TEXT_FILE
from stages.sources.own import read_own
from stages.sources.parsing import read_documents, read_questions, read_text
from stages.system.errors import Parser, UserError, command
from stages.system.files import PREPARED, new_folder


@command
def main() -> None:
    """Read, check and encode the data of the selected recipe."""
    Parser(description=main.__doc__).parse_args()
    params = load()
    name = params.recipe
    print(prepare(params.recipe_named(name), name, Path("data/raw") / name, PREPARED / name))


def prepare(recipe: Recipe, name: str, raw: Path, folder: Path) -> str:
    """Encode what a recipe reads from the folder `raw`, and return a line that says how much it is.

    name: the recipe's. Raises UserError: a file, `data.held_out` or `data.question` is faulty.
    """
    documents, questions = read(recipe, raw)
    if isinstance(recipe, QuestionRecipe):
        documents, questions = changed(documents, questions, recipe.data, f"recipes.{name}.data")

    titles = set()
    if recipe.data.source == "own":  # titles of other sources are known by their form, but for one of a real page
        titles = {question.name for asked in questions.values() for question in asked}
    encoded = Prepared.of(documents, questions, titles)
    if isinstance(recipe, QuestionRecipe) and recipe.data.question:
        longest, room = max(map(encoded.longest_question, SPLITS)), recipe.model.context + 1
        if longest > room:
            what = f"with it a question takes {longest} characters as the model reads it, {room} fit"
            raise UserError(f"{PARAMS}: recipes.{name}.data.question: {what}: shorten it or raise model.context")
    prepared = with_candidates(encoded)
    summary = f"{len(documents)} documents of {len(prepared.vocabulary)} characters"
    with new_folder(folder) as new:
        prepared.save(new)
        if isinstance(recipe, QuestionRecipe):
            known = audit(documents, questions, prepared.vocabulary)
            write_table(new / "audit.tsv", known)
            dev = known[known.split == "dev"]
            summary += f"; {dev.in_page.sum()} of {len(dev)} dev answers stand in the person's page"
    return summary


def changed(
    documents: list[str], questions: dict[str, list[Question]], settings: QuestionData, key: str
) -> tuple[list[str], dict[str, list[Question]]]:
    """Hold questions out, leave pages out and put questions in another form, where section `data` says so.

    key: the section's. Raises UserError: `held_out` leaves no question.
    """
    questions = hold_out(questions, settings.held_out, f"{key}.held_out")
    if settings.held_out and not questions["dev"]:
        raise UserError(
            f"{PARAMS}: {key}.held_out: was {settings.held_out}; raise it, as more questions are about each name"
        )
    if settings.left_out:
        names = {question.name for question in questions["dev"][: settings.left_out]}
        ends = title_lengths(documents, names)
        documents = [text for text, end in zip(documents, ends, strict=True) if text[:end] not in names]
    if settings.question:
        questions = {
            split: [replace(asked, question=settings.question.format(name=asked.name)) for asked in of_split]
            for split, of_split in questions.items()
        }
    return documents, questions


def read(recipe: Recipe, raw: Path) -> tuple[list[str], dict[str, list[Question]]]:
    """Read the documents of a recipe and its questions by split; a plain text is cut and has none.

    Raises UserError: a file is missing or faulty.
    """
    context = recipe.model.context
    if not isinstance(recipe, QuestionRecipe):
        text = read_text(raw / TEXT_FILE)
        cut = [text[start : start + context] for start in range(0, len(text), context)]
        return cut, {split: [] for split in SPLITS}
    if recipe.data.source == "own":
        return read_own(raw, context)
    questions = {}
    for split, name in QUESTION_FILES.items():
        questions[split] = read_questions(raw / name, labelled=split != "test", context=context)
    return read_documents(raw / CORPUS_FILE), questions


if __name__ == "__main__":
    main()
