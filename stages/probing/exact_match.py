"""Exact match without decoding: whether greedy decoding would say the target."""

from collections.abc import Sequence

import numpy as np
import torch

from stages.corpus.example import PAD, Examples
from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.probing.forms import Prompt

BATCH = 64  # prompts read at once; sorted by length, so that little of a batch is PAD


@torch.inference_mode()
def exact_matches(model: GPT, vocabulary: Vocabulary, prompts: Sequence[Prompt]) -> np.ndarray:
    """(B,) bool: whether the model's greedy continuation of each prompt is the target, a closing ⁇ included.

    It is exactly if each character of the target is the likeliest after those before it: one reading tells.
    """
    model.eval()
    read = [vocabulary.encode(prompt.text) for prompt in prompts]
    targets = [vocabulary.encode(prompt.target) for prompt in prompts]
    order = np.argsort([len(text) + len(target) for text, target in zip(read, targets, strict=True)], kind="stable")
    device = model.head.weight.device
    matches = np.zeros(len(prompts), dtype=bool)
    for rows in (order[start : start + BATCH] for start in range(0, len(order), BATCH)):
        batch = Examples.of_rows(
            [np.concatenate([read[row], targets[row]]) for row in rows], [len(read[row]) for row in rows]
        )
        loss_mask = batch.targets != PAD  # (B, T): the targets' characters
        characters = torch.from_numpy(loss_mask.ravel().nonzero()[0]).to(device)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=characters)  # (characters, C)
        likeliest = model.head(hidden).float().argmax(dim=-1).cpu().numpy()
        wrong = likeliest != batch.targets[loss_mask]
        matches[rows] = np.bincount(np.nonzero(loss_mask)[0], wrong, len(rows)) == 0
    return matches
