"""data/prepared/<recipe>: the corpus and the questions, encoded, with an audit of what can be known.

::

    vocabulary.json      the characters, in order of their numbers
    encoded.safetensors  documents, and questions and answers of each split, as token numbers
    spans.safetensors    where each document's title ends, and its candidates with their chances (see salience.py)
    questions.tsv        split, row, question, name, place (empty for test)
    audit.tsv            split, row, has_page, in_page, position, train_count, unknown (see audit.py)
"""

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field
from safetensors.numpy import load_file, save

from stages.corpus.phrases import CHANCE, SPAN, Phrases
from stages.corpus.questions import Question
from stages.corpus.ragged import Ragged
from stages.corpus.titles import headings
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
    answers: dict[str, Ragged]  # by split; rows of a test without are empty
    table: pd.DataFrame  # questions.tsv; places of a test without are ""
    headings: np.ndarray  # (documents,) the length of each title
    candidates: Phrases  # the spans of each document that may be an answer

    @classmethod
    def of(
        cls, documents: Sequence[str], questions: dict[str, list[Question]], names: Collection[str] = ()
    ) -> "Prepared":
        """Encode documents and questions with the documents' vocabulary; names: see `headings`. Without candidates."""
        vocabulary = Vocabulary.of(documents)
        rows = [(split, q.row, q.question, q.name, q.place or "") for split, asked in questions.items() for q in asked]

        table = pd.DataFrame(rows, columns=[*QUESTIONS.columns])
        none = Phrases.alike([()] * len(documents))
        return cls._of(vocabulary, _encoded(vocabulary, documents), table, headings(documents, names), none)

    @classmethod
    def _of(
        cls, vocabulary: Vocabulary, documents: Ragged, table: pd.DataFrame, ends: np.ndarray, candidates: Phrases
    ) -> "Prepared":
        asked = {split: table[table.split == split] for split in SPLITS}
        questions, answers = (
            {split: _encoded(vocabulary, rows[column]) for split, rows in asked.items()}
            for column in ("question", "place")
        )
        return cls(vocabulary, documents, questions, answers, table, ends, candidates)

    def save(self, folder: Path) -> None:
        """Write all but the audit."""
        self.vocabulary.save(folder / VOCABULARY)
        tables = product(self._tables.items(), PARTS.items())
        arrays = {f"{name}.{part}": getattr(table, part).astype(kind) for (name, table), (part, kind) in tables}
        write_bytes(folder / "encoded.safetensors", save(arrays))
        spans, chances = self.candidates.spans, self.candidates.chances
        found = {"spans": spans.tokens.astype(SPAN.base), "chances": chances.tokens.astype(CHANCE)}
        found |= {"headings": self.headings, "offsets": spans.offsets}
        write_bytes(folder / "spans.safetensors", save(found))
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
            documents = Ragged(_small(tokens), offsets)
        with as_written(folder / "spans.safetensors"):
            ends, candidates = _spans(load_file(verified(folder / "spans.safetensors")), documents.lengths)
        with as_written(path):
            prepared = cls._of(vocabulary, documents, table, ends, candidates)
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

    def title(self, row: int) -> str:
        """The title of a document, empty if it has none."""
        return self.vocabulary.decode(self.documents[row][: self.headings[row]].tolist())

    def start(self, row: int) -> int:
        """Where the text after a document's title and its full stop starts."""
        return int(self.headings[row]) + bool(self.headings[row])

    def rows_of(self, names: Collection[str]) -> dict[str, int]:
        """The first document with each of these titles; a name that is none's is left out."""
        rows: dict[str, int] = {}
        for row, title in enumerate(map(self.title, range(len(self.documents)))):
            if title in names:
                rows.setdefault(title, row)
        return rows

    def likeliest(self, phrases: Phrases) -> dict[str, str]:
        """The phrase of each document with the best chance, by title; of documents with one title the first's."""
        found: dict[str, str] = {}
        for row, text in enumerate(self.each_text()):
            if len(chances := phrases.chances[row]):
                found.setdefault(self.title(row), text[slice(*phrases.spans[row][int(np.argmax(chances))])])
        return found

    def of_split(self, split: str) -> pd.DataFrame:
        """The rows of `table` of one split, in order."""
        return self.table[self.table.split == split].reset_index(drop=True)

    @property
    def training_answers(self) -> frozenset[str]:
        """What training questions are answered with."""
        return frozenset(self.of_split("train").place)


def _spans(arrays: dict[str, np.ndarray], lengths: np.ndarray) -> tuple[np.ndarray, Phrases]:
    """The titles' lengths and the candidates that `save` wrote, of documents of these lengths (documents,)."""
    headings, spans, chances, offsets = (arrays[name] for name in ("headings", "spans", "chances", "offsets"))
    kinds = [(each.dtype, *each.shape[1:]) for each in (headings, offsets, spans, chances)]
    if kinds != [(np.int64,), (np.int64,), (SPAN.base, *SPAN.shape), (CHANCE,)]:
        raise ValueError("a number is of another type")
    if headings.shape != lengths.shape or not (headings >= 0).all() or not (headings <= lengths).all():
        raise ValueError("a title is longer than its document")
    if len(offsets) != len(lengths) + 1 or not 0 == offsets[0] <= np.diff(offsets).min() or offsets[-1] != len(spans):
        raise ValueError("offsets do not lead from the first span to the last")
    start, end, most = *spans.T, np.repeat(lengths, np.diff(offsets))
    if len(chances) != len(spans) or not ((start >= 0) & (start < end) & (end <= most)).all():
        raise ValueError("a span lies outside of its document, or has no chance")
    return headings, Phrases(Ragged(_small(spans), offsets), Ragged(chances, offsets))


def _encoded(vocabulary: Vocabulary, texts: Iterable[str]) -> Ragged:
    return Ragged.of([_small(vocabulary.encode(text)) for text in texts])


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same numbers in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table as tab-separated values, UTF-8, LF."""
    write_text(path, table.to_csv(sep="\t", index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL))
