"""Training and answering on a pretended GPU give what the CPU gives, and no step waits for the host."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch

from stages.corpus.questions import prompt
from stages.experiment.backend import Backend
from stages.inference.generation import generate
from stages.model.gpt import GPT
from stages.probing.decodings import by_decoding
from stages.probing.extraction import exact_matches
from stages.probing.neighbours import neighbours
from stages.probing.prompts import Prompt
from stages.training.cuda_graph import GraphTrainer, padded_loss, trainer_for
from tests.support.closeness import NO_CLIP, usual_std
from tests.support.pretended_gpu import DEVICE, PRETENDED_BFLOAT16, PRETENDED_FLOAT32, pretended_gpu
from tests.support.tiny import FLOAT32, HANDOUT, MODEL, VARIANTS, loud, tiny_model
from tests.support.toy import saying
from tests.training.test_cuda_graph import PREPARED, VOCABULARY, assert_moved_alike, batch, graph_optimizer

ROWS = [16, 80, 16]  # of three batches, in two shapes
EITHER = pytest.mark.parametrize(
    "backend", [PRETENDED_FLOAT32, PRETENDED_BFLOAT16], ids=lambda backend: backend.precision
)


@pytest.mark.parametrize(("variant", "matrices"), [(variant, "adamw") for variant in VARIANTS] + [("rope", "muon")])
def test_graphs_move_the_weights_as_the_cpu_does_and_nothing_waits(
    variant: str, matrices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stages.training.cuda_graph.WARM_UP", 1)
    monkeypatch.setattr("stages.training.cuda_graph.SERIAL_PART_COST", 1)  # two parts for every variant
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    first = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    on_cpu = trainer_for(copy.deepcopy(model), graph_optimizer(matrices), FLOAT32)
    expected = [on_cpu.step(on_cpu.cut(batch(rows, seed)), 1e-4).item() for seed, rows in enumerate(ROWS)]
    with pretended_gpu() as gpu:
        trainer = trainer_for(model, graph_optimizer(matrices), PRETENDED_FLOAT32)
        gpu.waits.clear()
        losses = [trainer.step(trainer.cut(batch(rows, seed)), 1e-4) for seed, rows in enumerate(ROWS)]
        waits = list(gpu.waits)
        assert [len(trainer.cut(batch(rows))) for rows in ROWS] == [1, 2, 1]
        results, weights = [loss.item() for loss in losses], trainer.weights()
    assert isinstance(trainer, GraphTrainer) and not trainer.is_eager
    assert len(gpu.graphs) == len(trainer.graphs) == 2
    assert len(waits) == 3 * 2 and all(" at self_check.py:" in wait for wait in waits)  # of each graph, once
    assert results == pytest.approx(expected, rel=1e-5)
    assert_moved_alike(first, weights, on_cpu.weights(), matrices)


@EITHER
def test_graphs_write_gradients_where_the_optimizer_reads_them(backend: Backend) -> None:
    optimizer = HANDOUT.optimizer.model_copy(update={"gradient_clip": NO_CLIP})
    with pretended_gpu():
        trainer = GraphTrainer(loud(tiny_model("vanilla", VOCABULARY)), optimizer, backend)
        buffers = [master.grad for master in trainer.masters]
        parts = trainer.cut(batch(80))
        trainer.clipped_gradients(parts)
        on_device = [
            (torch.from_numpy(part.inputs).to(DEVICE), torch.from_numpy(part.targets).to(DEVICE)) for part in parts
        ]
        expected = torch.autograd.grad(padded_loss(trainer.model, on_device), list(trainer.model.parameters()))
        for master, buffer, theirs in zip(trainer.masters, buffers, expected, strict=True):
            assert buffer is not None and master.grad is buffer
            assert torch.equal(buffer.cpu(), theirs.float().cpu())


@EITHER
def test_the_seed_of_a_step_decides_a_graphs_dropout(backend: Backend) -> None:
    model = loud(tiny_model("rope", VOCABULARY, model=MODEL.model_copy(update={"dropout": 0.3})))
    with pretended_gpu():
        trainer, losses = trainer_for(model, HANDOUT.optimizer, backend), []
        parts = trainer.cut(batch(16))
        for seed in (1, 2, 1):  # the first makes the graph
            backend.seed(seed)
            losses.append(trainer.clipped_gradients(parts).item())
    assert losses[0] == losses[2] != losses[1]


@pytest.mark.parametrize("variant", ["vanilla", "rope", "window", "mqa", "perceiver", "perceiver_ar"])
def test_attention_is_left_to_the_device(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def written_out(*_: object, **__: object) -> None:
        raise AssertionError("all scores in the memory")

    monkeypatch.setattr(torch.Tensor, "softmax", written_out)
    with pretended_gpu():
        model, tokens = tiny_model(variant, VOCABULARY).to(DEVICE), torch.zeros(2, 20, dtype=torch.long, device=DEVICE)
        whole, states = model(tokens).cpu(), model.empty_states(2, 20)
        continued = torch.cat([model(part, states) for part in tokens.split([15, 5], dim=1)], dim=1).cpu()
    torch.testing.assert_close(continued, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_is_answered(variant: str) -> None:
    model = loud(tiny_model(variant, VOCABULARY), std=usual_std(variant))
    prompts = [prompt(PREPARED.questions["dev"][row])[: 9 + row] for row in range(3)]
    expected = generate(model, prompts, max_characters=3, end=None)
    with pretended_gpu():
        answers = generate(model.to(DEVICE), prompts, max_characters=3, end=None)
    for ours, theirs in zip(answers, expected, strict=True):
        assert np.array_equal(ours.tokens, theirs.tokens)
        assert ours.probability == pytest.approx(theirs.probability, rel=1e-4)


def test_the_same_is_found_by_probes() -> None:
    dev = PREPARED.of_split("dev")
    predicted = dev.set_index("row").place.str.upper()  # all wrong
    prompts = [Prompt(question, place) for question, place in zip(dev.question, dev.place, strict=True)]

    def probed(model: GPT) -> tuple[pd.DataFrame, pd.DataFrame, list[bool]]:
        tables = by_decoding(model, PREPARED, saying(3)), neighbours(model, PREPARED, predicted)
        return *tables, exact_matches(model, PREPARED.vocabulary, prompts).tolist()

    model = loud(tiny_model(VARIANTS[0], VOCABULARY), std=usual_std(VARIANTS[0]))
    expected = probed(model)
    with pretended_gpu():
        results = probed(model.to(DEVICE))
    for ours, theirs in zip(results[:2], expected[:2], strict=True):
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-3)
    assert results[2] == expected[2]
