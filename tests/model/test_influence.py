"""Influence by derivatives: exactly none where a variant lets nothing through, and some wherever a path leads."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from stages.costing.influence import Influence, influence, random_backbone
from stages.mixers import perceiver, settings_of
from stages.mixers.vanilla import Mixer as Vanilla
from stages.settings import Model
from stages.settings.influence import pictured
from tests.model.influence import influence as tried
from tests.model.influence import what_passes
from tests.model.looking_ahead import Linformer, OneAhead, Unmasked
from tests.tiny import MODEL, SECTIONS, SETTINGS, VARIANTS, loud, tiny_model

T = MODEL.context
s, t = torch.arange(T), torch.arange(T)[:, None]
CAUSAL = s <= t


# Which inputs (columns) each output (row) knows; a variant that is not named here loses none
EXPECTED = {
    "window": CAUSAL & (t - s <= MODEL.layers * (SECTIONS["window"]["width"] - 1)),  # each block looks so far back
    "perceiver": what_passes(SECTIONS["perceiver"]["bottleneck"], T).T,
}


def found(variant: str, model: Model = MODEL, **settings: object) -> Influence:
    section = settings_of(variant, SECTIONS | {variant: SECTIONS[variant] | settings}, model)
    return influence(random_backbone(variant, model, section, seed=0), model.context, model.width, seed=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_output_knows_the_inputs_that_its_variant_lets_through_and_no_other(variant: str) -> None:
    seen = found(variant).seen
    assert torch.equal(seen, EXPECTED.get(variant, CAUSAL))
    changed = tried(loud(tiny_model(variant)), T).T  # by another way: other tokens, and the whole model
    assert not (changed & ~seen).any()
    assert changed.sum() > seen.sum() / 4


@pytest.mark.parametrize("mixer", [Unmasked, OneAhead, Linformer])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_mixer_that_looks_ahead_is_caught(mixer: type[Vanilla], layer: int) -> None:
    section = settings_of("vanilla", SETTINGS.variants, MODEL)
    backbone = random_backbone("vanilla", MODEL, section, seed=0)
    backbone[layer].mixer = mixer(MODEL, section, layer).double()
    ahead = influence(backbone, T, MODEL.width, seed=0).seen & ~CAUSAL
    assert torch.equal(ahead, s == t + 1) if (mixer, layer) == (OneAhead, 1) else ahead.any()
    assert ahead.sum() == T * (T - 1) / 2 or mixer is OneAhead


@pytest.mark.parametrize("bottleneck", [32, 64])
@pytest.mark.parametrize("residual", [True, False])
def test_the_courses_perceiver_loses_what_lies_between_its_first_inputs_and_an_outputs_own(
    bottleneck: int, residual: bool
) -> None:
    course = Model(layers=4, heads=8, width=32, context=128, dropout=0.1)
    seen = found("perceiver", course, bottleneck=bottleneck, residual=residual)
    known = what_passes(bottleneck, 128).T
    assert torch.equal(seen.seen, known)
    # without the residual an input reaches its own output through the attention weights alone
    alone = torch.zeros(128, 128, dtype=torch.bool)
    alone.diagonal()[bottleneck:] = not residual
    assert torch.equal(seen.held, known & ~alone)


def test_a_single_latent_has_no_weights_to_reach_an_output_through() -> None:
    expected = torch.zeros(T, T, dtype=torch.bool)
    expected[:, 0] = True
    assert torch.equal(found("perceiver", bottleneck=1, residual=False).seen, expected)


@pytest.mark.parametrize("variant", ["vanilla", "mqa", "random_synthesizer"])
def test_attention_reads_what_it_weighs(variant: str) -> None:
    both = found(variant)
    assert torch.equal(both.held, both.seen)


def test_held_weights_are_no_influence() -> None:
    """Values that are all the same can be weighed, and nothing comes of it but through other weights."""
    section = settings_of("vanilla", SECTIONS, MODEL)
    backbone = random_backbone("vanilla", MODEL, section, seed=0)
    for block in backbone:
        block.mixer.query_key_value.weight[2 * MODEL.width :] = 0
    assert torch.equal(influence(backbone, T, MODEL.width, seed=0).held, s == t)


def test_what_a_residual_passes_on_has_strength_one() -> None:
    backbone = random_backbone("vanilla", MODEL, settings_of("vanilla", SECTIONS, MODEL), seed=0)
    for module in backbone.modules():
        if isinstance(module, nn.Linear):
            module.weight.zero_()
    same = influence(backbone, T, MODEL.width, seed=0)
    assert torch.equal(same.seen, s == t)
    assert same.strength.diagonal().mean().item() == pytest.approx(1, abs=4 / (2 * MODEL.width) ** 0.5)
    assert torch.equal(same.strength > 0, s == t)


def test_a_faint_influence_is_one() -> None:
    """A recurrence forgets by powers of ten: in float32, or by changed tokens, the first inputs would be lost."""
    faint = found("rnn", MODEL.model_copy(update={"context": 256}))
    assert faint.seen[-1, 0]
    assert 1e-290 < faint.faintest < 1e-20
    assert faint.strength[-1, 0] < 1e-20 < 0.01 < faint.strength[-1, -1]


@pytest.mark.parametrize("make", [lambda: found("gated_deltanet"), lambda: found("perceiver")])
def test_other_computations_are_left_as_they_were(make: Callable[[], Influence]) -> None:
    make()
    assert torch.get_default_dtype() == torch.float32
    assert torch.zeros(1).double().float().dtype == torch.float32


def test_the_seed_decides_strengths_and_not_who_knows_whom() -> None:
    backbone = random_backbone("perceiver", MODEL, settings_of("perceiver", SECTIONS, MODEL), seed=3)
    first, again, other = (influence(backbone, T, MODEL.width, seed) for seed in (1, 1, 2))
    assert torch.equal(first.strength, again.strength)
    assert not torch.equal(first.strength, other.strength)
    assert torch.equal(first.seen, other.seen)


OWN, OTHER, THIRD = (perceiver.Settings(bottleneck=number, residual=True) for number in (8, 16, 32))


@pytest.mark.parametrize(
    ("further", "drawn"),
    [
        ([], [OWN]),
        ([OTHER], [OWN, OTHER]),
        ([OTHER, OWN, THIRD], [OTHER, OWN, THIRD]),
        ([OWN, OTHER, OWN, OTHER], [OWN, OTHER]),
    ],
)
def test_each_of_a_variants_settings_is_drawn_once_and_its_own_among_them(
    further: list[perceiver.Settings], drawn: list[perceiver.Settings]
) -> None:
    assert pictured(OWN, further) == drawn
