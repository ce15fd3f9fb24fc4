"""Settings of the observational value function.

v(S) estimates the conditional mean of the model's output given x_S by a conditional mean embedding
(RKHS-SHAP: Chau, Hu, Gonzalez and Sejdinovic 2022, section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pkex.errors import InputError, InputTypeError
from pkex.games.category_codes import CategoryCodes
from pkex.games.landmarks import sample_rows
from pkex.inputs.choices import check_choice
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import RBF, Categorical, Kernel
from pkex.kernels.base import namesake
from pkex.typing import Float

# The features whose conditional distribution is embedded: the absent ones, or all of a row.
Embedding: TypeAlias = Literal["absent", "rows"]
_EMBEDDINGS: tuple[Embedding, ...] = get_args(Embedding)

# The kernel of distinct categories equals that of numbers one length-scale apart.
_LABEL_SIMILARITY = math.exp(-0.5)
# Errors of weights are about 1e-17 divided by the squared regularization.
_MIN_REGULARIZATION = 1e-8
# Medians are computed from a sample of so many rows if there are more.
_MEDIAN_ROWS = 2000


@dataclass(frozen=True, init=False)
class Observational:
    """Settings of the value function "observational".

    Absent features follow their conditional distribution given the present features. Each
    background row z_l has a weight that grows with its similarity to the explained row x in the
    present columns, and v(S) = Σ_l w_l(x_S) f(x_S, z_l): the mean output with the absent features
    replaced by those of z_l. The weights are those of a kernel ridge regression on the columns in
    S, w(x_S) = (K_S + η B⁻¹)⁻¹ k_S(x). Here η is the regularization and B is the diagonal matrix of
    the weights of background rows, 1/m each by default. If the weights do not add up to 1, the
    difference is added in proportion to B. `normalize=False` does not add it, as Chau et al. v(∅)
    is the mean output over the background, and v of all features is the output at x.

    A feature that the model ignores may have a value other than 0 if it is associated with others.
    Weights may be negative, so v(S) may be outside the model's range: a probability above 1 or a
    variance below 0. If an explained row is in the background, it has most of the weight itself as
    soon as the present columns distinguish it from other rows. To measure the information in
    features, explain rows that are not in the background, or set `leave_one_out`.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel that compares rows. For coalitions, it is restricted to the present columns; an
        amplitude divides the regularization. The default is a Gaussian whose length-scales are the
        median distances between background rows in each column. It treats distinct categories like
        numbers one length-scale apart, and ignores columns that are constant in the background. A
        kernel passed here compares categories by integer codes, in the order of their first
        occurrence: use `Categorical` for these columns.
    regularization : float, default 1e-3
        η, at least 1e-8, because rounding errors dominate below. Larger values make the weights
        more equal.
    n_landmarks : int, optional
        The number of background rows, a fixed random sample, that weights are computed from if
        there are too many for all (Nyström approximation). The kernel of a kernel expansion is
        approximated as well if the number of its points times the number of background rows exceeds
        4096². Landmarks and median distances ignore the weights of background rows, except
        weights of 0.
    leave_one_out : bool, default False
        Whether an explained row and its copies are left out of the background in all coalitions
        except the empty one and the full one: their weight is 0, and the others have the weights of
        the regression without them (with regularization η/(1 − b) per row, if rows with the share b
        are left out). This is exact and costs no additional time. The base value is still the mean
        over the whole background. Rows that are not in the background are not affected.
    normalize : bool, default True
        Whether weights are completed to a sum of 1. False is the formula of Chau et al., with
        weights as they are: their sum is below 1, so that v(S) is shrunk towards 0, and a constant
        added to the model changes the values.
    embedding : {"absent", "rows"}, default "absent"
        Which features have an estimated conditional distribution. "absent": v(S) = Σ_l w_l(x_S)
        f(x_S, z_l), which has the present features of x. "rows": v(S) = Σ_l w_l(x_S) f(z_l), the
        kernel ridge regression of the outputs on the columns in S (Chau et al., appendix C.3; the
        estimator of GP-SHAP). It evaluates the model only once per background row and explained
        row, so kernels that are not products are as fast as others. It is less accurate, because it
        smooths the output over the present features as well.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range or of a wrong type.

    See Also
    --------
    Explainer : Accepts these settings as `value_function`.

    References
    ----------
    S. L. Chau, R. Hu, J. Gonzalez, D. Sejdinovic (2022), RKHS-SHAP: Shapley values for kernel
    methods, NeurIPS 35.
    S. L. Chau, K. Muandet, D. Sejdinovic (2023), Explaining the uncertain: stochastic Shapley
    values for Gaussian process models, NeurIPS 36.

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
    normalize: bool = True
    embedding: Embedding = "absent"

    @with_known_keywords
    def __init__(
        self,
        kernel: Kernel | None = None,
        regularization: float = 1e-3,
        n_landmarks: int | None = None,
        leave_one_out: bool = False,
        normalize: bool = True,
        embedding: Embedding = "absent",
    ) -> None:
        if kernel is not None and not isinstance(kernel, Kernel):
            raise TypeError(
                "kernel must be a kernel of pkex.kernels, such as RBF(length_scale=1.0), or None; "
                f"got {kernel!r} ({type(kernel).__name__}){namesake(kernel)}"
            )
        if n_landmarks is not None:
            n_landmarks = as_integer("n_landmarks", n_landmarks, "a positive integer", least=1)
        for name, switch in {"leave_one_out": leave_one_out, "normalize": normalize}.items():
            if not isinstance(switch, bool):
                raise TypeError(f"{name} must be True or False; got {switch!r}")
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "regularization", _check_regularization(regularization))
        object.__setattr__(self, "n_landmarks", n_landmarks)
        object.__setattr__(self, "leave_one_out", leave_one_out)
        object.__setattr__(self, "normalize", normalize)
        object.__setattr__(self, "embedding", check_choice("embedding", embedding, _EMBEDDINGS))

    def resolved(self, rows: Float, levels: CategoryCodes) -> Observational:
        """Return the settings with a kernel, by default the Gaussian of a background.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            Background rows as numbers.
        levels : CategoryCodes
            The codes of categories, and the names of the columns.

        Raises
        ------
        ValueError
            If the kernel does not match the rows.
        """
        if self.kernel is not None:
            self.kernel.check_rows(rows, "background")
            return self
        scales = {
            column: _median_distance(rows[:, column])
            for column in range(rows.shape[1])
            if column not in levels.codes
        }
        varying_columns = [column for column, scale in scales.items() if scale > 0.0]
        labels = [column for column, codes in sorted(levels.codes.items()) if len(codes) > 1]
        parts: list[Kernel] = []
        if varying_columns:
            gaussian = RBF([scales[column] for column in varying_columns])
            parts = [
                gaussian if len(varying_columns) == rows.shape[1] else gaussian.on(varying_columns)
            ]
        if labels:
            parts.append(Categorical(_LABEL_SIMILARITY).on(labels))
        # If all background rows are equal, any kernel gives them equal weights.
        return replace(self, kernel=reduce(mul, parts) if parts else RBF(1.0))


def _check_regularization(size: Any) -> float:
    if isinstance(size, bool) or not isinstance(size, Real):
        raise InputTypeError("regularization", f"must be a positive number; got {size!r}")
    if not _MIN_REGULARIZATION <= float(size) < np.inf:
        raise InputError(
            "regularization",
            f"must be at least {_MIN_REGULARIZATION:g} and finite, such as 1e-3; got {size!r}. "
            "Below, rounding errors dominate the weights",
        )
    return float(size)


def _median_distance(column: Float) -> float:
    """Return the median distance between values; if it is 0, the mean positive distance."""
    sample = np.sort(column[sample_rows(len(column), min(len(column), _MEDIAN_ROWS))])
    pairs = np.triu_indices(len(sample), 1)
    distances = sample[pairs[1]] - sample[pairs[0]]
    if not distances.size:
        return 0.0
    if (median := float(np.median(distances))) > 0.0:
        return median
    if not distances.any():
        # Values outside the sample may differ.
        return float(np.ptp(column))
    return float(distances[distances > 0.0].mean())
