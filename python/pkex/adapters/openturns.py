"""The adapter for polynomial chaos expansions of OpenTURNS.

With independent inputs, each basis function is a product of polynomials of single inputs, which are
first transformed to the standard distributions that the polynomials are orthogonal for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import openturns as ot
from numpy.polynomial.polynomial import polyval

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import EPSILON
from pkex.adapters.registry import register, unsupported_model
from pkex.functions.product_sum import ProductSum
from pkex.typing import Float


@register(ot.FunctionalChaosResult)
def adapt_chaos(result: ot.FunctionalChaosResult) -> AdaptedModel:
    """Read the coefficients and the factors of all products of polynomials."""
    distribution = result.getDistribution()
    if not distribution.hasIndependentCopula():
        raise unsupported_model(
            "FunctionalChaosResult with dependent inputs",
            ": its transformation to independent variables mixes the inputs",
        )
    basis = result.getOrthogonalBasis().getImplementation()
    if not isinstance(basis, ot.OrthogonalProductPolynomialFactory):
        raise unsupported_model(f"FunctionalChaosResult with the basis {basis.getClassName()}")
    factors, is_constant = _factors(result, basis)
    coefficients = np.array(result.getCoefficients())
    intercept = coefficients[is_constant].sum(axis=0)
    coefficients = coefficients[~is_constant]
    is_single = coefficients.shape[1] == 1
    names = tuple(distribution.getDescription())
    function = ProductSum(
        factors,
        coefficients[:, 0] if is_single else coefficients,
        float(intercept[0]) if is_single else intercept,
        feature_names=names,
    ).with_probing_rows(_rows_of(distribution))
    meta_model = result.getMetaModel()

    def predict(rows: Float) -> Float:
        values = np.array(meta_model(ot.Sample(rows)))
        return values[:, 0] if is_single else values

    return AdaptedModel(
        function,
        predict=predict,
        title="meta-model",
        feature_names=None if _are_numbered(names) else names,
        output_names=None if is_single else tuple(meta_model.getOutputDescription()),
        kernel_rounding=_rounding(factors, function.probing_rows()),
    )


@dataclass(frozen=True, eq=False)
class _Polynomial:
    """A polynomial of a transformed column.

    Parameters
    ----------
    transformation : openturns.Function
        Maps a row to standard variables, each of one column.
    row : ndarray of shape (d,)
        Values of the other columns, where the transformation is defined.
    column : int
    coefficients : ndarray
        In ascending order of powers.
    """

    transformation: Any = field(repr=False)
    row: Float
    column: int
    coefficients: Float

    def __call__(self, entries: Float) -> Float:
        return np.asarray(polyval(self._standard(entries), self.coefficients))

    def sizes(self, entries: Float) -> Float:
        """Return the sums of the absolute values of all powers."""
        return np.asarray(polyval(np.abs(self._standard(entries)), np.abs(self.coefficients)))

    def _standard(self, entries: Float) -> Float:
        rows = np.tile(self.row, (len(entries), 1))
        rows[:, self.column] = entries
        return np.array(self.transformation(ot.Sample(rows)))[:, self.column]


def _factors(result: Any, basis: Any) -> tuple[list[dict[str, _Polynomial]], Any]:
    """Return the factors of products by the names of columns, and which products are constant."""
    distribution, enumerate_indices = result.getDistribution(), basis.getEnumerateFunction()
    families, names = basis.getPolynomialFamilyCollection(), list(distribution.getDescription())
    medians = _quantiles(distribution, 0.5)
    transformation = result.getTransformation()
    cache: dict[tuple[int, int], _Polynomial] = {}
    factors, is_constant = [], []
    for index in result.getIndices():
        product = {}
        for column, degree in enumerate(enumerate_indices(index)):
            if degree and (column, degree) not in cache:
                polynomial = np.array(families[column].build(degree).getCoefficients())
                cache[column, degree] = _Polynomial(transformation, medians, column, polynomial)
            if degree:
                product[names[column]] = cache[column, degree]
        is_constant.append(not product)
        if product:
            factors.append(product)
    return factors, np.array(is_constant, dtype=np.bool_)


def _quantiles(distribution: Any, share: float) -> Float:
    marginals = (distribution.getMarginal(j) for j in range(distribution.getDimension()))
    return np.array([marginal.computeQuantile(share)[0] for marginal in marginals])


def _rows_of(distribution: Any) -> Float:
    """Return rows of quantiles, a fixed set of irregular ones."""
    d = distribution.getDimension()
    shares = 0.5 + 0.45 * np.cos(np.arange(1.0, 1.0 + 6 * d)).reshape(6, d)
    rows = np.empty((6, d))
    for column in range(d):
        marginal = distribution.getMarginal(column)
        rows[:, column] = [marginal.computeQuantile(share)[0] for share in shares[:, column]]
    return rows


def _rounding(factors: list[dict[str, _Polynomial]], rows: Float) -> float:
    """Return the relative rounding error of products, whose powers may cancel."""
    distinct_factors = {id(factor): factor for product in factors for factor in product.values()}
    ratios = [
        (factor.sizes(rows[:, factor.column]) / np.abs(factor(rows[:, factor.column])).max()).max()
        for factor in distinct_factors.values()
    ]
    return float(32.0 * EPSILON * max(ratios, default=1.0))


def _are_numbered(names: tuple[str, ...]) -> bool:
    """Whether OpenTURNS has made up the names."""
    return names == tuple(f"X{number}" for number in range(len(names)))
