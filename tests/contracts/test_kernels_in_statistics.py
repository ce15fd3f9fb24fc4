"""Every kernel in MMD, by itself and beside a Gaussian one in each column, against brute force.

Mean factors of products of Gaussian ones have an evaluation of their own: others must not take it.
"""

import warnings
from math import factorial

import numpy as np
import pytest
from brute_force_statistics import attributed, mmd_statistic, series_product
from explainable_functions import COUNTED, COUNTS, KERNELS, UNITS

import pkex
from pkex.compare.comparison import exact_domain
from pkex.kernels import RBF
from pkex.kernels.factors import expand_terms


class ByItsOwnFormulas:
    """A kernel in the form of the references, by the formulas of its factors in NumPy.

    Of terms that are power series factors have coefficients; weights are in the place of a number.
    """

    def __init__(self, kernel):
        self.kernel = kernel

    def factors(self, rows, players):
        # Of a mixture the Gaussians in it, whose sum is compared with the kernel elsewhere.
        for term in expand_terms(self.kernel.terms(rows.shape[1]), exact_domain(rows)):
            found = np.ones((max(players) + 1, len(rows), len(rows)))
            for factor in term.factors:
                for column, values in factor.evaluated(rows, rows):
                    found[players[column]] *= values
            if term.series is None:
                yield term.coefficient, found
            else:
                yield self.of_series(term, found, rows, players)

    def of_series(self, term, found, rows, players):
        series, length = term.series, len(term.series.weights)
        factors = [[factor, *[np.zeros_like(factor)] * (length - 1)] for factor in found]
        for column, argument in series.arguments(rows, rows).items():
            player = players[column]
            orders = range(length) if series.form == "exponential" else range(min(length, 2))
            own = [argument**q / factorial(q) for q in orders]
            own += [np.zeros_like(argument)] * (length - len(own))
            factors[player] = series_product(factors[player], own)
        return term.coefficient * series.weights, np.array(factors)


@pytest.mark.parametrize("beside_a_gaussian", [False, True], ids=["alone", "beside a Gaussian"])
@pytest.mark.parametrize("name", KERNELS)
def test_mmd_is_divided_as_by_brute_force(name, beside_a_gaussian):
    kernel = RBF(1.3) * KERNELS[name] if beside_a_gaussian else KERNELS[name]
    unit = UNITS.get(name, 1.0)
    first, second = unit * COUNTS, unit * (COUNTED + 0.5)
    rows = np.concatenate([first, second])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of kernels and columns that show little
        found = pkex.mmd(first, second, kernel=kernel)
    values, alone, statistic = attributed(
        mmd_statistic(len(COUNTS)),
        ByItsOwnFormulas(kernel),
        rows,
        list(range(rows.shape[1])),
        marginal=True,
    )
    scale = max(np.abs(values).max(), 1e-3)
    np.testing.assert_allclose(found.values, values, rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.alone, alone, rtol=0.0, atol=1e-12 * scale)
    assert found.statistic == pytest.approx(statistic, abs=1e-12 * scale)
