"""data/prepared/<recipe>: the corpus and the questions, encoded, with an audit of what can be known.

::

    vocabulary.json      the characters, in order of their numbers
    encoded.safetensors  documents, and questions and answers of each split, as token numbers
    questions.tsv        split, row, question, name, place (empty for test)
    audit.tsv            split, row, has_page, in_page, position, train_count, unknown (see audit.py)
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field
from safetensors.numpy import load_file, save

from stages.corpus.questions import Question
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.system.digests import as_written, verified
from stages.system.files import write_bytes, write_text
from stages.system.records import Count, Mark, Table, read_table

VOCABULARY = "vocabulary.json"
SPLITS = ("train", "dev", "test")
ROW = {"split": Literal["train", "dev", "test"], "row": Count}
QUESTIONS = Table(ROW | {"question": str, "name": Annotated[str, Field(min_length=1)], "place": str}, key=(*ROW,))
PARTS = {"tokens": np.int32, "offsets": np.int64}  # of a table in encoded.safetensors
FOUND = {"has_page": Mark, "in_page": Mark, "position": int, "train_count": Count, "unknown": Count}
AUDIT = Table(ROW | FOUND, key=(*ROW,))


@dataclass(frozen=True)
class Prepared:
    """What the stages after `prepare` read."""

    vocabulary: Vocabulary
    documents: Ragged
    questions: dict[str, Ragged]  # by split
    answers: dict[str, Ragged]  # by split; rows of test are empty
    table: pd.DataFrame  # questions.tsv; places of test are ""

    @classmethod
    def of(cls, documents: Sequence[str], questions: dict[str, list[Question]]) -> "Prepared":
        """Encode documents and questions with the documents' vocabulary."""
        vocabulary = Vocabulary.of(documents)
        rows = [(split, q.row, q.question, q.name, q.place or "") for split, asked in questions.items() for q in asked]

        table = pd.DataFrame(rows, columns=[*QUESTIONS.columns])
        return cls._of(vocabulary, _encoded(vocabulary, documents), table)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, documents: Ragged, table: pd.DataFrame) -> "Prepared":
        asked = {split: table[table.split == split] for split in SPLITS}
        questions = {split: _encoded(vocabulary, rows.question) for split, rows in asked.items()}
        return cls(vocabulary, documents, questions, {s: _encoded(vocabulary, asked[s].place) for s in SPLITS}, table)

    def save(self, folder: Path) -> None:
        """Write all but the audit."""
        self.vocabulary.save(folder / VOCABULARY)
        tables = product(self._tables.items(), PARTS.items())
        arrays = {f"{name}.{part}": getattr(table, part).astype(kind) for (name, table), (part, kind) in tables}
        write_bytes(folder / "encoded.safetensors", save(arrays))
        write_table(folder / "questions.tsv", self.table)

    @property
    def _tables(self) -> dict[str, Ragged]:
        """What encoded.safetensors has."""
        tables = {"documents": self.documents}
        for split in SPLITS:
            tables |= {f"{split}.questions": self.questions[split], f"{split}.answers": self.answers[split]}
        return tables

    @classmethod
    def load(cls, folder: Path) -> "Prepared":
        """Read what `save` wrote. Raises StudyError: the folder was not prepared yet, or is damaged."""
        vocabulary, table = Vocabulary.load(folder / VOCABULARY), read_table(folder / "questions.tsv", QUESTIONS)
        with as_written(path := folder / "encoded.safetensors"):
            arrays = load_file(verified(path))
            tokens, offsets = (arrays[f"documents.{part}"].ravel() for part in PARTS)
            if not 0 <= tokens.min() <= tokens.max() < len(vocabulary):
                raise ValueError("a token is no character")
            if not 0 == offsets[0] <= np.diff(offsets).min() or offsets[-1] != len(tokens):
                raise ValueError("offsets do not lead from the first token to the last")
            prepared = cls._of(vocabulary, Ragged(_small(tokens), offsets), table)
            for name, (part, kind) in product(prepared._tables, PARTS.items()):
                found, expected = arrays[f"{name}.{part}"], getattr(prepared._tables[name], part)
                if found.dtype != kind or not np.array_equal(found, expected):
                    raise ValueError(f"{name}: not those of questions.tsv")
        return prepared

    @property
    def texts(self) -> list[str]:
        """The documents as text."""
        return list(self.each_text())

    def each_text(self) -> Iterator[str]:
        """The documents as text, one at a time: all of them take ten times the memory."""
        return map(self.text, range(len(self.documents)))

    def text(self, row: int) -> str:
        """A document as text."""
        return self.vocabulary.decode(self.documents[row].tolist())

    def of_split(self, split: str) -> pd.DataFrame:
        """The rows of `table` of one split, in order."""
        return self.table[self.table.split == split].reset_index(drop=True)

    @property
    def training_answers(self) -> frozenset[str]:
        """What training questions are answered with."""
        return frozenset(self.of_split("train").place)


def _encoded(vocabulary: Vocabulary, texts: Iterable[str]) -> Ragged:
    return Ragged.of([_small(vocabulary.encode(text)) for text in texts])


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same numbers in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as tab-separated values, UTF-8, LF."""
    write_text(path, table.to_csv(sep="\t", index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL))
