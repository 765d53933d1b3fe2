"""Would a model spell it: greedy decoding's outcome and the gold's probability, without decoding."""

from collections.abc import Sequence

import numpy as np
import torch

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.forms import Asked

ROWS = 64  # of a batch; sorted by length, so that little of it is PAD


@torch.inference_mode()
def spell(model: GPT, vocabulary: Vocabulary, asked: Sequence[Asked]) -> tuple[np.ndarray, np.ndarray]:
    """Whether the model says the gold after each prompt, and how likely the gold is to it.

    Reading prompt and gold at once tells what decoding would say: greedy decoding spells the gold exactly if each
    of its characters is the likeliest after those before it. Returns (B,) bool and (B,) float: the mean
    log-probability of the gold's characters in nats; a closing ⁇ counts for the first, not for the second.
    """
    model.eval()
    prompts = [vocabulary.encode(each.prompt) for each in asked]
    golds = [vocabulary.encode(each.said) for each in asked]
    spelled, likely = np.zeros(len(asked), dtype=bool), np.zeros(len(asked))
    order = np.argsort([len(prompt) + len(gold) for prompt, gold in zip(prompts, golds, strict=True)], kind="stable")
    device = model.head.weight.device
    for rows in (order[start : start + ROWS] for start in range(0, len(order), ROWS)):
        batch = Examples.of_rows(
            [np.concatenate([prompts[row], golds[row]]) for row in rows], [len(prompts[row]) for row in rows]
        )
        wanted = batch.targets != PAD  # (B, T)
        characters = torch.from_numpy(wanted.ravel().nonzero()[0]).to(device)
        hidden = model.hidden([torch.from_numpy(batch.inputs).to(device)], wanted=characters)  # (characters, C)
        logits = model.head(hidden).float()  # (characters, V)
        gold = batch.targets[wanted]
        log_probability = logits.log_softmax(dim=-1).cpu().double().numpy()[np.arange(len(gold)), gold]
        said = logits.argmax(dim=-1).cpu().numpy() == gold
        row = np.nonzero(wanted)[0]  # of each of the golds' characters
        counted = gold != MASK
        spelled[rows] = np.bincount(row, ~said, len(rows)) == 0
        likely[rows] = np.bincount(row, log_probability * counted, len(rows)) / np.bincount(row, counted, len(rows))
    return spelled, likely
