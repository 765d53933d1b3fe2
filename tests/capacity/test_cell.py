"""Cells: what a model is asked, what it has stored, and what the controls change."""

from math import log2
from pathlib import Path

import numpy as np
import pytest
import torch

from stages.capacity.cell import Task, trained
from stages.capacity.row import Cell, digest
from stages.corpus.example import PAD
from stages.settings import Settings
from stages.settings.measured import merged
from stages.system.errors import StudyError
from stages.system.locks import locked
from tests.support.tiny import SETTINGS

CELL = Cell(
    variant="rope",
    matrices="muon",
    learning_rate=1e-2,
    exposures=2,
    load=0.05,
    width=16,
    control="",
    seed=1,
    settings="",
)


def cell(**change: object) -> Cell:
    return CELL.model_copy(update=change)


def text(task: Task, tokens: np.ndarray) -> str:
    return task.vocabulary.decode(tokens)


def test_a_pair_is_name_and_place_and_the_loss_is_on_the_place() -> None:
    task = Task(SETTINGS, CELL)
    pair = task.pairs[3]
    assert text(task, task.sequence(3)) == f"{pair.name}⁇{pair.place}⁇"
    examples = task.phase.draw(np.array([3]), np.random.default_rng())
    assert text(task, examples.targets[examples.targets != PAD]) == f"{pair.place}⁇"


def with_context(context: int) -> Settings:
    model = SETTINGS.capacity.model.model_copy(update={"context": context})
    return SETTINGS.model_copy(update={"capacity": SETTINGS.capacity.model_copy(update={"model": model})})


def test_a_context_that_does_not_hold_the_longest_pair_is_refused() -> None:
    pairs = Task(SETTINGS, CELL).pairs
    least = max(len(f"{pair.name}⁇{pair.place}") for pair in pairs)  # the closing ⁇ is not read
    examples = Task(with_context(least), CELL).phase.draw(np.arange(len(pairs)), np.random.default_rng())
    assert examples.inputs.shape == (len(pairs), least)
    with pytest.raises(StudyError, match=f"model.context: was {least - 1}; allowed: at least {least}, "):
        Task(with_context(least - 1), CELL)


def test_the_load_is_the_bits_asked_a_parameter() -> None:
    for control in ("", "no_mlp"):
        task = Task(SETTINGS, cell(load=1.0, control=control))
        parameters = sum(weight.numel() for weight in task.new_model().parameters())
        assert sum(pair.bits for pair in task.pairs) / parameters == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 1024}, "width 1024 at load 1 takes 3,5"),
        ({"width": 256, "control": "token"}, "width 256 at load 1 takes 224,4"),
        ({"load": 1e-5}, "width 16 at load 1e-05 takes 0 people; allowed: 1 to 2,500,000"),
    ],
)
def test_more_people_than_there_are_names_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(StudyError, match=f"capacity.parts: {message}"):
        Task(SETTINGS, cell(**{"load": 1.0} | change))


def test_a_name_of_one_token_asks_the_same_people() -> None:
    usual, token = Task(SETTINGS, CELL), Task(SETTINGS, cell(control="token"))
    assert token.pairs == usual.pairs
    assert [len(question) for question in token.questions] == [2] * len(token.pairs)
    assert len({int(question[0]) for question in token.questions}) == len(token.pairs)


def test_a_model_that_knows_nothing_owes_the_bits_of_its_own_guesses() -> None:
    task = Task(SETTINGS, CELL)
    model = task.new_model().eval()
    with torch.no_grad():
        model.head.weight.zero_()  # every character is as likely
    stored, exact = task.bits_stored(model)
    characters = sum(len(pair.place) + 1 for pair in task.pairs)
    asked = sum(pair.bits for pair in task.pairs)
    assert stored == pytest.approx(asked - characters * log2(len(task.vocabulary)), rel=1e-4)
    assert exact == 0


def small(**change: object) -> Settings:
    """Return settings whose trainings take a moment."""
    section = merged(SETTINGS.capacity.model_dump(), {"batch_size": 8} | change)
    return SETTINGS.model_copy(update={"capacity": type(SETTINGS.capacity).model_validate(section)})


def test_a_trained_cell_stores_what_it_is_asked_and_its_row_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    row = trained(small(), cell(exposures=150), "a cell")
    assert row.people == len(Task(small(), CELL).pairs)
    assert row.exact == 1
    assert 0.95 * row.bits_asked < row.bits_stored <= row.bits_asked
    assert 0 < row.inner_parameters < row.parameters
    (work,) = Path("work").glob("capacity-*")
    assert not (work / "training.checkpoint").exists()
    with locked(work / "lock"), pytest.raises(StudyError, match="at work here already"):
        trained(small(), cell(exposures=150), "a cell")


def test_a_cell_is_another_one_where_the_section_or_its_mixer_changes() -> None:
    digests = [digest(SETTINGS, "rope"), digest(small(), "rope"), digest(SETTINGS, "window")]
    assert len({*digests}) == 3
    more = SETTINGS.model_copy(update={"capacity": SETTINGS.capacity.model_copy(update={"seeds": [1, 2, 3, 4]})})
    assert digest(more, "rope") == digests[0]
