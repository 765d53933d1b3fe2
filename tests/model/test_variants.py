"""What every variant promises: causality, generation equal to the full form, its size, its first weights."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from stages.mixers.vanilla import Mixer as Vanilla
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.model.registry import build, settings_of
from tests.model.influence import ROUNDING, influence
from tests.model.looking_ahead import Linformer, OneAhead, Unmasked
from tests.tiny import HANDOUT, MODEL, SECTIONS, SETTINGS, VARIANTS, loud, random_tokens, tiny_model

# Facts of the course's models: width 256, 8 heads, context 128, 4 layers, vocabulary 256
PARAMETERS = {
    "vanilla": 3_323_392,
    "rope": 3_290_624,
    "nope": 3_290_624,
    "window": 3_290_624,
    "mqa": 2_862_848,
    "synthesizer": 3_076_988,
    "random_synthesizer": 3_321_344,
    "perceiver": 3_339_776,  # with 64 latents
    "perceiver_ar": 3_323_392,
    "linear": 3_323_392,
    "gated_deltanet": 3_577_536,
    "min_gru": 3_027_456,
    "rnn": 2_763_264,
    "wrnn": 3_550_720,
}


# Parameters drawn as their papers draw them
OF_THE_PAPER = {
    "gated_deltanet": {
        "A_log": (float("-inf"), math.log(16)),
        "dt_bias": (math.log(math.expm1(0.001)), math.log(math.expm1(0.1))),  # softplus of it from 0.001 to 0.1
        "convolution.weight": (-0.5, 0.5),  # torch's rule for a convolution, 1/√4
        "norm.weight": (1, 1),
    }
}


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def model(variant: str) -> GPT:
    return loud(tiny_model(variant))


def looks_ahead(model: GPT, length: int) -> bool:
    """Whether any input changes logits before it."""
    return bool(influence(model, length).tril(-1).any())


@pytest.mark.usefixtures("either")
def test_no_input_changes_logits_before_it(model: GPT) -> None:
    assert not looks_ahead(model, MODEL.context)
    assert not looks_ahead(model, 7)


@pytest.mark.parametrize("mixer", [Unmasked, OneAhead, Linformer])
@pytest.mark.parametrize("layer", [0, 1])
def test_the_causality_check_catches_a_mixer_that_looks_ahead(mixer: type[Vanilla], layer: int) -> None:
    model = tiny_model("vanilla")
    model.blocks[layer].mixer = mixer(MODEL, settings_of("vanilla", SETTINGS.variants, MODEL), layer)
    assert looks_ahead(loud(model), MODEL.context)
    assert looks_ahead(loud(model), 7)


def test_every_input_changes_its_own_logits_and_some_later_ones(variant: str, model: GPT) -> None:
    seen = influence(model, MODEL.context)
    assert seen.diagonal().all()
    reaching = SECTIONS[variant].get("bottleneck", MODEL.context - 1)  # what stands past it reaches its own logits only
    assert seen.triu(1).any(dim=1)[:reaching].all()


def ones(length: int) -> list[int]:
    return [1] * length


def whole(length: int) -> list[int]:
    return [length]


def pieces(length: int) -> list[int]:
    return [5, 1, 1, 17, 2, length - 26]


@torch.inference_mode()
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("cut", [ones, whole, pieces])
def test_cached_generation_equals_full_forward(model: GPT, cut: Callable[[int], list[int]]) -> None:
    tokens = random_tokens(3, MODEL.context)
    states = model.empty_states(3, MODEL.context)
    read = [model(chunk, states) for chunk in tokens.split(cut(MODEL.context), dim=1)]
    torch.testing.assert_close(torch.cat(read, dim=1), model(tokens), rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_cached_generation_is_as_exact_as_the_full_forward_in_bfloat16(model: GPT) -> None:
    tokens = random_tokens(3, MODEL.context)
    exact = model(tokens)
    model.to(torch.bfloat16)
    states = model.empty_states(3, MODEL.context)
    read = torch.cat([model(chunk, states) for chunk in tokens.split(1, dim=1)], dim=1)
    assert read.dtype == torch.bfloat16
    rounding, found = ((logits.float() - exact).square().mean().sqrt().item() for logits in (model(tokens), read))
    assert found < 2 * rounding


@torch.inference_mode()
def test_rows_of_different_lengths_go_on_together_as_each_would_alone(model: GPT) -> None:
    starts, more = [1, 9, 30, 30], 12
    tokens = random_tokens(4, MODEL.context)
    alone = []
    for row, start in enumerate(starts):
        states = model.empty_states(1, 42)
        model(tokens[row : row + 1, :start], states)
        alone.append(states)
    states = [type(layer[0]).concatenate(list(layer)) for layer in zip(*alone, strict=True)]
    assert states[0].lengths.tolist() == starts
    full = model(tokens)
    rows, positions = torch.arange(4), torch.tensor(starts)
    for step in range(more):
        if step == more // 2:  # some rows end, the others change their order
            rows = torch.tensor([3, 0, 1])
            states = [state.index_select(rows) for state in states]
        at = positions[rows] + step
        said = model(tokens[rows, at][:, None], states)
        torch.testing.assert_close(said[:, 0], full[rows, at], rtol=0, atol=ROUNDING)
    assert states[0].lengths.tolist() == [start + more for start in (30, 1, 9)]


@torch.inference_mode()
def test_states_of_one_batch_do_not_share_memory_with_those_it_came_from(model: GPT) -> None:
    tokens = random_tokens(2, 20)
    states = model.empty_states(2, MODEL.context)
    model(tokens[:, :10], states)
    kept = [state.index_select(torch.tensor([1])) for state in states]
    model(tokens[:1, :5], kept)  # another continuation of row 1
    said = model(tokens[:, 10:], states)
    torch.testing.assert_close(said, model(tokens)[:, 10:], rtol=0, atol=ROUNDING)


@torch.inference_mode()
@pytest.mark.parametrize("length", [1, 2, MODEL.context - 1, MODEL.context])
def test_every_length_up_to_the_context_gives_the_logits_of_the_whole(model: GPT, length: int) -> None:
    tokens = random_tokens(2, MODEL.context)
    logits = model(tokens[:, :length])
    assert logits.shape == (2, length, 40)
    torch.testing.assert_close(logits, model(tokens)[:, :length], rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_what_is_wanted_of_two_parts_comes_out_as_among_all(model: GPT) -> None:
    tokens, rows = random_tokens(1, 62).flatten(), Packing.full((2, 7), (3, 16))
    loss_indices = torch.tensor([0, 6, 7, 13, 14, 30, 61])
    some, all_of_them = model.hidden(tokens, rows, loss_indices=loss_indices), model.hidden(tokens, rows)
    torch.testing.assert_close(some, all_of_them[loss_indices], rtol=0, atol=ROUNDING)


@torch.inference_mode()
@pytest.mark.usefixtures("either")
def test_rows_of_any_lengths_give_the_logits_of_each_alone(model: GPT) -> None:
    lengths = [[1, 2, 5, 7], [MODEL.context - 1], [3, MODEL.context, 16]]
    tokens = [random_tokens(1, length)[0] for part in lengths for length in part]
    together = model.head(model.hidden(torch.cat(tokens), Packing.of(lengths)))
    alone = torch.cat([model(row[None])[0] for row in tokens])
    torch.testing.assert_close(together, alone, rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_rows_of_a_batch_do_not_influence_each_other(model: GPT) -> None:
    tokens = random_tokens(4, 30)
    torch.testing.assert_close(model(tokens)[2:3], model(tokens[2:3]), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_model_has_as_many_parameters_as_the_course_counts(name: str) -> None:
    model = tiny_model(name, vocabulary_size=256, model=HANDOUT.model, sections=SETTINGS.variants)
    assert model.parameter_count == PARAMETERS[name]


def test_blocks_share_no_parameters(variant: str) -> None:
    model = tiny_model(variant)
    places = [parameter.data_ptr() for block in model.blocks for parameter in block.parameters()]
    assert len(set(places)) == len(places)
    assert len(model.blocks) == MODEL.layers


def test_every_parameter_gets_a_gradient(variant: str) -> None:
    model = loud(tiny_model(variant))
    tokens = random_tokens(4, MODEL.context + 1)
    F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []
    idle = [name for name, parameter in model.named_parameters() if not parameter.grad.abs().max() > 1e-7]
    assert idle == []


def test_first_weights_are_small_biases_zero_and_positions_zero(variant: str) -> None:
    model = tiny_model(variant, vocabulary_size=256, model=HANDOUT.model)
    drawn = [module.weight for module in model.modules() if isinstance(module, nn.Linear | nn.Embedding)]
    for weight in drawn:
        assert weight.std().item() == pytest.approx(0.02, rel=4 / weight.numel() ** 0.5)
        assert abs(weight.mean().item()) < 5 * 0.02 / weight.numel() ** 0.5
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is not None:
            assert not module.bias.any()
        if isinstance(module, nn.LayerNorm):
            assert (module.weight == 1).all() and not module.bias.any()
    assert model.positions is None or not model.positions.any()


@pytest.mark.parametrize("variant", OF_THE_PAPER)
def test_first_weights_that_are_not_the_models_are_those_of_the_paper(variant: str) -> None:
    for block in tiny_model(variant, model=HANDOUT.model).blocks:
        named = dict(block.mixer.named_parameters())
        for name, (least, largest) in OF_THE_PAPER[variant].items():
            assert least - 1e-5 <= named[name].min().item() <= named[name].max().item() <= largest + 1e-5
            assert least == largest or named[name].std() > 0.1 * named[name].abs().mean()


def test_the_seed_alone_decides_the_first_weights(variant: str) -> None:
    first, again, other = (dict(tiny_model(variant, seed=seed).named_parameters()) for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])


def test_a_trunk_built_twice_has_its_own_weights(variant: str) -> None:
    section = settings_of(variant, SETTINGS.variants, MODEL)
    one, two = (build(variant, MODEL, section) for _ in range(2))
    assert not {id(each) for each in one.parameters()} & {id(each) for each in two.parameters()}
