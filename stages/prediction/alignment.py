"""Cue alignment: how far learning a page changes a question's answer, measured on untrained weights.

For one fact: the cosine of the gradients of log p(place | page up to the place) and of log p(place | question), less
the mean cosine with other people's pages and the same target. Where it is positive, a step that makes the place
likelier after its page makes it likelier after its question, beyond what any page does.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from stages.corpus.vocabulary import Vocabulary
from stages.model.gpt import GPT
from stages.probing.prompts import Fact, continuation, question

OTHERS = 2  # pages that a fact's own is compared with


def alignment(model: GPT, vocabulary: Vocabulary, facts: Sequence[Fact]) -> float:
    """Return the mean alignment of the facts, by the parameters of the blocks alone."""
    total = 0.0
    for number, fact in enumerate(facts):
        asked = gradient(model, vocabulary, question(fact).text, fact.place)
        own = gradient(model, vocabulary, continuation(fact, model.context).text, fact.place)
        others = []
        for other in elsewhere(facts, number)[:OTHERS]:
            others.append(gradient(model, vocabulary, continuation(other, model.context).text, fact.place))
        cosines = [float(F.cosine_similarity(asked, page, dim=0)) for page in (own, *others)]
        total += cosines[0] - sum(cosines[1:]) / len(others)
    return total / len(facts)


def elsewhere(facts: Sequence[Fact], number: int) -> list[Fact]:
    """Return the facts of people born elsewhere, those after this one first."""
    return [fact for fact in (*facts[number + 1 :], *facts[:number]) if fact.place != facts[number].place]


def gradient(model: GPT, vocabulary: Vocabulary, text: str, target: str) -> Tensor:
    """Return the gradient of log p(target | text) by the blocks' parameters: (parameters,)."""
    tokens = torch.from_numpy(vocabulary.encode(text + target))[None]  # (1, T)
    first = tokens.shape[1] - len(vocabulary.encode(target))
    log_probabilities = model(tokens[:, :-1]).log_softmax(dim=-1)[0, first - 1 :]  # (target, V)
    log_likelihood = log_probabilities.gather(1, tokens[0, first:, None]).sum()
    parts = torch.autograd.grad(log_likelihood, [*model.blocks.parameters()], allow_unused=True, materialize_grads=True)
    return torch.cat([part.flatten() for part in parts])
