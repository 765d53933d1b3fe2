"""The traits of the device, told without torch."""

import subprocess
import sys

import pytest

from stages.experiment.backend import choose_backend
from stages.experiment.traits import traits
from tests.support.tiny import ROOT, SETTINGS


@pytest.mark.parametrize("kernels", ["auto", "torch"])
@pytest.mark.parametrize("precision", ["auto", "float32", "bfloat16"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_they_are_those_of_the_backend(device: str, precision: str, kernels: str) -> None:
    given = {"device": device, "precision": precision, "kernels": kernels}
    compute = SETTINGS.compute.model_copy(update=given)
    told, (kind, form, *others) = traits(compute), choose_backend(compute).traits
    assert told[:2] == [kind, form]
    assert (told[2:] == ["torch"]) == (others == ["torch"])
    choose_backend(SETTINGS.compute)


@pytest.mark.parametrize("module", ["jobs.job", "pretrain", "finetune", "evaluate"])
def test_a_stage_that_finds_its_jobs_done_loads_no_torch(module: str) -> None:
    code = f"import sys, stages.{module}; print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
