"""Tensors as arrays and back, and models in the mode in which they predict."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gpytorch
import numpy as np
import torch

from pkex.typing import Float


def array_of(tensor: Any) -> Float:
    """Return a copy of a tensor as a float64 array."""
    return np.array(tensor.detach().cpu().to(torch.float64).numpy())


def parameter_of_output(
    parameter: Any, shape: tuple[int, ...], batch_shape: tuple[int, ...], output: int
) -> Float:
    """Return a parameter of shape `shape` for one output of a batch, which may share it."""
    values: Float = array_of(parameter.expand((*batch_shape, *shape))).reshape(-1, *shape)[output]
    return values


def tensor_like(rows: Float, like: Any) -> Any:
    """Return rows as a tensor with the type and device of another."""
    return torch.as_tensor(rows, dtype=like.dtype, device=like.device)


def resolution_of(tensor: Any) -> float:
    """Return the relative rounding error of a tensor's type."""
    return float(torch.finfo(tensor.dtype).eps)


@contextmanager
def cholesky_solves() -> Iterator[None]:
    """Make models solve their equations by Cholesky factors, not by iterations."""
    largest = gpytorch.settings.max_cholesky_size(sys.maxsize)
    with largest, gpytorch.settings.fast_pred_var(False):
        yield


@contextmanager
def prediction_mode(model: Any, strategies: dict[Any, Any]) -> Iterator[None]:
    """Set a model to predict, and restore its mode and its cached predictions afterwards.

    Parameters
    ----------
    model : torch.nn.Module
    strategies : dict
        Prediction strategies by the modules of the model. Modules use them meanwhile, and new
        strategies are added.
    """
    parts = list(model.modules())
    states = [(part, part.training, _cached_predictions(part)) for part in parts]
    for part, strategy in strategies.items():
        part.prediction_strategy = strategy
    was_training = model.training
    try:
        if was_training:
            model.eval()
        # Without a warning about rows that are training points.
        with torch.no_grad(), gpytorch.settings.debug(False):
            yield
    finally:
        for part in parts:
            if (strategy := vars(part).get("prediction_strategy")) is not None:
                strategies[part] = strategy
        if was_training:
            model.train()
        for part, mode, cache in states:
            part.training = mode
            for name in _cached_predictions(part):
                if name in cache:
                    setattr(part, name, cache[name])
                else:
                    delattr(part, name)


def _cached_predictions(part: Any) -> dict[str, Any]:
    """Return the predictions that an exact model or a variational strategy caches."""
    cache = {name: vars(part)[name] for name in _CACHES if name in vars(part)}
    return {
        name: dict(value) if isinstance(value, dict) else value for name, value in cache.items()
    }


_CACHES = ("prediction_strategy", "_memoize_cache")
