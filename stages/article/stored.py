"""Weights as the page holds them: a matrix as int8 with a scale for each row, all else as float32."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

LARGEST = 127  # an int8 holds it on both sides


def stored(weights: Mapping[str, Tensor]) -> dict[str, dict[str, str]]:
    """Each tensor as base64 of little-endian numbers: `values`, and for a matrix `scales`, one a row.

    A row's largest value becomes ±127, the others are rounded to the nearest of as many steps.
    """
    tensors = {}
    for name, tensor in weights.items():
        values = tensor.detach().float().cpu().numpy()
        if values.ndim == 1:
            tensors[name] = {"values": _text(values)}
            continue
        scales = np.maximum(np.abs(values).max(axis=1), np.finfo(np.float32).tiny) / LARGEST  # (D,)
        small = np.rint(values / scales[:, None]).astype(np.int8)  # (D, C)
        tensors[name] = {"values": _text(small), "scales": _text(scales)}
    return tensors


def restored(tensors: Mapping[str, Mapping[str, str]]) -> dict[str, Tensor]:
    """Return what `stored` holds, as the page reads it: in float32."""
    weights = {}
    for name, tensor in tensors.items():
        if "scales" not in tensor:
            weights[name] = torch.from_numpy(_numbers(tensor["values"], np.float32))
            continue
        scales = _numbers(tensor["scales"], np.float32)
        small = _numbers(tensor["values"], np.int8).reshape(len(scales), -1)
        weights[name] = torch.from_numpy(small * scales[:, None])
    return weights


def _text(numbers: np.ndarray[Any, Any]) -> str:
    little = numbers.astype(numbers.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")


def _numbers(text: str, kind: type[np.generic]) -> np.ndarray[Any, Any]:
    return np.frombuffer(base64.b64decode(text), np.dtype(kind).newbyteorder("<")).astype(kind)
