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
    """Read, check and encode the data of the selected recipe."""
    parser = Parser(description=main.__doc__)
    help_of_it = "hold out section ablation's training questions as dev, in data/held_out/"
    parser.add_argument("--held-out", action="store_true", help=help_of_it)
    arguments = parser.parse_args()
    params = load()
    name, recipe = params.recipe, params.recipe_named(params.recipe)
    folder, count, key = Path("data/prepared") / name, 0, f"recipes.{name}.data.held_out"
    if arguments.held_out:
        folder, count, key = Path("data/held_out") / name, params.ablation.held_out, "ablation.held_out"
    elif isinstance(recipe, QuestionRecipe):
        count = recipe.data.held_out
    print(prepare(recipe, Path("data/raw") / name, folder, count, key))


def prepare(recipe: Recipe, raw: Path, folder: Path, held_out: int = 0, key: str = "") -> str:
    """Encode what a recipe reads from the folder `raw`, and return a line that says how much it is.

    held_out: how many training questions stand in for dev's; key: its place in params.yaml.
    """
    documents, questions = read(recipe, raw)
    questions = hold_out(questions, held_out, key)
    if held_out and not questions["dev"]:
        raise StudyError(f"{PARAMS}: {key}: was {held_out}; raise it, as more questions are about each name")

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
    return summary


def read(recipe: Recipe, raw: Path) -> tuple[list[str], dict[str, list[Question]]]:
    """Read the documents of a recipe and its questions by split; a plain text is cut and has none.

    Raises StudyError: a file is missing or faulty.
    """
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
