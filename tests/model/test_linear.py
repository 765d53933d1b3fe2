"""Linear attention in chunks: the same as in one piece, whatever the length."""

import pytest
import torch
from torch import Tensor, nn

from stages.mixers.linear import CHUNK, Linear, feature
from stages.settings.section import Section
from tests.support.tiny import MODEL

LENGTHS = [1, CHUNK - 1, CHUNK, CHUNK + 1, 300]
# Relative errors allowed of outputs and gradients, beside sums in float32 between linear layers of the same precision.
# At most were measured 3.6e-7; in bfloat16 4.8e-3 of one chunk, whose weights are rounded, and 2.3e-4 of several. Were
# those rounded, too, they would be 4e-3 off.
FLOAT32 = 1.1e-6
BFLOAT16 = {"one chunk": 1.5e-2, "several": 1e-3}


def mixer() -> Linear:
    """With weights loud enough that features lie on both sides of their bend."""
    torch.manual_seed(0)
    made = Linear(MODEL, Section(), layer=0)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.3)
    return made


def text(length: int) -> Tensor:
    return torch.randn(2, length, MODEL.width, generator=torch.Generator().manual_seed(1))


def one_piece(mixer: Linear, x: Tensor) -> Tensor:
    """All weights at once, in float32: (φ(q)φ(k)ᵀ, masked) v over the sum of the weights."""
    B, T, C = x.shape
    heads = mixer.query_key_value(x).float().view(B, T, 3, mixer.heads, -1)
    q, k, v = heads.permute(2, 0, 3, 1, 4)  # (B, nh, T, hs) each
    weights = (feature(q) @ feature(k).transpose(-2, -1)).tril()  # (B, nh, T, T)
    mixed = weights @ v / weights.sum(dim=-1, keepdim=True)  # (B, nh, T, hs)
    return mixer.projection(mixed.to(x.dtype).transpose(1, 2).reshape(B, T, C))


def results(mixer: Linear, x: Tensor, output: Tensor) -> list[Tensor]:
    """The output, and gradients of a random sum of it: of the input and of all weights."""
    loud = torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(output.dtype)
    return [output.detach(), *torch.autograd.grad((output * loud).sum(), [x, *mixer.parameters()])]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_chunks_give_outputs_and_gradients_of_one_piece_and_what_is_carried_is_not_rounded(
    length: int, dtype: torch.dtype
) -> None:
    ours, x = mixer().to(dtype), text(length).to(dtype).requires_grad_()
    allowed = FLOAT32 if dtype == torch.float32 else BFLOAT16["one chunk" if length <= CHUNK else "several"]
    for chunked, whole in zip(results(ours, x, ours.mix(x)), results(ours, x, one_piece(ours, x)), strict=True):
        assert chunked.dtype == dtype
        assert (chunked.float() - whole.float()).norm() < allowed * whole.float().norm()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_feature_stays_exact_far_below_zero(dtype: torch.dtype) -> None:
    x = torch.tensor([-20.0, -60.0], dtype=dtype)
    torch.testing.assert_close(feature(x), x.exp())
