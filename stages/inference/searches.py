"""Which characters the lines of a batch say and which lines go on: one line a prompt, or the likeliest of several."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from stages.inference.decoding import Pick

WORTH_KEEPING = 0.7  # rows that have ended are dropped when a smaller share than this goes on: dropping copies states
NEVER = -1  # no character: a line that ends with it does not end


@dataclass(frozen=True)
class Continuation:
    """What a model said after a prompt."""

    tokens: np.ndarray  # (said,) without the closing MASK
    probability: float  # of all of it, the closing MASK included


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


class Lines(Search[Continuation]):
    """One line a prompt; `answers` is what was said."""

    def __init__(self, rows: np.ndarray, pick: Pick, end: int | None) -> None:
        self.rows = rows  # the prompt that each row of the batch continues
        self.alive = np.ones(len(rows), dtype=bool)
        self.pick = pick
        self.end = NEVER if end is None else end
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


class Beams(Search[list[Continuation]]):
    """The likeliest lines of each prompt; `answers` is what they say."""

    def __init__(self, rows: np.ndarray, width: int, end: int | None) -> None:
        self.beams = [_Beam(width, NEVER if end is None else end) for _ in rows]  # in the order of the prompts
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

    def __init__(self, width: int, end: int) -> None:
        self.width = width
        self.end = end
        self.lines: list[tuple[list[int], float]] = [([], 0.0)]  # that go on: characters, log-probability
        self.ended: list[tuple[list[int], float]] = []  # the best so far

    def go_on(self, log_probabilities: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
        """The lines that go on, as indices of the ones before, and the character each reads; none once it has ended.

        log_probabilities (lines, V) of the next character; full: whether there is no room for it in the context.
        """
        totals = np.array([total for _, total in self.lines])
        # of every line one way at most ends: among twice the width, enough go on
        lines, characters, totals = likeliest(totals, log_probabilities, 2 * self.width)
        ends = characters == self.end
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


def likeliest(
    totals: np.ndarray, log_probabilities: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The `count` best ways to go on from several lines, or all where there are fewer, the best first.

    totals (R,): log-probability of each line; log_probabilities (R, V): of each character after it. Out: line,
    character and new total of each way; equals in the order of lines, then characters.
    """
    sums = (totals[:, None] + log_probabilities).ravel()
    best = np.argsort(-sums, kind="stable")[:count]
    lines, characters = np.divmod(best, log_probabilities.shape[1])
    return lines, characters, sums[best]
