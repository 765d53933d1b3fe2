"""Which weights move by which rule: torch's own to the bit, or the published one; bfloat16."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from stages.experiment.experiment import Backend
from stages.settings.params import OptimizerSettings
from stages.training.optimizer import COEFFICIENTS, AdamW, Muon, orthogonalised
from stages.training.trainer import Trainer
from tests.support.tiny import BFLOAT16, FLOAT32, HANDOUT, VARIANTS, loud, tiny_model
from tests.training.test_equality import VOCABULARY, span_batch

OPTIMIZER = HANDOUT.optimizer.model_copy(update={"matrices": "adamw"})
MUON = HANDOUT.optimizer.model_copy(update={"matrices": "muon", "weight_decay": 0.5})  # AdamW: test_equality.py


def trainer(variant: str, backend: Backend = FLOAT32, optimizer: OptimizerSettings = OPTIMIZER) -> Trainer:
    return Trainer(loud(tiny_model(variant, VOCABULARY)), optimizer, backend)


@pytest.mark.parametrize("decays", ["matrices", "all_but_biases"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_shall_decay_decays_by_either_rule_of_muon(variant: str, decays: str) -> None:
    trained = trainer(variant, optimizer=MUON.model_copy(update={"decays": decays}))
    assert sorted(name for rule in trained.optimizers for name in rule.weights) == sorted(trained.named_masters)
    before = {name: weight.clone() for name, weight in trained.weights().items()}
    for master in trained.masters:
        master.grad = torch.zeros_like(master)  # what moves, decays
    for rule in trained.optimizers:
        rule.step(0.1)
    muon = trained.optimizers[-1].weights
    assert all(name.startswith("blocks.") and weight.dim() == 2 for name, weight in muon.items())  # never the head
    assert muon
    modules = trained.model.named_modules()
    linear = {f"{name}.weight" for name, module in modules if isinstance(module, nn.Linear)}
    for name, weight in trained.weights().items():
        decayed = name in linear if decays == "matrices" else not name.endswith("bias")
        expected = before[name] * (1 - 0.1 * 0.5) if decayed else before[name]
        torch.testing.assert_close(weight, expected, rtol=1e-6, atol=0, msg=name)


def test_bfloat16_keeps_float32_masters_and_the_model_follows_them() -> None:
    trained = trainer("vanilla", BFLOAT16)
    before = trained.weights()["head.weight"].clone()
    trained.step(span_batch(0), 1e-6)  # a change too small for bfloat16
    after = trained.weights()
    assert {weight.dtype for weight in after.values()} == {torch.float32}
    assert not torch.equal(after["head.weight"], before)
    for name, copy in trained.model.named_parameters():
        assert copy.dtype == torch.bfloat16
        assert torch.equal(copy, after[name].to(torch.bfloat16))


SHAPES = [(24, 8), (8, 8), (8, 24), (24, 8), (8, 8)]  # an MLP's matrices and a mixer's, not in order of shape


def trained(step: Callable[[list[nn.Parameter]], Callable[[float], object]], steps: int = 4) -> list[nn.Parameter]:
    """Matrices after some steps with gradients that depend on nothing but the step."""
    draws = torch.Generator().manual_seed(1)
    matrices = [nn.Parameter(torch.randn(shape, generator=draws)) for shape in SHAPES]
    take = step(matrices)
    for number in range(1, steps + 1):
        for matrix in matrices:
            matrix.grad = torch.randn(matrix.shape, generator=draws)
        take(0.01 * number)
    return matrices


def torchs(optimizer: torch.optim.Optimizer) -> Callable[[float], object]:
    """A step of torch's own optimizer at a rate."""

    def step(rate: float) -> None:
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()

    return step


def named(matrices: list[nn.Parameter]) -> dict[str, nn.Parameter]:
    return {str(number): matrix for number, matrix in enumerate(matrices)}


def test_adamw_is_torchs_own_to_the_bit() -> None:
    ours = trained(lambda matrices: AdamW(named(matrices), 0.1).step)
    theirs = trained(
        lambda matrices: torchs(torch.optim.AdamW(matrices, betas=(0.9, 0.95), weight_decay=0.1, fused=True))
    )
    assert all(map(torch.equal, ours, theirs))


def test_in_bfloat16_muons_steps_are_those_of_torchs_own() -> None:
    def plain(matrices: list[nn.Parameter]) -> Callable[[float], object]:
        return torchs(torch.optim.Muon(matrices, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"))

    together = trained(lambda matrices: Muon(named(matrices), 0.1, torch.bfloat16).step)
    start, apart = trained(plain, steps=0), trained(plain)
    for ours, theirs, first in zip(together, apart, start, strict=True):
        moved = (theirs - first).norm()
        assert moved > 0.01
        # the norm that divides a matrix is rounded to bfloat16 from another sum: a step of 2⁻⁸ at most
        assert (ours - theirs).norm() < 0.01 * moved


def iterated(singular: Tensor) -> Tensor:
    """Singular values after five iterations: a polynomial of odd powers changes nothing else of a matrix."""
    a, b, c = COEFFICIENTS
    for _ in range(5):
        singular = a * singular + b * singular**3 + c * singular**5
    return singular


@pytest.mark.parametrize("shape", [(3, 24, 8), (3, 8, 24), (3, 8, 8)])
def test_in_float32_the_iteration_is_that_of_singular_values_in_float64(shape: tuple[int, ...]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    left, singular, right = torch.linalg.svd(matrices.double(), full_matrices=False)
    singular = iterated(singular / singular.norm(dim=-1, keepdim=True))
    torch.testing.assert_close(orthogonalised(matrices).double(), left * singular[:, None] @ right, atol=2e-5, rtol=0)
