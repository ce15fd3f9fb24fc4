"""KernelExpansion: the function, its immutability, pickling and errors."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels as gp

import pkex
from pkex.execution.computation import Computation
from pkex.functions.kernel_sum import KernelSum
from pkex.games.value_functions import NEUTRAL
from pkex.kernels import RBF, Cauchy, Laplacian

KERNELS = [
    RBF(0.8),
    Laplacian([1.0, 2.0, 3.0]),
    Cauchy(2.0),
    2.5 * RBF() * Cauchy().on([1]),
    (RBF() + 0.5 * Laplacian()) * (Cauchy() + RBF().on([0, 2])),
]


@pytest.fixture
def arrays(rng):
    return rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.normal(size=(6, 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_predictions_are_the_weighted_sum_of_kernel_values(arrays, kernel):
    points, coefficients, X = arrays
    expansion = pkex.KernelExpansion(points, coefficients, kernel, [1.0, -2.0])
    expected = kernel(X, points) @ coefficients + [1.0, -2.0]
    np.testing.assert_allclose(expansion.predict(X), expected, rtol=0, atol=1e-12)
    single = pkex.KernelExpansion(points, coefficients[:, 0], kernel, 1.0)
    np.testing.assert_allclose(single.predict(X), expected[:, 0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_neutral_base_is_the_prediction_at_distance_zero(rng, kernel):
    coefficients = rng.normal(size=4)
    expansion = pkex.KernelExpansion(np.ones((4, 3)), coefficients, kernel, 0.5)
    assert expansion._function.base(NEUTRAL, Computation()) == pytest.approx(
        expansion.predict(np.ones((1, 3)))[0]
    )


def test_the_neutral_base_does_not_cancel():
    expansion = pkex.KernelExpansion(np.ones((4, 1)), [1e20, 1.0, 1.0, -1e20], RBF(), 0.25)
    assert expansion._function.base(NEUTRAL, Computation()) == 2.25


def test_one_output_in_a_matrix_keeps_its_axis(arrays):
    points, coefficients, X = arrays
    expansion = pkex.KernelExpansion(points, coefficients[:, :1], RBF())
    assert expansion._function.has_output_axis
    assert expansion.predict(X).shape == (6, 1)
    assert expansion._function.base(NEUTRAL, Computation()).shape == (1,)


def test_without_points_there_is_only_the_intercept():
    expansion = pkex.KernelExpansion(np.empty((0, 2)), np.empty((0, 3)), RBF(), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(expansion.predict(np.zeros((2, 2))), [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(expansion._function.base(NEUTRAL, Computation()), [1, 2, 3])
    assert np.all(pkex.Explainer(expansion).shap_values(np.zeros((2, 2))) == 0.0)


def test_changing_the_arguments_afterwards_changes_nothing(arrays):
    points, coefficients, X = (array.copy() for array in arrays)
    intercept = np.zeros(2)
    expansion = pkex.KernelExpansion(points, coefficients, RBF(), intercept)
    before = expansion.predict(X)
    for array in (points, coefficients, intercept):
        array += 1.0
    np.testing.assert_array_equal(expansion.predict(X), before)
    base = expansion._function.base(NEUTRAL, Computation())
    np.testing.assert_array_equal(base, arrays[1].sum(axis=0))


def test_its_arrays_are_read_only(arrays):
    points, coefficients, _ = arrays
    expansion = pkex.KernelExpansion(points, coefficients, RBF(), [1.0, 2.0])
    for array in (expansion.points, expansion.coefficients, expansion.intercept):
        with pytest.raises(ValueError, match="read-only"):
            array += 1.0
    with pytest.raises(AttributeError):
        expansion.kernel = Cauchy()


def test_a_pickle_predicts_equal_bits(arrays):
    points, coefficients, X = arrays
    expansion = pkex.KernelExpansion(points, coefficients, KERNELS[-1], [1.0, 2.0])
    again = pickle.loads(pickle.dumps(expansion))
    np.testing.assert_array_equal(again.predict(X), expansion.predict(X))
    assert again.kernel == expansion.kernel


def test_select_takes_outputs_in_the_order_given(arrays):
    points, coefficients, X = arrays
    expansion = KernelSum(points, coefficients, RBF(), [1.0, 2.0])
    swapped = expansion.select([1, 0])
    np.testing.assert_array_equal(swapped.predict(X), expansion.predict(X)[:, ::-1])
    with pytest.raises(ValueError, match="single output"):
        KernelSum(points, coefficients[:, 0], RBF()).select([0])


def test_the_repr_is_short(arrays):
    points, coefficients, _ = arrays
    expansion = pkex.KernelExpansion(points[:1], coefficients[:1], RBF())
    assert repr(expansion) == (
        "KernelExpansion(1 point, 3 features, 2 outputs, kernel=RBF(length_scale=1.0))"
    )
    wide = pkex.KernelExpansion(np.ones((2, 99)), [1.0, 2.0], RBF(np.arange(1.0, 100.0)))
    assert len(repr(wide)) < 130


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"points": [1.0, 2.0]}, ValueError, r"points must be two-dimensional.*\(2,\).*reshape"),
        ({"points": [[1.0], [np.nan]]}, ValueError, "points has a missing value.*row 1, column 0"),
        ({"points": np.empty((2, 0))}, ValueError, r"points is empty: got shape \(2, 0\)"),
        ({"points": [["a"], ["b"]]}, TypeError, "points must hold real numbers.*strings"),
        ({"coefficients": [1.0]}, ValueError, r"coefficients.*each row of points; got shape \(1,"),
        ({"coefficients": 1.0}, ValueError, r"coefficients must have shape \(2,\).*got shape \(\)"),
        ({"coefficients": np.empty((2, 0))}, ValueError, r"coefficients.*got shape \(2, 0\)"),
        ({"coefficients": [1.0, np.inf]}, ValueError, "coefficients has an infinite.*row 1"),
        ({"coefficients": [1j, 1.0]}, TypeError, "coefficients.*complex"),
        ({"kernel": "rbf"}, TypeError, "kernel must be a kernel of pkex.kernels.*'rbf'"),
        (
            {"kernel": RBF},
            TypeError,
            r"'pkex\.kernels\.RBF'>.*\. Pass pkex\.kernels\.RBF\(\.\.\.\)",
        ),
        ({"kernel": gp.Matern()}, TypeError, r"got Matern\(.*\. Pass pkex\.kernels\.Matern\("),
        ({"kernel": RBF([1.0, 2.0])}, ValueError, "length_scale.*2 values; expected 1"),
        ({"intercept": np.nan}, ValueError, "intercept must be finite"),
        ({"intercept": [1.0]}, ValueError, r"intercept must be a number.*got shape \(1,\)"),
        ({"intercept": "1"}, TypeError, "intercept must be a real number"),
        ({"bias": 1.0}, TypeError, "no argument 'bias'.*points, coefficients, kernel, intercept"),
    ],
)
def test_bad_arguments_are_named(changed, error, message):
    arguments = {"points": [[1.0], [2.0]], "coefficients": [1.0, 2.0], "kernel": RBF()}
    with pytest.raises(error, match=message):
        pkex.KernelExpansion(**(arguments | changed))


def test_a_prediction_that_overflows_names_the_row():
    expansion = pkex.KernelExpansion([[0.0], [0.0]], [1.5e308, 1.5e308], RBF())
    with pytest.raises(OverflowError, match="1"):
        expansion.predict([[1e9], [0.0]])
    with pytest.raises(OverflowError, match="base value"):
        expansion._function.base(NEUTRAL, Computation())


def test_names_of_columns_are_those_of_data_frames(arrays):
    expansion = pkex.KernelExpansion(*arrays[:2], RBF())
    d = expansion.n_features
    names = [f"c{j}" for j in range(d)]
    named = pkex.KernelExpansion(*arrays[:2], RBF(), feature_names=names)
    assert (named.feature_names, expansion.feature_names) == (tuple(names), None)
    rows = pd.DataFrame(np.ones((2, d)), columns=names)
    np.testing.assert_array_equal(named.predict(rows), expansion.predict(rows.to_numpy()))
    with pytest.raises(ValueError, match="X has its columns in another order than the exp"):
        named.predict(rows[names[::-1]])
    # Without names, neither is anything compared.
    mixed = rows.set_axis([0, *names[1:]], axis=1)
    np.testing.assert_array_equal(expansion.predict(mixed), expansion.predict(rows))
    assert pickle.loads(pickle.dumps(named)).feature_names == tuple(names)
    of_one_player = named._function.grouped(np.zeros(d, dtype=np.int64))
    assert of_one_player.feature_names == tuple(names)
    with pytest.raises(ValueError, match=f"feature_names must have {d} names"):
        pkex.KernelExpansion(*arrays[:2], RBF(), feature_names=["a"] * (d + 1))
