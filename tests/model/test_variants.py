"""What every variant promises: causality, the plain model's gradients, generation equal to the full form, its size."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from scipy import stats
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import Examples
from stages.model.gpt import GPT, settings_of
from stages.plain.attention import MIXERS
from stages.plain.model import cross_entropy
from stages.settings.params import ModelSettings
from stages.training.trainer import batch_loss
from tests.support.tiny import (
    BUILT_IN,
    HANDOUT,
    MODEL,
    ROOT,
    ROUNDING,
    SECTIONS,
    VARIANTS,
    Sections,
    influence,
    loud,
    packing_of,
    plain_twin,
    random_tokens,
    tiny_model,
    usual_std,
)

ROOM = 20
# Numbers that a sequence's states hold in the tiny shape (2 layers, C 32, hs 8) with room for 20 positions
STATE = {
    "vanilla": 2 * 2 * 32 * ROOM,
    "rope": 2 * 2 * 32 * ROOM,
    "nope": 2 * 2 * 32 * ROOM,
    "window": 2 * 2 * 32 * 5,  # a window of six
    "mqa": 2 * 2 * 8 * ROOM,
    "synthesizer": 2 * 32 * ROOM,
    "random_synthesizer": 2 * 32 * ROOM,
    "perceiver": 2 * 2 * 32 * 12,  # with 12 latents
    "perceiver_ar": 2 * 32 * ROOM + 2 * 32 * 9,  # with 10 latents
    "linear": 2 * 32 * (8 + 1),
    "gated_deltanet": 2 * 32 * (8 + 9),
    "min_gru": 2 * 32,
    "rnn": 2 * 32,
    "wrnn": 2 * 2 * 32,
}
LATENTS = (6 / (12 * 256 + 256)) ** 0.5  # √(6/(fan in + fan out)): m·d and d of (1, m, d)
Law = tuple[Callable[[Tensor], Tensor], Any]
# Parameters drawn as their papers or the course draw them: the law of a function of each
OF_THE_PAPER: dict[str, dict[str, Law]] = {
    "gated_deltanet": {
        "0.mixer.A_log": (Tensor.exp, stats.uniform(0, 16)),
        "0.mixer.dt_bias": (F.softplus, stats.loguniform(0.001, 0.1)),
        "0.mixer.convolution.weight": (Tensor.flatten, stats.uniform(-0.5, 1)),  # torch's rule, 1/√4
    },
    "perceiver": {"latents": (Tensor.flatten, stats.uniform(-LATENTS, 2 * LATENTS))},
    "random_synthesizer": {"0.mixer.scores": (Tensor.flatten, stats.norm(0, 0.02))},
    "synthesizer": {"0.mixer.table": (Tensor.flatten, stats.uniform(-0.001, 0.002))},
}

WITHOUT_MLP = MODEL.model_copy(update={"expansion": 0})
FOUR = MODEL.model_copy(update={"layers": 4})  # with two blocks the perceiver has none inside
LONG = MODEL.model_copy(update={"context": 300})  # linear attention comes in chunks of 128
Case = tuple[str, ModelSettings, Sections]


def perceiver(**changed: Any) -> Case:
    """Four blocks, with other settings."""
    return "perceiver", FOUR, SECTIONS | {"perceiver": SECTIONS["perceiver"] | changed}


CASES: dict[str, Case] = {variant: (variant, MODEL, SECTIONS) for variant in VARIANTS} | {
    "perceiver of four blocks": perceiver(),
    "perceiver without residual": perceiver(residual=False),
    "perceiver with a wide last MLP": perceiver(up_expansion=6),
    "linear of three chunks": ("linear", LONG, SECTIONS),
    "window wider than the text": ("window", MODEL, SECTIONS | {"window": {"width": 5000, "theta": 10_000.0}}),
}
# |difference| / |reference| of the loss and of a parameter's gradient: at most 6.2e-6 was measured, of gated_deltanet
BOUND = 1e-5
# A share of the whole gradient. Where a query sees one key only, its scores have none, but mqa is left with 8.7e-9.
NO_GRADIENT = 3e-8


def test_every_variant_has_a_file_and_those_of_the_project_a_plain_reference_and_their_sizes_stated() -> None:
    assert sorted(file.stem for file in (ROOT / "stages" / "mixers").glob("*.py")) == sorted(VARIANTS)
    for table in (VARIANTS, MIXERS, STATE):
        assert set(BUILT_IN) <= set(table)


@pytest.mark.parametrize("variant", VARIANTS)
def test_settings_are_tried_without_memory_or_draws(variant: str) -> None:
    before = torch.get_rng_state()
    settings_of(variant, SECTIONS, MODEL.model_copy(update={"context": 10**6, "width": 10**6}))  # some 10^14 numbers
    assert torch.equal(torch.get_rng_state(), before)


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def model(variant: str) -> GPT:
    return loud(tiny_model(variant))


@pytest.mark.usefixtures("either")
def test_an_input_changes_its_own_logits_some_later_ones_and_none_before(variant: str, model: GPT) -> None:
    seen = influence(model, MODEL.context)
    assert not seen.tril(-1).any() and not influence(model, 7).tril(-1).any()
    assert seen.diagonal().all()
    reaching = SECTIONS[variant].get("bottleneck", MODEL.context - 1)  # past it an input reaches its own logits only
    assert seen.triu(1).any(dim=1)[:reaching].all()


def gradients(loss: Tensor, model: nn.Module) -> dict[str, Tensor]:
    """By name; zero where a single position leaves a parameter unused, as W of a recurrence."""
    named = dict(model.named_parameters())
    derivatives = torch.autograd.grad(loss, list(named.values()), materialize_grads=True)
    return dict(zip(named, derivatives, strict=True))


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("short", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_loss_and_gradients_of_the_shortest_and_longest_sequences_are_the_plain_ones(case: str, short: bool) -> None:
    variant, shape, sections = CASES[case]
    lengths = [1, 1, 1] if short else [1, 2, shape.context - 1, shape.context]
    sequences = [random_tokens(1, length + 1, seed=seed)[0].numpy() for seed, length in enumerate(lengths)]
    batch = Examples.of_rows(sequences, first_targets=[1])  # every character but the first is a target
    model = loud(tiny_model(variant, model=shape, sections=sections), std=usual_std(variant))
    plain = plain_twin(variant, model, shape, sections)
    expected_loss = cross_entropy(plain, torch.from_numpy(batch.inputs), torch.from_numpy(batch.targets))
    loss = batch_loss(model, [batch])
    torch.testing.assert_close(loss, expected_loss, rtol=BOUND, atol=0)
    ours, expected = gradients(loss, model), gradients(expected_loss, plain)
    whole = torch.stack([gradient.norm() for gradient in expected.values()]).norm()
    for name, gradient in expected.items():
        assert (ours[name] - gradient).norm() <= BOUND * gradient.norm() + NO_GRADIENT * whole, name


@torch.inference_mode()
@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("case", CASES)
def test_cached_generation_equals_full_forward(case: str) -> None:
    variant, shape, sections = CASES[case]
    model, T = loud(tiny_model(variant, model=shape, sections=sections)), shape.context
    tokens = random_tokens(3, T)
    full = model(tokens)
    # one by one; in pieces; and as many as the perceiver has latents, or one more or less
    for cut in ([1] * T, [5, 1, 1, 17, 2, T - 26], [11, 1, 1, T - 13], [12, T - 12], [13, T - 13]):
        states = model.empty_states(3, T)
        read = [model(chunk, states) for chunk in tokens.split(cut, dim=1)]
        torch.testing.assert_close(torch.cat(read, dim=1), full, rtol=0, atol=ROUNDING)


@torch.inference_mode()
def test_cached_generation_is_as_exact_as_the_full_forward_in_bfloat16(model: GPT) -> None:
    tokens = random_tokens(3, MODEL.context)
    exact = model(tokens)
    model.to(torch.bfloat16)
    states = model.empty_states(3, MODEL.context)
    read = torch.cat([model(chunk, states) for chunk in tokens.split(1, dim=1)], dim=1)
    assert read.dtype == torch.bfloat16
    full_error, error = ((logits.float() - exact).square().mean().sqrt() for logits in (model(tokens), read))
    assert error < 2 * full_error


@torch.inference_mode()
@pytest.mark.usefixtures("either")
def test_packed_sequences_give_the_logits_of_each_alone_and_any_of_them_may_be_left_out(model: GPT) -> None:
    lengths = [[1, 2, 5, 7], [MODEL.context - 1], [3, MODEL.context, 16]]
    tokens = [random_tokens(1, length)[0] for part in lengths for length in part]
    alone = torch.cat([model(sequence[None])[0] for sequence in tokens])
    for indices in (None, torch.tensor([0, 6, 7, 13, 14, 30, 61])):
        packed = model.hidden(torch.cat(tokens), packing_of(lengths), loss_indices=indices)
        expected = alone if indices is None else alone[indices]
        torch.testing.assert_close(model.head(packed), expected, rtol=0, atol=ROUNDING)


@torch.inference_mode()
@pytest.mark.parametrize("name", STATE)
def test_a_sequences_states_are_as_large_as_its_variant_says(name: str) -> None:
    model = loud(tiny_model(name))
    states = model.empty_states(3, ROOM)
    for tokens in random_tokens(3, ROOM).split([3, 1, ROOM - 4], dim=1):
        model(tokens, states)
        assert sum(tensor[0].nbytes for state in states for tensor in state.tensors) == 4 * STATE[name]


def test_every_parameter_gets_a_gradient(model: GPT) -> None:
    tokens = random_tokens(4, MODEL.context + 1)
    F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []
    idle = [name for name, parameter in model.named_parameters() if not parameter.grad.abs().max() > 1e-7]
    assert idle == []


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_first_weights_that_are_not_the_models_are_those_of_the_paper(name: str) -> None:
    blocks = tiny_model(name, model=HANDOUT.model).blocks
    for parameter, (of, law) in OF_THE_PAPER[name].items():
        drawn = of(blocks.get_parameter(parameter).detach()).flatten().numpy()
        assert stats.kstest(drawn, law.cdf).pvalue > 1e-4, parameter


def test_a_block_without_an_mlp_is_one_whose_mlp_adds_nothing(variant: str, model: GPT) -> None:
    without = tiny_model(variant, model=WITHOUT_MLP)
    for name, parameter in model.named_parameters():
        if ".contract." in name:
            nn.init.zeros_(parameter)
    without.load_state_dict({name: model.state_dict()[name] for name in without.state_dict()})
    tokens = random_tokens(3, 20)
    torch.testing.assert_close(without(tokens), model(tokens))
