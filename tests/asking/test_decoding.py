"""How the next character is chosen: top-k, nucleus and temperature against their definitions, draws by frequency."""

from itertools import combinations

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import softmax

from stages.asking.decoding import Sampler
from stages.asking.generation import generate
from tests.support.tiny import VARIANTS, tiny_model

SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
VOCABULARY = 8
HALVES = np.log([[0.5, 0.25, 0.125, 0.125]])
LOGITS = 2 * np.random.default_rng(0).standard_normal((20, 7))
WHOLE = softmax(LOGITS, axis=1)


def test_a_temperature_divides_the_logits() -> None:
    assert Sampler(0, temperature=0.5).distribution(LOGITS) == pytest.approx(softmax(LOGITS / 0.5, axis=1))
    assert Sampler(0, temperature=0.5).distribution(HALVES)[0] == pytest.approx(np.array([16, 4, 1, 1]) / 22)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("temperature", [0.0, 1e-4, 1e-300, 5e-324])
def test_a_temperature_near_zero_is_greedy(temperature: float) -> None:
    chosen = Sampler(0, temperature=temperature).distribution(LOGITS)
    assert chosen == pytest.approx(np.eye(7)[LOGITS.argmax(axis=1)])


@pytest.mark.parametrize("k", [1, 5, 100])
def test_top_k_keeps_the_k_likeliest_in_proportion(k: int) -> None:
    chosen = Sampler(0, top_k=k).distribution(LOGITS)
    for row, probabilities in zip(chosen, WHOLE, strict=True):
        kept = sorted(range(7), key=lambda i: -probabilities[i])[:k]
        assert set(np.flatnonzero(row)) == set(kept)
        assert row[kept] == pytest.approx(probabilities[kept] / probabilities[kept].sum())


@pytest.mark.parametrize("p", [1e-9, 0.5, 0.9, 1.0])
def test_the_nucleus_is_the_smallest_set_with_that_mass(p: float) -> None:
    chosen = Sampler(0, top_p=p).distribution(LOGITS)
    for row, probabilities in zip(chosen, WHOLE, strict=True):
        kept = np.flatnonzero(row)
        assert probabilities[kept].sum() >= p - 1e-12
        smaller = [sum(probabilities[list(some)]) for some in combinations(range(7), len(kept) - 1)]
        assert max(smaller) < p
        assert row[kept] == pytest.approx(probabilities[kept] / probabilities[kept].sum())


def test_temperature_comes_before_top_k_and_top_k_before_the_nucleus() -> None:
    # at temperature 1/2: 16, 4, 1, 1 of 22; of the best two the first has 0.8
    assert Sampler(0, temperature=0.5, top_p=0.7).distribution(HALVES)[0].tolist() == [1, 0, 0, 0]
    assert Sampler(0, temperature=0.5, top_k=2, top_p=0.8).distribution(HALVES)[0].tolist() == [1, 0, 0, 0]
    assert np.flatnonzero(Sampler(0, temperature=0.5, top_p=0.8).distribution(HALVES)[0]).tolist() == [0, 1]


def test_a_model_says_characters_as_often_as_it_holds_them_likely() -> None:
    model, prompt = tiny_model(VARIANTS[0], VOCABULARY, seed=3), np.array([2, 5, 3])
    answers = generate(model, [prompt] * 20_000, 1, Sampler(seed=0), end=None)
    with torch.no_grad():
        probabilities = model(torch.from_numpy(prompt[None]))[0, -1].double().softmax(dim=0).numpy()
    counts = np.bincount([answer.tokens[0] for answer in answers], minlength=VOCABULARY)
    assert stats.chisquare(counts, 20_000 * probabilities).pvalue > SIGNIFICANT
    assert answers[0].probability == pytest.approx(probabilities[answers[0].tokens[0]], rel=1e-5)
