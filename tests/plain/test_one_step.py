"""What docs/one-step.md says of one step is what the plain model does."""

from pathlib import Path

import numpy as np
import torch
from torch import nn

from stages.corpus.example import MASK, PAD
from stages.corpus.prepared import Prepared
from stages.data import obtain
from stages.plain.__main__ import pretraining
from stages.plain.model import PlainGPT, cross_entropy
from stages.plain.training import PlainTrainer
from stages.prepare import prepare
from stages.settings.params import load
from tests.support.tiny import ROOT


def test_its_figures_are_those_of_the_first_step(tmp_path: Path) -> None:
    params = load(ROOT / "params.yaml")
    recipe = params.question_recipe("quick")
    obtain(params, "quick", tmp_path / "raw")
    prepare(recipe, "quick", tmp_path / "raw", tmp_path / "prepared")
    prepared = Prepared.load(tmp_path / "prepared")

    torch.manual_seed(1)
    generator = np.random.default_rng(1)
    model = PlainGPT("rope", len(prepared.vocabulary), recipe.model, params.variants["rope"])
    phase = pretraining(recipe, prepared, recipe.pretrain.epochs)
    rows = generator.permutation(phase.rows)[: recipe.pretrain.batch_size]
    examples = phase.draw(rows, generator)
    inputs, targets = torch.from_numpy(examples.inputs), torch.from_numpy(examples.targets)
    (shown,) = np.flatnonzero([prepared.title(row) == "Elizabeth Jones" for row in rows])
    page = prepared.text(rows[shown])
    length = int(examples.lengths[shown])
    example = prepared.vocabulary.decode([*examples.inputs[shown][:length].tolist(), MASK])

    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    cross_entropy(model, inputs, targets).backward()
    norm = float(nn.utils.get_total_norm(weight.grad for weight in model.parameters() if weight.grad is not None))
    trainer = PlainTrainer(model, recipe.optimizer)
    rate = phase.rate(len(rows) * (phase.context - 1))
    loss = trainer.step(inputs, targets, rate)
    moved = {name: float((weight.detach() - before[name]).abs().median()) for name, weight in model.named_parameters()}
    again = float(cross_entropy(model.eval(), inputs, targets).detach())
    of_muon = [weight for group in trainer.optimizers[1].param_groups for weight in group["params"]]

    weights = sum(weight.numel() for weight in model.parameters())
    matrices = sum(weight.numel() for weight in of_muon)
    text = " ".join((ROOT / "docs" / "one-step.md").read_text(encoding="utf-8").split())
    for said in (
        f"encoded {len(prepared.documents)} pages. Page {rows[shown] + 1} has {len(page)} characters: > {page}",
        f"from 0 to {len(prepared.vocabulary) - 1}. PAD is {PAD}; MASK, shown as ⁇, is {MASK}",
        f"inputs and targets {tuple(inputs.shape)}, {inputs.numel():,} positions",
        f"on {int((examples.lengths).sum()):,} of them, a target on {int((targets != PAD).sum())}; PAD",
        f"logits {(*inputs.shape, len(prepared.vocabulary))}. The model has {weights:,} weights",
        f"{loss:.3f} nats a character. Guessing among {len(prepared.vocabulary)} characters",
        f"norm {norm:.2f}; it is scaled down to {recipe.optimizer.gradient_clip:g}",
        f"the {len(of_muon)} matrices of the blocks ({matrices:,} weights), AdamW the other "
        f"{len(before) - len(of_muon)} tensors ({weights - matrices:,} weights)",
        f"200,000 = {rate:.6f}",
        f"The median weight of the head moves by {moved['head.weight']:.6f}, "
        f"that of the first MLP by {moved['blocks.0.expand.weight']:.6f}",
        f"The same batch now costs {again:.3f}",
    ):
        assert said in text, said
    assert example in text
