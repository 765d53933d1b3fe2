"""How likely a model finds the ends of sequences, and whether it would say them itself: one reading tells both."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F

from stages.corpus.example import PAD, Examples
from stages.model.gpt import GPT
from stages.model.packing import Packing

BATCH = 256  # sequences read at once; sorted by length, so that little of a batch is PAD


@torch.inference_mode()
def read_targets(
    model: GPT, sequences: Sequence[np.ndarray], first_targets: Sequence[int], never: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Score what stands from each sequence's first target on.

    never: a character that is known not to come; its probability goes to the others.
    Returns (B,) the log-likelihoods in nats, and (B,) bool: whether greedy decoding would say exactly that. It would if
    each character is the likeliest after those before it.
    """
    model.eval()
    device = model.head.weight.device
    log_likelihoods = np.zeros(len(sequences))
    is_greedy = np.zeros(len(sequences), bool)
    by_length = np.argsort(list(map(len, sequences)), kind="stable")

    for start in range(0, len(sequences), BATCH):
        rows = by_length[start : start + BATCH]
        batch = Examples.of_rows([sequences[row] for row in rows], [first_targets[row] for row in rows])
        loss_mask = batch.targets != PAD  # (B, T)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        target_indices = torch.from_numpy(np.flatnonzero(loss_mask)).to(device)
        targets = torch.from_numpy(batch.targets[loss_mask]).to(device)  # (targets,)

        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=target_indices)  # (targets, C)
        logits = model.head(hidden).float()  # (targets, V)
        if never is not None:
            logits[:, never] = -torch.inf
        losses = F.cross_entropy(logits, targets, reduction="none").cpu().numpy()
        wrong = (logits.argmax(dim=-1) != targets).cpu().numpy()

        owners = np.nonzero(loss_mask)[0]  # (targets,) the row of the batch that each belongs to
        log_likelihoods[rows] = -np.bincount(owners, losses, len(rows))
        is_greedy[rows] = np.bincount(owners, wrong, len(rows)) == 0
    return log_likelihoods, is_greedy
