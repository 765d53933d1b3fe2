"""The optimizers are torch's own, AdamW to the bit; bfloat16."""

from collections.abc import Callable

import torch
from torch import nn

from stages.training.optimizer import AdamW, Muon
from stages.training.trainer import Trainer
from tests.support.tiny import BFLOAT16, HANDOUT, loud, tiny_model
from tests.training.test_equality import VOCABULARY, span_batch


def test_bfloat16_keeps_float32_masters_and_the_model_follows_them() -> None:
    trained = Trainer(loud(tiny_model("vanilla", VOCABULARY)), HANDOUT.optimizer, BFLOAT16)
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
