"""Which weights decay, by which rule, and what bfloat16 rounds."""

import pytest
import torch
from torch import nn

from stages.experiment.backend import Backend
from stages.settings import Optimizer
from stages.training.batches import split_by_length
from stages.training.trainer import Trainer
from tests.support.tiny import BFLOAT16, FLOAT32, HANDOUT, VARIANTS, loud, tiny_model
from tests.training.test_equality import VOCABULARY, span_batch

OPTIMIZER = HANDOUT.optimizer.model_copy(update={"matrices": "adamw"})
MUON = HANDOUT.optimizer.model_copy(update={"matrices": "muon", "weight_decay": 0.5})  # AdamW: test_equality.py


def trainer(variant: str, backend: Backend = FLOAT32, optimizer: Optimizer = OPTIMIZER) -> Trainer:
    return Trainer(loud(tiny_model(variant, VOCABULARY)), optimizer, backend)


@pytest.mark.parametrize("decays", ["matrices", "all_but_biases"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_shall_decay_decays_by_either_rule_of_muon(variant: str, decays: str) -> None:
    trained = trainer(variant, optimizer=MUON.model_copy(update={"decays": decays}))
    assert sorted(name for rule in trained.optimizers for name in rule.weights) == sorted(trained.named_masters)
    before = {name: weight.clone() for name, weight in trained.weights().items()}
    for master in trained.masters:
        master.grad = torch.zeros_like(master)  # what moves, decays
    for rule in trained.optimizers:
        rule.step(0.1)
    muon = trained.optimizers[-1].weights
    assert all(name.startswith("blocks.") and weight.dim() == 2 for name, weight in muon.items())  # never the head
    assert muon
    modules = trained.model.named_modules()
    linear = {f"{name}.weight" for name, module in modules if isinstance(module, nn.Linear)}
    for name, weight in trained.weights().items():
        decayed = name in linear if decays == "matrices" else not name.endswith("bias")
        expected = before[name] * (1 - 0.1 * 0.5) if decayed else before[name]
        torch.testing.assert_close(weight, expected, rtol=1e-6, atol=0, msg=name)


def test_bfloat16_keeps_float32_masters_and_the_model_follows_them() -> None:
    trained = trainer("vanilla", BFLOAT16)
    before = trained.weights()["head.weight"].clone()
    trained.step(split_by_length(span_batch(0)), 1e-6)  # a change too small for bfloat16
    after = trained.weights()
    assert {weight.dtype for weight in after.values()} == {torch.float32}
    assert not torch.equal(after["head.weight"], before)
    for name, copy in trained.model.named_parameters():
        assert copy.dtype == torch.bfloat16
        assert torch.equal(copy, after[name].to(torch.bfloat16))
