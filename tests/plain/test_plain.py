"""The model to read in one sitting: it stands alone, starts like the study's, learns, and answers."""

from pathlib import Path

import pytest
import torch

from stages.plain import __main__ as plain
from stages.plain.model import PlainGPT
from stages.plain.training import Phase
from stages.training import phases
from tests.support.project import save_prepared, write_params
from tests.support.talking import Run, error, tiny
from tests.support.tiny import BUILT_IN, MODEL, ROOT, SECTIONS, SETTINGS, tiny_model
from tests.test_dependencies import imports_of

ALLOWED = ("__init__.py", "plain/", "corpus/", "settings/", "system/")


def test_it_imports_nothing_of_the_fast_model_and_its_training() -> None:
    imported = set().union(*map(imports_of, (ROOT / "stages" / "plain").glob("*.py")))
    names = {path.relative_to(ROOT / "stages").as_posix() for path in imported}
    assert [name for name in names if not name.startswith(ALLOWED)] == []


@pytest.mark.parametrize("variant", BUILT_IN)
def test_first_weights_are_distributed_as_the_studys(variant: str) -> None:
    shape = MODEL.model_copy(update={"width": 128})
    torch.manual_seed(0)
    weights = PlainGPT(variant, 40, shape, SECTIONS[variant]).state_dict()
    expected = tiny_model(variant, 40, model=shape).state_dict()
    assert list(weights) == list(expected)
    for name, weight in expected.items():
        if weight.numel() >= 1000 or len(weight.unique()) == 1:
            assert float(weights[name].mean()) == pytest.approx(float(weight.mean()), abs=2e-3), name
            assert float(weights[name].std()) == pytest.approx(float(weight.std()), rel=0.1), name


@pytest.mark.parametrize("schedule", ["pretrain", "finetune"])
def test_the_learning_rate_is_the_studys(schedule: str) -> None:
    settings, context, rows = getattr(SETTINGS.recipes["quick"], schedule), 128, 200
    settings = settings.model_copy(update={"batch_size": 32})
    phase = Phase("", pytest.fail, rows, 30, settings, context)
    studys = phases.Phase("", "", pytest.fail, rows, 30, settings, context)
    tokens = 0
    for step in range(1, studys.steps):
        tokens += min(32, rows - (step - 1) % 7 * 32) * (context - 1)
        assert phase.rate(tokens) == pytest.approx(studys.rate(step)), step


def test_what_was_read_and_asked_for_is_known(tmp_path: Path, run_in: Run) -> None:
    write_params(tmp_path, tiny)  # a training that knows its questions by heart
    save_prepared(tmp_path / "data/prepared/quick")
    outcome = run_in(tmp_path, plain, "--variant", "vanilla")
    assert outcome.out.startswith("vanilla: 100.0 % of dev; always London: 0.0 %")


@pytest.mark.parametrize(("key", "value"), [("model.expansion", 2), ("pretrain.self_training_epochs", 1)])
def test_what_the_plain_model_does_not_know_is_refused(tmp_path: Path, run_in: Run, key: str, value: int) -> None:
    write_params(tmp_path, values={f"recipes.quick.{key}": value})
    assert error(run_in(tmp_path, plain)).startswith(f"error: params.yaml: recipes.quick.{key}: was {value}; the plain")
