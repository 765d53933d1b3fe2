"""Contrastive search: a likely character whose state is unlike the states before it.

Su et al. 2022, "A Contrastive Framework for Neural Text Generation", https://arxiv.org/abs/2202.06417
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from stages.model.gpt import GPT
from stages.model.packing import Packing


@dataclass(frozen=True)
class Contrastive:
    """Among the likeliest characters x the one with the most (1 − α) p(x) − α max_j cos(h_x, h_j).

    h_x is the state that the head reads after x, h_j are those of the characters before x.
    """

    candidates: int
    alpha: float

    @torch.inference_mode()
    def continued(self, model: GPT, beginnings: np.ndarray, characters: int) -> np.ndarray:
        """Continue beginnings (B, any length but 0) by so many characters: (B, characters).

        The model reads the whole context anew for each character. A full context is cut to its last half.
        """
        model.eval()
        tokens = torch.from_numpy(beginnings).to(model.head.weight.device)
        first = 0  # the first character that is read
        for _ in range(characters):
            if tokens.shape[1] - first >= model.context:
                first = tokens.shape[1] - model.context // 2
            tokens = torch.cat([tokens, self._next(model, tokens[:, first:])], dim=1)
        return tokens[:, beginnings.shape[1] :].cpu().numpy()

    def _next(self, model: GPT, tokens: Tensor) -> Tensor:
        """Choose the character (B, 1) after tokens (B, T)."""
        B, T = tokens.shape
        logits = model(tokens)[:, -1].float()  # (B, V)
        probability, characters = logits.softmax(dim=-1).topk(min(self.candidates, logits.shape[1]))  # (B, k) each
        k = characters.shape[1]
        texts = torch.cat([tokens[:, None].expand(B, k, T), characters[..., None]], dim=2).flatten(0, 1)  # (B·k, T + 1)
        states = model.hidden(texts.flatten(), Packing.full(texts.shape)).float().view(B, k, T + 1, -1)
        directions = F.normalize(states, dim=-1)
        likeness = (directions[:, :, :T] @ directions[:, :, T, :, None]).amax(dim=(2, 3))  # (B, k)
        best = ((1 - self.alpha) * probability - self.alpha * likeness).argmax(dim=1, keepdim=True)
        return characters.gather(1, best)
