"""On a GPU every variant gives what it gives on the CPU, whose contract test_variants.py holds."""

import copy

import numpy as np
import pytest

from stages.asking.generation import beam_search, generate
from stages.model.gpt import GPT
from tests.support.tiny import MODEL, VARIANTS, loud, needs_gpu, random_tokens, tiny_model

pytestmark = [needs_gpu, pytest.mark.usefixtures("gpu_kernels"), pytest.mark.parametrize("variant", VARIANTS)]


def pair(variant: str) -> tuple[GPT, GPT]:
    """The same model on the CPU and on the GPU, which computes as the study lets it."""
    model = loud(tiny_model(variant))
    return model, copy.deepcopy(model).cuda()


def test_answers_are_those_of_the_cpu(variant: str) -> None:
    model, on_gpu = pair(variant)
    prompts = [random_tokens(1, length, seed=length)[0].numpy() for length in (5, 3, 17, 5, 1, 40, MODEL.context)]
    ours, theirs = (generate(network, prompts, 12) for network in (on_gpu, model))
    assert [answer.tokens.tolist() for answer in ours] == [answer.tokens.tolist() for answer in theirs]
    for beam, expected in zip(beam_search(on_gpu, prompts, 6, 3), beam_search(model, prompts, 6, 3), strict=True):
        assert np.allclose([a.probability for a in beam], [a.probability for a in expected], rtol=1e-2)
        assert beam[0].tokens.tolist() == expected[0].tokens.tolist()
