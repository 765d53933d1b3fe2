"""Stage `prepare`: text → encoded documents, questions and the knowledge audit."""

import argparse
from pathlib import Path

import pandas as pd

from stages.corpus.held_out import hold_out
from stages.corpus.prepared import SPLITS, Prepared, write_table
from stages.corpus.questions import Question
from stages.settings import CORPUS_FILE, QUESTION_FILES, TEXT_FILE, QuestionRecipe, Recipe, load
from stages.sources.audit import audit
from stages.sources.reading import cut, read_documents, read_questions, read_text
from stages.system.errors import command
from stages.system.files import new_folder


@command
def main() -> None:
    """Read, check and encode the data of a recipe."""
    parser = argparse.ArgumentParser(prog="python -m stages.prepare", description=main.__doc__)
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--held-out", action="store_true", help="hold out section ablation's training questions as dev")
    arguments = parser.parse_args()
    settings = load()
    recipe, target = settings.recipe_named(arguments.recipe), Path("data/prepared") / arguments.recipe
    key = f"recipes.{arguments.recipe}.data.held_out"
    if arguments.held_out:
        key = "ablation.held_out"
        data = settings.question_recipe(arguments.recipe).data
        data = data.model_copy(update={"held_out": settings.ablation.held_out})
        recipe, target = recipe.model_copy(update={"data": data}), Path("data/held_out") / arguments.recipe
    documents, questions = read(recipe, key)
    prepared = Prepared.of(documents, questions)
    known = audit(documents, questions, prepared.vocabulary) if isinstance(recipe, QuestionRecipe) else None
    with new_folder(target) as folder:
        prepared.save(folder)
        if known is not None:
            write_table(folder / "audit.tsv", known)
    print(f"{len(documents)} documents of {len(prepared.vocabulary)} characters{_asked(known, questions)}")


def read(recipe: Recipe, key: str) -> tuple[list[str], dict[str, list[Question]]]:
    """The documents of a recipe, and its questions by split; a plain text has none, and its documents are cuts of it.

    key: where params.yaml says how many questions are held out.

    Raises:
        StudyError: a file is missing or faulty.
    """
    raw = Path("data/raw") / recipe.data.source
    if not isinstance(recipe, QuestionRecipe):
        return cut(read_text(raw / TEXT_FILE), recipe.model.context), {split: [] for split in SPLITS}
    documents = read_documents(raw / CORPUS_FILE)
    questions = {
        split: read_questions(
            raw / name,
            labelled=split != "test",
            context=recipe.model.context,
            # nine people of the assignment's training file are asked about twice with two places (a city and
            # its country, mostly); that file is taken as it is
            one_place=not (recipe.data.source == "cs224n" and split == "train"),
        )
        for split, name in QUESTION_FILES.items()
    }
    return documents, hold_out(questions, recipe.data.held_out, key)


def _asked(known: pd.DataFrame | None, questions: dict[str, list[Question]]) -> str:
    """What the audit found, to be told, and how many questions of namesakes dev and train share."""
    if known is None:
        return ""
    trained = {question.question for question in questions["train"]}
    shared = sum(question.question in trained for question in questions["dev"])
    counts = ", ".join(f"{(known.split == split).sum()} {split}" for split in SPLITS)
    dev = known[known.split == "dev"]
    found = f"; questions: {counts}; {dev.in_page.sum()} of {len(dev)} dev answers stand in the person's page"
    return found + (f"; {shared} of dev's questions are asked in train too, word for word" if shared else "")


if __name__ == "__main__":
    main()
