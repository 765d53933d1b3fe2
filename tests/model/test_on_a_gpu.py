"""On a GPU every variant gives what it gives on the CPU, whose contract test_variants.py holds."""

import copy
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from stages.inference.generation import Continuation, beam_search, generate
from stages.model.gpt import GPT
from tests.tiny import MODEL, VARIANTS, loud, needs_gpu, random_tokens, tiny_model

pytestmark = [needs_gpu, pytest.mark.usefixtures("gpu_kernels"), pytest.mark.parametrize("variant", VARIANTS)]
ROUNDING = 2e-4  # of logits around 1: the two add in different orders


def pair(variant: str) -> tuple[GPT, GPT]:
    """The same model on the CPU and on the GPU, which computes as the study lets it."""
    model = loud(tiny_model(variant))
    return model, copy.deepcopy(model).cuda()


@torch.inference_mode()
@pytest.mark.parametrize("length", [1, 2, MODEL.context - 1, MODEL.context])
def test_logits_are_those_of_the_cpu(variant: str, length: int) -> None:
    model, on_gpu = pair(variant)
    tokens = random_tokens(3, length)
    torch.testing.assert_close(on_gpu(tokens.cuda()).cpu(), model(tokens), rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_no_input_changes_logits_before_it(variant: str) -> None:
    _, model = pair(variant)
    tokens = random_tokens(1, MODEL.context).cuda()
    logits = model(tokens)
    for place in (1, 7, MODEL.context - 1):
        changed = tokens.clone()
        changed[:, place] = 2 + (changed[:, place] - 1) % 38
        torch.testing.assert_close(model(changed)[:, :place], logits[:, :place], rtol=0, atol=ROUNDING)
        assert (model(changed)[:, place] - logits[:, place]).abs().max() > 10 * ROUNDING


@torch.inference_mode()
@pytest.mark.parametrize("cut", [[1] * MODEL.context, [5, 1, 1, 17, 2, MODEL.context - 26]])
def test_cached_generation_equals_full_forward(variant: str, cut: list[int]) -> None:
    model, on_gpu = pair(variant)
    tokens = random_tokens(3, MODEL.context)
    states, of_cpu = (each.empty_states(3, MODEL.context) for each in (on_gpu, model))
    read = [on_gpu(chunk, states).cpu() for chunk in tokens.cuda().split(cut, dim=1)]
    torch.testing.assert_close(torch.cat(read, dim=1), model(tokens), rtol=0, atol=ROUNDING)
    assert [state.bytes_per_sequence for state in states] == [state.bytes_per_row for state in of_cpu]


def test_answers_are_those_of_the_cpu(variant: str) -> None:
    model, on_gpu = pair(variant)
    prompts = [random_tokens(1, length, seed=length)[0].numpy() for length in (5, 3, 17, 5, 1, 40, MODEL.context)]

    def said(answers: Sequence[Continuation]) -> list[list[int]]:
        return [answer.tokens.tolist() for answer in answers]

    assert said(generate(on_gpu, prompts, 12)) == said(generate(model, prompts, 12))
    for ours, theirs in zip(beam_search(on_gpu, prompts, 6, 3), beam_search(model, prompts, 6, 3), strict=True):
        assert np.allclose([a.probability for a in ours], [a.probability for a in theirs], rtol=1e-2)
        assert said(ours[:1]) == said(theirs[:1])
