"""Training on a GPU: forward, backward and clipping as one CUDA graph, no waiting for results.

The device would spend most of a step waiting for Python to start its hundreds of kernels. A graph starts them at
once; it needs the same shapes each time, so batches are padded to a few of them instead of being cut by length. PAD
carries no loss, so the mathematics is that of the CPU's path.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples, columns
from stages.model.gpt import GPT
from stages.settings import Optimizer
from stages.training.compute import Backend
from stages.training.learner import Learner

SHAPE_STEP = 32  # rows and columns are padded to a multiple of this
WARM_UP = 3  # runs before a capture: libraries choose their kernels and workspaces


class GraphLearner(Learner):
    """A learner whose steps are replays of CUDA graphs, one a shape of batches."""

    def __init__(self, model: GPT, settings: Optimizer, backend: Backend) -> None:
        super().__init__(model, settings, backend)
        self.graphs: dict[tuple[int, int], _Graph] = {}

    def cut(self, examples: Examples) -> list[Examples]:
        """The batch, padded to one of few shapes."""
        return [fixed_shape(examples, self.model.context)]

    def clipped_gradients(self, parts: Sequence[Examples]) -> Tensor:
        (batch,) = parts
        inputs, targets = (torch.from_numpy(each).pin_memory() for each in (batch.inputs, batch.targets))
        rows, width = inputs.shape
        if (rows, width) not in self.graphs:
            self.graphs[rows, width] = _Graph(self, inputs, targets)
        return self.graphs[rows, width].replay(inputs, targets)


def learner_for(model: GPT, settings: Optimizer, backend: Backend) -> Learner:
    """The learner that is fast on the backend's device."""
    return (GraphLearner if backend.device.type == "cuda" else Learner)(model, settings, backend)


class _Graph:
    """Gradients of a batch of one shape, clipped, captured once and replayed."""

    def __init__(self, learner: GraphLearner, inputs: Tensor, targets: Tensor) -> None:
        device = learner.masters[0].device
        self.inputs, self.targets = inputs.to(device), targets.to(device)
        learner.model.train()
        for parameter in [*learner.masters, *learner.model.parameters()]:
            if parameter.grad is None:  # one buffer for all graphs: the optimizer reads it
                parameter.grad = torch.zeros_like(parameter)
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self._run(learner)
        torch.cuda.current_stream(device).wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self._run(learner)

    def _run(self, learner: GraphLearner) -> Tensor:
        for parameter in learner.model.parameters():
            assert parameter.grad is not None
            parameter.grad.zero_()
        loss = padded_loss(learner.model, self.inputs, self.targets)
        loss.backward()
        for master, copy in zip(learner.masters, learner.copies, strict=False):
            assert master.grad is not None and copy.grad is not None
            master.grad.copy_(copy.grad)
        nn.utils.clip_grad_norm_(learner.masters, learner.clip)
        return loss.detach()

    def replay(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The batch's loss; its gradients are the masters'."""
        self.inputs.copy_(inputs, non_blocking=True)
        self.targets.copy_(targets, non_blocking=True)
        self.graph.replay()
        return self.loss.clone()


def fixed_shape(examples: Examples, context: int) -> Examples:
    """Pad a batch with PAD to a multiple of SHAPE_STEP in both directions, but to no more columns than `context`."""
    rows, width = examples.inputs.shape
    longest = min(int(examples.lengths.max()), width)
    width = min(-(-longest // SHAPE_STEP) * SHAPE_STEP, context)
    missing = -rows % SHAPE_STEP

    def padded(matrix: np.ndarray) -> np.ndarray:
        return np.pad(columns(matrix, width), ((0, missing), (0, 0)), constant_values=PAD)

    lengths = np.pad(examples.lengths, (0, missing))
    return Examples(padded(examples.inputs), padded(examples.targets), lengths)


def padded_loss(model: GPT, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over all targets, in nats, without shapes that depend on the data. inputs, targets: (B, T)."""
    logits = model.head(model.hidden([inputs]))  # (B·T, vocabulary)
    return F.cross_entropy(logits.float(), targets.flatten(), ignore_index=PAD)
