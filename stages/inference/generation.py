"""Answers: greedy decoding of many prompts at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from stages.corpus.example import MASK
from stages.model.gpt import GPT


@dataclass(frozen=True)
class Continuation:
    """What a model said after a prompt."""

    tokens: np.ndarray  # (said,) without the closing MASK
    probability: float  # of all of it, the closing MASK included


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
    for rows in groups.values():
        states = model.empty_states(len(rows), room)
        tokens = torch.from_numpy(np.stack([prompts[row] for row in rows])).to(device)
        logits_of_groups.append(model(tokens, states)[:, -1])  # (rows, vocabulary)
        states_of_groups.append(states)
    answers: list[list[int]] = [[] for _ in prompts]
    log_probabilities = np.zeros(len(prompts))
    if not groups:
        return []
    alive = np.concatenate([np.array(rows) for rows in groups.values()])
    logits = torch.cat(logits_of_groups)
    states = [type(layer[0]).concatenate(list(layer)) for layer in zip(*states_of_groups, strict=True)]
    for _ in range(max_characters):
        best, token = logits.float().log_softmax(dim=-1).max(dim=-1)  # (alive,) each
        log_probabilities[alive] += best.cpu().double().numpy()
        said = token.cpu().numpy()
        for row, number in zip(alive, said, strict=True):
            if number != MASK:
                answers[row].append(int(number))
        going_on = torch.from_numpy(said != MASK).to(device) & (states[0].lengths < room)
        if not going_on.any():
            break
        if not going_on.all():
            keep = going_on.nonzero()[:, 0]
            states = [state.keep(keep) for state in states]
            alive, token = alive[keep.cpu().numpy()], token[keep]
        logits = model(token[:, None], states)[:, -1]
    return [
        Continuation(np.array(answer, dtype=np.int64), float(np.exp(log_probability)))
        for answer, log_probability in zip(answers, log_probabilities, strict=True)
    ]
