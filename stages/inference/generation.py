"""Answers: greedy decoding of many prompts at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from stages.corpus.example import MASK
from stages.model.gpt import GPT
from stages.model.mixer import State


@dataclass(frozen=True)
class Continuation:
    """What a model said after a prompt."""

    tokens: np.ndarray  # (said,) without the closing MASK
    probability: float  # of all of it, the closing MASK included


WORTH_KEEPING = 0.7  # rows that have ended are dropped when a smaller share than this goes on: dropping copies states


@torch.inference_mode()
def generate(model: GPT, prompts: Sequence[np.ndarray], max_characters: int) -> list[Continuation]:
    """Continue each prompt greedily until it says MASK, has said `max_characters`, or fills the context.

    prompts: each (length,) int64, 1 ≤ length ≤ context. Prompts of one length are read together; then all
    of them go on in one batch, each from its own position, out of the mixers' states.
    """
    model.eval()
    device = model.head.weight.device
    groups = defaultdict(list)
    for row, text in enumerate(prompts):
        groups[len(text)].append(row)
    room = min(model.context, max(groups, default=0) + max_characters)
    states_of_groups, logits_of_groups = [], []
    for group in groups.values():
        states = model.empty_states(len(group), room)
        tokens = torch.from_numpy(np.stack([prompts[row] for row in group])).to(device)
        logits_of_groups.append(_last_logits(model, tokens, states))
        states_of_groups.append(states)
    answers: list[list[int]] = [[] for _ in prompts]
    log_probabilities = np.zeros(len(prompts))
    if not groups:
        return []
    rows = np.concatenate(
        [np.array(group) for group in groups.values()]
    )  # which prompt each row of the batch continues
    alive = np.ones(len(rows), dtype=bool)
    logits = torch.cat(logits_of_groups)
    states = [type(layer[0]).concatenate(list(layer)) for layer in zip(*states_of_groups, strict=True)]
    for _ in range(max_characters):
        best, token = logits.float().log_softmax(dim=-1).max(dim=-1)  # (rows,) each
        log_probabilities[rows[alive]] += best.cpu().double().numpy()[alive]
        said = token.cpu().numpy()
        for i in np.flatnonzero(alive & (said != MASK)):
            answers[rows[i]].append(int(said[i]))
        full = (states[0].lengths >= room).cpu().numpy()
        alive &= (said != MASK) & ~full
        if not alive.any():
            break
        if full.any() or alive.mean() < WORTH_KEEPING:
            kept = torch.from_numpy(alive.nonzero()[0]).to(device)
            states = [state.keep(kept) for state in states]
            rows, token, alive = rows[alive], token[kept], alive[alive]
        logits = _last_logits(model, token[:, None], states)
    return [
        Continuation(np.array(answer, dtype=np.int64), float(np.exp(log_probability)))
        for answer, log_probability in zip(answers, log_probabilities, strict=True)
    ]


def _last_logits(model: GPT, tokens: torch.Tensor, states: list[State]) -> torch.Tensor:
    """Read tokens (B, T) and give the logits (B, vocabulary) of the character after the last."""
    hidden = model.hidden([tokens], states)  # (B·T, C)
    return model.head(hidden.view(*tokens.shape, -1)[:, -1])
