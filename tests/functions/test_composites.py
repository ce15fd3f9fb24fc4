"""Combinations, stacks and transformed functions by themselves."""

import numpy as np
import pytest
from wrapped_models import BASE, Y

import pkex
from pkex.execution.computation import Computation
from pkex.functions.column_maps import Selection
from pkex.functions.composite import Combination, Stack
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed
from pkex.games.value_functions import NEUTRAL

WIDE = KernelSum(BASE, Y, pkex.kernels.RBF(2.0), 1.0)
NARROW = KernelSum(BASE[:40], Y[:40], pkex.kernels.Laplacian(0.5), -2.0)


def test_functions_of_other_features_or_outputs_cannot_be_combined():
    of_two = KernelSum(BASE[:, :2], Y, pkex.kernels.RBF())
    of_column = KernelSum(BASE, Y[:, None], pkex.kernels.RBF())
    for other in (of_two, of_column):
        with pytest.raises(ValueError, match="same features and outputs"):
            Combination([WIDE, other])
    with pytest.raises(ValueError, match="one or more"):
        Stack([])
    with pytest.raises(ValueError, match="without an output axis"):
        Stack([of_column])
    with pytest.raises(ValueError, match="makes 3 columns"):
        Transformed(Selection(5, [0, 1, 2]), of_two)


def test_the_sum_over_parts_is_compensated():
    parts = [WIDE, NARROW] * 50
    weights = np.where(np.arange(100) % 2, 1e16, -1e16)
    cancelling = Combination([*[WIDE] * 100, NARROW], [*weights, 1.0])
    np.testing.assert_array_equal(
        cancelling.explain(BASE[:3], computation=Computation()),
        NARROW.explain(BASE[:3], computation=Computation()),
    )
    assert Combination(parts).base(NEUTRAL, Computation()) == pytest.approx(
        50 * (WIDE.base(NEUTRAL, Computation()) + NARROW.base(NEUTRAL, Computation())), rel=1e-15
    )


def test_values_too_large_for_a_float_are_reported_with_their_row():
    huge = Combination([WIDE, WIDE], [1e308, 1e308])
    with pytest.raises(OverflowError, match="row 0"):
        huge.explain(BASE, computation=Computation())


def test_progress_of_many_parts_is_that_of_the_whole():
    reports = []
    stack = Stack([Combination([WIDE, NARROW]), NARROW])
    rows = np.tile(BASE, (2000, 1))
    stack.explain(rows, computation=Computation(progress=lambda *report: reports.append(report)))
    assert len(reports) > 2
    assert reports == sorted(reports)
    (total,) = {total for _, total in reports}
    assert reports[0][0] < reports[-1][0] <= total
