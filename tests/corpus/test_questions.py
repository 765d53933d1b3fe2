"""Questions as sequences, the audit of what can be known, and the prepared folder. Invented names."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stages.corpus.prepared import Prepared, read_table, write_table
from stages.corpus.questions import Question, prompt, question_examples
from stages.corpus.ragged import Ragged
from stages.corpus.vocabulary import Vocabulary
from stages.sources.audit import audit
from stages.system.errors import StudyError
from tests.reference.text import answered, padded
from tests.tiny import BIRTHPLACES, DOCUMENTS, tiny_prepared

PAGES = [
    "Oda Quill. Born in Vell, lived in Urr.",
    "J. R. Brae. A singer from Ilm.",
    "J. An initial alone.",
    "Tam Senn. Nothing is known.",
    "Tam Senn. Another page: Urr.",
    "Tam Senn. A third page, about Urr.",
    "Mia Dahl of Oss, without a full stop",
]
ASKED = {
    "train": [
        Question(1, "Where was Oda Quill born?", "Oda Quill", "Vell"),
        Question(2, "Where was J. R. Brae born?", "J. R. Brae", "Ilm"),
        Question(4, "Where was Tam Senn born?", "Tam Senn", "Urr"),
        Question(5, "Where was Lu Fane born?", "Lu Fane", "Urr"),
    ],
    "dev": [
        Question(1, "Where was Oda Quill born?", "Oda Quill", "Urr"),
        Question(2, "Where was Mia Dahl born?", "Mia Dahl", "Oss"),
        Question(3, "Where was J. R. Brae born?", "J. R. Brae", "Brod"),
    ],
    "test": [Question(1, "Where was Oda Quįll born?", "Oda Quįll", None), Question(2, "Where was J born?", "J", None)],
}


def test_only_the_answer_and_its_masks_are_targets_and_a_shorter_question_ends_in_pad() -> None:
    vocabulary = Vocabulary.of(["abc?xyz"])
    questions, answers = (
        Ragged.of([vocabulary.encode(each) for each in some]) for some in (["abc?", "a?"], ["yz", "x"])
    )
    examples = question_examples(questions, answers, np.array([1, 0]))
    assert [vocabulary.decode(row) for row in examples.inputs] == ["a?⁇x⁇□□", "abc?⁇yz"]
    assert [vocabulary.decode(row) for row in examples.targets] == ["□⁇x⁇□□□", "□□□⁇yz⁇"]
    assert examples.lengths.tolist() == [4, 7]


def test_examples_of_questions_equal_the_plain_ones() -> None:
    prepared = tiny_prepared()
    rows = np.array([3, 0, 7, 5])
    examples = question_examples(prepared.questions["train"], prepared.answers["train"], rows)
    asked = [prepared.vocabulary.decode(prepared.questions["train"][row]) for row in rows]
    said = [prepared.vocabulary.decode(prepared.answers["train"][row]) for row in rows]
    sequences = [answered(*pair) for pair in zip(asked, said, strict=True)]
    width = examples.inputs.shape[1]
    inputs, targets = padded(sequences, prepared.vocabulary, width + 1, first_targets=[len(each) for each in asked])
    assert np.array_equal(examples.inputs, inputs)
    assert np.array_equal(examples.targets, targets)
    assert examples.lengths.tolist() == [len(sequence) - 1 for sequence in sequences]


def test_a_prompt_is_the_question_and_the_mask_that_opens_the_answer() -> None:
    vocabulary = Vocabulary.of(["Where?"])
    assert vocabulary.decode(prompt(vocabulary.encode("Where?"))) == "Where?⁇"


def test_the_audit_tells_what_can_be_known_of_each_question() -> None:
    known = audit(PAGES, ASKED, Vocabulary.of([*PAGES, "Where was Lu Fane born?"]))
    assert known.to_csv(sep=" ", index=False) == (
        "split row has_page in_page position train_count unknown\n"
        "train 1 1 1 19 1 0\n"
        "train 2 1 1 26 1 0\n"  # a name with full stops
        "train 4 1 1 24 2 0\n"  # first in the second of three pages
        "train 5 0 0 -1 2 0\n"  # no page
        "dev 1 1 1 34 2 0\n"
        "dev 2 0 0 -1 0 0\n"  # no full stop follows the name
        "dev 3 1 0 -1 0 0\n"  # the page names another place
        "test 1 0 0 -1 0 1\n"  # 'į' stands in no page
        "test 2 1 0 -1 0 0\n"  # `J. An`, and not `J. R. Brae` alone
    )


def test_prepared_data_are_read_back_as_they_were(tmp_path: Path) -> None:
    prepared = tiny_prepared()
    prepared.save(tmp_path)
    again = Prepared.load(tmp_path)
    assert again.vocabulary == prepared.vocabulary
    tables = [(again.documents, prepared.documents)]
    for split in ("train", "dev", "test"):
        tables += [(getattr(again, kind)[split], getattr(prepared, kind)[split]) for kind in ("questions", "answers")]
    for read, written in tables:
        assert read.tokens.dtype == written.tokens.dtype == np.int64
        assert np.array_equal(read.tokens, written.tokens)
        assert np.array_equal(read.offsets, written.offsets)
    pd.testing.assert_frame_equal(again.table, prepared.table)
    assert [again.vocabulary.decode(again.documents[row]) for row in range(len(again.documents))] == DOCUMENTS
    assert again.of_split("dev").place.tolist() == list(BIRTHPLACES.values())
    assert again.of_split("test").place.tolist() == [""] * 8
    assert again.answers["test"].lengths.tolist() == [0] * 8


def test_prepared_data_are_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        tiny_prepared().save(tmp_path / name)
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_text_that_looks_like_something_else_stays_text_in_a_table(tmp_path: Path) -> None:
    table = pd.DataFrame({"place": ["NA", "", 'The "Burg"', "null", "Ål"], "count": [1, 2, 3, 4, 5]})
    write_table(tmp_path / "table.tsv", table)
    assert b"\r" not in (tmp_path / "table.tsv").read_bytes()
    pd.testing.assert_frame_equal(read_table(tmp_path / "table.tsv"), table)


def lose(key: bytes) -> Callable[[bytes], bytes]:
    """Call a key of the file something else."""
    return lambda content: content.replace(key, key.swapcase())


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("encoded.safetensors", cut),
        ("encoded.safetensors", lose(b"documents.tokens")),
        ("encoded.safetensors", lose(b"dev.answers")),
        ("vocabulary.json", cut),
        ("vocabulary.json", lambda content: b""),
        ("vocabulary.json", lambda content: b"12"),
        ("vocabulary.json", lambda content: b'["a", "b"]'),
        ("vocabulary.json", lambda content: content.replace("é".encode(), b"\xe9")),
        ("questions.tsv", cut),
        ("questions.tsv", lambda content: b""),
        ("questions.tsv", lambda content: content.replace(b"dev\t1\t", b"dev\t1\t\t\t")),
        ("questions.tsv", lambda content: content + b'test\t9\t"'),
        ("questions.tsv", lose(b"split")),
        ("questions.tsv", lose(b"place")),
        ("questions.tsv", lambda content: content.replace(b"dev", b"train", 1)),
    ],
)
def test_damaged_prepared_data_are_told_in_one_line(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    tiny_prepared().save(tmp_path)
    path = tmp_path / name
    assert damage(path.read_bytes()) != path.read_bytes()
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StudyError) as told:
        Prepared.load(tmp_path)
    assert str(told.value).startswith(f"{path} is damaged (")
    assert str(told.value).endswith("); delete it and run `dvc repro`")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["encoded.safetensors", "vocabulary.json", "questions.tsv"])
def test_a_part_of_the_prepared_data_that_is_missing_is_told_in_one_line(tmp_path: Path, name: str) -> None:
    tiny_prepared().save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(StudyError, match=rf"{name} is missing; `dvc repro` makes it\Z"):
        Prepared.load(tmp_path)
