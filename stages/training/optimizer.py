"""Which weights are trained by which rule.

The rules are not torch.optim's classes: those load torch._dynamo, a second of every start, and take 0.1 ms longer a
step.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from stages.model.gpt import GPT
from stages.settings.params import OptimizerSettings

# Muon's momentum, and its iteration's coefficients, steps and smallest norm (Jordan et al. 2024)
MOMENTUM = 0.95
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
STEPS = 5
SMALLEST_NORM = 1e-7


class AdamW:
    """AdamW (Loshchilov & Hutter 2019, arXiv 1711.05101) by torch's fused operation: torch.optim.AdamW to the bit."""

    def __init__(self, weights: Mapping[str, nn.Parameter], weight_decay: float) -> None:
        self.weights, self.weight_decay = weights, weight_decay
        self.steps = {f"step.{name}": torch.zeros((), device=weight.device) for name, weight in weights.items()}
        self.means = {f"exp_avg.{name}": torch.zeros_like(weight) for name, weight in weights.items()}
        self.squares = {f"exp_avg_sq.{name}": torch.zeros_like(weight) for name, weight in weights.items()}
        self.state = self.steps | self.means | self.squares

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update all weights by their gradients."""
        steps = [*self.steps.values()]
        torch._foreach_add_(steps, 1)
        torch._fused_adamw_(
            [*self.weights.values()],
            [_gradient(weight) for weight in self.weights.values()],
            [*self.means.values()],
            [*self.squares.values()],
            [],
            steps,
            lr=rate,
            beta1=0.9,  # the decay rates of both moments are the assignment's
            beta2=0.95,
            weight_decay=self.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


class Muon:
    """Muon (Jordan et al. 2024, kellerjordan.github.io/posts/muon) with Nesterov's momentum.

    Its updates are scaled to AdamW's size (Liu et al. 2025, arXiv 2502.16982), so that one rate serves both. Matrices
    of equal shape are multiplied together, in `dtype`: torch.optim.Muon multiplies one after the other, always in
    bfloat16, which most processors only emulate.
    """

    def __init__(self, weights: Mapping[str, nn.Parameter], weight_decay: float, dtype: torch.dtype) -> None:
        self.weights, self.weight_decay, self.dtype = weights, weight_decay, dtype
        self.state = {f"momentum_buffer.{name}": torch.zeros_like(weight) for name, weight in weights.items()}
        self.by_shape: dict[torch.Size, list[str]] = {}
        for name, weight in weights.items():
            self.by_shape.setdefault(weight.shape, []).append(name)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update all matrices by their gradients."""
        for shape, names in self.by_shape.items():
            matrices: list[Tensor] = [self.weights[name] for name in names]
            gradients = [_gradient(matrix) for matrix in matrices]
            buffers = [self.state[f"momentum_buffer.{name}"] for name in names]

            torch._foreach_lerp_(buffers, gradients, 1 - MOMENTUM)
            updates = torch.stack(torch._foreach_lerp(gradients, buffers, MOMENTUM))  # (matrices, rows, C)
            updates = orthogonalised(updates.to(self.dtype)).float()
            torch._foreach_mul_(matrices, 1 - rate * self.weight_decay)
            torch._foreach_add_(matrices, list(updates), alpha=-rate * 0.2 * max(shape) ** 0.5)


def build_optimizers(
    model: GPT, masters: Mapping[str, nn.Parameter], settings: OptimizerSettings, dtype: torch.dtype
) -> list[AdamW | Muon]:
    """Optimizers of `masters`, the weights by the names that they have in the model.

    The weight matrices of linear layers decay; biases do not; norms, embeddings, positions and other tables do if
    `settings.decays` is "all_but_biases". With "muon" Muon trains these matrices except the head's, and AdamW the rest.
    """
    matrices = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    decaying, steady, orthogonal = {}, {}, {}
    for name, master in masters.items():
        if name in matrices and settings.matrices == "muon" and name != "head.weight":
            orthogonal[name] = master
        elif name in matrices or (settings.decays == "all_but_biases" and not name.endswith("bias")):
            decaying[name] = master
        else:
            steady[name] = master

    decay = settings.weight_decay
    return [AdamW(decaying, decay), AdamW(steady, 0.0), Muon(orthogonal, decay, dtype)]


def orthogonalised(matrices: Tensor) -> Tensor:
    """Matrices (B, rows, C) with all their singular values brought near 1, by Newton and Schulz's iteration."""
    a, b, c = COEFFICIENTS
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if is_tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=SMALLEST_NORM)
    for _ in range(STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if is_tall else x


def _gradient(weight: Tensor) -> Tensor:
    assert weight.grad is not None
    return weight.grad
