"""Muon with matrices of one shape together: torch's own step by step, and its rule in the type that is asked for."""

import numpy as np
import pytest
import torch
from torch import nn

from stages.training.optimizer import BatchedMuon, orthogonalised

SHAPES = [(24, 8), (8, 8), (8, 24), (24, 8), (8, 8)]  # an MLP's matrices and a mixer's, not in order of shape
COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # Jordan et al. 2024


def trained(make, steps=4):
    """Matrices after some steps with gradients that depend on nothing but the step."""
    draws = torch.Generator().manual_seed(1)
    matrices = [nn.Parameter(torch.randn(shape, generator=draws)) for shape in SHAPES]
    optimizer = make(matrices)
    for step in range(1, steps + 1):
        for matrix in matrices:
            matrix.grad = torch.randn(matrix.shape, generator=draws)
        optimizer.param_groups[0]["lr"] = 0.01 * step
        optimizer.step()
    return matrices


def plain(matrices):
    return torch.optim.Muon(matrices, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")


def test_in_bfloat16_the_steps_are_those_of_torchs_muon():
    together = trained(lambda matrices: BatchedMuon(matrices, 0.1, torch.bfloat16))
    start, apart = trained(plain, steps=0), trained(plain)
    for ours, theirs, first in zip(together, apart, start, strict=True):
        moved = (theirs - first).norm()
        assert moved > 0.01
        # the norm that divides a matrix is rounded to bfloat16 from another sum: a step of 2⁻⁸ at most
        assert (ours - theirs).norm() < 0.01 * moved


@pytest.mark.parametrize("shape", [(3, 24, 8), (3, 8, 24), (3, 8, 8)])
def test_in_float32_the_iteration_is_that_of_float64_in_numpy(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    ours = orthogonalised(matrices, COEFFICIENTS, 5, 1e-7)
    for matrix, result in zip(matrices.double().numpy(), ours, strict=True):
        left, singular, right = np.linalg.svd(matrix, full_matrices=False)
        singular = singular / np.sqrt((singular**2).sum())
        for _ in range(5):  # of a polynomial of odd powers only the singular values change
            singular = 3.4445 * singular - 4.7750 * singular**3 + 2.0315 * singular**5
        np.testing.assert_allclose(result.numpy(), left * singular @ right, atol=2e-5)


def test_a_step_in_float32_is_the_published_rule_by_hand():
    matrix = nn.Parameter(torch.eye(4))
    optimizer = BatchedMuon([matrix], 0.1, torch.float32)
    optimizer.param_groups[0]["lr"] = 0.01
    matrix.grad = 3.0 * torch.eye(4)
    optimizer.step()
    value = 0.5  # each singular value of the identity over its norm, 2
    for _ in range(5):
        value = 3.4445 * value - 4.7750 * value**3 + 2.0315 * value**5
    # decay first, then the orthogonalised gradient at 0.2 √4 of the rate (Liu et al. 2025)
    torch.testing.assert_close(matrix.detach(), (1 - 0.01 * 0.1 - 0.01 * 0.4 * value) * torch.eye(4))
