"""Tensors as arrays and back, and models as they predict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gpytorch
import numpy as np
import torch

from pkex.typing import Float

__all__ = ["array_of", "of_output", "predicting", "tensor_like"]


def array_of(tensor: Any) -> Float:
    """Return a tensor as a float64 array of its own."""
    return np.array(tensor.detach().cpu().to(torch.float64).numpy())


def of_output(
    parameter: Any, own: tuple[int, ...], batch_shape: tuple[int, ...], output: int
) -> Float:
    """Return a parameter, of shape `own`, of one output of a batch, which may have it in common."""
    values: Float = array_of(parameter.expand((*batch_shape, *own))).reshape(-1, *own)[output]
    return values


def tensor_like(rows: Float, like: Any) -> Any:
    """Return rows as a tensor of the type and on the device of another."""
    return torch.as_tensor(rows, dtype=like.dtype, device=like.device)


@contextmanager
def predicting(model: Any) -> Iterator[None]:
    """Let a model predict, and leave it as it was: its mode, and what it keeps of predictions."""
    was_training = model.training
    strategy = getattr(model, "prediction_strategy", None)
    memories = [(part, dict(vars(part).get("_memoize_cache", {}))) for part in model.modules()]
    try:
        if was_training:
            model.eval()
        # Without a warning of rows that are training points.
        with torch.no_grad(), gpytorch.settings.debug(False):
            yield
    finally:
        if was_training:
            model.train()
        if hasattr(model, "prediction_strategy"):
            model.prediction_strategy = strategy
        for part, memory in memories:
            if "_memoize_cache" in vars(part):
                part._memoize_cache = memory
