"""The perceiver with inner blocks: impossible sizes, equality with the plain one, generation.

The contracts of every variant run with two blocks, the first and the last; here there are more.
"""

import pytest
import torch
from torch.nn import functional as F

from stages.model.gpt import GPT
from stages.system.errors import UserError
from tests.support.tiny import MODEL, ROUNDING, SECTIONS, loud, plain_twin, random_tokens, tiny_model

FOUR = MODEL.model_copy(update={"layers": 4})
LENGTH = 30


def sections(bottleneck: int, residual: bool = True, up_expansion: int = 4) -> dict[str, dict[str, object]]:
    return SECTIONS | {"perceiver": {"bottleneck": bottleneck, "residual": residual, "up_expansion": up_expansion}}


def perceiver(bottleneck: int, residual: bool = True, layers: int = 4, up_expansion: int = 4) -> GPT:
    shape = MODEL.model_copy(update={"layers": layers})
    return loud(tiny_model("perceiver", model=shape, sections=sections(bottleneck, residual, up_expansion)))


def test_a_single_layer_is_one_line_of_error() -> None:
    with pytest.raises(UserError, match=r"variants.perceiver: .*model.layers is 1"):
        perceiver(12, layers=1)


@pytest.mark.parametrize(("residual", "up_expansion"), [(True, 4), (False, 4), (True, 6)])
def test_logits_and_gradients_of_four_blocks_are_the_plain_ones(residual: bool, up_expansion: int) -> None:
    model = perceiver(12, residual, up_expansion=up_expansion)
    plain = plain_twin("perceiver", model, FOUR, sections(12, residual, up_expansion))
    for length in (7, 12, LENGTH):
        tokens = random_tokens(3, length + 1)
        results = []
        for network in (model, plain):
            network.zero_grad()
            logits = network(tokens[:, :-1])
            F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
            results.append([logits, *(parameter.grad for parameter in network.parameters())])
        for ours, theirs in zip(*results, strict=True):
            assert (ours - theirs).norm() <= 1e-5 * theirs.norm()


@torch.inference_mode()
@pytest.mark.parametrize("residual", [True, False])
def test_cached_generation_with_inner_blocks_equals_full_forward(residual: bool) -> None:
    model = perceiver(12, residual)
    tokens = random_tokens(3, LENGTH)
    for cut in ([1] * LENGTH, [LENGTH], [5, 1, 1, 17, 2, 4], [11, 1, 1, 17], [12, 18], [13, 17]):
        states = model.empty_states(3, LENGTH)
        read = [model(chunk, states) for chunk in tokens.split(cut, dim=1)]
        torch.testing.assert_close(torch.cat(read, dim=1), model(tokens), rtol=0, atol=ROUNDING)
