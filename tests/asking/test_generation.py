"""Answers are the plain reference's, beams those of a search through all, passages those of re-reading, draws fair."""

import copy
from collections.abc import Iterator
from itertools import chain, combinations

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import softmax

from stages.asking import generation
from stages.asking.generation import NEVER, Continuation, Sampler, beam_search, generate, greedy, passages
from stages.corpus.example import MASK
from stages.model.gpt import GPT
from stages.plain.generation import answer
from stages.plain.model import PlainGPT
from tests.support.tiny import MODEL, VARIANTS, loud, needs_gpu, plain_twin, random_tokens, tiny_model

VOCABULARY = 8  # so few that an untrained model says MASK now and then
LENGTHS = (5, 3, 17, 5, 1, 40, 60, MODEL.context - 1, MODEL.context)
DRAWS = np.random.default_rng(0)
BATCH = [DRAWS.integers(2, VOCABULARY, size=length) for length in LENGTHS]
FEW = 5  # characters of a vocabulary so small that all hypotheses can be tried
Expected = list[tuple[tuple[int, ...], float]]


def everything(
    model: GPT, prompt: list[int], left: int, before: float = 1.0
) -> Iterator[tuple[tuple[int, ...], float]]:
    """All that the model could say after a prompt, with its probability, each a full forward pass."""
    with torch.no_grad():
        probabilities = model(torch.tensor([prompt]))[0, -1].double().softmax(dim=0).tolist()
    for character, probability in enumerate(probabilities):
        if character == MASK:
            yield (), before * probability
        elif left == 1 or len(prompt) == model.context:
            yield (character,), before * probability
        else:
            for rest, whole in everything(model, [*prompt, character], left - 1, before * probability):
                yield (character, *rest), whole


def best_first(model: GPT, prompt: np.ndarray, characters: int) -> Expected:
    return sorted(everything(model, prompt.tolist(), characters), key=lambda pair: -pair[1])


def with_probabilities(answers: list[Continuation]) -> Expected:
    return [(tuple(answer.tokens.tolist()), answer.probability) for answer in answers]


def assert_same(answers: list[Continuation], expected: Expected) -> None:
    assert [tuple(answer.tokens.tolist()) for answer in answers] == [characters for characters, _ in expected]
    assert [answer.probability for answer in answers] == pytest.approx([whole for _, whole in expected], rel=1e-4)


def random_prompt(length: int, vocabulary: int = VOCABULARY) -> np.ndarray:
    return np.random.default_rng(length).integers(2, vocabulary, size=length)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_batch_of_prompts_is_answered_as_the_plain_reference_answers_each(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY))
    plain = plain_twin(variant, model)
    expected = [answer(plain, prompt.tolist(), 12) for prompt in BATCH]
    assert_same(generate(model, BATCH, max_characters=12), [(tuple(text), chance) for text, chance in expected])


@needs_gpu
@pytest.mark.usefixtures("gpu_kernels")
@pytest.mark.parametrize("variant", VARIANTS)
def test_answers_on_a_gpu_are_those_of_the_cpu(variant: str) -> None:
    model = loud(tiny_model(variant))
    on_gpu = copy.deepcopy(model).cuda()
    prompts = [random_tokens(1, length, seed=length)[0].numpy() for length in (5, 3, 17, 5, 1, 40, MODEL.context)]
    ours, theirs = (generate(network, prompts, 12) for network in (on_gpu, model))
    assert [answer.tokens.tolist() for answer in ours] == [answer.tokens.tolist() for answer in theirs]
    for beam, expected in zip(beam_search(on_gpu, prompts, 6, 3), beam_search(model, prompts, 6, 3), strict=True):
        assert np.allclose([a.probability for a in beam], [a.probability for a in expected], rtol=1e-2)
        assert beam[0].tokens.tolist() == expected[0].tokens.tolist()


