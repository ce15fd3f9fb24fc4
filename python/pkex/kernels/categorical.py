"""The kernel of categories."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import over_features

__all__ = ["Categorical"]

_FAMILY = add_family(
    Family(
        "categorical",
        lambda x, y, similarity: np.where(x - y == 0.0, 1.0, similarity),
        is_of_distance=False,
        compares_labels=True,
    )
)


@dataclass(frozen=True, init=False)
class Categorical(Kernel):
    """Kernel of categories, given as numbers: ∏_j (1 if x_j = y_j else `similarity`).

    Parameters
    ----------
    similarity : float, default 0.0
        Of different categories, from 0 (nothing in common; the delta kernel) to below 1.

    Raises
    ------
    ValueError
        If `similarity` is not in [0, 1).

    Examples
    --------
    >>> Categorical()([[0.0], [1.0]])
    array([[1., 0.],
           [0., 1.]])
    >>> RBF().on([0]) * Categorical(similarity=0.5).on([1])
    RBF(length_scale=1.0).on((0,)) * Categorical(similarity=0.5).on((1,))
    """

    similarity: float = 0.0

    def __init__(self, similarity: float = 0.0) -> None:
        given: object = similarity
        if not isinstance(given, Real) or not 0.0 <= float(given) < 1.0:
            raise ValueError(f"similarity must be a number from 0 to below 1; got {given!r}")
        object.__setattr__(self, "similarity", float(given))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        return [over_features(self, _FAMILY, n_features, similarity=self.similarity)]
