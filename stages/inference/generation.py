"""What a model says: many prompts at once, several answers to one, or a passage of any length."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from stages.corpus.example import MASK
from stages.inference.decoding import Pick, greedy, likeliest
from stages.model.gpt import GPT
from stages.model.mixer import State
from stages.settings import Generation


@dataclass(frozen=True)
class Continuation:
    """What a model said after a prompt."""

    tokens: np.ndarray  # (said,) without the closing MASK
    probability: float  # of all of it, the closing MASK included


WORTH_KEEPING = 0.7  # rows that have ended are dropped when a smaller share than this goes on: dropping copies states
MOST_LINES = 256  # of one batch: each has a state of its own, and more of them do not fit the processor's cache


def generate(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, pick: Pick = greedy, end: int | None = MASK
) -> list[Continuation]:
    """Continue each prompt until it says `end`, has said `max_characters`, or fills the context.

    prompts: each (length,) int64, 1 ≤ length ≤ context; pick: chooses each next character, greedily by default.
    """
    return in_batches(model, prompts, max_characters, MOST_LINES, lambda _, rows: _Lines(rows, pick, end))


def beam_search(model: GPT, prompts: Sequence[np.ndarray], max_characters: int, width: int) -> list[list[Continuation]]:
    """The likeliest continuations of each prompt, at most `width`, the likeliest first; the same each time.

    A continuation ends as in `generate`. At each character the `width` likeliest lines go on; their length counts
    for nothing beside its probability. A width of 1 is greedy; one that holds every line finds the very best.
    """
    most = max(1, MOST_LINES // width)
    return in_batches(model, prompts, max_characters, most, lambda _, rows: _Beams(rows, width))


def answer(model: GPT, prompts: Sequence[np.ndarray], decoding: Generation) -> list[Continuation]:
    """What a recipe takes for the answer to each prompt: the best line of a beam, or the greedy one."""
    if decoding.beams == 1:
        return generate(model, prompts, decoding.max_characters)
    return [lines[0] for lines in beam_search(model, prompts, decoding.max_characters, decoding.beams)]


def passage(model: GPT, prompt: np.ndarray, characters: int, pick: Pick) -> np.ndarray:
    """Continue a prompt (any length but 0) by so many characters, whichever they are.

    Where the context is full, the model goes on from the last half context of the text, read anew.
    """
    text = prompt
    while (missing := len(prompt) + characters - len(text)) > 0:
        read = text if len(text) <= model.context else text[-(model.context // 2) :]
        text = np.concatenate([text, generate(model, [read], missing, pick, end=None)[0].tokens])
    return text[len(prompt) :]


Said = TypeVar("Said")


class Search(ABC, Generic[Said]):
    """Chooses the characters that the rows of a batch say, and which rows go on."""

    @abstractmethod
    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor | None, Tensor] | None:
        """The next batch's rows (R',), as indices of this one's (None: all of them), and the character each reads.

        logits (R, V) of the next character; full (R,): whether the context has no room for it. None ends the search.
        """

    @abstractmethod
    def answers(self) -> list[Said]:
        """What was said after each of the batch's prompts."""


class Batch:
    """Rows that go on from the ends of prompts, each from its own position, out of the mixers' states."""

    @torch.inference_mode()
    def __init__(self, model: GPT, prompts: Sequence[np.ndarray], max_characters: int) -> None:
        """Read the prompts: what all begin with once, the rest of those of one length together."""
        self.model = model.eval()
        self.max_characters = max_characters
        device = model.head.weight.device
        groups = defaultdict(list)
        for row, text in enumerate(prompts):
            groups[len(text)].append(row)
        self.room = min(model.context, max(groups) + max_characters)
        beginnings = np.stack([text[: min(groups) - 1] for text in prompts])
        shared = int((beginnings == beginnings[0]).all(axis=0).cumprod().sum())  # characters
        beginning = model.empty_states(1, self.room)
        if shared:
            _last_logits(model, torch.from_numpy(prompts[0][None, :shared]).to(device), beginning)
        states_of_groups, logits_of_groups = [], []
        for group in groups.values():
            states = [state.keep(torch.zeros(len(group), dtype=torch.long, device=device)) for state in beginning]
            tokens = torch.from_numpy(np.stack([prompts[row][shared:] for row in group])).to(device)
            logits_of_groups.append(_last_logits(model, tokens, states))
            states_of_groups.append(states)
        self.rows = np.concatenate([np.array(group) for group in groups.values()])  # the prompt of each row
        self.logits = torch.cat(logits_of_groups)
        self.states = [type(layer[0]).concatenate(list(layer)) for layer in zip(*states_of_groups, strict=True)]

    @torch.inference_mode()
    def go_on(self, search: Search[Said]) -> None:
        """Say what the search chooses, character by character."""
        for left in reversed(range(self.max_characters)):
            full = (self.states[0].lengths >= self.room).cpu().numpy()
            chosen = search.choose(self.logits, full)
            if chosen is None or not left:
                return
            kept, characters = chosen
            if kept is not None:
                self.states = [state.keep(kept) for state in self.states]
            self.logits = _last_logits(self.model, characters[:, None], self.states)


