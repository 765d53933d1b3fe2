"""Contrastive search against each candidate read alone, and against greedy search."""

import numpy as np
import pytest
import torch

from stages.inference.generation import generate
from stages.method.contrastive import Contrastive
from stages.model.gpt import GPT
from stages.model.packing import Packing
from tests.support.tiny import MODEL, VARIANTS, loud, tiny_model

BEGINNINGS = np.random.default_rng(0).integers(2, 20, size=(2, 5))


def one_by_one(model: GPT, text: list[int], candidates: int, alpha: float) -> int:
    """The next character by the formula, a candidate and a cosine at a time."""
    with torch.no_grad():
        probabilities = model(torch.tensor([text]))[0, -1].double().softmax(dim=0)
        scores = {}
        for character in probabilities.argsort(descending=True)[:candidates].tolist():
            read = torch.tensor([*text, character])
            *before, own = model.hidden(read, Packing.full((1, len(read)))).double().numpy()
            cosines = [own @ other / np.linalg.norm(own) / np.linalg.norm(other) for other in before]
            scores[character] = (1 - alpha) * float(probabilities[character]) - alpha * max(cosines)
    return max(scores, key=lambda character: scores[character])


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_character_is_the_best_candidate_by_the_formula(variant: str) -> None:
    model = loud(tiny_model(variant)).eval()
    said = Contrastive(candidates=4, alpha=0.6).continued(model, BEGINNINGS, 8)
    for beginning, characters in zip(BEGINNINGS, said, strict=True):
        text = beginning.tolist()
        for _ in characters:
            text.append(one_by_one(model, text, 4, 0.6))
        assert text[len(beginning) :] == characters.tolist()


def test_without_a_penalty_it_is_greedy_beyond_the_context_too() -> None:
    model = loud(tiny_model("rope"))
    said = Contrastive(candidates=4, alpha=0.0).continued(model, BEGINNINGS, MODEL.context)
    within = MODEL.context - BEGINNINGS.shape[1]
    greedy = np.stack([answer.tokens for answer in generate(model, [*BEGINNINGS], within, end=None)])
    assert (said[:, :within] == greedy).all()

    read = np.hstack([BEGINNINGS, said[:, :within]])[:, -(MODEL.context // 2) :]
    after = np.stack([answer.tokens for answer in generate(model, [*read], said.shape[1] - within, end=None)])
    assert (said[:, within:] == after).all()
