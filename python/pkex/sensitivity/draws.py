"""Indices of functions drawn from the posterior of a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

from pkex.sensitivity.indices import Indices
from pkex.typing import Float


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityDraws(Indices):
    """The indices of functions drawn from the posterior of a Gaussian process.

    `SensitivityResult.draws`. Each draw is a function with its own variance and indices: arrays are
    those of `SensitivityResult` with a first axis of n draws.

    Attributes
    ----------
    variance : ndarray of shape (n,) or (n, outputs)
    shapley_effects, first_order, total : ndarray of shape (n, P) or (n, P, outputs)
    second_order : ndarray of shape (n, P, P) or (n, P, P, outputs), or None
        With NaN on the diagonal; None unless ``order=2``.
    left_out : float or ndarray of shape (outputs,)
        The share of the posterior variance that draws do not contain, averaged over 1,000 rows of
        the inputs.

    Examples
    --------
    The probability that x0 explains more of the variance than x1 does:

    >>> import numpy as np
    >>> import pkex
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> X = np.random.default_rng(0).random((15, 2))
    >>> surrogate = GaussianProcessRegressor(RBF(0.7), alpha=1e-6, optimizer=None)
    >>> surrogate = surrogate.fit(X, np.sin(5 * X[:, 0]) + X[:, 1])
    >>> result = pkex.sensitivity(surrogate, X, uncertainty=100, random_state=0)
    >>> effects = result.draws.shapley_effects
    >>> bool(np.mean(effects[:, 0] > effects[:, 1]) > 0.99)
    True
    """

    variance: Float
    left_out: float | Float

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.variance)

    def __repr__(self) -> str:
        """Return the numbers of draws and inputs."""
        _, n_inputs, *_ = self.shapley_effects.shape
        return f"SensitivityDraws({len(self)} draws, {n_inputs} inputs)"
