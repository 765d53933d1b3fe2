"""One step of training: only linear weights decay, each by its rule, and a stop leaves no trace."""

from itertools import product

import numpy as np
import pytest
import torch
from safetensors.torch import load, save
from torch import nn

from stages.corpus.example import Examples
from stages.corpus.span_corruption import span_corruption
from stages.experiment.backend import Backend
from stages.settings import Optimizer
from stages.training.batches import split_by_length
from stages.training.trainer import Trainer
from tests.support.invented import prepared_like_the_handout
from tests.support.tiny import BFLOAT16, FLOAT32, HANDOUT, VARIANTS, loud, spans, tiny_model, tiny_prepared

PREPARED = tiny_prepared()
VOCABULARY = len(PREPARED.vocabulary)
OPTIMIZER = HANDOUT.optimizer.model_copy(update={"matrices": "adamw"})
MUON = HANDOUT.optimizer.model_copy(update={"matrices": "muon"})
EITHER = pytest.mark.parametrize("optimizer", [OPTIMIZER, MUON], ids=lambda optimizer: optimizer.matrices)


def span_batch() -> Examples:
    return span_corruption(PREPARED.documents, np.arange(8).repeat(2), spans(4, 30), np.random.default_rng(0))


def trainer(variant: str, backend: Backend = FLOAT32, optimizer: Optimizer = OPTIMIZER) -> Trainer:
    return Trainer(loud(tiny_model(variant, VOCABULARY)), optimizer, backend)


@EITHER
@pytest.mark.parametrize("decays", ["matrices", "all_but_biases"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_shall_decay_decays(variant: str, decays: str, optimizer: Optimizer) -> None:
    trained = trainer(variant, optimizer=optimizer.model_copy(update={"weight_decay": 0.5, "decays": decays}))
    assert sorted(name for rule in trained.optimizers for name in rule.weights) == sorted(trained.names)
    before = {name: weight.clone() for name, weight in trained.weights().items()}
    for master in trained.masters:
        master.grad = torch.zeros_like(master)  # what moves, decays
    for rule in trained.optimizers:
        rule.step(0.1)
    modules = trained.model.named_modules()
    linear = {f"{name}.weight" for name, module in modules if isinstance(module, nn.Linear)}
    assert {"head.weight", "blocks.0.expand.weight"} <= linear
    for name, weight in trained.weights().items():
        decayed = name in linear if decays == "matrices" else not name.endswith("bias")
        expected = before[name] * (1 - 0.1 * 0.5) if decayed else before[name]
        torch.testing.assert_close(weight, expected, rtol=1e-6, atol=0, msg=name)


def test_muon_trains_the_blocks_matrices_and_adamw_the_head_and_all_else() -> None:
    *adamw, muon = trainer("vanilla", optimizer=MUON).optimizers
    assert {"blocks.0.expand.weight", "blocks.1.mixer.projection.weight"} <= muon.weights.keys()
    assert all(name.startswith("blocks.") and weight.dim() == 2 for name, weight in muon.weights.items())
    assert {"head.weight", "embedding.weight", "blocks.0.expand.bias"} <= {n for rule in adamw for n in rule.weights}


@EITHER
def test_weights_that_lie_transposed_in_memory_are_written_with_their_moments(optimizer: Optimizer) -> None:
    model = loud(tiny_model("vanilla", VOCABULARY))
    weight = model.blocks[0].expand.weight
    weight.data = weight.data.t().contiguous().t()
    trained = Trainer(model, optimizer, FLOAT32)
    trained.step(split_by_length(span_batch()), 1e-3)
    state = trained.state()
    torch.testing.assert_close(load(save(state)), state, rtol=0, atol=0)
    assert load(save(trained.weights())).keys() == dict(model.named_parameters()).keys()


def test_bfloat16_keeps_float32_masters_and_the_model_follows_them() -> None:
    trained = trainer("vanilla", BFLOAT16)
    before = trained.weights()["head.weight"].clone()
    trained.step(split_by_length(span_batch()), 1e-6)  # a change too small for bfloat16
    after = trained.weights()
    assert {weight.dtype for weight in after.values()} == {torch.float32}
    assert not torch.equal(after["head.weight"], before)
    for name, copy in trained.model.named_parameters():
        assert copy.dtype == torch.bfloat16
        assert torch.equal(copy, after[name].to(torch.bfloat16))


def splits_sums(dtype: torch.dtype) -> bool:
    """Whether a product that sums over many characters, as a weight's gradient does, depends on the threads."""
    threads, generator = torch.get_num_threads(), torch.Generator().manual_seed(0)
    for characters, width in product((1024, 2048, 3072, 4096), (64, 192, 256)):
        left, right = (torch.randn(characters, size, generator=generator).to(dtype) for size in (width, 64))
        products = []
        for number in (1, 2):
            torch.set_num_threads(number)
            products.append(left.T @ right)
        torch.set_num_threads(threads)
        if not torch.equal(*products):
            return True
    return False


@pytest.mark.parametrize("backend", [FLOAT32, BFLOAT16], ids=lambda backend: backend.precision)
def test_a_step_gives_the_same_bits_with_one_thread_and_with_two(backend: Backend) -> None:
    """A batch so large that both threads get a share of every operation."""
    if splits_sums(backend.dtype):
        pytest.skip("torch's own products split long sums among threads on this processor")
    shape = HANDOUT.model.model_copy(update={"layers": 2, "heads": 4, "width": 64})
    prepared = prepared_like_the_handout(64, {"train": 1, "dev": 1, "test": 1})
    objective = HANDOUT.pretrain.objectives.span_corruption
    examples = span_corruption(prepared.documents, np.arange(64), objective, np.random.default_rng(0))
    threads, states = torch.get_num_threads(), []
    try:
        for number in (1, 2):
            torch.set_num_threads(number)
            trained = Trainer(tiny_model("rope", len(prepared.vocabulary), model=shape), OPTIMIZER, backend)
            torch.manual_seed(1)  # of dropout
            loss = trained.step(trained.cut(examples), 1e-3)
            states.append(trained.state() | {"loss": loss})
    finally:
        torch.set_num_threads(threads)
    assert [name for name, tensor in states[0].items() if not torch.equal(tensor, states[1][name])] == []
