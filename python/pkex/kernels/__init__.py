"""Product kernels and their combinations, as specifications: immutable, comparable, readable.

A kernel over features 1..d is a sum of *terms*, each a coefficient times a product of one factor
per feature: k(x, y) = Σ_t c_t ∏_j k_tj(x_j, y_j). Shapley values of such sums are exact. `Matern`
and `RationalQuadratic` of several features are mixtures of Gaussian kernels, which are approximated
by such sums within a stated error. Kernels are combined by ``a * b``, ``a + b``, ``2.0 * a`` and
``a.on(columns)``.

Examples
--------
>>> from pkex.kernels import RBF, Laplacian
>>> 2.0 * RBF(length_scale=0.5) * Laplacian().on([0, 2])
2.0 * RBF(length_scale=0.5) * Laplacian(length_scale=1.0).on((0, 2))
>>> RBF()([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]])
array([[1.        , 0.36787944]])
"""

from pkex.kernels.additive import ANOVA, Additive
from pkex.kernels.base import Constant, Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Factor
from pkex.kernels.heuristic import median_heuristic
from pkex.kernels.orthogonal import OrthogonalANOVA
from pkex.kernels.polynomial import Linear, Polynomial
from pkex.kernels.product_kernels import (
    RBF,
    Categorical,
    Cauchy,
    Chi2,
    Laplacian,
    Periodic,
    ProductMatern,
)
from pkex.kernels.radial import Matern, RationalQuadratic
from pkex.kernels.tanimoto import Tanimoto

__all__ = [
    "ANOVA",
    "RBF",
    "Additive",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Constant",
    "Factor",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "OrthogonalANOVA",
    "Periodic",
    "Polynomial",
    "ProductMatern",
    "RationalQuadratic",
    "Tanimoto",
    "Term",
    "median_heuristic",
]

# Public names have the module that users import them from.
for _name in __all__:
    if isinstance(_public := globals()[_name], type):
        _public.__module__ = __name__
del _name, _public
