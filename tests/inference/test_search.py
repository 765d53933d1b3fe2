"""Beam search against all that a model could say, and passages longer than the context against plain re-reading."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
import torch

from stages.corpus.example import MASK
from stages.inference import generation
from stages.inference.decoding import Sampler, Sampling, greedy
from stages.inference.generation import answer, beam_search, generate, likeliest_passage, passage
from stages.inference.searches import Continuation, likeliest
from stages.model.gpt import GPT
from stages.settings import Generation
from tests.reference.model import PlainGPT
from tests.tiny import MODEL, VARIANTS, loud, plain_twin, tiny_model

FEW = 5  # characters of a vocabulary so small that all lines can be tried


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
            for line, whole in everything(model, [*prompt, character], left - 1, before * probability):
                yield (character, *line), whole


def told(answers: list[Continuation]) -> list[tuple[int, ...]]:
    return [tuple(each.tokens.tolist()) for each in answers]


def assert_same(answers: list[Continuation], expected: list[tuple[tuple[int, ...], float]]) -> None:
    assert told(answers) == [line for line, _ in expected]
    assert [each.probability for each in answers] == pytest.approx([whole for _, whole in expected], rel=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_beam_that_holds_every_line_finds_all_of_them_in_order(variant: str) -> None:
    model, prompt = loud(tiny_model(variant, FEW)), np.array([3, 2, 4])
    expected = sorted(everything(model, prompt.tolist(), 3), key=lambda each: -each[1])
    assert len(expected) == 1 + 4 + 16 + 64
    answers = beam_search(model, [prompt], 3, width=100)[0]
    assert_same(answers, expected)
    assert sum(each.probability for each in answers) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
def test_a_narrower_beam_finds_the_very_best_of_a_small_model_too(seed: int) -> None:
    """Not in general; but 16 lines of at most 64 hold them here, and what they are held to be is exact."""
    model, prompt = loud(tiny_model(VARIANTS[0], FEW), seed), np.array([3, 2])
    expected = sorted(everything(model, prompt.tolist(), 4), key=lambda each: -each[1])
    assert_same(beam_search(model, [prompt], 4, width=16)[0][:3], expected[:3])


def test_a_beam_ends_where_the_context_is_full() -> None:
    model = loud(tiny_model(VARIANTS[0], FEW))
    prompt = np.random.default_rng(0).integers(2, FEW, size=MODEL.context - 1)
    expected = sorted(everything(model, prompt.tolist(), 30), key=lambda each: -each[1])
    assert max(len(line) for line, _ in expected) == 2
    assert_same(beam_search(model, [prompt], 30, width=100)[0], expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_beam_of_one_line_is_greedy(variant: str, seed: int) -> None:
    model = loud(tiny_model(variant, 8), seed)
    for length in (1, 4, 30, MODEL.context):
        prompt = np.random.default_rng(length).integers(2, 8, size=length)
        ((best,),), (expected,) = beam_search(model, [prompt], 12, width=1), generate(model, [prompt], 12)
        assert best.tokens.tolist() == expected.tokens.tolist()
        assert best.probability == pytest.approx(expected.probability, rel=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_beams_answers_are_what_the_model_holds_of_them_and_the_same_each_time(variant: str) -> None:
    model, prompt = loud(tiny_model(variant, 12)), np.array([5, 9, 2, 7])
    answers = beam_search(model, [prompt], 10, width=6)[0]
    assert len(answers) == len({*told(answers)}) == 6
    assert [each.probability for each in answers] == sorted((each.probability for each in answers), reverse=True)
    plain = plain_twin(variant, model)
    for each in answers:
        said = each.tokens.tolist()
        closing = [] if len(said) == 10 else [MASK]
        assert each.probability == pytest.approx(probability_of(plain, prompt.tolist(), said + closing), rel=1e-4)
    again = beam_search(model, [prompt], 10, width=6)[0]
    assert [(line, each.probability) for line, each in zip(told(again), again, strict=True)] == [
        (line, each.probability) for line, each in zip(told(answers), answers, strict=True)
    ]


@pytest.mark.parametrize("variant", VARIANTS)
def test_beams_of_many_prompts_are_those_of_each_alone(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines end at different lengths, and prompts of six lengths are read in batches of three."""
    model = loud(tiny_model(variant, 8))
    lengths = (9, 4, 9, 30, 2, MODEL.context - 3, MODEL.context)
    prompts = [np.random.default_rng(length).integers(2, 8, size=length) for length in lengths]
    alone = [beam_search(model, [prompt], 6, width=4)[0] for prompt in prompts]
    assert len({len(line) for lines in alone for line in told(lines)}) > 2
    monkeypatch.setattr(generation, "BATCH", 12)
    for together, expected in zip(beam_search(model, prompts, 6, width=4), alone, strict=True):
        assert_same(together, [(line, each.probability) for line, each in zip(told(expected), expected, strict=True)])


