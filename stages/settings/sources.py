"""Where texts come from: the section `sources`."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from stages.settings.section import Section, Seed, Share
from stages.system.errors import UserError

# Files of a source with questions
CORPUS_FILE = "wiki.txt"
QUESTION_FILES = {"train": "birth_places_train.tsv", "dev": "birth_dev.tsv", "test": "birth_test_inputs.tsv"}
OWN_FILES = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}  # a user's; test.tsv may be missing
OWN_PAGES = "pages.txt"
MOST_NAMED = 10  # files that a message names
# The file of a source without questions
TEXT_FILE = "text.txt"

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Fetched(Section):
    addresses: list[str]
    sha256: dict[str, Sha256]


MOST_PEOPLE = 2_500_000  # for whom the generated world has names


class People(Section):  # at most MOST_PEOPLE in total
    train: Annotated[int, Field(gt=0, le=2_000_000)]
    dev: Annotated[int, Field(gt=0, le=250_000)]
    test: Annotated[int, Field(gt=0, le=250_000)]


class Synthetic(Section):
    seed: Seed
    people: People
    templates: Annotated[int, Field(gt=0, le=48)]  # sentences.yaml has no more
    distractors: Share
    missing: Share
    pages: Annotated[int, Field(gt=0, le=8)]
    characters: Annotated[int, Field(ge=0, le=1000)]


class Own(Section):
    folder: Annotated[str, Field(min_length=1)]

    def files(self) -> list[Path]:
        """List the files, with test.tsv if it is there. Raises UserError: another one is missing."""
        folder = self.path()
        return [path for name in (OWN_PAGES, *OWN_FILES.values()) if (path := folder / name).exists()]

    def path(self) -> Path:
        """Return the folder. Raises UserError: it lacks a file."""
        folder = Path(self.folder)
        for name in (OWN_PAGES, OWN_FILES["train"], OWN_FILES["dev"]):
            if not (folder / name).exists():
                there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
                what = f"sources.own.folder: there is no {folder / name}"
                what += f", only {', '.join(there[:MOST_NAMED])}" if there else ""
                advice = f"name a folder with {OWN_PAGES}, train.tsv, dev.tsv and, if wanted, test.tsv"
                raise UserError(f"params.yaml: {what}; {advice}")
        return folder


class Text(Section):
    path: Annotated[str, Field(min_length=1)]
    people: Annotated[int, Field(gt=0, le=MOST_PEOPLE)]

    def files(self) -> list[Path]:
        """List the file; none where the path is the folder that stands for a generated world."""
        return [path] if (path := Path(self.path)).is_file() else []


class Pairs(Section):
    seed: Seed
    load: Annotated[float, Field(gt=0, le=100)]
    token: bool


class Sources(Section):
    cs224n: Fetched
    synthetic: Synthetic
    text: Text
    own: Own
    pairs: Pairs
