"""What a model itself takes for the answer about each page: the chance of each of its phrases.

The model is asked the commonest training question about every page, and how likely it finds each phrase of the page. So
it finds out what is asked, and can practise that: self-training on its own labels (Lee 2013; He et al. 2020, arXiv
1909.13788). It does not read the page for it, and no answer but those of training was ever shown to it.
"""

from collections.abc import Iterator

import numpy as np
import torch.nn.functional as F

from stages.corpus.example import MASK
from stages.corpus.page import Pages
from stages.corpus.prepared import Prepared
from stages.corpus.question_forms import question_forms
from stages.corpus.salience import as_chances
from stages.inference.reading import read_targets
from stages.model.gpt import GPT


def own_chances(model: GPT, prepared: Prepared, context: int) -> Iterator[list[float]]:
    """Of each page the chances of its phrases, by their likelihood as an answer to the question about the page.

    context: the longest sequence that the model can read; longer questions and phrases are cut at their ends.
    """
    pages, (form, *_) = Pages.of(prepared.each_text()), question_forms(prepared)
    sequences, first_targets = [], []
    for row, document in enumerate(prepared.documents[row] for row in range(len(prepared.documents))):
        parts = pages[row]
        question = prepared.vocabulary.encode(form.about(prepared.text(row)[: parts.heading]))
        for start, end in parts.phrases:
            phrase = document[start:end][: context // 2]
            asked = question[: context - len(phrase) - 1]
            sequences.append(np.concatenate([asked, [MASK], phrase, [MASK]]))
            first_targets.append(len(asked) + 1)
    scores = iter(log_likelihoods(model, sequences, first_targets))
    for row in range(len(pages.headings)):
        yield as_chances(np.array([next(scores) for _ in pages[row].phrases]))


def log_likelihoods(model: GPT, sequences: list[np.ndarray], first_targets: list[int]) -> np.ndarray:
    """(B,) of what stands from each sequence's first target on, in nats."""
    found = np.zeros(len(sequences))
    for numbers, logits, targets in read_targets(model, sequences, first_targets):
        losses = F.cross_entropy(logits, targets, reduction="none").cpu().numpy()
        found -= np.bincount(numbers, losses, len(found))
    return found
