"""Stage `own`: pages and questions of one's own, checked, as the recipes with `data.source: own` read them."""

import os
import sys
from pathlib import Path

from stages.corpus.prepared import Prepared
from stages.settings import Settings, load
from stages.sources.audit import audit
from stages.sources.own import FILES, PAGES, notes, read_own
from stages.sources.reading import MOST_BYTES
from stages.system.errors import Parser, StudyError, command
from stages.system.files import new_folder, read_input, write_bytes
from stages.system.terminal import harmless


@command
def main() -> None:
    """Copy the files of the folder that `sources.own` names to data/raw/own."""
    Parser(description=main.__doc__).parse_args()
    settings = load()
    folder = own_folder(settings)
    contexts = [each.model.context for each in settings.recipes.values() if each.data.source == "own"]
    documents, questions = read_own(folder, min(contexts, default=sys.maxsize))
    known = audit(documents, questions, Prepared.of(documents, questions).vocabulary)
    for note in notes(folder, questions, known):
        print(f"note: {harmless(note)}", file=sys.stderr)
    with new_folder(Path("data/raw/own")) as new:
        for name in (PAGES, *(FILES[split] for split, asked in questions.items() if asked)):
            write_bytes(new / name, read_input(folder / name, MOST_BYTES))
    print(f"{len(documents)} pages, {', '.join(f'{len(questions[split])} {split}' for split in FILES)} questions")


def own_folder(settings: Settings) -> Path:
    """The folder that `sources.own` names. Raises StudyError: it lacks a file."""
    folder = Path(settings.sources.own.folder)
    for name in (PAGES, FILES["train"], FILES["dev"]):
        if not os.path.exists(folder / name):  # of a name that is too long Path raises
            what = f"there is no {harmless(str(folder / name))}; name a folder with {PAGES}, train.tsv and dev.tsv"
            raise StudyError(f"params.yaml: sources.own.folder: {what}")
    return folder


if __name__ == "__main__":
    main()
