"""Training on a GPU: forward, backward and clipping as one CUDA graph, no waiting for results.

The device would spend most of a step waiting for Python to start its hundreds of kernels. A graph starts them at
once; it needs the same shapes each time, so each half of a batch is padded to one of a few of them instead of being
cut by length. PAD carries no loss, so the mathematics is that of the CPU's path.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stages.corpus.example import PAD, Examples, columns
from stages.experiment.backend import Backend
from stages.model.gpt import GPT
from stages.model.packing import Packing
from stages.settings import Optimizer
from stages.training.trainer import Trainer

SHAPE_STEP = 32  # rows and columns are padded to a multiple of this
WARM_UP = 3  # runs before a capture: libraries choose their kernels and workspaces


class GraphTrainer(Trainer):
    """A trainer whose steps are replays of CUDA graphs, one for each combination of shapes."""

    def __init__(self, model: GPT, settings: Optimizer, backend: Backend) -> None:
        super().__init__(model, settings, backend)
        self.graphs: dict[tuple[tuple[int, ...], ...], _Graph] = {}
        self.buffers = [torch.zeros_like(master) for master in self.masters]  # all graphs write gradients there
        for master, buffer in zip(self.masters, self.buffers, strict=True):
            master.grad = buffer

    def cut(self, examples: Examples) -> list[Examples]:
        """The batch's halves, padded to one of few shapes."""
        return fixed_shapes(examples, self.model.context)

    def take(self, gradients: Sequence[Tensor]) -> None:
        torch._foreach_copy_(tuple(self.buffers), tuple(gradients))

    def clipped_gradients(self, parts: Sequence[Examples]) -> Tensor:
        shapes = tuple(part.inputs.shape for part in parts)
        pieces = [each.ravel() for part in parts for each in (part.inputs, part.targets)]
        characters = torch.from_numpy(np.concatenate(pieces)).pin_memory()  # they reach the device in one piece
        if shapes not in self.graphs:
            self.graphs[shapes] = _Graph(self, shapes, characters)
        return self.graphs[shapes].replay(characters)


def trainer_for(model: GPT, settings: Optimizer, backend: Backend) -> Trainer:
    """The trainer that is fast on the backend's device."""
    return (Trainer if backend.device.type == "cpu" else GraphTrainer)(model, settings, backend)


class _Graph:
    """Gradients of a batch of certain shapes, clipped, captured once and replayed."""

    def __init__(self, trainer: GraphTrainer, shapes: Sequence[tuple[int, ...]], characters: Tensor) -> None:
        device = trainer.masters[0].device
        self.characters = characters.to(device)
        pieces = iter(self.characters.split([rows * width for rows, width in shapes for _ in range(2)]))
        self.parts = [(next(pieces).view(shape), next(pieces).view(shape)) for shape in shapes]
        trainer.model.train()
        drawn = torch.cuda.get_rng_state(device)
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self._run(trainer)
        torch.cuda.current_stream(device).wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self._run(trainer)
        torch.cuda.set_rng_state(drawn, device)  # the first replay drops what any other would

    def _run(self, trainer: GraphTrainer) -> Tensor:
        loss = padded_loss(trainer.model, self.parts)
        trainer.take(torch.autograd.grad(loss, list(trainer.model.parameters())))
        nn.utils.clip_grad_norm_(trainer.masters, trainer.clip)
        return loss.detach()

    def replay(self, characters: Tensor) -> Tensor:
        """The batch's loss; its gradients are the masters'."""
        self.characters.copy_(characters, non_blocking=True)
        self.graph.replay()
        return self.loss.clone()


def fixed_shapes(examples: Examples, context: int) -> list[Examples]:
    """The shorter and the longer half of a batch, each padded with PAD.

    Packing and columns are multiples of SHAPE_STEP, but no more columns than `context`.
    """
    order = np.argsort(examples.lengths, kind="stable")
    return [_padded(examples, rows, context) for rows in np.array_split(order, 2) if len(rows)]


def _padded(examples: Examples, rows: np.ndarray, context: int) -> Examples:
    """Some rows of a batch in a fixed shape."""
    width = min(_multiple(examples.lengths[rows].max()), context)
    missing = _multiple(len(rows)) - len(rows)

    def padded(matrix: np.ndarray) -> np.ndarray:
        return np.pad(columns(matrix[rows], width), ((0, missing), (0, 0)), constant_values=PAD)

    return Examples(padded(examples.inputs), padded(examples.targets), np.pad(examples.lengths[rows], (0, missing)))


def _multiple(count: int) -> int:
    """The smallest multiple of SHAPE_STEP that is no less."""
    return -(-int(count) // SHAPE_STEP) * SHAPE_STEP


def padded_loss(model: GPT, parts: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """Mean cross-entropy over all targets, in nats, without shapes that depend on the data.

    parts: inputs and targets, each (B, T).
    """
    tokens = torch.cat([inputs.flatten() for inputs, _ in parts])  # (N,), N = Σ B·T
    logits = model.head(model.hidden(tokens, Packing.full(*(inputs.shape for inputs, _ in parts))))  # (N, vocabulary)
    targets = torch.cat([targets.flatten() for _, targets in parts])  # (N,)
    return F.cross_entropy(logits.float(), targets, ignore_index=PAD)
