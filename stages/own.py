"""Stage `own`: a user's own pages and questions, checked, for the recipes with `data.source: own`."""

import sys
from pathlib import Path

from stages.corpus.vocabulary import Vocabulary
from stages.settings import load
from stages.settings.sources import OWN_FILES, OWN_PAGES
from stages.sources.notes import notes
from stages.sources.own import check_lengths, read_own
from stages.system.errors import Parser, command
from stages.system.files import new_folder, write_bytes
from stages.system.terminal import tell


@command
def main() -> None:
    """Copy the files of the folder that `sources.own` names to data/raw/own."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    folder = settings.sources.own.path()
    recipes = {name: settings.question_recipe(name) for name, r in settings.recipes.items() if r.data.source == "own"}
    if settings.recipe in recipes:  # others may read less at once
        recipes = {settings.recipe: recipes[settings.recipe]}
    context = max((recipe.model.context for recipe in recipes.values()), default=sys.maxsize)
    documents, questions = read_own(folder, context)
    vocabulary = Vocabulary.of(documents)
    for name, recipe in recipes.items():
        check_lengths(folder, questions, vocabulary, name, recipe)
    for note in notes(folder, documents, questions):
        tell(f"note: {note}")

    with new_folder(Path("data/raw/own")) as new:
        for name in (OWN_PAGES, *(OWN_FILES[split] for split, asked in questions.items() if asked)):
            write_bytes(new / name, (folder / name).read_bytes())
    print(f"{len(documents)} pages, {', '.join(f'{len(questions[split])} {split}' for split in OWN_FILES)} questions")


if __name__ == "__main__":
    main()
