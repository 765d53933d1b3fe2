"""What a model says: many prompts at once, several answers to one, or a passage of any length."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from stages.corpus.example import MASK
from stages.inference.decoding import Pick, greedy
from stages.inference.searches import Beams, Continuation, Lines, Said, Search
from stages.model.gpt import GPT
from stages.model.mixer import State
from stages.model.packing import Packing
from stages.settings import Generation

BATCH = 256  # lines of one: each has a state of its own, and more of them do not fit the processor's cache


def generate(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, pick: Pick = greedy, end: int | None = MASK
) -> list[Continuation]:
    """Continue each prompt until it says `end`, has said `max_characters`, or fills the context.

    prompts: each (length,) int64, 1 ≤ length ≤ context; pick: chooses each next character, greedily by default.
    """
    return in_batches(model, prompts, max_characters, BATCH, lambda _, rows: Lines(rows, pick, end))


def beam_search(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, width: int, end: int | None = MASK
) -> list[list[Continuation]]:
    """The likeliest continuations of each prompt, at most `width`, the likeliest first; the same each time.

    A continuation ends as in `generate`. At each character the `width` likeliest lines go on; their length counts
    for nothing beside its probability. A width of 1 is greedy; one that holds every line finds the very best.
    """
    most = max(1, BATCH // width)
    return in_batches(model, prompts, max_characters, most, lambda _, rows: Beams(rows, width, end))


def answer(model: GPT, prompts: Sequence[np.ndarray], decoding: Generation) -> list[Continuation]:
    """What a recipe takes for the answer to each prompt: the best line of a beam, or the greedy one."""
    if decoding.beams == 1:
        return generate(model, prompts, decoding.max_characters)
    return [lines[0] for lines in beam_search(model, prompts, decoding.max_characters, decoding.beams)]


def passage(model: GPT, prompt: np.ndarray, characters: int, pick: Pick) -> np.ndarray:
    """Continue a prompt (any length but 0) by so many characters, whichever they are.

    Where the context is full, the model goes on from the last half context of the text, read anew.
    """
    return _in_pieces(model, prompt, characters, lambda read, most: generate(model, [read], most, pick, end=None)[0])


def likeliest_passage(model: GPT, prompt: np.ndarray, characters: int, width: int) -> np.ndarray:
    """As `passage`, by beam search: the best of `width` lines up to where the context is full, then of new ones."""
    return _in_pieces(
        model, prompt, characters, lambda read, most: beam_search(model, [read], most, width, end=None)[0][0]
    )


def _in_pieces(
    model: GPT, prompt: np.ndarray, characters: int, go_on: Callable[[np.ndarray, int], Continuation]
) -> np.ndarray:
    """go_on: continues what is read by as many characters as are missing, or as the context has room for."""
    text = prompt
    while (missing := len(prompt) + characters - len(text)) > 0:
        read = text if len(text) <= model.context else text[-(model.context // 2) :]
        text = np.concatenate([text, go_on(read, missing).tokens])
    return text[len(prompt) :]


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
            states = [
                state.index_select(torch.zeros(len(group), dtype=torch.long, device=device)) for state in beginning
            ]
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
                self.states = [state.index_select(kept) for state in self.states]
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


def _last_logits(model: GPT, tokens: Tensor, states: list[State]) -> Tensor:
    """Read tokens (B, T) and give the logits (B, V) of the character after the last."""
    B, T = tokens.shape
    last = torch.arange(T - 1, B * T, T, device=tokens.device)
    return model.head(model.hidden(tokens.flatten(), Packing.full(tokens.shape), states, last))
