"""Gradients are those of finite differences; attention weights are those that the mixer used."""

import pytest
import torch

from stages.inference.generation import generate
from stages.model.attention import CausalSelfAttention
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.probing.saliency import attention_of_last, saliency
from stages.settings import Generation
from tests.probing.toy import toy_prepared
from tests.tiny import MODEL, SECTIONS, VARIANTS, loud, random_tokens, tiny_model

VOCABULARY = toy_prepared().vocabulary
NAME = "Ada Cole"
READ = "Where was Ada Cole born?⁇"
FOUR = Generation(max_characters=4, beams=1)
PLAIN = ("vanilla", "rope", "nope", "window", "perceiver_ar")


def model_of(variant: str) -> GPT:
    return loud(tiny_model(variant, len(VOCABULARY)))


def answer_log_probability(model: GPT, embedded: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """log p of the characters after READ, with the embedding's output replaced."""
    hook = model.embedding.register_forward_hook(lambda module, args, output: embedded)
    logits = model(tokens[None, :-1])[0]
    hook.remove()
    targets = tokens[len(READ) :]
    return logits[len(READ) - 1 :].log_softmax(-1).gather(1, targets[:, None]).sum()


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_are_shares_over_the_characters_read(variant: str) -> None:
    found = saliency(model_of(variant), VOCABULARY, NAME, FOUR)
    assert (found["question"], found["read"]) == (READ[:-1], READ)
    start, end = found["name"]
    assert found["read"][start:end] == NAME
    assert len(found["gradients"]) == (1 if variant == "perceiver" else MODEL.layers)
    for row in found["gradients"]:
        assert len(row) == len(READ)
        assert sum(row) == pytest.approx(1, abs=2e-3)
        assert min(row) >= 0
    assert len(found["attention"]) == (MODEL.layers if variant in PLAIN else 0)
    for layer in found["attention"]:
        assert len(layer) == MODEL.heads
        for head in layer:
            assert len(head) == len(READ) and sum(head) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("variant", ["vanilla", "min_gru", "perceiver"])
def test_the_first_row_is_the_gradient_by_finite_differences(variant: str) -> None:
    model = model_of(variant).double()
    (said,) = generate(model, [VOCABULARY.encode(READ)], 4)
    tokens = torch.from_numpy(VOCABULARY.encode(READ + VOCABULARY.decode(said.tokens) + "⁇"))
    embedded = model.embedding(tokens[:-1]).detach()
    norms = []
    with torch.no_grad():
        for place in range(len(READ)):
            slopes = []
            for channel in range(MODEL.width):
                ends = []
                for step in (1e-4, -1e-4):
                    moved = embedded.clone()
                    moved[place, channel] += step
                    ends.append(answer_log_probability(model, moved, tokens))
                slopes.append((ends[0] - ends[1]) / 2e-4)
            norms.append(torch.stack(slopes).norm())
    expected = (torch.stack(norms) / sum(norms)).tolist()
    assert saliency(model, VOCABULARY, NAME, FOUR)["gradients"][0] == pytest.approx(expected, abs=5e-4)


def test_characters_that_a_window_cannot_reach_do_not_matter() -> None:
    """Each of two layers sees five positions back from its own: ten from where the answer's first character is said."""
    sections = SECTIONS | {"window": {"width": 6, "theta": 10_000.0}}
    model = loud(tiny_model("window", len(VOCABULARY), sections=sections))
    row = saliency(model, VOCABULARY, NAME, FOUR)["gradients"][0]
    assert set(row[: len(READ) - 11]) == {0.0}
    assert min(row[len(READ) - 5 :]) > 0


@pytest.mark.parametrize("variant", PLAIN)
def test_the_weights_are_those_that_the_mixer_used(variant: str) -> None:
    mixer = model_of(variant).blocks[1].mixer  # type: ignore[union-attr]
    assert isinstance(mixer, CausalSelfAttention)
    torch.manual_seed(0)
    x = torch.randn(20, MODEL.width)
    with torch.inference_mode():
        joined = mixer.query_key_value(x)
        weights = attention_of_last(mixer, joined)  # (nh, T)
        values = joined[:, 2 * MODEL.width :].view(20, MODEL.heads, -1)  # (T, nh, hs)
        mixed = mixer.projection(torch.einsum("ht,thc->hc", weights, values).flatten())
        expected = mixer(x, Packing.full((1, 20)))[-1]
    torch.testing.assert_close(mixed, expected, atol=1e-5, rtol=1e-4)


def test_letters_that_the_corpus_lacks_are_not_read() -> None:
    model = model_of("vanilla")
    found = saliency(model, VOCABULARY, "Ada Çole漢", FOUR)
    assert found["read"] == READ
    start, end = found["name"]
    assert found["read"][start:end] == "Ada Cole"


def test_nothing_of_it_stays_with_the_model() -> None:
    model = model_of("rope")
    before = model(random_tokens(2, 9))
    saliency(model, VOCABULARY, NAME, FOUR)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(model(random_tokens(2, 9)), before)
    assert not model.embedding._forward_hooks
