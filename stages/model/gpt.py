"""The model: embed characters, run the trunk, predict the next character."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from stages.model.fused import dropout, layer_norm
from stages.model.mixer import State
from stages.model.mixers import build
from stages.settings import Model, Section


class GPT(nn.Module):
    """A decoder-only transformer over characters, as CS224N's assignment 5 gives it.

    ::

        tokens ── embedding (+ learned positions, zero at first, if the variant needs them) ── dropout
               ── trunk of the variant: layers × Block ── LayerNorm ── head, untied, without bias ── logits

    Weights are drawn from N(0, 0.02), biases are zero.
    """

    def __init__(self, variant: str, vocabulary_size: int, model: Model, mixer_settings: Section) -> None:
        super().__init__()
        self.context = model.context
        self.embedding = nn.Embedding(vocabulary_size, model.width)
        self.blocks = build(variant, model, mixer_settings)
        needs_positions = self.blocks.needs_positions
        self.positions = nn.Parameter(torch.zeros(model.context, model.width)) if needs_positions else None
        self.share_dropped = model.dropout
        self.norm = nn.LayerNorm(model.width)
        self.head = nn.Linear(model.width, vocabulary_size, bias=False)
        self.apply(_initialise)

    def hidden(
        self, parts: Sequence[Tensor], states: Sequence[State] | None = None, wanted: Tensor | None = None
    ) -> Tensor:
        """Batches of tokens, each (B, T) int64 → what the head reads (N, C), one part after another, N = Σ B·T.

        With states (one a block) there is one part, and its tokens continue each row after the positions its
        states have seen. With `wanted`, numbers of characters in 0…N−1, only what is read at those is computed
        to the end: (wanted, C).
        """
        x = self.embedding(torch.cat([part.flatten() for part in parts]))  # (N, C)
        if self.positions is not None:
            x = x + torch.cat([self._positions(part, states).flatten(0, 1) for part in parts])
        x = dropout(x, self.share_dropped if self.training else 0.0)
        x = self.blocks(x, [part.shape for part in parts], states, wanted)
        return layer_norm(x, self.norm.weight, self.norm.bias)

    def _positions(self, part: Tensor, states: Sequence[State] | None) -> Tensor:
        """The learned positions of a part's characters (B, T, C)."""
        assert self.positions is not None
        B, T = part.shape
        if states is None:
            return self.positions[:T].expand(B, T, -1)
        return self.positions[states[0].lengths[:, None] + torch.arange(T, device=part.device)]

    def forward(self, tokens: Tensor, states: Sequence[State] | None = None) -> Tensor:
        """tokens (B, T) int64 → logits (B, T, vocabulary size) of the character after each."""
        return self.head(self.hidden([tokens], states)).view(*tokens.shape, -1)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        """States for generation, one a block, of rows that have seen nothing yet."""
        return self.blocks.empty_states(batch, positions)

    @property
    def parameter_count(self) -> int:
        """How many numbers training changes."""
        return sum(parameter.numel() for parameter in self.parameters())


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
