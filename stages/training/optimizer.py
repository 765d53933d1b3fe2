"""Which weights are trained by which rule."""

from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor, nn

from stages.model.gpt import GPT
from stages.settings import Optimizer


def build_optimizers(
    model: GPT, masters: Sequence[nn.Parameter], settings: Optimizer, dtype: torch.dtype
) -> list[torch.optim.Optimizer]:
    """Optimizers of `masters`, which stand in the order of the model's parameters.

    The weight matrices of linear layers decay; biases do not; norms, embeddings, positions and other tables do if
    `settings.decays` is "all_but_biases". Those matrices are AdamW's too or, but for the head, Muon's (Jordan
    et al. 2024, kellerjordan.github.io/posts/muon), whose updates are scaled to AdamW's size (Liu et al. 2025, arXiv
    2502.16982) so that one rate serves both. Muon's products are of type `dtype`.
    """
    matrices = {id(module.weight) for module in model.modules() if isinstance(module, nn.Linear)}
    decaying, steady, orthogonal = [], [], []
    for (name, parameter), master in zip(model.named_parameters(), masters, strict=True):
        is_matrix = id(parameter) in matrices
        if is_matrix and settings.matrices == "muon" and parameter is not model.head.weight:
            orthogonal.append(master)
        elif is_matrix or (settings.decays == "all_but_biases" and not name.endswith("bias")):
            decaying.append(master)
        else:
            steady.append(master)
    groups = [
        {"params": decaying, "weight_decay": settings.weight_decay},
        {"params": steady, "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, betas=(settings.betas[0], settings.betas[1]), fused=True)
    return [adamw, BatchedMuon(orthogonal, settings.weight_decay, dtype)] if orthogonal else [adamw]


def moments(optimizer: torch.optim.Optimizer, weight: Tensor) -> dict[str, torch.Size]:
    """The shapes of what an optimizer of `build_optimizers` keeps of a weight from its first step on."""
    if isinstance(optimizer, BatchedMuon):
        return {"momentum_buffer": weight.shape}
    return {"step": torch.Size(), "exp_avg": weight.shape, "exp_avg_sq": weight.shape}


class BatchedMuon(torch.optim.Muon):
    """torch.optim.Muon, but matrices of equal shape are multiplied together, and in a type of one's choice.

    torch's own multiplies one matrix after the other, always in bfloat16, which most processors only emulate. The
    momentum is Nesterov's, the size of an update AdamW's.
    """

    def __init__(self, matrices: Sequence[nn.Parameter], weight_decay: float, dtype: torch.dtype) -> None:
        super().__init__(sorted(matrices, key=_shape), weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
        self.dtype = dtype

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no closure is ever given
        """One update of all matrices by their gradients."""
        (group,) = self.param_groups
        rate, decay, momentum = group["lr"], group["weight_decay"], group["momentum"]
        for shape, each in groupby(group["params"], _shape):
            matrices = list(each)
            gradients: list[Tensor] = [matrix.grad for matrix in matrices]
            for matrix in matrices:
                if "momentum_buffer" not in self.state[matrix]:
                    self.state[matrix]["momentum_buffer"] = torch.zeros_like(matrix)
            buffers = [self.state[matrix]["momentum_buffer"] for matrix in matrices]
            torch._foreach_lerp_(buffers, gradients, 1 - momentum)
            updates = torch.stack(torch._foreach_lerp(gradients, buffers, momentum))  # Nesterov's; (matrices, rows, C)
            updates = orthogonalised(updates.to(self.dtype), group["ns_coefficients"], group["ns_steps"], group["eps"])
            torch._foreach_mul_(matrices, 1 - rate * decay)
            torch._foreach_add_(matrices, list(updates.float()), alpha=-rate * 0.2 * max(shape) ** 0.5)


def orthogonalised(matrices: Tensor, coefficients: Sequence[float], steps: int, smallest_norm: float) -> Tensor:
    """Each of some matrices (B, rows, C) with all its singular values near 1, by Newton and Schulz's iteration."""
    a, b, c = coefficients
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if is_tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=smallest_norm)
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _shape(matrix: Tensor) -> tuple[int, ...]:
    return tuple(matrix.shape)
