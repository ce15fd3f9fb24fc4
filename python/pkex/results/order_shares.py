"""Shapley values split by the sizes of coalitions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from pkex.games.coalitions import coalitions
from pkex.results.axes import Axes
from pkex.typing import Float

# Shares of the last order below this fraction of the sums of shares cause no warning.
_SMALL_SHARE = 0.01


def order_shares(by_size: Sequence[Float], axes: Axes) -> Float:
    """Return the contributions of coalitions of each size to Shapley values.

    Parameters
    ----------
    by_size : sequence of ndarray of shape (n, coalitions) or (n, coalitions, outputs)
        The Möbius coefficients of the coalitions of 1, 2, … features.
    axes : Axes

    Returns
    -------
    ndarray of shape (n, d, order) or (n, d, order, outputs)
    """
    d, order = len(axes.features), len(by_size)
    rows, _, *outputs = by_size[0].shape
    shares = np.zeros((rows, d, order, *outputs))
    for size, coefficients in enumerate(by_size, 1):
        size_shares = shares[:, :, size - 1].swapaxes(0, 1)
        quotients = coefficients.swapaxes(0, 1) / size
        for members in coalitions(d, size).T:
            np.add.at(size_shares, members, quotients)
    if order < d and not _are_last_small(shares):
        warnings.warn(
            f"shares of order {order} are not small compared with the sum of orders 1 to {order}, "
            f"so this sum may differ from the Shapley values of {d} features: shares may alternate "
            "in sign and grow like C(d−1, q−1)/q with the order q. Use a higher order, or join "
            "features by groups=...",
            stacklevel=3,
        )
    return shares


def _are_last_small(shares: Float) -> bool:
    """Return whether the shares of the last order are small compared with the sums."""
    last, total = (
        np.abs(part).max(axis=(0, 1), initial=0.0)
        for part in (shares[:, :, -1], shares.sum(axis=2))
    )
    return bool(np.all(last <= _SMALL_SHARE * total))
