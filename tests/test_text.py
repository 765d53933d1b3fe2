"""A recipe without questions."""

from pathlib import Path
from typing import Any

import pytest

from stages import baseline, evaluate, finetune, report, text
from stages.corpus.prepared import Prepared
from tests.support.talking import RHYME, ChangeParams, Run, error


@pytest.mark.parametrize("stage", [finetune, evaluate, baseline, report])
def test_a_stage_that_needs_questions_refuses_a_text(run: Run, stage: Any) -> None:
    more = {baseline: [], report: ["--selection", "compared"]}.get(stage, ["--variant", "vanilla"])
    assert error(run(stage, "--recipe", "text", *more)).startswith("error: recipe 'text' has no questions")


def test_a_missing_text_is_told_with_its_key(run: Run, change: ChangeParams) -> None:
    change({"sources.text.path": "nowhere.txt"})
    line = "error: params.yaml: sources.text.path: there is no file nowhere.txt; name one in UTF-8"
    assert error(run(text)) == line


def test_the_text_is_prepared_without_a_lost_character(project: Path) -> None:
    prepared = Prepared.load(project / "data" / "prepared" / "text")
    assert prepared.vocabulary.decode(prepared.documents.tokens) == RHYME * 10
    assert [*prepared.documents.lengths] == [32] * 7 + [16]
    assert {split: len(asked) for split, asked in prepared.questions.items()} == {"train": 0, "dev": 0, "test": 0}
    assert len(prepared.table) == 0