@pytest.mark.parametrize("beams", [1, 3])
def test_a_recipes_answer_is_the_best_line_of_its_beam(beams: int) -> None:
    model = loud(tiny_model(VARIANTS[0], FEW))
    prompts = [np.random.default_rng(seed).integers(2, FEW, size=1 + seed % 5) for seed in range(20)]
    best = [lines[0] for lines in beam_search(model, prompts, 4, beams)]
    answers = answer(model, prompts, Generation(max_characters=4, beams=beams))
    assert_same(answers, [(line, each.probability) for line, each in zip(told(best), best, strict=True)])
    assert (told(answers) == told(generate(model, prompts, 4))) == (beams == 1)


def test_the_likeliest_ways_on_are_the_best_sums_in_order() -> None:
    totals, steps = np.array([-1.0, -0.5]), np.array([[-1.0, -3.0, -0.5], [-2.0, -1.0, -4.0]])
    lines, characters, sums = likeliest(totals, steps, 4)
    # -1.5 twice: the earlier line first; then -2.0 and -2.5
    assert (lines.tolist(), characters.tolist()) == ([0, 1, 0, 1], [2, 1, 0, 0])
    assert sums.tolist() == [-1.5, -1.5, -2.0, -2.5]
    assert len(likeliest(totals, steps, 100)[0]) == 6


def test_no_prompts_have_no_beams() -> None:
    assert beam_search(tiny_model(VARIANTS[0]), [], max_characters=5, width=3) == []


@torch.no_grad()
def probability_of(model: PlainGPT, prompt: list[int], said: list[int]) -> float:
    logits = model(torch.tensor([prompt + said[:-1]]))[0, len(prompt) - 1 :].double()
    return float(logits.softmax(dim=1)[range(len(said)), said].prod())


@torch.no_grad()
def plain_passage(model: PlainGPT, prompt: list[int], characters: int) -> list[int]:
    """Greedily, each character a full pass over what is read: when that exceeds the context, its last half anew."""
    text, start = list(prompt), 0
    for _ in range(characters):
        if len(text) - start > model.context:
            start = len(text) - model.context // 2
        text.append(int(model(torch.tensor([text[start:]]))[0, -1].argmax()))
    return text[len(prompt) :]


@pytest.mark.parametrize("length", [1, 20, MODEL.context, MODEL.context + 1, 3 * MODEL.context])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_passage_goes_on_past_the_context_as_plain_re_reading_does(variant: str, length: int) -> None:
    model = loud(tiny_model(variant, 8))
    prompt = np.random.default_rng(length).integers(2, 8, size=length)
    said = passage(model, prompt, 150, greedy)
    assert said.tolist() == plain_passage(plain_twin(variant, model), prompt.tolist(), 150)


@pytest.mark.parametrize("characters", [1, 2, 63, 64, 65, 200])
def test_a_passage_has_as_many_characters_as_are_asked_for(characters: int) -> None:
    model = loud(tiny_model(VARIANTS[0], 8))
    said = passage(model, np.array([3]), characters, Sampler(Sampling(temperature=3.0), seed=0))
    assert len(said) == characters
    assert characters < 60 or MASK in said  # which ends an answer and no passage


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_likeliest_passage_of_a_beam_that_holds_every_line_is_the_likeliest_of_all(variant: str) -> None:
    model, prompt = loud(tiny_model(variant, FEW)), np.array([3, 2, 4])
    plain = plain_twin(variant, model)
    lines = [list(line) for line in product(range(FEW), repeat=3)]  # MASK ends none of them
    best = max(lines, key=lambda line: probability_of(plain, prompt.tolist(), line))
    assert likeliest_passage(model, prompt, 3, width=FEW**2).tolist() == best


@pytest.mark.parametrize("width", [1, 4])
def test_a_mask_ends_no_line_of_a_passage(width: int) -> None:
    models = [loud(tiny_model(VARIANTS[0], FEW), seed) for seed in range(5)]
    said = [likeliest_passage(model, np.array([3, 2]), 90, width) for model in models]
    assert [len(each) for each in said] == [90] * 5
    assert any(MASK in each[:-1] for each in said)


@pytest.mark.parametrize("length", [1, MODEL.context, 3 * MODEL.context])
def test_a_passage_of_one_line_is_greedy_past_the_context_too(length: int) -> None:
    model = loud(tiny_model(VARIANTS[0], 8))
    prompt = np.random.default_rng(length).integers(2, 8, size=length)
    assert likeliest_passage(model, prompt, 150, width=1).tolist() == passage(model, prompt, 150, greedy).tolist()
