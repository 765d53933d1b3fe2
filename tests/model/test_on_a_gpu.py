"""On a GPU every variant gives what it gives on the CPU, whose contract test_variants.py holds."""

import copy

import numpy as np
import pytest
import torch

from stages.asking.generation import beam_search, generate
from stages.model.gpt import GPT
from tests.support.tiny import MODEL, VARIANTS, loud, needs_gpu, random_tokens, tiny_model

pytestmark = [needs_gpu, pytest.mark.usefixtures("gpu_kernels"), pytest.mark.parametrize("variant", VARIANTS)]
ROUNDING = 2e-4  # of logits around 1: the two add in different orders


def pair(variant: str) -> tuple[GPT, GPT]:
    """The same model on the CPU and on the GPU, which computes as the study lets it."""
    model = loud(tiny_model(variant))
    return model, copy.deepcopy(model).cuda()


@torch.inference_mode()
def test_logits_of_full_forward_and_cached_generation_are_those_of_the_cpu(variant: str) -> None:
    model, on_gpu = pair(variant)
    tokens = random_tokens(3, MODEL.context)
    expected = model(tokens)
    for length in (1, 2, MODEL.context - 1, MODEL.context):
        logits = on_gpu(tokens[:, :length].cuda()).cpu()
        torch.testing.assert_close(logits, expected[:, :length], rtol=0, atol=ROUNDING)
    for cut in ([1] * MODEL.context, [5, 1, 1, 17, 2, MODEL.context - 26]):
        states = on_gpu.empty_states(3, MODEL.context)
        read = [on_gpu(chunk, states).cpu() for chunk in tokens.cuda().split(cut, dim=1)]
        torch.testing.assert_close(torch.cat(read, dim=1), expected, rtol=0, atol=ROUNDING)


def test_answers_are_those_of_the_cpu(variant: str) -> None:
    model, on_gpu = pair(variant)
    prompts = [random_tokens(1, length, seed=length)[0].numpy() for length in (5, 3, 17, 5, 1, 40, MODEL.context)]
    ours, theirs = (generate(network, prompts, 12) for network in (on_gpu, model))
    assert [answer.tokens.tolist() for answer in ours] == [answer.tokens.tolist() for answer in theirs]
    for beam, expected in zip(beam_search(on_gpu, prompts, 6, 3), beam_search(model, prompts, 6, 3), strict=True):
        assert np.allclose([a.probability for a in beam], [a.probability for a in expected], rtol=1e-2)
        assert beam[0].tokens.tolist() == expected[0].tokens.tolist()
