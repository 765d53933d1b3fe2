"""Influence by derivatives: exactly none where a variant lets nothing through, and some wherever a path leads."""

import pytest
import torch
from torch import Tensor

from stages.method import influence as stage
from stages.method.derivatives import influence, random_backbone
from stages.mixers.vanilla import Vanilla
from stages.model.packing import Packing
from stages.model.registry import settings_of
from stages.settings import Model
from tests.support.influence import influence as tried
from tests.support.pretended_gpu import DEVICE, pretended_gpu
from tests.support.talking import ChangeParams, Run, error
from tests.support.tiny import MODEL, SECTIONS, SETTINGS, VARIANTS, loud, tiny_model

T = MODEL.context
s, t = torch.arange(T), torch.arange(T)[:, None]
CAUSAL = s <= t


def what_passes(bottleneck: int, length: int) -> Tensor:
    """(length, length) bool: output t (row) < m knows the inputs up to its own; t ≥ m the first m and its own."""
    s, t = torch.arange(length), torch.arange(length)[:, None]
    return torch.where(t < bottleneck, s <= t, (s < bottleneck) | (s == t))


# Which inputs (columns) each output (row) knows; a variant that is not named here loses none
EXPECTED = {
    "window": CAUSAL & (t - s <= MODEL.layers * (SECTIONS["window"]["width"] - 1)),  # each block looks so far back
    "perceiver": what_passes(SECTIONS["perceiver"]["bottleneck"], T),
}


def derivatives(variant: str, model: Model = MODEL, **settings: object) -> Tensor:
    section = settings_of(variant, SECTIONS | {variant: SECTIONS[variant] | settings}, model)
    return influence(random_backbone(variant, model, section), model.context, model.width)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_output_knows_the_inputs_that_its_variant_lets_through_and_no_other(variant: str) -> None:
    seen = derivatives(variant) > 0
    assert torch.equal(seen, EXPECTED.get(variant, CAUSAL))
    changed = tried(loud(tiny_model(variant)), T).T  # by another way: other tokens, and the whole model
    assert not (changed & ~seen).any()
    assert changed.sum() > seen.sum() / 4
    assert torch.get_default_dtype() == torch.float32  # as before


@pytest.mark.parametrize("variant", ["mqa", "window", "gated_deltanet"])
def test_a_gpu_computes_the_same(variant: str) -> None:
    section = settings_of(variant, SECTIONS, MODEL)
    with pretended_gpu() as gpu:
        on_gpu = influence(random_backbone(variant, MODEL, section).to(DEVICE), MODEL.context, MODEL.width)
    assert gpu.waits  # it was there
    torch.testing.assert_close(on_gpu, derivatives(variant), rtol=1e-9, atol=0)


class OneAhead(Vanilla):
    """Causal attention, moved by one: each output sees the input after its own."""

    def packed(self, x: Tensor, packing: Packing) -> None:
        """Leave it to `mix`."""

    def mix(self, x: Tensor, state: object = None) -> Tensor:
        return super().mix(x).roll(-1, dims=1)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_mixer_that_looks_ahead_is_caught(layer: int) -> None:
    section = settings_of("vanilla", SETTINGS.variants, MODEL)
    backbone = random_backbone("vanilla", MODEL, section)
    backbone[layer].mixer = OneAhead(MODEL, section, layer).double()
    ahead = (influence(backbone, T, MODEL.width) > 0) & ~CAUSAL
    assert torch.equal(ahead, s == t + 1) if layer else ahead.any()


@pytest.mark.parametrize("residual", [True, False])
def test_the_courses_perceiver_loses_what_lies_between_its_first_inputs_and_an_outputs_own(residual: bool) -> None:
    course = Model(layers=4, heads=8, width=32, context=128, dropout=0.1)
    assert torch.equal(derivatives("perceiver", course, bottleneck=32, residual=residual) > 0, what_passes(32, 128))


def test_a_faint_influence_is_one() -> None:
    """A recurrence forgets by powers of ten: in float32, or by changed tokens, the first inputs would be lost."""
    strength = derivatives("rnn", MODEL.model_copy(update={"context": 256}))
    assert 0 < strength[-1, 0] < 1e-20 < 0.01 < strength[-1, -1]


def test_a_fault_in_a_section_is_named_where_it_stands(run: Run, change: ChangeParams) -> None:
    change({"variants.window.width": 0})
    assert error(run(stage, "--variant", "window")).startswith("error: params.yaml: variants.window.width: ")
    change({"influence.settings.window": [{"width": 0}]})
    assert error(run(stage, "--variant", "window")).startswith("error: params.yaml: influence.settings.window.width: ")
