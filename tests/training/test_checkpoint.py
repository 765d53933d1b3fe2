"""A checkpoint holds all that the next step depends on, and one that is cut off is never gone on from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stages.experiment.backend import Backend
from stages.training.loop import Progress, examples_of_step, load_checkpoint, save_checkpoint
from stages.training.trainer import Trainer, trainer_for
from tests.support.tiny import BACKENDS, BFLOAT16, SETTINGS, VARIANTS, loud, tiny_model, tiny_prepared
from tests.training.test_loop import PHASE, failing_at, same, trained


def test_damage_is_told_and_the_weights_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, losses = trained(tmp_path / "straight.checkpoint", backend=BFLOAT16)
    path = tmp_path / "a.checkpoint"
    with pytest.raises(ZeroDivisionError):
        trained(path, backend=BFLOAT16, phase=replace(PHASE, draw=failing_at(6)), interval=0)
    path.write_bytes(path.read_bytes()[:-500])
    capsys.readouterr()
    weights, losses_after = trained(path, backend=BFLOAT16)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert line.startswith(f"{path} is damaged (") and line.endswith("); the training starts anew")
    assert same(weights, expected) and (losses_after == losses).all()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("recipe", ["handout", "open"])  # AdamW and Muon
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_restored_trainer_goes_on_bit_for_bit(tmp_path: Path, variant: str, recipe: str, backend: Backend) -> None:
    def new(seed: int) -> Trainer:
        model = loud(tiny_model(variant, len(tiny_prepared().vocabulary), seed=seed))
        return trainer_for(model, SETTINGS.recipes[recipe].optimizer, backend)

    one, other = new(0), new(9)
    parts = one.cut(examples_of_step(PHASE, 1, 0))
    losses = np.zeros(PHASE.steps, dtype=np.float32)
    for _ in range(3):
        one.step(parts, 1e-3)
    save_checkpoint(tmp_path / "a.checkpoint", one, Progress(3, 1.5, losses))
    progress = load_checkpoint(tmp_path / "a.checkpoint", other, PHASE.steps)
    assert (progress.steps, progress.seconds) == (3, 1.5)
    for trainer in (one, other):
        for _ in range(3):
            trainer.step(parts, 1e-3)
    assert same(one.state(), other.state()) and one.state().keys() == other.state().keys()
