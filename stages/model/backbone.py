"""What stands between embedding and head: residual blocks."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from stages.model.mixer import Mixer, State
from stages.model.ops import add_dropout, add_linear, layer_norm, linear_gelu
from stages.model.packing import Packing
from stages.settings import Model, Section


class Block(nn.Module):
    """x + mix(norm(x)), then x + mlp(norm(x)): pre-LayerNorm, GELU MLP of `expansion` times the width, or none for 0.

    All but the mixer works on characters one by one, so it takes a whole batch's at once, whatever their sequences.
    """

    def __init__(self, model: Model, mixer: Mixer, expansion: int) -> None:
        super().__init__()
        self.norm_mixer = nn.LayerNorm(model.width)
        self.mixer = mixer
        self.dropout_rate = model.dropout
        self.has_mlp = expansion > 0
        if self.has_mlp:
            self.norm_mlp = nn.LayerNorm(model.width)
            self.expand = nn.Linear(model.width, expansion * model.width)
            self.contract = nn.Linear(expansion * model.width, model.width)

    def forward(self, x: Tensor, packing: Packing, state: Any = None, loss_indices: Tensor | None = None) -> Tensor:
        """x (N, C) → (N, C); packing and state are as in `Mixer.forward`.

        With `loss_indices`, indices of characters, only those come out: (loss_indices, C).
        """
        mixed = self.mixer(layer_norm(x, self.norm_mixer.weight, self.norm_mixer.bias), packing, state)  # (N, C)
        return self.add(x, mixed, loss_indices)

    def add(self, x: Tensor, mixed: Tensor, loss_indices: Tensor | None = None) -> Tensor:
        """x + mixed, then the MLP: what follows the mixer. x, mixed: (N, C); only `loss_indices` go on, or all."""
        if loss_indices is not None:  # from here on no character sees another: the rest is not needed
            x, mixed = x[loss_indices], mixed[loss_indices]
        dropout_rate = self.dropout_rate if self.training else 0.0
        x = add_dropout(x, mixed, None, dropout_rate)
        if not self.has_mlp:
            return x
        h = layer_norm(x, self.norm_mlp.weight, self.norm_mlp.bias)
        h = linear_gelu(h, self.expand.weight, self.expand.bias)  # (N, expansion·C)
        return add_linear(x, h, self.contract.weight, self.contract.bias, dropout_rate)


class Backbone(nn.ModuleList):
    """layers × Block, each with a mixer of the variant.

    A variant that does not keep one vector a character all the way (the perceiver) derives a `Backbone` of its own.
    """

    needs_positions: bool

    def __init__(self, model: Model, settings: Section, mixer: type[Mixer], last_expansion: int | None = None) -> None:
        """last_expansion: of the last block's MLP; None: as in the others."""
        expansions = [model.expansion] * model.layers
        if last_expansion is not None:
            expansions[-1] = last_expansion
        mixers = (mixer(model, settings, layer) for layer in range(model.layers))
        super().__init__(Block(model, *parts) for parts in zip(mixers, expansions, strict=True))
        self.needs_positions = mixer.needs_positions

    def forward(
        self, x: Tensor, packing: Packing, states: Sequence[State] | None = None, loss_indices: Tensor | None = None
    ) -> Tensor:
        """x (N, C) → (N, C); packing and states, one a block, are as in `Mixer.forward`.

        With `loss_indices`, indices of characters, only those come out: (loss_indices, C).
        """
        for i, block in enumerate(self):
            is_last = i == len(self) - 1
            x = block(x, packing, None if states is None else states[i], loss_indices if is_last else None)
        return x

    def empty_states(self, batch: int, positions: int) -> list[State]:
        """States of `batch` sequences that have seen nothing yet, with room for `positions` positions."""
        mixers = [module for module in self.modules() if isinstance(module, Mixer)]
        return [mixer.empty_state(batch, positions) for mixer in mixers]
