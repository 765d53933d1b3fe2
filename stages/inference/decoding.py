"""Choices of the next character from a model's logits: the likeliest, or a draw."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from stages.system.errors import StudyError

Pick = Callable[[Tensor], tuple[Tensor, Tensor]]  # logits (B, V) → (B,) log-probabilities, (B,) characters


def greedy(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Pick the likeliest character of each sequence; a `Pick`."""
    return logits.float().log_softmax(dim=-1).max(dim=-1)


@dataclass
class Sampler:
    """A `Pick` that draws from the distribution at a temperature, then its top k, then the nucleus of those.

    The same seed and the same logits give the same characters. Raises StudyError: a value is impossible.
    """

    seed: int
    temperature: float = 1.0  # logits are divided by it; 0: always the likeliest
    top_k: int | None = None  # only this many of the likeliest
    top_p: float | None = None  # only the nucleus: the fewest likeliest with this mass (Holtzman et al. 2020)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise StudyError(f"temperature: was {self.temperature:g}; allowed: 0 or more")
        if self.top_k is not None and self.top_k < 1:
            raise StudyError(f"top-k: was {self.top_k}; allowed: 1 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise StudyError(f"top-p: was {self.top_p:g}; allowed: more than 0, at most 1")
        self.generator = np.random.default_rng(self.seed)

    def distribution(self, logits: np.ndarray) -> np.ndarray:
        """Return the probabilities (B, V) to draw from, for logits (B, V); equals rank in the vocabulary's order."""
        temperature, top_k = (self.temperature, self.top_k) if self.temperature else (1.0, 1)
        order = np.argsort(-logits, axis=1, kind="stable")
        falling = np.take_along_axis(logits, order, axis=1).astype(np.float64)
        with np.errstate(over="ignore"):  # at a temperature near 0 others have -inf, and a probability of 0
            falling = np.exp((falling - falling[:, :1]) / temperature)
        if top_k is not None:
            falling[:, top_k:] = 0
        falling /= falling.sum(axis=1, keepdims=True)
        if self.top_p is not None:
            likelier = np.roll(falling.cumsum(axis=1), 1, axis=1)  # (B, V): the mass of the likelier ones
            likelier[:, 0] = 0
            falling[likelier >= self.top_p] = 0
            falling /= falling.sum(axis=1, keepdims=True)
        probabilities = np.empty_like(falling)
        np.put_along_axis(probabilities, order, falling, axis=1)
        return probabilities

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Draw characters; return the log-probability of each, and the character."""
        probabilities = self.distribution(logits.double().cpu().numpy())
        characters = draw(probabilities, self.generator)
        chosen = np.log(probabilities[np.arange(len(characters)), characters])
        return torch.from_numpy(chosen).to(logits.device), torch.from_numpy(characters).to(logits.device)


def draw(probabilities: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a character (B,) for each sequence from probabilities (B, V)."""
    bounds = probabilities.cumsum(axis=1)
    return (bounds <= generator.random((len(bounds), 1)) * bounds[:, -1:]).sum(axis=1)
