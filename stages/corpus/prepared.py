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
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors import safe_open
from safetensors.numpy import save

from stages.corpus.questions import Question
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.system.digests import verified
from stages.system.files import write_bytes, write_text

VOCABULARY = "vocabulary.json"
SPLITS = ("train", "dev", "test")
COLUMNS = ["split", "row", "question", "name", "place"]  # of questions.tsv


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

        def encoded(texts: Iterable[str]) -> Ragged:
            return Ragged.of([_small(vocabulary.encode(text)) for text in texts])

        return cls(
            vocabulary,
            encoded(documents),
            {split: encoded(q.question for q in asked) for split, asked in questions.items()},
            {split: encoded(q.place or "" for q in asked) for split, asked in questions.items()},
            pd.DataFrame(rows, columns=COLUMNS),
        )

    def save(self, folder: Path) -> None:
        """Write all but the audit."""
        self.vocabulary.save(folder / VOCABULARY)
        tables = {"documents": self.documents}
        for split in SPLITS:
            tables |= {f"{split}.questions": self.questions[split], f"{split}.answers": self.answers[split]}
        arrays = {f"{name}.tokens": table.tokens.astype(np.int32) for name, table in tables.items()}
        arrays |= {f"{name}.offsets": table.offsets for name, table in tables.items()}
        write_bytes(folder / "encoded.safetensors", save(arrays))
        write_table(folder / "questions.tsv", self.table)

    @classmethod
    def load(cls, folder: Path) -> "Prepared":
        """Read what `save` wrote. Raises StudyError: the folder was not prepared yet, or is damaged."""
        encoded, known, asked = (folder / name for name in ("encoded.safetensors", VOCABULARY, "questions.tsv"))
        with safe_open(verified(encoded), framework="numpy") as file:

            def rows(name: str) -> Ragged:
                return Ragged(_small(file.get_tensor(f"{name}.tokens")), file.get_tensor(f"{name}.offsets"))

            documents = rows("documents")
            questions = {split: rows(f"{split}.questions") for split in SPLITS}
            answers = {split: rows(f"{split}.answers") for split in SPLITS}
        return cls(Vocabulary.load(known), documents, questions, answers, read_table(asked))

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


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same numbers in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as tab-separated values, UTF-8, LF."""
    write_text(path, table.to_csv(sep="\t", index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL))


def read_table(path: Path) -> pd.DataFrame:
    """Read what `write_table` wrote; text stays as it was written ("NA" is no missing value).

    Raises StudyError: the file is missing or damaged.
    """
    return pd.read_csv(verified(path), sep="\t", keep_default_na=False, encoding="utf-8")
