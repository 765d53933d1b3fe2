"""The model: characters are embedded, residual blocks mix them, and the next character is predicted.

A variant is a file in mixers/, which defines a mixer or a backbone of its own.
"""

import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from stages.model.mixer import Backbone, Mixer
from stages.model.ops import LayerNorm, dropout, embed, embed_positions
from stages.model.packing import Packing
from stages.model.state import State
from stages.settings.params import PARAMS, ModelSettings
from stages.settings.section import Section, check
from stages.system.errors import UserError


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
        self.dropout = model.dropout
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
        x = dropout(x, self.dropout if self.training else 0.0)
        x = self.blocks(x, packing, states, loss_indices)
        return self.norm(x)

    def forward(self, tokens: Tensor, states: Sequence[State] | None = None) -> Tensor:
        """tokens (B, T) int64 → logits (B, T, vocabulary size) of the character after each."""
        return self.head(self.hidden(tokens.flatten(), Packing.full(tokens.shape), states)).view(*tokens.shape, -1)

    def empty_states(self, batch: int, positions: int) -> list[State]:
        """States for generation, one a block, of sequences that have seen nothing yet."""
        return self.blocks.empty_states(batch, positions)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, Mixer):
        module.initialise()


def settings_of(variant: str, variants: dict[str, dict[str, Any]], model: ModelSettings) -> Section:
    """Typed section `variants.<variant>` of params.yaml, tried on the model's shape; variants: by name.

    The trial takes no memory and no time: its weights have shapes only, so a mixer's `__init__` reads none of them.
    Raises UserError: one line with the key that is unknown, of the wrong type or impossible.
    """
    key = f"variants.{variant}"
    path = f"stages/mixers/{variant}.py"
    try:
        settings: Section = check(defined(variant, Section) or Section, variants[variant], str(PARAMS), key)
        with torch.device("meta"):
            build(variant, model, settings)
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{PARAMS}: {key}: {error}") from error
    except Exception as error:  # in a file that people write
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f"line {frame.lineno}: " for frame in frames if frame.filename.endswith(path)]
        raise UserError(f"{path}: {''.join(lines[-1:])}{type(error).__name__}: {error}") from error
    return settings


def build(variant: str, model: ModelSettings, settings: Section) -> Backbone:
    """Build a backbone of the variant, with random weights: the file's own, or blocks with its mixer.

    Raises ValueError: the settings do not fit the model's shape.
    """
    if backbone := defined(variant, Backbone):
        return backbone(model, settings)
    if mixer := defined(variant, Mixer):
        return Backbone(model, settings, mixer)
    raise UserError(f"stages/mixers/{variant}.py defines no subclass of `Mixer`; docs/variants.md shows one")


def defined(variant: str, kind: type) -> Any:
    """Find the subclass of `kind` that the variant's file defines, the last of several; None if there is none."""
    module = import_module(f"stages.mixers.{variant}")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, kind)]
    return next((value for value in reversed(classes) if value.__module__ == module.__name__), None)
