"""How the next character is chosen: the likeliest, a draw, or a search for the likeliest continuations."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from stages.system.errors import UserError

Pick = Callable[[Tensor], tuple[Tensor, Tensor]]  # logits (B, V) → (B,) log-probabilities, (B,) characters
WORTH_KEEPING = 0.7  # while so large a share goes on, ended sequences stay in a batch: removal copies states
NEVER = -1  # an end that no character equals
Hypothesis = tuple[list[int], float]  # its characters and their log-probability


def greedy(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Pick the likeliest character of each sequence; a `Pick`."""
    return logits.float().log_softmax(dim=-1).max(dim=-1)


@dataclass
class Sampler:
    """A `Pick` that draws from the distribution at a temperature, then its top k, then the nucleus of those.

    The same seed and the same logits give the same characters. Raises UserError: a value is impossible.
    """

    seed: int
    temperature: float = 1.0  # logits are divided by it; 0: always the likeliest
    top_k: int | None = None  # only this many of the likeliest
    top_p: float | None = None  # only the nucleus: the fewest likeliest with this mass (Holtzman et al. 2020)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise UserError(f"temperature: was {self.temperature:g}; allowed: 0 or more")
        if self.top_k is not None and self.top_k < 1:
            raise UserError(f"top-k: was {self.top_k}; allowed: 1 or more")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UserError(f"top-p: was {self.top_p:g}; allowed: more than 0, at most 1")
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
        characters = draw_characters(probabilities, self.generator)
        chosen = np.log(probabilities[np.arange(len(characters)), characters])
        return torch.from_numpy(chosen).to(logits.device), torch.from_numpy(characters).to(logits.device)


def draw_characters(probabilities: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw a character (B,) for each sequence from probabilities (B, V)."""
    bounds = probabilities.cumsum(axis=1)
    return (bounds <= generator.random((len(bounds), 1)) * bounds[:, -1:]).sum(axis=1)


@dataclass(frozen=True)
class Continuation:
    """The continuation of a prompt."""

    tokens: np.ndarray  # (characters,) without the closing MASK
    probability: float  # of the whole, the closing MASK included


class SingleSearch:
    """One hypothesis a prompt, each character chosen by a `Pick`."""

    def __init__(self, prompts: np.ndarray, pick: Pick, end: int | None) -> None:
        self.prompts = prompts  # the number of the prompt that each sequence of the batch continues
        self.alive = np.ones(len(prompts), dtype=bool)
        self.pick = pick
        self.end = NEVER if end is None else end
        self.texts: list[list[int]] = [[] for _ in prompts]
        self.log_probabilities = np.zeros(len(prompts))

    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor | None, Tensor] | None:
        """Choose the sequences (B',) that go on, as indices into the batch (None: all), and the character of each.

        logits (B, V): of the next character; full (B,): whether the context has no room for it. None ends the search.
        """
        log_probability, character = self.pick(logits)  # (B,) each
        self.log_probabilities[self.prompts[self.alive]] += log_probability.cpu().double().numpy()[self.alive]
        characters = character.cpu().numpy()
        goes_on = characters != self.end
        for i in np.flatnonzero(self.alive & goes_on):
            self.texts[self.prompts[i]].append(int(characters[i]))
        self.alive &= goes_on & ~full
        if not self.alive.any():
            return None
        if not full.any() and self.alive.mean() >= WORTH_KEEPING:
            return None, character
        kept = torch.from_numpy(self.alive.nonzero()[0]).to(logits.device)
        self.prompts = self.prompts[self.alive]
        self.alive = self.alive[self.alive]
        return kept, character[kept]

    def hypotheses(self) -> list[list[Hypothesis]]:
        """Return what was said after each of the batch's prompts."""
        return [[hypothesis] for hypothesis in zip(self.texts, self.log_probabilities.tolist(), strict=True)]


class BeamSearch:
    """The likeliest hypotheses of each prompt, the likeliest first."""

    def __init__(self, prompts: np.ndarray, width: int, end: int | None) -> None:
        self.beams = [_Beam(width, NEVER if end is None else end) for _ in prompts]  # in the order of the prompts
        self.prompts = prompts.tolist()  # the prompts that go on, in the order of their hypotheses in the batch

    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor, Tensor] | None:
        """Choose as `SingleSearch` does."""
        log_probabilities = logits.float().log_softmax(dim=-1).cpu().double().numpy()
        start = 0
        prompts = []
        kept, read = [], []  # by prompt: the hypotheses that go on, and the character of each
        for prompt in self.prompts:
            beam = self.beams[prompt]
            own = slice(start, start + len(beam.hypotheses))  # all of one length
            hypotheses, characters = beam.go_on(log_probabilities[own], bool(full[own].any()))
            if len(hypotheses):
                kept.append(start + hypotheses)
                read.append(characters)
                prompts.append(prompt)
            start = own.stop

        self.prompts = prompts
        if not prompts:
            return None
        indices = torch.from_numpy(np.concatenate(kept)).to(logits.device)
        return indices, torch.from_numpy(np.concatenate(read)).to(logits.device)

    def hypotheses(self) -> list[list[Hypothesis]]:
        """Return what was said after each of the batch's prompts."""
        return [_best(beam.ended + beam.hypotheses, beam.width) for beam in self.beams]


@dataclass
class _Beam:
    """The likeliest hypotheses of one prompt."""

    width: int
    end: int
    hypotheses: list[Hypothesis] = field(default_factory=lambda: [([], 0.0)])  # those that go on
    ended: list[Hypothesis] = field(default_factory=list)  # the best so far

    def go_on(self, log_probabilities: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
        """Choose the hypotheses that go on, as indices into the previous ones, and the character of each.

        log_probabilities (hypotheses, V): of the next character; full: whether the context has no room for it.
        """
        previous = np.array([total for _, total in self.hypotheses])
        sums = (previous[:, None] + log_probabilities).ravel()  # (hypotheses · V,)
        # one character at most ends a hypothesis, so that among twice the width enough go on
        best = np.argsort(-sums, kind="stable")[: 2 * self.width]  # stable: equals stay in order
        totals = sums[best]
        before, characters = np.divmod(best, log_probabilities.shape[1])

        ends = characters == self.end
        ended = [(self.hypotheses[before[i]][0], float(totals[i])) for i in np.flatnonzero(ends[: self.width])]
        self.ended = _best(self.ended + ended, self.width)
        on = np.flatnonzero(~ends)[: self.width]
        self.hypotheses = [([*self.hypotheses[before[i]][0], int(characters[i])], float(totals[i])) for i in on]
        lost = len(self.ended) == self.width and self.ended[-1][1] >= self.hypotheses[0][1]  # none can win
        if full or lost:
            on = on[:0]
        return before[on], characters[on]


def _best(hypotheses: list[Hypothesis], count: int) -> list[Hypothesis]:
    """Sort hypotheses, the likeliest first and the earlier of equals, and keep so many."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis[1])[:count]
