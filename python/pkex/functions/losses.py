"""Losses: functions of a model's outputs and of the targets of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import numpy as np

from pkex.typing import Float

Loss: TypeAlias = Literal["squared_error", "absolute_error", "log_loss", "hinge"]
LOSSES: tuple[Loss, ...] = get_args(Loss)

# Maps outputs of shape (n, count, outputs) and targets of shape (n, k) to losses of shape
# (n, count, outputs), or (n, count, 1) if all outputs have one loss.
OutputLoss: TypeAlias = Callable[[Float, Float], Float]


def squared_errors(outputs: Float, targets: Float) -> Float:
    """Return (f − y)² for each output."""
    return np.square(outputs - targets[:, None])


def absolute_errors(outputs: Float, targets: Float) -> Float:
    """Return |f − y| for each output."""
    return np.abs(outputs - targets[:, None])


def log_losses_of_probabilities(outputs: Float, targets: Float) -> Float:
    """Return −log of the probability of the true class.

    Parameters
    ----------
    outputs : ndarray of shape (n, count, classes)
    targets : ndarray of shape (n, 1)
        The numbers of the true classes.
    """
    places = np.broadcast_to(targets.astype(np.intp)[:, None], (*outputs.shape[:2], 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.log(np.take_along_axis(outputs, places, axis=2))


def log_losses_of_odds(outputs: Float, targets: Float) -> Float:
    """Return log(1 + exp(−s f)) of log-odds f and signs s of the true class, 1 or −1."""
    return np.logaddexp(0.0, -targets[:, None] * outputs)


def hinge_losses(outputs: Float, targets: Float) -> Float:
    """Return max(0, 1 − s f) of decision values f and signs s of the true class, 1 or −1."""
    return np.maximum(0.0, 1.0 - targets[:, None] * outputs)


def log_losses_of_class(outputs: Float, targets: Float) -> Float:
    """Return −log of the probability of the true class of two.

    Parameters
    ----------
    outputs : ndarray of shape (n, count, 1)
        The probability of one class.
    targets : ndarray of shape (n, 1)
        1 if this class is true, else −1.
    """
    probabilities = np.where(targets[:, None] > 0.0, outputs, 1.0 - outputs)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.log(probabilities)
