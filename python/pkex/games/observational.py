"""The observational game's settings: how background rows count beside what is known of a row.

Absent features follow those that are present as they do in the data: v(S) estimates the model's
mean output given x_S, by a conditional mean embedding (RKHS-SHAP: Chau, Hu, Gonzalez and Sejdinovic
2022, section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any

import numpy as np

from pkex.errors import InputError, InputTypeError
from pkex.games.category_codes import CategoryCodes
from pkex.games.landmarks import sampled_rows
from pkex.inputs.integers import as_integer
from pkex.kernels import RBF, Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.typing import Float

__all__ = ["Observational"]

# The factor of labels that differ: that of numbers that are a length-scale apart.
_OF_LABELS = math.exp(-0.5)
# Errors of weights are some 1e-17 over its square.
_LEAST_REGULARIZATION = 1e-8
# With more rows than this, a median is that of a sample of as many.
_MEDIAN_OF = 2000


@dataclass(frozen=True)
class Observational:
    """The value function "observational", with settings.

    Absent features are drawn from the background as they follow the present ones there. Each
    background row z_l gets a weight by how alike it is to the explained row x in the columns that
    are present, and v(S) = Σ_l w_l(x_S) f(x_S, z_l): the output with the absent features replaced
    by those of the row. The weights are those of a kernel ridge regression on the columns in S, of
    which background rows are the data, w(x_S) = (K_S + η B⁻¹)⁻¹ k_S(x), where η is the
    regularization and B holds the weights of background rows, 1/m each; what they lack of 1 is
    added in proportion to B. (The paper leaves it out, so that a constant added to a model would
    change its values; and takes v(∅), which so is the mean over the background, by definition.)

    A feature that the model ignores may have a value, since it says something of others. Weights
    may be negative, so that a worth may be out of the model's range, a probability above 1 or a
    variance below 0. A row that is in the background has most of the weight itself, as soon as some
    columns tell it from the others: values of rows that are not in it say more of what features
    tell, and so do those with `leave_one_out`.

    Parameters
    ----------
    kernel : Kernel, optional
        What rows are compared by; a kernel of some columns is its restriction to these, and an
        amplitude divides the regularization. By default
        a Gaussian whose length-scales are the medians of each column's distances between
        background rows; labels that differ count like numbers a length-scale apart. Of a column
        that is constant in the background nothing follows, and rows are not compared by it. A
        kernel that is given compares labels by their numbers, in the order in which they first
        occur: take `Categorical` for these columns.
    regularization : float, default 1e-3
        η, at least 1e-8: below, rounding would decide. The larger, the less background rows that
        are alike count beyond others.
    n_landmarks : int, optional
        The number of background rows on which weights are made, where there are too many for all
        (Nyström's approximation). The kernel of a kernel expansion is so approximated, too, where
        its points times the background rows are more than 4096². Landmarks are a fixed random
        sample; they, and the medians, take no notice of the background's weights that are not 0.
    leave_one_out : bool, default False
        Whether an explained row that is in the background, or copies of it, are left out there as
        long as some, but not all features are known: its weight is 0, and the others' are those of
        the same regression without it (whose regularization per row is η/(1 − b), of rows whose
        share b is left out). Exact, at no cost. Values still start from the mean over the whole
        background. Rows that are not in it have the values that they have without.

    Raises
    ------
    ValueError, TypeError
        If a setting is not of that kind.

    See Also
    --------
    Explainer : Takes it as its `value_function`.

    References
    ----------
    S. L. Chau, R. Hu, J. Gonzalez, D. Sejdinovic (2022), RKHS-SHAP: Shapley values for kernel
    methods, NeurIPS 35.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> from sklearn.kernel_ridge import KernelRidge
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> X[:, 2] = X[:, 0]
    >>> model = KernelRidge(kernel="rbf").fit(X[:, :], X[:, 0])
    >>> game = pkex.Observational(regularization=1e-2)
    >>> explainer = pkex.Explainer(model, X, value_function=game)
    >>> values = explainer(X[:5]).values
    >>> bool(np.allclose(values.sum(axis=1) + explainer.expected_value, model.predict(X[:5])))
    True
    """

    kernel: Kernel | None = None
    regularization: float = 1e-3
    n_landmarks: int | None = None
    leave_one_out: bool = False

    def __post_init__(self) -> None:
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise TypeError(
                "kernel must be a kernel of pkex.kernels, such as RBF(length_scale=1.0), or None; "
                f"got {self.kernel!r} ({type(self.kernel).__name__}){namesake(self.kernel)}"
            )
        object.__setattr__(self, "regularization", _positive(self.regularization))
        if self.n_landmarks is not None:
            number = as_integer("n_landmarks", self.n_landmarks, "a positive integer", least=1)
            object.__setattr__(self, "n_landmarks", number)
        if not isinstance(self.leave_one_out, bool):
            raise TypeError(f"leave_one_out must be True or False; got {self.leave_one_out!r}")

    def resolved(self, rows: Float, levels: CategoryCodes) -> Observational:
        """Return the settings with a kernel, the default one of a background.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            As numbers.
        levels : CategoryCodes
            Which columns hold labels, and the columns' names.

        Raises
        ------
        ValueError
            If the kernel given is not for these rows.
        """
        if self.kernel is not None:
            self.kernel.check_rows(rows, "background")
            return self
        scales = {
            column: _median_distance(rows[:, column])
            for column in range(rows.shape[1])
            if column not in levels.known
        }
        differing = [column for column, scale in scales.items() if scale > 0.0]
        labels = [column for column, of in sorted(levels.known.items()) if len(of) > 1]
        parts: list[Kernel] = []
        if differing:
            gaussian = RBF([scales[column] for column in differing])
            parts = [gaussian if len(differing) == rows.shape[1] else gaussian.on(differing)]
        if labels:
            parts.append(Categorical(_OF_LABELS).on(labels))
        # Equal rows have equal weights, whatever they are compared by.
        return replace(self, kernel=reduce(mul, parts) if parts else RBF(1.0))


def _positive(size: Any) -> float:
    if isinstance(size, bool) or not isinstance(size, Real):
        raise InputTypeError("regularization", f"must be a positive number; got {size!r}")
    if not _LEAST_REGULARIZATION <= float(size) < np.inf:
        raise InputError(
            "regularization",
            f"must be at least {_LEAST_REGULARIZATION:g} and finite, such as 1e-3; got {size!r}. "
            "With less, rounding errors decide on the weights",
        )
    return float(size)


def _median_distance(column: Float) -> float:
    """Return the median distance of pairs of entries, of the positive ones' mean if it is 0."""
    some = np.sort(column[sampled_rows(len(column), min(len(column), _MEDIAN_OF))])
    pairs = np.triu_indices(len(some), 1)
    distances = some[pairs[1]] - some[pairs[0]]
    if not distances.size:
        return 0.0
    if (median := float(np.median(distances))) > 0.0:
        return median
    if not distances.any():
        # Entries that were not chosen may differ.
        return float(np.ptp(column))
    return float(distances[distances > 0.0].mean())
