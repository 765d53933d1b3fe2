"""How many bits of an answer a prompt gives, beyond what any prompt of its form gives."""

from collections.abc import Sequence
from math import log

import numpy as np

from stages.asking.prompts import Fact, Prompt
from stages.corpus.prepared import Prepared
from stages.model.gpt import GPT
from stages.model.likelihood import read_targets


def bits(model: GPT, prepared: Prepared, facts: Sequence[Fact], prompts: Sequence[Prompt]) -> float:
    """Return how much likelier a place is after its own prompt than after those of people born elsewhere, in bits.

    Mean over facts of log₂ p(place | own prompt) less log₂ of the mean of p(place | prompt) over the others. Each fact
    needs another one with another place.
    """
    texts = [prepared.vocabulary.encode(prompt.text) for prompt in prompts]
    gains = []
    for number, prompt in enumerate(prompts):
        target = prepared.vocabulary.encode(prompt.target)
        sequences = [np.concatenate([text, target]) for text in texts]
        nats, _ = read_targets(model, sequences, [len(text) for text in texts])
        others = [row for row, fact in enumerate(facts) if fact.place != facts[number].place]
        gains.append((nats[number] - np.logaddexp.reduce(nats[others]) + log(len(others))) / log(2))
    return float(np.mean(gains))
