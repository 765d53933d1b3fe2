"""The model: characters are embedded, residual blocks mix them, and the next character is predicted."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from stages.model.mixer import Mixer
from stages.model.ops import LayerNorm, dropout, embed, embed_positions
from stages.model.packing import Packing
from stages.model.registry import build
from stages.model.state import State
from stages.settings import ModelSettings, Section


class GPT(nn.Module):
    """A decoder-only transformer over characters, as CS224N's assignment 5 gives it.

    ::

        tokens ── embedding (+ learned positions, zero at first, if the variant needs them) ── dropout
               ── backbone of the variant: layers × Block ── LayerNorm ── head, untied, without bias ── logits

    Weights of linear layers and embeddings are drawn from N(0, 0.02), biases are zero; a mixer's file says which
    of its weights start differently.
    """

    def __init__(self, variant: str, vocabulary_size: int, model: ModelSettings, mixer_settings: Section) -> None:
        super().__init__()
        self.context = model.context
        self.embedding = nn.Embedding(vocabulary_size, model.width)
        self.blocks = build(variant, model, mixer_settings)
        needs_positions = self.blocks.needs_positions
        self.positions = nn.Parameter(torch.zeros(model.context, model.width)) if needs_positions else None
        self.dropout_rate = model.dropout
        self.norm = LayerNorm(model.width)
        self.head = nn.Linear(model.width, vocabulary_size, bias=False)
        self.apply(_initialise)

    def hidden(
        self,
        tokens: Tensor,
        packing: Packing,
        states: Sequence[State] | None = None,
        loss_indices: Tensor | None = None,
    ) -> Tensor:
        """Tokens (N,) int64 of sequences one after the other → what the head reads (N, C).

        With states (one a block) the packing is full, of one part, and the tokens continue each sequence after the
        positions its states have seen. With `loss_indices`, some characters' indices in 0…N−1, only those are
        computed to the end: (L, C).
        """
        x = embed(self.embedding.weight, tokens)  # (N, C)
        if self.positions is not None:
            if states is None:
                x = x + embed_positions(self.positions, packing)
            else:
                x = x + self.positions[states[0].next_positions(packing.parts[0].width).flatten()]
        x = dropout(x, self.dropout_rate if self.training else 0.0)
        x = self.blocks(x, packing, states, loss_indices)
        return self.norm(x)

    def forward(self, tokens: Tensor, states: Sequence[State] | None = None) -> Tensor:
        """tokens (B, T) int64 → logits (B, T, vocabulary size) of the character after each."""
        return self.head(self.hidden(tokens.flatten(), Packing.full(tokens.shape), states)).view(*tokens.shape, -1)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        """States for generation, one a block, of sequences that have seen nothing yet."""
        return self.blocks.empty_states(batch, positions)

    @torch.no_grad()
    def move_positions(self, by: int) -> None:
        """Give each position the weights of the position `by` before it; the first ones keep theirs.

        What moves are the learned positions, and what a mixer declares in `by_position`. In a question the name stands
        ten characters later than in a page: moved by ten, each position does what the one ten before it learned to do.
        """
        weights: list[tuple[Tensor, tuple[int, ...]]] = []
        if self.positions is not None:
            weights.append((self.positions, (0,)))
        for module in self.modules():
            if isinstance(module, Mixer):
                weights += [(getattr(module, name), axes) for name, axes in module.by_position.items()]

        for weight, axes in weights:
            for axis in axes:
                source = torch.arange(weight.shape[axis], device=weight.device)
                source[by:] -= by
                weight.copy_(weight.index_select(axis, source))


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, Mixer):
        module.initialise()
