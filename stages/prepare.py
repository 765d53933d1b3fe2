"""Stage `prepare`: text → encoded documents, questions and the knowledge audit."""

from pathlib import Path

from stages.corpus.prepared import SPLITS, Prepared, write_table
from stages.corpus.questions import Question, hold_out
from stages.corpus.salience import with_candidates
from stages.settings import CORPUS_FILE, PARAMS, QUESTION_FILES, TEXT_FILE, QuestionRecipe, Recipe, load
from stages.sources.audit import audit
from stages.sources.own import read_own
from stages.sources.reading import cut, read_documents, read_questions, read_text
from stages.system.errors import Parser, StudyError, command
from stages.system.files import new_folder


@command
def main() -> None:
    """Read, check and encode the data of a recipe."""
    parser = Parser(description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--held-out", action="store_true", help="hold out section ablation's training questions as dev")
    arguments = parser.parse_args()
    settings = load()
    name, recipe = arguments.recipe, settings.recipe_named(arguments.recipe)
    documents, questions = read(recipe)
    folder, count, key = Path("data/prepared") / name, 0, f"recipes.{name}.data.held_out"
    if arguments.held_out:
        folder, count, key = Path("data/held_out") / name, settings.ablation.held_out, "ablation.held_out"
    elif isinstance(recipe, QuestionRecipe):
        count = recipe.data.held_out
    questions = hold_out(questions, count, key)
    if count and not questions["dev"]:
        raise StudyError(f"{PARAMS}: {key}: was {count}; raise it, as more questions are about each name")

    titles = set()
    if recipe.data.source == "own":  # titles of other sources are known by their form, but for one of a real page
        titles = {question.name for asked in questions.values() for question in asked}
    prepared = with_candidates(Prepared.of(documents, questions, titles))
    summary = f"{len(documents)} documents of {len(prepared.vocabulary)} characters"
    with new_folder(folder) as new:
        prepared.save(new)
        if isinstance(recipe, QuestionRecipe):
            known = audit(documents, questions, prepared.vocabulary)
            write_table(new / "audit.tsv", known)
            dev = known[known.split == "dev"]
            summary += f"; {dev.in_page.sum()} of {len(dev)} dev answers stand in the person's page"
    print(summary)


def read(recipe: Recipe) -> tuple[list[str], dict[str, list[Question]]]:
    """Read the documents of a recipe and its questions by split; a plain text is cut and has none.

    Raises StudyError: a file is missing or faulty.
    """
    raw = Path("data/raw") / recipe.data.source
    context = recipe.model.context
    if not isinstance(recipe, QuestionRecipe):
        return cut(read_text(raw / TEXT_FILE), context), {split: [] for split in SPLITS}
    if recipe.data.source == "own":
        return read_own(raw, context)
    questions = {}
    for split, name in QUESTION_FILES.items():
        questions[split] = read_questions(raw / name, labelled=split != "test", context=context)
    return read_documents(raw / CORPUS_FILE), questions


if __name__ == "__main__":
    main()
