"""What a model expects at the targets of sequences that it reads at once, without decoding."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from stages.corpus.example import PAD, Examples
from stages.model.gpt import GPT
from stages.model.packing import Packing

BATCH = 64  # sequences read at once; sorted by length, so that little of a batch is PAD


@torch.inference_mode()
def read_targets(
    model: GPT, sequences: Sequence[np.ndarray], first_targets: Sequence[int]
) -> Iterator[tuple[np.ndarray, torch.Tensor, torch.Tensor]]:
    """Of each batch, a row for each target: its sequence's number (N,), the logits (N, V) before it, and itself (N,).

    first_targets (B,): where each sequence's targets begin; they go on to its end.
    """
    model.eval()
    device, order = model.head.weight.device, np.argsort([len(each) for each in sequences], kind="stable")
    for rows in (order[start : start + BATCH] for start in range(0, len(order), BATCH)):
        batch = Examples.of_rows([sequences[row] for row in rows], [first_targets[row] for row in rows])
        loss_mask = batch.targets != PAD  # (B, T)
        characters = torch.from_numpy(np.flatnonzero(loss_mask)).to(device)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=characters)  # (N, C)
        targets = torch.from_numpy(batch.targets[loss_mask]).to(device)
        yield rows[np.nonzero(loss_mask)[0]], model.head(hidden).float(), targets
