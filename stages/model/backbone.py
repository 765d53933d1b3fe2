"""What stands between embedding and head."""

from collections.abc import Sequence

from torch import Tensor, nn

from stages.model.block import Block
from stages.model.mixer import Mixer, State
from stages.model.packing import Packing
from stages.settings import Model, Section


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
