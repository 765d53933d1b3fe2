"""Stage `data`: the texts and questions of the selected recipe's source, checked, in data/raw/<recipe>/."""

import os
from pathlib import Path

from stages.corpus.text import Vocabulary
from stages.settings.params import FOR_STUDIES, QuestionRecipe, Settings, load
from stages.settings.sources import CORPUS_FILE, OWN_FILES, OWN_PAGES, TEXT_FILE, Fetched, Synthetic, Text
from stages.sources.download import ADVICE, obtained
from stages.sources.own import check_lengths, notes, read_own
from stages.sources.parsing import read_text
from stages.sources.world.people import files_of, generate_world
from stages.system.errors import Parser, UserError, command, say, tell
from stages.system.files import new_folder, write_bytes

Source = tuple[dict[str, bytes], str]  # files by name, and a line on them


def obtain(params: Settings, recipe: str, folder: Path) -> str:
    """Put what a recipe reads into a folder, and return a line on it. Raises UserError: it is faulty."""
    sources = params.sources
    match params.recipe_named(recipe).data.source:
        case "synthetic":
            files, line = world(sources.synthetic)
        case "cs224n":
            files, line = cs224n(sources.cs224n)
        case "text":
            files, line = text(sources.text, sources.synthetic)
        case "own":
            files, line = own(sources.own.path(), params.question_recipe(recipe), recipe)
        case _:
            raise UserError(f"recipe '{recipe}' {FOR_STUDIES}")
    with new_folder(folder) as new:
        for name, content in files.items():
            write_bytes(new / name, content)
    return line


def world(settings: Synthetic) -> Source:
    """Generate the world's files, in the form of the real ones."""
    people = generate_world(settings)
    files = {name: content.encode() for name, content in files_of(people).items()}
    return files, f"a world of {len(people.people)} people; the first page: {people.people[0].page}"


def cs224n(settings: Fetched) -> Source:
    """Take the four files from where CS224N_DATA says, else from an earlier download, else from an address."""
    files, origin = obtained(os.environ.get("CS224N_DATA", "").strip(), settings.addresses, settings.sha256)
    return files, f"the four files of {origin}, checksums verified"


def text(settings: Text, of_world: Synthetic) -> Source:
    """Take a plain text, or the pages of a generated world. Raises UserError: there is none, or it is faulty."""
    path = Path(settings.path)
    if not path.exists():
        raise UserError(f"params.yaml: sources.text.path: there is no file {path}; name one in UTF-8")
    if not path.is_dir():
        content = read_text(path)
    elif (path / "people.py").exists():
        people = of_world.people.model_copy(update={"train": settings.people, "dev": 0, "test": 0})
        content = files_of(generate_world(of_world.model_copy(update={"people": people})))[CORPUS_FILE]
    else:
        raise UserError(f"params.yaml: sources.text.path: {path} is a folder; name a file in UTF-8")
    return {TEXT_FILE: content.encode()}, f"a text of {len(content)} characters, {len(set(content))} different ones"


def own(source: Path, recipe: QuestionRecipe, name: str) -> Source:
    """Check a user's own pages and questions; notes tell what may be meant otherwise."""
    documents, questions = read_own(source, recipe.model.context)
    check_lengths(source, questions, Vocabulary.of(documents), name, recipe)
    for note in notes(source, documents, questions):
        tell(f"note: {note}")
    names = [OWN_PAGES, *(OWN_FILES[split] for split, asked in questions.items() if asked)]
    line = f"{len(documents)} pages, {', '.join(f'{len(questions[split])} {split}' for split in OWN_FILES)} questions"
    return {file: (source / file).read_bytes() for file in names}, line


@command
def main() -> None:
    """Obtain and check the data of the selected recipe."""
    Parser(description=main.__doc__, epilog=ADVICE).parse_args()
    params = load()
    say(obtain(params, params.recipe, Path("data/raw") / params.recipe))


if __name__ == "__main__":
    main()
