"""A GPU that is only pretended: its values lie on the CPU, its rules are a GPU's.

Its tensors are of torch's meta device, which has shapes and autograd but no values and needs no driver; each has its
values beside it. What a GPU would forbid or wait for is forbidden or counted: tensors of two devices in one operation,
the host reading a value, the host taking part in what is captured. What cuBLAS, the memory allocator and the streams of
a real device do it cannot show.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from stages.experiment.experiment import Backend

DEVICE = torch.device("meta")
PRETENDED_FLOAT32 = Backend(DEVICE, torch.float32)
PRETENDED_BFLOAT16 = Backend(DEVICE, torch.bfloat16)

COPIES = ("_to_copy", "copy_", "_foreach_copy_")
INDEXING = ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put")
READ_BY_THE_HOST = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2", "bincount")
WITHOUT_CONTENT = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")


class OnDevice(Tensor):
    """A tensor of the device; `held` has its values, on the CPU."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> "OnDevice":
        layout = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        made = torch.Tensor._make_wrapper_subclass(cls, held.shape, device=DEVICE, **layout)
        made.held = held
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func} after the pretended device has gone")


class Graph:
    """A stand-in for torch.cuda.CUDAGraph: it runs the operations of a captured step again, in the same memory."""

    def __init__(self) -> None:
        self.operations: list[tuple[Any, Any, Any, Any]] = []  # the function, its arguments and what came out

    def replay(self) -> None:
        with _disable_current_modes():  # these are tensors of the CPU
            for func, args, kwargs, before in self.operations:
                after = func(*args, **kwargs)
                for old, new in zip(_tensors(before), _tensors(after), strict=True):
                    if old.data_ptr() != new.data_ptr():  # not in place
                        old.copy_(new)


class PretendedGpu(TorchDispatchMode):
    """Sees every operation while it is entered.

    waits: where the host waited for the device; graphs: those captured.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[str] = []
        self.graphs: list[Graph] = []
        self.capturing: Graph | None = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = _tensors((args, kwargs))
        here = [tensor for tensor in tensors if isinstance(tensor, OnDevice)]
        made_here = _made_here(func, args, kwargs, bool(here))
        if not here and not made_here:
            return func(*args, **kwargs)
        self._check(func, args, kwargs, [tensor for tensor in tensors if not isinstance(tensor, OnDevice)], made_here)

        args, kwargs = tree_map_only(Tensor, self._values, (args, kwargs))
        if "device" in kwargs:
            kwargs["device"] = torch.device("cpu")
        out = func(*args, **kwargs)
        if _name(func) in WITHOUT_CONTENT and out.is_floating_point():
            out.fill_(torch.nan)  # who reads it shall see it
        if self.capturing is not None and not func.is_view:  # a view's memory is another's
            self.capturing.operations.append((func, args, kwargs, out))
        if not made_here:
            return out
        known = {id(tensor.held): tensor for tensor in here}  # what an operation in place returns
        return tree_map_only(Tensor, lambda tensor: known[id(tensor)] if id(tensor) in known else OnDevice(tensor), out)

    def _values(self, tensor: Tensor) -> Tensor:
        if isinstance(tensor, OnDevice):
            return tensor.held
        return tensor.clone() if self.capturing else tensor  # what is captured keeps a number of the host as it is now

    def _check(self, func: Any, args: Any, kwargs: Any, elsewhere: list[Tensor], made_here: bool) -> None:
        """Refuse tensors of two devices; note that the host waits, and refuse the host while it captures."""
        name = _name(func)
        crosses = bool(elsewhere) or not made_here
        indexes = name in INDEXING and isinstance(args[0], OnDevice)  # whose indices may lie on the CPU
        if any(tensor.dim() for tensor in elsewhere) and not indexes and name not in COPIES:
            raise RuntimeError(f"{func}: tensors on the device and on the CPU, at {_where()}")
        masks = indexes and any(tensor.dtype in (torch.bool, torch.uint8) for tensor in _tensors(args[1]))
        if name in READ_BY_THE_HOST or masks or (crosses and (indexes or name in COPIES)):
            if self.capturing is not None:
                raise RuntimeError(f"{func} needs the host while capturing, at {_where()}")
            if not (kwargs.get("non_blocking") or (name == "copy_" and args[2:] == (True,))):
                self.waits.append(f"{func} at {_where()}")

    @contextmanager
    def capture(self, graph: Graph, pool: object = None) -> Iterator[None]:
        """Stand in for torch.cuda.graph."""
        self.capturing = graph
        try:
            yield
        finally:
            self.capturing = None
        self.graphs.append(graph)


@contextmanager
def pretended_gpu() -> Iterator[PretendedGpu]:
    """Pretend a device while the block runs: its functions stand in for torch.cuda's."""
    gpu = PretendedGpu()
    cuda: dict[str, Callable[..., Any]] = {
        "CUDAGraph": Graph,
        "graph": gpu.capture,
        "graph_pool_handle": list,
        "Stream": Mock,  # all work is done at once
        "stream": lambda stream: nullcontext(),
        "current_stream": Mock,
        "synchronize": lambda *device: None,
        "get_device_name": lambda *device: "pretended GPU",
        "manual_seed": torch.default_generator.manual_seed,
        "get_rng_state": torch.get_rng_state,
        "set_rng_state": torch.set_rng_state,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, pretended in cuda.items():
            patch.setattr(torch.cuda, name, pretended)
        patch.setattr(Tensor, "pin_memory", Tensor.clone)
        # a module that moves gets new tensors: written over, the old ones would keep the values they held
        patch.setattr(torch.__future__, "get_overwrite_module_params_on_conversion", lambda: True)
        patch.setattr(torch._C, "_InferenceMode", lambda mode: torch.no_grad())  # it knows no tensors as these
        with gpu:
            yield gpu


def _name(func: Any) -> str:
    """The name of an operation, without namespace and overload."""
    name: str = func._schema.name
    return name.partition("::")[2]


def _made_here(func: Any, args: Any, kwargs: Any, reads_here: bool) -> bool:
    """Whether what an operation gives lies on the device."""
    if _name(func) == "copy_":
        return isinstance(args[0], OnDevice)
    device = kwargs.get("device")
    return reads_here if device is None else torch.device(device) == DEVICE


def _tensors(x: Any) -> list[Tensor]:
    """All in tuples, lists and dictionaries."""
    return [leaf for leaf in tree_leaves(x) if isinstance(leaf, Tensor)]


def _where() -> str:
    """The file and line of the project, or of a test, that is at work."""
    frames = [frame for frame in traceback.extract_stack() if "/torch/" not in frame.filename]
    at = [frame for frame in frames if frame.filename != __file__][-1]
    return f"{Path(at.filename).name}:{at.lineno}"