def in_batches(
    model: GPT,
    prompts: Sequence[np.ndarray],
    max_characters: int,
    most: int,
    search_of: Callable[[np.ndarray, np.ndarray], Search[Said]],
) -> list[Said]:
    """What searches say after each prompt, in batches of at most `most` prompts of similar lengths.

    search_of: the search of a batch, from its prompts' indices among all, and which of these each row continues.
    """
    by_length = np.argsort([len(text) for text in prompts], kind="stable")
    said: dict[int, Said] = {}
    for own in (by_length[start : start + most] for start in range(0, len(prompts), most)):
        batch = Batch(model, [prompts[index] for index in own], max_characters)
        search = search_of(own, batch.rows)
        batch.go_on(search)
        said |= zip(own.tolist(), search.answers(), strict=True)
    return [said[index] for index in range(len(prompts))]


class _Lines(Search[Continuation]):
    """One line a prompt; `answers` is what was said."""

    def __init__(self, rows: np.ndarray, pick: Pick, end: int | None) -> None:
        self.rows = rows  # the prompt that each row of the batch continues
        self.alive = np.ones(len(rows), dtype=bool)
        self.pick = pick
        self.end = -1 if end is None else end
        self.said: list[list[int]] = [[] for _ in rows]
        self.log_probabilities = np.zeros(len(rows))

    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor | None, Tensor] | None:
        log_probability, character = self.pick(logits)  # (R,) each
        self.log_probabilities[self.rows[self.alive]] += log_probability.cpu().double().numpy()[self.alive]
        said = character.cpu().numpy()
        for i in np.flatnonzero(self.alive & (said != self.end)):
            self.said[self.rows[i]].append(int(said[i]))
        self.alive &= (said != self.end) & ~full
        if not self.alive.any():
            return None
        if not full.any() and self.alive.mean() >= WORTH_KEEPING:
            return None, character
        kept = torch.from_numpy(self.alive.nonzero()[0]).to(logits.device)
        self.rows, self.alive = self.rows[self.alive], self.alive[self.alive]
        return kept, character[kept]

    def answers(self) -> list[Continuation]:
        return [
            Continuation(np.array(line, dtype=np.int64), float(np.exp(log_probability)))
            for line, log_probability in zip(self.said, self.log_probabilities, strict=True)
        ]


class _Beams(Search[list[Continuation]]):
    """The likeliest lines of each prompt; `answers` is what they say."""

    def __init__(self, rows: np.ndarray, width: int) -> None:
        self.beams = [_Beam(width) for _ in rows]  # in the order of the prompts
        self.rows = rows.tolist()  # prompts that go on, in the order in which the batch has their lines

    def choose(self, logits: Tensor, full: np.ndarray) -> tuple[Tensor | None, Tensor] | None:
        log_probabilities = logits.float().log_softmax(dim=-1).cpu().double().numpy()
        start, kept, read, rows = 0, [], [], []
        for row in self.rows:
            beam = self.beams[row]
            own = slice(start, start + len(beam.lines))
            lines, characters = beam.go_on(log_probabilities[own], bool(full[own].any()))  # they are of one length
            if len(lines):
                kept.append(start + lines)
                read.append(characters)
                rows.append(row)
            start = own.stop
        self.rows = rows
        if not rows:
            return None
        on, said = (torch.from_numpy(np.concatenate(parts)).to(logits.device) for parts in (kept, read))
        return on, said

    def answers(self) -> list[list[Continuation]]:
        return [beam.answers() for beam in self.beams]


class _Beam:
    """The likeliest lines of one prompt."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[tuple[list[int], float]] = [([], 0.0)]  # that go on: characters, log-probability
        self.ended: list[tuple[list[int], float]] = []  # the best so far

    def go_on(self, log_probabilities: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
        """The lines that go on, as indices of the ones before, and the character each reads; none once it has ended.

        log_probabilities (lines, V) of the next character; full: whether there is no room for it in the context.
        """
        totals = np.array([total for _, total in self.lines])
        # of every line one way at most ends: among twice the width, enough go on
        lines, characters, totals = likeliest(totals, log_probabilities, 2 * self.width)
        ends = characters == MASK
        ended = [(self.lines[lines[way]][0], float(totals[way])) for way in np.flatnonzero(ends[: self.width])]
        self.ended = _best(self.ended + ended, self.width)
        on = np.flatnonzero(~ends)[: self.width]
        self.lines = [([*self.lines[lines[way]][0], int(characters[way])], float(totals[way])) for way in on]
        lost = len(self.ended) == self.width and self.ended[-1][1] >= self.lines[0][1]  # whatever comes
        if full or lost:
            return lines[:0], characters[:0]
        return lines[on], characters[on]

    def answers(self) -> list[Continuation]:
        best = _best(self.ended + self.lines, self.width)
        return [Continuation(np.array(line, dtype=np.int64), float(np.exp(total))) for line, total in best]


def _best(lines: list[tuple[list[int], float]], count: int) -> list[tuple[list[int], float]]:
    """The likeliest of some lines, the likeliest first, of equals the earlier."""
    return sorted(lines, key=lambda line: -line[1])[:count]


def _last_logits(model: GPT, tokens: Tensor, states: list[State]) -> Tensor:
    """Read tokens (B, T) and give the logits (B, V) of the character after the last."""
    B, T = tokens.shape
    last = torch.arange(T - 1, B * T, T, device=tokens.device)
    return model.head(model.hidden([tokens], states, last))
