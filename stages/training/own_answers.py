"""What a model itself takes for the answer about each page: the chance of each of its phrases.

The model is asked the commonest training question about every page, and how likely it finds each phrase of the page. So
it finds out what is asked, and can practise that: self-training on its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

import numpy as np
import torch
import torch.nn.functional as F

from stages.corpus.capitalised import capitalised
from stages.corpus.example import MASK, PAD, Examples
from stages.corpus.phrases import Phrases, as_chances
from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.model.gpt import GPT
from stages.model.packing import Packing

BATCH = 256  # questions with a phrase read at once; sorted by length, so that little of a batch is PAD


def own_answers(model: GPT, prepared: Prepared, context: int) -> Phrases:
    """The phrases of each page with their chances, by their likelihood as an answer to the question about the page.

    context: the longest sequence that the model can read; longer questions and phrases are cut at their ends.
    """
    phrases, (form, *_) = capitalised(prepared), question_forms(prepared)
    sequences, first_targets = [], []
    for row in range(len(prepared.documents)):
        question = prepared.vocabulary.encode(form.about(prepared.title(row)))
        for start, end in phrases.spans[row].tolist():
            phrase = prepared.documents[row][start:end][: context // 2]
            asked = question[: context - len(phrase) - 1]
            sequences.append(np.concatenate([asked, [MASK], phrase, [MASK]]))
            first_targets.append(len(asked) + 1)
    scores = log_likelihoods(model, sequences, first_targets)
    return phrases.chosen(map(as_chances, np.split(scores, phrases.spans.offsets[1:-1])))


@torch.inference_mode()
def log_likelihoods(model: GPT, sequences: list[np.ndarray], first_targets: list[int]) -> np.ndarray:
    """(B,) of what stands from each sequence's first target on, in nats."""
    model.eval()
    found, device = np.zeros(len(sequences)), model.head.weight.device
    order = np.argsort([len(each) for each in sequences], kind="stable")
    for rows in (order[start : start + BATCH] for start in range(0, len(order), BATCH)):
        batch = Examples.of_rows([sequences[row] for row in rows], [first_targets[row] for row in rows])
        loss_mask = batch.targets != PAD  # (B, T)
        characters = torch.from_numpy(np.flatnonzero(loss_mask)).to(device)
        tokens = torch.from_numpy(batch.inputs).to(device).flatten()
        hidden = model.hidden(tokens, Packing.full(batch.inputs.shape), loss_indices=characters)  # (characters, C)
        targets = torch.from_numpy(batch.targets[loss_mask]).to(device)
        losses = F.cross_entropy(model.head(hidden).float(), targets, reduction="none").cpu().numpy()
        found[rows] = -np.bincount(np.nonzero(loss_mask)[0], losses, len(rows))
    return found
