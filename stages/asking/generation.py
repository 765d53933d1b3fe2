"""Generation: one continuation of many prompts at once, several of each, or a passage of any length."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from stages.asking.decoding import BeamSearch, Continuation, Hypothesis, Pick, SingleSearch, greedy
from stages.corpus.example import MASK
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.model.state import State

Search = SingleSearch | BeamSearch  # chooses the next characters of a batch's sequences, and which sequences go on
BATCH = 256  # hypotheses at once: each has a state, and more states do not fit the processor's cache


def generate(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, by: Pick | int = greedy, end: int | None = MASK
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
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, width: int, end: int | None = MASK
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
        continuations = generate(model, [*read], missing, by, end=None)
        piece = np.stack([continuation.tokens for continuation in continuations])
        texts = np.hstack([texts, piece])
        yield piece


def _in_batches(
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, most: int, search_of: Callable[[np.ndarray], Search]
) -> list[list[Continuation]]:
    """Search after each prompt, in batches of at most `most` prompts of similar lengths.

    search_of: makes a search from the numbers of the prompts that a batch's sequences continue.
    """
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
    model: GPT, prompts: Sequence[np.ndarray], max_characters: int, search_of: Callable[[np.ndarray], Search]
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
