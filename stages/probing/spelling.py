"""Would a model spell it: greedy decoding's outcome and the gold's probability, without decoding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.probing.forms import Asked

ROWS = 64  # of a batch; sorted by length, so that little of it is PAD


@dataclass(frozen=True)
class Read:
    """Golds of some prompts after reading both at once, character by character."""

    rows: np.ndarray  # (R,) which prompts
    row: np.ndarray  # (characters,) 0…R−1, whose gold a character is of
    gold: np.ndarray  # (characters,)
    is_likeliest: np.ndarray  # (characters,) bool
    log_probability: np.ndarray  # (characters,) in nats


def spell(model: GPT, vocabulary: Vocabulary, asked: Sequence[Asked]) -> tuple[np.ndarray, np.ndarray]:
    """Whether the model says the gold after each prompt, and how likely the gold is to it.

    Reading prompt and gold at once tells what decoding would say: greedy decoding spells the gold exactly if each
    of its characters is the likeliest after those before it. Returns (B,) bool and (B,) float: the mean
    log-probability of the gold's characters in nats; a closing ⁇ counts for the first, not for the second.
    """
    spelled, likely = np.zeros(len(asked), dtype=bool), np.zeros(len(asked))
    for read in _read(model, vocabulary, asked):
        R, counted = len(read.rows), read.gold != MASK
        spelled[read.rows] = np.bincount(read.row, ~read.is_likeliest, R) == 0
        sums = np.bincount(read.row, read.log_probability * counted, R)
        likely[read.rows] = sums / np.bincount(read.row, counted, R)
    return spelled, likely


def log_probabilities(model: GPT, vocabulary: Vocabulary, asked: Sequence[Asked]) -> np.ndarray:
    """(B,) how likely each gold is to the model, in nats: the sum of its characters', a closing ⁇ included."""
    totals = np.zeros(len(asked))
    for read in _read(model, vocabulary, asked):
        totals[read.rows] = np.bincount(read.row, read.log_probability, len(read.rows))
    return totals


@torch.inference_mode()
def _read(model: GPT, vocabulary: Vocabulary, asked: Sequence[Asked]) -> Iterator[Read]:
    model.eval()
    prompts = [vocabulary.encode(each.prompt) for each in asked]
    golds = [vocabulary.encode(each.said) for each in asked]
    order = np.argsort([len(prompt) + len(gold) for prompt, gold in zip(prompts, golds, strict=True)], kind="stable")
    device = model.head.weight.device
    for rows in (order[start : start + ROWS] for start in range(0, len(order), ROWS)):
        batch = Examples.of_rows(
            [np.concatenate([prompts[row], golds[row]]) for row in rows], [len(prompts[row]) for row in rows]
        )
        loss_mask = batch.targets != PAD  # (B, T)
        characters = torch.from_numpy(loss_mask.ravel().nonzero()[0]).to(device)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=characters)  # (characters, C)
        logits = model.head(hidden).float()  # (characters, V)
        gold = batch.targets[loss_mask]
        log_probability = logits.log_softmax(dim=-1).cpu().double().numpy()[np.arange(len(gold)), gold]
        said = logits.argmax(dim=-1).cpu().numpy()
        yield Read(rows, np.nonzero(loss_mask)[0], gold, said == gold, log_probability)
