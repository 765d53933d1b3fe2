"""Training on a GPU: forward, backward and clipping as one CUDA graph, no waiting for results.

The device would spend most of a step waiting for Python to start its hundreds of kernels. A graph starts them at
once; it needs the same shapes each time, so the parts of a batch are padded to a few of them. PAD carries no loss, so
the mathematics is that of the CPU's path. A graph is used after it was seen to do what an eager step does.
"""

import sys
from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm import tqdm

from stages.corpus.example import PAD, Examples
from stages.experiment.experiment import Backend
from stages.model.gpt import GPT
from stages.model.packing import Packing, split_by_length
from stages.settings.params import OptimizerSettings
from stages.training.trainer import Trainer

SHAPE_STEP = 32  # rows and columns are padded to a multiple of this
WARM_UP = 3  # runs before a capture: libraries choose their kernels and workspaces
# what a part costs beside its area, in characters; on paper, for an H100: 0.2 µs a character, 50 kernels of 2 µs
PART_COST = 512
# how far a replay may be from an eager step, as a share of its value
TOLERANCES = {"loss": 1e-3, "gradient norm": 1e-2}


class GraphTrainer(Trainer):
    """A trainer whose steps are replays of CUDA graphs, one for each combination of shapes.

    Where this device's graphs do not do what they should, its steps are eager.
    """

    def __init__(self, model: GPT, settings: OptimizerSettings, backend: Backend) -> None:
        super().__init__(model, settings, backend)
        self.graphs: dict[tuple[tuple[int, ...], ...], _Graph] = {}
        self.is_eager = False
        # the graphs' memory, one for all: they run one after the other
        self.pool = torch.cuda.graph_pool_handle()
        self.buffers = [torch.zeros_like(master) for master in self.masters]  # all graphs write gradients there
        for master, buffer in zip(self.masters, self.buffers, strict=True):
            master.grad = buffer

    def split(self, examples: Examples) -> list[Examples]:
        """Return the batch in parts of like lengths, padded to one of few shapes."""
        return fixed_shapes(examples, self.model.context)

    def clipped_gradients(self, parts: Sequence[Examples]) -> Tensor:
        shapes = tuple(part.inputs.shape for part in parts)
        pieces = [characters.ravel() for part in parts for characters in (part.inputs, part.targets)]
        characters = torch.from_numpy(np.concatenate(pieces)).pin_memory()  # they reach the device in one piece
        if shapes not in self.graphs:
            graph = _Graph(self, shapes)
            if not self.is_eager and (fault := graph.capture_fault(characters)):
                self.is_eager = True
                self.graphs.clear()  # and their memory
                tqdm.write(f"no CUDA graphs from here on, so steps take longer: {fault}", file=sys.stderr)
            self.graphs[shapes] = graph
        graph = self.graphs[shapes]
        return (graph.eager if self.is_eager else graph.replay)(characters)[0]


class _Graph:
    """Gradients of a batch of certain shapes, clipped: run eagerly, or captured once and replayed."""

    def __init__(self, trainer: GraphTrainer, shapes: Sequence[tuple[int, ...]]) -> None:
        self.trainer = trainer
        sizes = [rows * width for rows, width in shapes for _ in range(2)]
        self.characters = torch.zeros(sum(sizes), dtype=torch.long, device=trainer.backend.device)
        pieces = iter(self.characters.split(sizes))
        self.parts = [(next(pieces).view(shape), next(pieces).view(shape)) for shape in shapes]

    def eager(self, characters: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch and the norm of its gradients, which are, clipped, the masters'."""
        self.characters.copy_(characters, non_blocking=True)
        return self._run()

    def replay(self, characters: Tensor) -> tuple[Tensor, Tensor]:
        """Do the same by the captured graph."""
        self.characters.copy_(characters, non_blocking=True)
        self.graph.replay()
        return self.loss.clone(), self.norm.clone()  # the next graph to run may write over them

    def capture(self) -> None:
        """Capture a step, of whatever characters there are."""
        own = torch.cuda.current_stream()
        other = torch.cuda.Stream()
        other.wait_stream(own)
        with torch.cuda.stream(other):
            for _ in range(WARM_UP):
                self._run()
        own.wait_stream(other)
        self.graph = torch.cuda.CUDAGraph()
        # the outer block comes back to this stream where a capture that fails does not
        with torch.cuda.stream(own), torch.cuda.graph(self.graph, pool=self.trainer.pool):
            self.loss, self.norm = self._run()

    def capture_fault(self, characters: Tensor) -> str | None:
        """Capture the step and replay it on two batches: why its replays cannot be trusted, or None if they can.

        No weight changes, and the device's generator is left as it was. An error of the eager step is raised.
        """
        generator = torch.cuda.get_rng_state()

        def outcome(run: Callable[[Tensor], tuple[Tensor, Tensor]], characters: Tensor) -> list[float]:
            torch.cuda.set_rng_state(generator)  # dropout drops the same
            return torch.stack(run(characters)).cpu().tolist()

        eager = outcome(self.eager, characters)
        try:
            self.capture()
            other = outcome(self.replay, characters.flip(0))
            replayed = outcome(self.replay, characters)
        except RuntimeError as error:
            cause: BaseException = error
            while cause.__context__ is not None:  # the last error only says that the capture had failed before
                cause = cause.__context__
            reason, *_ = str(cause).split("\n")
            return f"its capture failed: {reason}"
        finally:
            torch.cuda.set_rng_state(generator)

        if not all(map(isfinite, eager)):
            return None  # it is not the graph that has failed
        for (name, tolerance), ours, theirs in zip(TOLERANCES.items(), replayed, eager, strict=True):
            if not abs(ours - theirs) <= tolerance * abs(theirs):
                return f"the {name} of a replay is {ours:.6g}, of an eager step {theirs:.6g}"
        return f"two batches have one loss, {other[0]:.6g}" if other[0] == replayed[0] else None

    def _run(self) -> tuple[Tensor, Tensor]:
        trainer = self.trainer
        trainer.model.train()
        loss = padded_loss(trainer.model, self.parts)
        gradients = torch.autograd.grad(loss, list(trainer.model.parameters()))
        torch._foreach_copy_(tuple(trainer.buffers), gradients)
        return loss.detach(), nn.utils.clip_grad_norm_(trainer.masters, trainer.clip)


def fixed_shapes(examples: Examples, context: int, part_cost: int = PART_COST) -> list[Examples]:
    """Return a batch sorted by length and cut into parts, each padded with PAD.

    Rows and columns of a part are multiples of SHAPE_STEP, but no more columns than `context`.
    """
    parts = []
    for part in split_by_length(examples, part_cost, SHAPE_STEP, SHAPE_STEP, context):
        rows = (0, -len(part.lengths) % SHAPE_STEP)
        inputs, targets = (np.pad(x, (rows, (0, 0)), constant_values=PAD) for x in (part.inputs, part.targets))
        parts.append(Examples(inputs, targets, np.pad(part.lengths, rows)))
    return parts


def padded_loss(model: GPT, parts: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """Mean cross-entropy over all targets, in nats, without shapes that depend on the data.

    parts: inputs and targets, each (B, T).
    """
    tokens = torch.cat([inputs.flatten() for inputs, _ in parts])  # (N,), N = Σ B·T
    logits = model.head(model.hidden(tokens, Packing.full(*(inputs.shape for inputs, _ in parts))))  # (N, vocabulary)
    targets = torch.cat([targets.flatten() for _, targets in parts])  # (N,)
    return F.cross_entropy(logits.float(), targets, ignore_index=PAD)
