"""Which weights are trained by which rule."""

from collections.abc import Sequence

import torch
from torch import nn

from stages.model.gpt import GPT
from stages.settings import Optimizer


def build_optimizers(model: GPT, masters: Sequence[nn.Parameter], settings: Optimizer) -> list[torch.optim.Optimizer]:
    """Optimizers of `masters`, which stand in the order of the model's parameters.

    The weight matrices of linear layers decay; biases do not; norms, embeddings, positions and other tables do if
    `settings.decays` is "all_but_biases". Those matrices are AdamW's too or, but for the head, Muon's (Jordan
    et al. 2024, kellerjordan.github.io/posts/muon), whose updates are scaled to AdamW's size (Liu et al. 2025, arXiv
    2502.16982) so that one rate serves both.
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
    if not orthogonal:
        return [adamw]
    muon = torch.optim.Muon(orthogonal, weight_decay=settings.weight_decay, adjust_lr_fn="match_rms_adamw")
    return [adamw, muon]
