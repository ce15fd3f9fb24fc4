"""The adapter for polynomials of chaospy, such as fitted polynomial chaos expansions."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from numpoly import ndpoly

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.functions.column_functions import integer_power
from pkex.functions.product_sum import ProductSum
from pkex.typing import Float

# Names that chaospy gives to the variables of a distribution.
_NUMBERED = re.compile(r"q(\d+)")


@register(ndpoly)
def adapt_polynomial(polynomial: ndpoly) -> AdaptedModel:
    """Read the monomials, with a column for each variable."""
    if polynomial.ndim > 1:
        raise unsupported_model(
            f"a polynomial of shape {polynomial.shape}", ": pass a row of outputs"
        )
    names = tuple(map(str, polynomial.names))
    columns = _columns(names)
    coefficients = np.array(polynomial.coefficients, dtype=np.float64)
    exponents = np.array(polynomial.exponents)
    is_constant = ~exponents.any(axis=1)
    if is_constant.all():
        raise unsupported_model("a constant polynomial")
    powers = {power: partial(integer_power, power=power) for power in np.unique(exponents).tolist()}
    factors = [
        {column: powers[power] for column, power in zip(columns, row, strict=True) if power}
        for row in exponents[~is_constant].tolist()
    ]
    function = ProductSum(
        factors, coefficients[~is_constant], coefficients[is_constant].sum(axis=0)
    )

    def predict(rows: Float) -> Float:
        values = dict(zip(names, rows[:, columns].T, strict=True))
        return np.asarray(polynomial(**values), dtype=np.float64).T

    return AdaptedModel(function, predict=predict, title="polynomial")


def _columns(names: tuple[str, ...]) -> list[int]:
    """Return the column of each variable: its number in chaospy, or else its place."""
    numbers = [_NUMBERED.fullmatch(name) for name in names]
    if all(numbers):
        return [int(number[1]) for number in numbers if number]
    return list(range(len(names)))
