"""What every variant promises: causality, generation equal to the full form, its size, its first weights."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.model.fused import merge_heads, split_heads
from stages.model.gpt import GPT
from stages.model.mixers import build, settings_of
from stages.model.mixers.vanilla import Mixer as Vanilla
from tests.tiny import HANDOUT, MODEL, SETTINGS, VARIANTS, loud, random_tokens, tiny_model

ROUNDING = 1e-5  # of float32 logits of the order of one

# Facts of the course's models: width 256, 8 heads, context 128, 4 layers, vocabulary 256
PARAMETERS = {
    "vanilla": 3_323_392,
    "rope": 3_290_624,
    "nope": 3_290_624,
    "window": 3_290_624,
    "synthesizer": 3_076_988,
    "random_synthesizer": 3_321_344,
    "perceiver_ar": 3_323_392,
}


class Unmasked(Vanilla):
    """Attention to every position, later ones too."""

    def forward(self, x: Tensor, shapes: Sequence[torch.Size], state: object = None) -> Tensor:
        ((q, k, v),) = split_heads(self.query_key_value(x), shapes, self.heads)
        return self.projection(merge_heads([F.scaled_dot_product_attention(q, k, v)]))


class OneAhead(Vanilla):
    """Causal attention, moved by one: each output sees the input after its own."""

    def forward(self, x: Tensor, shapes: Sequence[torch.Size], state: object = None) -> Tensor:
        (shape,) = shapes
        return super().forward(x, shapes).view(*shape, -1).roll(-1, dims=1).flatten(0, 1)


class Summary(Vanilla):
    """As in Linformer (Wang et al. 2020), positions are mixed before any mask."""

    def forward(self, x: Tensor, shapes: Sequence[torch.Size], state: object = None) -> Tensor:
        (shape,) = shapes
        mean = x.view(*shape, -1).mean(dim=1, keepdim=True).expand(*shape, -1)
        return super().forward(x + 0.1 * mean.flatten(0, 1), shapes)


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def model(variant: str) -> GPT:
    return loud(tiny_model(variant))


@torch.inference_mode()
def influence(model: GPT, length: int) -> Tensor:
    """(length, length) bool: whether changing input i (row) changes logits t (column)."""
    tokens = random_tokens(1, length).expand(length + 1, length).clone()
    changed = torch.arange(length)
    tokens[changed, changed] = (tokens[changed, changed] - 1) % 38 + 2  # another token, no PAD, no MASK
    assert (tokens[changed, changed] != tokens[-1]).all()
    logits = model(tokens)  # the last row is the unchanged one
    return (logits[:-1] - logits[-1]).abs().amax(dim=-1) > ROUNDING


def looks_ahead(model: GPT, length: int) -> bool:
    """Whether any input changes logits before it."""
    return bool(influence(model, length).tril(-1).any())


def test_no_input_changes_logits_before_it(model: GPT) -> None:
    assert not looks_ahead(model, MODEL.context)
    assert not looks_ahead(model, 7)


@pytest.mark.parametrize("mixer", [Unmasked, OneAhead, Summary])
@pytest.mark.parametrize("layer", [0, 1])
def test_the_causality_check_catches_a_mixer_that_looks_ahead(mixer: type[Vanilla], layer: int) -> None:
    model = tiny_model("vanilla")
    model.blocks[layer].mixer = mixer(MODEL, settings_of("vanilla", SETTINGS.variants, MODEL), layer)
    assert looks_ahead(loud(model), MODEL.context)
    assert looks_ahead(loud(model), 7)


def test_every_input_changes_its_own_logits_and_some_later_ones(model: GPT) -> None:
    seen = influence(model, MODEL.context)
    assert seen.diagonal().all()
    assert seen.triu(1).any()
    assert seen[0, 1:].any()


def ones(length: int) -> list[int]:
    return [1] * length


def whole(length: int) -> list[int]:
    return [length]


def pieces(length: int) -> list[int]:
    return [5, 1, 1, 17, 2, length - 26]


@torch.inference_mode()
@pytest.mark.parametrize("cut", [ones, whole, pieces])
def test_cached_generation_equals_full_forward(model: GPT, cut: Callable[[int], list[int]]) -> None:
    tokens = random_tokens(3, MODEL.context)
    states = model.empty_states(3, MODEL.context)
    read = [model(chunk, states) for chunk in tokens.split(cut(MODEL.context), dim=1)]
    torch.testing.assert_close(torch.cat(read, dim=1), model(tokens), rtol=0, atol=ROUNDING)


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
            states = [state.keep(rows) for state in states]
        at = positions[rows] + step
        said = model(tokens[rows, at][:, None], states)
        torch.testing.assert_close(said[:, 0], full[rows, at], rtol=0, atol=ROUNDING)
    assert states[0].lengths.tolist() == [start + more for start in (30, 1, 9)]


@torch.inference_mode()
def test_states_of_one_batch_do_not_share_memory_with_those_it_came_from(model: GPT) -> None:
    tokens = random_tokens(2, 20)
    states = model.empty_states(2, MODEL.context)
    model(tokens[:, :10], states)
    kept = [state.keep(torch.tensor([1])) for state in states]
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
def test_rows_of_a_batch_do_not_influence_each_other(model: GPT) -> None:
    tokens = random_tokens(4, 30)
    torch.testing.assert_close(model(tokens)[2:3], model(tokens[2:3]), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name in VARIANTS])
def test_the_model_has_as_many_parameters_as_the_course_counts(name: str) -> None:
    model = tiny_model(name, vocabulary_size=256, model=HANDOUT.model)
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


def test_the_seed_alone_decides_the_first_weights(variant: str) -> None:
    first, again, other = (dict(tiny_model(variant, seed=seed).named_parameters()) for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])


def test_a_trunk_built_twice_has_its_own_weights(variant: str) -> None:
    section = settings_of(variant, SETTINGS.variants, MODEL)
    one, two = (build(variant, MODEL, section) for _ in range(2))
    assert not {id(each) for each in one.parameters()} & {id(each) for each in two.parameters()}
