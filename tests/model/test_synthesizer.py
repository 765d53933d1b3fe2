"""Synthesizers compare no positions: what their weights depend on, and what they do not."""

import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from stages.mixers import random_synthesizer, synthesizer
from stages.model.mixer import Mixer
from stages.model.packing import Packing
from tests.model.influence import reach
from tests.tiny import HANDOUT, MODEL, tiny_model

T = 30


def draws(seed: int, length: int = T) -> Tensor:
    return torch.randn(length, MODEL.width, generator=torch.Generator().manual_seed(seed))


def mixed(mixer: Mixer, x: Tensor) -> Tensor:
    """x (T, C) → (T, C)."""
    return mixer(x, Packing.full((1, len(x))))


@pytest.fixture
def dense() -> synthesizer.Mixer:
    """With scores far from each other, as they are after training."""
    torch.manual_seed(0)
    mixer = synthesizer.Mixer(MODEL, synthesizer.Settings(), layer=0)
    nn.init.normal_(mixer.table)
    nn.init.normal_(mixer.offsets)
    return mixer


@pytest.fixture
def random() -> random_synthesizer.Mixer:
    torch.manual_seed(0)
    return random_synthesizer.Mixer(MODEL, random_synthesizer.Settings(), layer=0)


def between(one: Tensor, other: Tensor) -> Tensor:
    return 0.3 * one + 0.7 * other


@torch.inference_mode()
def test_the_random_synthesizers_weights_do_not_depend_on_the_input(random: random_synthesizer.Mixer) -> None:
    """Then, and only then, the output is linear in the input."""
    x, y = draws(0), draws(1)
    expected = between(mixed(random, x), mixed(random, y))
    torch.testing.assert_close(mixed(random, between(x, y)), expected, rtol=1e-4, atol=1e-5)


@torch.inference_mode()
def test_the_dense_synthesizers_weights_depend_on_the_querys_position_alone(dense: synthesizer.Mixer) -> None:
    """The last output is linear in what stands before it, and not in its own input."""
    x, y = draws(0), draws(1)
    own = x[-1:]

    def last(before: Tensor, own: Tensor) -> Tensor:
        return mixed(dense, torch.cat([before[:-1], own]))[-1]

    expected = between(last(x, own), last(y, own))
    torch.testing.assert_close(last(between(x, y), own), expected, rtol=1e-4, atol=1e-5)
    of_another = between(last(x, x[-1:]), last(x, y[-1:]))
    assert (last(x, between(x[-1:], y[-1:])) - of_another).abs().max() > 1e-3


def test_r_is_drawn_as_the_weights_are() -> None:
    scores = random_synthesizer.Mixer(HANDOUT.model, random_synthesizer.Settings(), layer=0).scores.detach()
    assert scores.shape == (8, 128, 128)
    assert scores.std().item() == pytest.approx(0.02, rel=4 / scores.numel() ** 0.5)
    assert abs(scores.mean().item()) < 5 * 0.02 / scores.numel() ** 0.5


def test_the_dense_synthesizers_tables_start_as_the_courses() -> None:
    mixer = tiny_model("synthesizer", model=HANDOUT.model).blocks[0].get_submodule("mixer")
    table, offsets = (mixer.get_parameter(name).detach() for name in ("table", "offsets"))
    assert table.shape == (127, 32) and offsets.shape == (127,)
    assert stats.kstest(table.flatten().numpy(), stats.uniform(-0.001, 0.002).cdf).pvalue > 1e-4
    assert not offsets.any()


def test_the_last_position_of_the_context_does_not_mix_its_own_value(dense: synthesizer.Mixer) -> None:
    """Without W₂, inputs reach outputs as values only."""
    nn.init.zeros_(dense.table)
    expected = torch.ones(MODEL.context, MODEL.context, dtype=torch.bool).triu()
    assert torch.equal(reach(dense, MODEL.width, MODEL.context - 1), expected[:-1, :-1])
    expected[-1, -1] = False
    assert torch.equal(reach(dense, MODEL.width, MODEL.context), expected)