def test_a_model_in_training_answers_without_dropout() -> None:
    model = loud(tiny_model(VARIANTS[0], VOCABULARY, model=MODEL.model_copy(update={"dropout": 0.5}))).train()
    first, second = (with_probabilities(generate(model, BATCH[:2], max_characters=8)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("length", "hypotheses"), [(3, 1 + 4 + 16 + 64), (MODEL.context - 1, 1 + 4 + 16)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_beam_that_holds_every_hypothesis_finds_all_of_them_in_order_to_the_end_of_the_context(
    variant: str, length: int, hypotheses: int
) -> None:
    model, prompt = loud(tiny_model(variant, FEW)), random_prompt(length, FEW)
    expected = best_first(model, prompt, 3)
    assert len(expected) == hypotheses
    answers = beam_search(model, [prompt], 3, width=100)[0]
    assert_same(answers, expected)
    assert sum(answer.probability for answer in answers) == pytest.approx(1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_beams_of_many_prompts_are_those_of_each_alone(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypotheses end at different lengths, and prompts of six lengths are read in batches of three."""
    model = loud(tiny_model(variant, VOCABULARY))
    prompts = [random_prompt(length) for length in (9, 4, 9, 30, 2, MODEL.context - 3, MODEL.context)]
    alone = [with_probabilities(beam_search(model, [prompt], 6, width=4)[0]) for prompt in prompts]
    assert len({len(characters) for hypotheses in alone for characters, _ in hypotheses}) > 2
    monkeypatch.setattr(generation, "BATCH", 12)
    for together, expected in zip(beam_search(model, prompts, 6, width=4), alone, strict=True):
        assert_same(together, expected)


@pytest.mark.parametrize("beams", [1, 3])
def test_an_answer_by_a_beam_is_the_best_hypothesis_of_its_beam(beams: int) -> None:
    model = loud(tiny_model(VARIANTS[0], FEW))
    prompts = [np.random.default_rng(seed).integers(2, FEW, size=1 + seed % 5) for seed in range(20)]
    answers = generate(model, prompts, 4, beams)
    assert_same(answers, with_probabilities([best for best, *_ in beam_search(model, prompts, 4, beams)]))
    of_greedy = [answer.tokens.tolist() for answer in generate(model, prompts, 4)]
    assert ([answer.tokens.tolist() for answer in answers] == of_greedy) == (beams == 1)


@torch.no_grad()
def plain_passage(model: PlainGPT, prompt: list[int], characters: int) -> list[int]:
    """Greedily, each character a full pass over what is read: when that exceeds the context, its last half anew."""
    text, start = list(prompt), 0
    for _ in range(characters):
        if len(text) - start > model.context:
            start = len(text) - model.context // 2
        text.append(int(model(torch.tensor([text[start:]]))[0, -1].argmax()))
    return text[len(prompt) :]


def whole(pieces: Iterator[np.ndarray]) -> list[int]:
    """The only passage; of more than a context it comes in several pieces."""
    passage = [piece.tolist() for (piece,) in pieces]
    assert len(passage) > 1 or len(passage[0]) <= MODEL.context
    return list(chain.from_iterable(passage))


@pytest.mark.parametrize("length", [1, MODEL.context, 3 * MODEL.context])
@pytest.mark.parametrize("variant", ["vanilla", "window", "rnn"])
def test_a_passage_goes_on_past_the_context_as_plain_re_reading_does(variant: str, length: int) -> None:
    model, prompt = loud(tiny_model(variant, VOCABULARY)), random_prompt(length)
    expected = plain_passage(plain_twin(variant, model), prompt.tolist(), 100)
    assert whole(passages(model, prompt[None], 100, greedy)) == expected


SIGNIFICANT = 1e-3  # seeds are fixed: a right distribution passes always, or never
HALVES = np.log([[0.5, 0.25, 0.125, 0.125]])
LOGITS = 2 * np.random.default_rng(0).standard_normal((20, 7))
WHOLE = softmax(LOGITS, axis=1)


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


def test_temperature_divides_the_logits_before_top_k_and_top_k_comes_before_the_nucleus() -> None:
    assert Sampler(0, temperature=0.5).distribution(HALVES)[0] == pytest.approx(np.array([16, 4, 1, 1]) / 22)
    # of the best two the first has 0.8
    assert Sampler(0, temperature=0.5, top_p=0.7).distribution(HALVES)[0].tolist() == [1, 0, 0, 0]
    assert Sampler(0, temperature=0.5, top_k=2, top_p=0.8).distribution(HALVES)[0].tolist() == [1, 0, 0, 0]
    assert np.flatnonzero(Sampler(0, temperature=0.5, top_p=0.8).distribution(HALVES)[0]).tolist() == [0, 1]


def test_a_model_says_characters_as_often_as_it_holds_them_likely() -> None:
    model, prompt = tiny_model(VARIANTS[0], VOCABULARY, seed=3), np.array([2, 5, 3])
    answers = generate(model, [prompt] * 20_000, 1, Sampler(seed=0), end=NEVER)
    with torch.no_grad():
        probabilities = model(torch.from_numpy(prompt[None]))[0, -1].double().softmax(dim=0).numpy()
    counts = np.bincount([answer.tokens[0] for answer in answers], minlength=VOCABULARY)
    assert stats.chisquare(counts, 20_000 * probabilities).pvalue > SIGNIFICANT
    assert answers[0].probability == pytest.approx(probabilities[answers[0].tokens[0]], rel=1e-5)
