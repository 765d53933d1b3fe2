"""data/prepared/<recipe>: the corpus and the questions, encoded, with an audit of what can be known.

::

    vocabulary.json      the characters, in order of their numbers
    encoded.safetensors  documents, and questions and answers of each split, as token numbers
    spans.safetensors    where each document's title ends, and its candidates with their probabilities (see reader.py)
    questions.tsv        split, row, question, name, place (empty where test has none)
    audit.tsv            split, row, has_page, in_page, position, train_count, unknown (see `audit`)
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.numpy import load_file, save

from stages.corpus.phrases import PROBABILITY, SPAN, Phrases, capitalised_phrases
from stages.corpus.questions import Form, Question, form_of
from stages.corpus.ragged import Ragged
from stages.corpus.tables import AUDIT_COLUMNS, QUESTION_COLUMNS, read_table, write_table
from stages.corpus.text import Vocabulary, folded
from stages.corpus.titles import pages_about, title_lengths
from stages.system.errors import UserError
from stages.system.files import read_json, write_bytes, write_json

VOCABULARY, ENCODED, SPANS, TABLE = "vocabulary.json", "encoded.safetensors", "spans.safetensors", "questions.tsv"
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Prepared:
    """What the stages after `prepare` read."""

    vocabulary: Vocabulary
    documents: Ragged
    questions: dict[str, Ragged]  # by split
    answers: dict[str, Ragged]  # by split; the rows of a test split without answers are empty
    table: pd.DataFrame  # questions.tsv; places of a test without are ""
    title_lengths: np.ndarray  # (documents,) the length of each title
    candidates: Phrases  # the spans of each document that may be an answer

    @classmethod
    def of(
        cls, documents: Sequence[str], questions: dict[str, list[Question]], names: Collection[str] = ()
    ) -> "Prepared":
        """Encode documents and questions, with their vocabulary; names: see `title_lengths`. It has no candidates."""
        vocabulary = Vocabulary.of(documents)
        rows = []
        for split in questions:
            rows += [(split, q.row, q.question, q.name, q.place or "") for q in questions[split]]
        table = pd.DataFrame(rows, columns=[*QUESTION_COLUMNS])

        def encoded(texts: Iterable[str]) -> Ragged:
            return Ragged.of([_small(vocabulary.encode(text)) for text in texts])

        return cls(
            vocabulary,
            encoded(documents),
            {split: encoded(table.question[table.split == split]) for split in SPLITS},
            {split: encoded(table.place[table.split == split]) for split in SPLITS},
            table,
            title_lengths(documents, names),
            Phrases.alike([()] * len(documents)),
        )

    def save(self, folder: Path) -> None:
        """Write all but the audit."""
        encoded = {"documents": self.documents}
        for split in SPLITS:
            encoded |= {f"{split}.questions": self.questions[split], f"{split}.answers": self.answers[split]}
        arrays = {f"{name}.tokens": rows.values.astype(np.int32) for name, rows in encoded.items()}
        arrays |= {f"{name}.offsets": rows.offsets.astype(np.int64) for name, rows in encoded.items()}
        spans = self.candidates.spans
        probabilities = self.candidates.probabilities.values.astype(PROBABILITY)
        candidates = {"spans": spans.values.astype(SPAN.base), "probabilities": probabilities}

        write_json(folder / VOCABULARY, list(self.vocabulary.characters))
        write_bytes(folder / ENCODED, save(arrays))
        write_bytes(folder / SPANS, save(candidates | {"title_lengths": self.title_lengths, "offsets": spans.offsets}))
        write_table(folder / TABLE, self.table)

    @classmethod
    def load(cls, folder: Path) -> "Prepared":
        """Read what `save` wrote. Raises UserError: the folder was not prepared yet."""
        if not (folder / TABLE).is_file():
            raise UserError(f"{folder} is missing; make it with: dvc exp run prepare -S recipe={folder.name}")
        arrays, of_spans = load_file(folder / ENCODED), load_file(folder / SPANS)

        def encoded(name: str) -> Ragged:
            return Ragged(_small(arrays[f"{name}.tokens"]), arrays[f"{name}.offsets"])

        spans = Ragged(_small(of_spans["spans"]), of_spans["offsets"])
        return cls(
            Vocabulary(tuple(read_json(folder / VOCABULARY))),
            encoded("documents"),
            {split: encoded(f"{split}.questions") for split in SPLITS},
            {split: encoded(f"{split}.answers") for split in SPLITS},
            read_table(folder / TABLE, QUESTION_COLUMNS),
            of_spans["title_lengths"],
            Phrases(spans, Ragged(of_spans["probabilities"], of_spans["offsets"])),
        )

    @property
    def texts(self) -> list[str]:
        """The documents as text."""
        return list(self.each_text())

    def each_text(self) -> Iterator[str]:
        """Decode the documents one at a time: all of them take ten times the memory."""
        return map(self.text, range(len(self.documents)))

    def text(self, row: int) -> str:
        """Decode a document."""
        return self.vocabulary.decode(self.documents[row].tolist())

    def title(self, row: int) -> str:
        """Decode the title of a document, empty if it has none."""
        return self.vocabulary.decode(self.documents[row][: self.title_lengths[row]].tolist())

    @property
    def rows_by_title(self) -> dict[str, int]:
        """The row of each title's document; of equal titles the first's."""
        return {self.title(row): row for row in reversed(range(len(self.documents)))}

    def start(self, row: int) -> int:
        """Where the text after a document's title and its full stop starts."""
        return int(self.title_lengths[row]) + bool(self.title_lengths[row])

    def reader_answers(self) -> dict[str, str]:
        """Find the likeliest candidate of each document, by title; among documents of one title the first's."""
        likeliest: dict[str, str] = {}
        for row, text in enumerate(self.each_text()):
            if len(probabilities := self.candidates.probabilities[row]):
                start, end = self.candidates.spans[row][int(np.argmax(probabilities))]
                likeliest.setdefault(self.title(row), text[start:end])
        return likeliest

    def longest_question(self, split: str) -> int:
        """Return the most characters that a question takes with its answer, at least one, and the two ⁇; 0 for none."""
        lengths = self.questions[split].lengths + np.maximum(self.answers[split].lengths, 1) + 2
        return int(lengths.max(initial=0))

    def of_split(self, split: str) -> pd.DataFrame:
        """Select the rows of one split of `table`, in order."""
        return self.table[self.table.split == split].reset_index(drop=True)

    def phrases(self, salient: float) -> Phrases:
        """Choose what a cloze asks of each page: its candidates, where some shall be `salient` and there are any."""
        return self.candidates if salient and len(self.candidates.spans.values) else self.capitalised

    @cached_property
    def capitalised(self) -> Phrases:
        """The capitalised phrases of each page, all as likely; the candidates where no page has a capital."""
        rows = range(len(self.documents))
        candidates = self.candidates.spans
        if len(candidates.values) and not any(map(str.isupper, self.vocabulary.characters)):
            return Phrases.alike(candidates[row].tolist() for row in rows)
        return Phrases.alike(capitalised_phrases(self.text(row), self.title_lengths[row]) for row in rows)

    @cached_property
    def question_forms(self) -> list[Form]:
        """All forms of the training questions, the commonest first; at least one."""
        train = self.of_split("train")
        forms = Counter(filter(None, map(form_of, train.question, train.name)))
        return [form for form, _ in forms.most_common()] or [Form("", "")]

    @property
    def training_answers(self) -> frozenset[str]:
        """What training questions are answered with."""
        return frozenset(self.of_split("train").place)


