"""The traits of the device, told without torch."""

import subprocess
import sys

import pytest

from stages.experiment.backend import choose_backend
from stages.experiment.provenance import traits
from tests.support.tiny import ROOT, SETTINGS


@pytest.mark.parametrize("kernels", ["auto", "torch"])
@pytest.mark.parametrize("precision", ["auto", "float32", "bfloat16"])
@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_they_are_those_of_the_backend(device: str, precision: str, kernels: str) -> None:
    given = {"device": device, "precision": precision, "kernels": kernels}
    compute = SETTINGS.compute.model_copy(update=given)
    (kind, form, *others), backend = traits(compute), choose_backend(compute)
    assert (kind, form) == (backend.device.type, backend.precision)
    assert kind != "cpu" or (others == ["torch"]) == (backend.kernels == "torch")
    choose_backend(SETTINGS.compute)


@pytest.mark.parametrize("module", ["jobs.job", "pretrain", "finetune", "evaluate"])
def test_a_stage_that_finds_its_jobs_done_loads_no_torch(module: str) -> None:
    code = f"import sys, stages.{module}; print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
