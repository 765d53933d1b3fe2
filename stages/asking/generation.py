"""Generation: one continuation of many prompts at once, several of each, or a passage of any length.

The next character is the likeliest, a draw, or one of a search for the likeliest continuations.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from stages.corpus.example import MASK
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.model.state import State
from stages.system.errors import UserError

BATCH = 256  # hypotheses at once: each has a state, and more states do not fit the processor's cache
WORTH_KEEPING = 0.7  # while so large a share goes on, ended sequences stay in a batch: removal copies states
NEVER = -1  # an end that no character equals
Pick = Callable[[Tensor], tuple[Tensor, Tensor]]  # logits (B, V) → (B,) log-probabilities, (B,) characters
Hypothesis = tuple[list[int], float]  # its characters and their log-probability
# from the numbers of the prompts that a batch's sequences continue: what chooses their next characters
SearchOf = Callable[[np.ndarray], "SingleSearch | BeamSearch"]


@dataclass(frozen=True)
class Continuation:
    """The continuation of a prompt."""

    tokens: np.ndarray  # (characters,) without the closing MASK
    probability: float  # of the whole, the closing MASK included


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
        bounds = probabilities.cumsum(axis=1)
        drawn = self.generator.random((len(bounds), 1)) * bounds[:, -1:]
        characters = (bounds <= drawn).sum(axis=1)
        chosen = np.log(probabilities[np.arange(len(characters)), characters])
        return torch.from_numpy(chosen).to(logits.device), torch.from_numpy(characters).to(logits.device)


def generate(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, by: Pick | int = greedy, end: int = MASK
) -> list[Continuation]:
    """Continue each prompt until `end`, by at most `max_characters`, or until the context is full.

    prompts: each (length,) int64, 1 ≤ length ≤ context; by: what chooses each character, or the width of a beam, whose
    best hypothesis is taken.
    """
    if isinstance(by, int) and by > 1:
        return [best for best, *_ in beam_search(model, prompts, max_characters, by, end)]
    pick = greedy if isinstance(by, int) else by
    answers = _in_batches(model, prompts, max_characters, BATCH, lambda owners: SingleSearch(owners, pick, end))
    return [only for (only,) in answers]


def beam_search(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, width: int, end: int = MASK
) -> list[list[Continuation]]:
    """Find the likeliest continuations of each prompt, at most `width`, the likeliest first; the same each time.

    A continuation ends as in `generate`. After each character the `width` likeliest hypotheses go on, of whatever
    length. A width of 1 is greedy; one that holds all hypotheses finds the very best.
    """
    most = max(1, BATCH // width)
    return _in_batches(model, prompts, max_characters, most, lambda owners: BeamSearch(owners, width, end))


def passages(model: GPT, beginnings: np.ndarray, characters: int, by: Pick | int) -> Iterator[np.ndarray]:
    """Continue beginnings (B, any length but 0) by so many characters, MASK among them; pieces are (B, characters).

    by: as in `generate`. Where the context is full, the model goes on from the last half context of each text, read
    anew; a beam goes on from its best hypothesis.
    """
    texts = beginnings
    while (missing := beginnings.shape[1] + characters - texts.shape[1]) > 0:
        read = texts if texts.shape[1] <= model.context else texts[:, -(model.context // 2) :]
        continuations = generate(model, [*read], missing, by, end=NEVER)
        piece = np.stack([continuation.tokens for continuation in continuations])
        texts = np.hstack([texts, piece])
        yield piece


def _in_batches(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, most: int, search_of: SearchOf
) -> list[list[Continuation]]:
    """Search after each prompt, in batches of at most `most` prompts of similar lengths."""
    by_length = np.argsort(list(map(len, prompts)), kind="stable")
    answers: dict[int, list[Continuation]] = {}
    for start in range(0, len(prompts), most):
        own = by_length[start : start + most]
        batch = _batch(model.eval(), [prompts[index] for index in own], max_characters, search_of)
        for index, hypotheses in zip(own.tolist(), batch, strict=True):
            answers[index] = [Continuation(np.array(text, dtype=np.int64), float(np.exp(p))) for text, p in hypotheses]
    return [answers[index] for index in range(len(prompts))]


@torch.inference_mode()
def _batch(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, search_of: SearchOf
) -> list[list[Hypothesis]]:
    """Search after each prompt of a batch, character by character, each sequence from its own position."""
    room = min(model.context, max(map(len, prompts)) + max_characters)
    order, logits, states = _read(model, prompts, room)
    search = search_of(order)
    for left in reversed(range(max_characters)):
        full = (states[0].lengths >= room).cpu().numpy()
        chosen = search.choose(logits, full)
        if chosen is None or not left:
            break
        kept, characters = chosen
        if kept is not None:
            states = [state.index_select(kept) for state in states]
        logits = _last_logits(model, characters[:, None], states)
    return search.hypotheses()


def _read(model: GPT, prompts: Sequence[np.ndarray], room: int) -> tuple[np.ndarray, Tensor, list[State]]:
    """Read prompts into states of `room` positions; their common beginning is read once.

    Returns the prompts' numbers (B,) in the order of reading, by length, the logits (B, V) after each, and the states.
    """
    device = model.head.weight.device
    groups = defaultdict(list)
    for number, text in enumerate(prompts):
        groups[len(text)].append(number)
    beginnings = np.stack([text[: min(groups) - 1] for text in prompts])
    shared = int((beginnings == beginnings[0]).all(axis=0).cumprod().sum())  # characters
    beginning = model.empty_states(1, room)
    if shared:
        _last_logits(model, torch.from_numpy(prompts[0][None, :shared]).to(device), beginning)

    states_of_groups, logits_of_groups = [], []
    for group in groups.values():
        copies = torch.zeros(len(group), dtype=torch.long, device=device)
        states = [state.index_select(copies) for state in beginning]
        tokens = torch.from_numpy(np.stack([prompts[number][shared:] for number in group])).to(device)
        logits_of_groups.append(_last_logits(model, tokens, states))
        states_of_groups.append(states)
    states = [type(layer[0]).concatenate(list(layer)) for layer in zip(*states_of_groups, strict=True)]
    return np.concatenate([*groups.values()]), torch.cat(logits_of_groups), states


def _last_logits(model: GPT, tokens: Tensor, states: list[State]) -> Tensor:
    """Read tokens (B, T), and return the logits (B, V) of the next character."""
    B, T = tokens.shape
    last = torch.arange(T - 1, B * T, T, device=tokens.device)
    return model.head(model.hidden(tokens.flatten(), Packing.full(tokens.shape), states, last))


class SingleSearch:
    """One hypothesis a prompt, each character chosen by a `Pick`."""

    def __init__(self, prompts: np.ndarray, pick: Pick, end: int) -> None:
        self.prompts = prompts  # the number of the prompt that each sequence of the batch continues
        self.alive = np.ones(len(prompts), dtype=bool)
        self.pick = pick
        self.end = end
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

    def __init__(self, prompts: np.ndarray, width: int, end: int) -> None:
        self.beams = [_Beam(width, end) for _ in prompts]  # in the order of the prompts
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