def _small(numbers: np.ndarray) -> np.ndarray:
    """Store the numbers in as few bytes as the largest needs."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def audit(documents: Sequence[str], questions: dict[str, list[Question]], vocabulary: Vocabulary) -> pd.DataFrame:
    """List the questions of all splits, a row each:

    has_page: 1 if a document's title is the person's name;
    in_page: 1 if such a document holds the place, in any spelling (see `corpus.text`);
    position: where in the document the place stands first as written, counted from 0; -1 if nowhere;
    train_count: how many training questions the place answers;
    unknown: how many characters of the question the vocabulary lacks.

    in_page, position and train_count are 0, -1 and 0 where the place is unknown (most tests).
    """
    pages = pages_about(documents, {question.name for asked in questions.values() for question in asked})
    answers = Counter(question.place for question in questions["train"] if question.place)
    rows = []
    for split, asked in questions.items():
        for question in asked:
            own = pages.get(question.name, [])
            place = question.place
            position = min((page.index(place) for page in own if place and place in page), default=-1)
            in_page = position >= 0 or any(place and folded(place) in folded(page) for page in own)
            facts = int(bool(own)), int(in_page), position, answers[place or ""]
            rows.append((split, question.row, *facts, len(vocabulary.unknown(question.question))))
    return pd.DataFrame(rows, columns=[*AUDIT_COLUMNS])
