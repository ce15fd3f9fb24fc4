"""product_game against brute force over coalitions, and its errors."""

import numpy as np
import pytest
from brute_force import banzhaf_weights, product_games, shapley_weights

import pkex

INDEX_WEIGHTS = {"SV": shapley_weights, "BV": banzhaf_weights}


def games(rng, p, d):
    """Factors of both signs, below and above 1, some of them 0."""
    present, absent = rng.normal(size=(2, p, d))
    present[0, 0] = absent[-1, -1] = 0.0
    return present, absent


@pytest.mark.parametrize(
    ("index", "method"), [("SV", "quadrature"), ("SV", "recursion"), ("BV", "quadrature")]
)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
def test_values_equal_brute_force(rng, index, method, d):
    present, absent = games(rng, 37, d)
    weights = rng.normal(size=(37, 3))
    expected = product_games(present, absent, weights, INDEX_WEIGHTS[index](d))
    values = pkex.product_game(present, absent, weights, index=index, method=method)
    expected.assert_close(values)


@pytest.mark.parametrize("summation", ["compensated", "plain"])
def test_defaults_are_absent_factors_and_weights_of_one(rng, summation):
    present, _ = games(rng, 8, 4)
    ones = np.ones((8, 4))
    expected = product_games(present, ones, np.ones(8), shapley_weights(4))
    expected.assert_close(pkex.product_game(present, summation=summation))
    expected.assert_close(pkex.product_game(present, ones, np.ones(8), difference=present - 1.0))


def test_values_add_up_to_the_difference_of_grand_and_empty_coalition(rng):
    present, absent = rng.uniform(0.5, 1.5, size=(2, 5, 30))
    total = pkex.product_game(present, absent).sum()
    assert total == pytest.approx((present.prod(axis=1) - absent.prod(axis=1)).sum(), rel=1e-12)


def test_a_given_difference_keeps_digits_that_subtraction_loses():
    exponents = np.array([[1e-12, 3e-12]])
    values = pkex.product_game(np.exp(-exponents), difference=np.expm1(-exponents))
    np.testing.assert_allclose(values, [-1e-12, -3e-12], rtol=1e-11)


def test_weights_decide_whether_there_is_an_output_axis(rng):
    present, absent = games(rng, 6, 3)
    assert pkex.product_game(present, absent, np.ones(6)).shape == (3,)
    assert pkex.product_game(present, absent, np.ones((6, 1))).shape == (3, 1)
    assert pkex.product_game(present, absent, np.ones((6, 4))).shape == (3, 4)


def test_no_games_are_worth_nothing():
    np.testing.assert_array_equal(pkex.product_game(np.empty((0, 3))), np.zeros(3))
    values = pkex.product_game(np.empty((0, 3)), weights=np.empty((0, 2)))
    np.testing.assert_array_equal(values, np.zeros((3, 2)))


def test_results_do_not_depend_on_the_number_of_threads(rng):
    present, absent = games(rng, 5000, 12)
    weights = rng.normal(size=(5000, 2))
    one, *others = (
        pkex.product_game(present, absent, weights, n_jobs=n_jobs) for n_jobs in (1, 2, 7, -1)
    )
    for other in others:
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"present": [1.0, 2.0]},
            ValueError,
            r"present must be two-dimensional.*reshape\(present, \(1, -1\)\)",
        ),
        ({"present": np.ones((3, 0))}, ValueError, r"present is empty: got shape \(3, 0\)"),
        ({"present": [[1.0, np.nan]]}, ValueError, "present has a missing.*row 0, column 1"),
        ({"present": [["a"]]}, TypeError, "present must hold real numbers.*strings"),
        ({"absent": np.ones((3, 2))}, ValueError, r"present and absent.*\(2, 2\) and \(3, 2\)"),
        ({"difference": np.ones((2, 1))}, ValueError, r"present and difference.*\(2, 1\)"),
        ({"difference": np.ones((2, 2))}, ValueError, "difference must equal present − absent"),
        ({"weights": [1.0]}, ValueError, r"weights must have shape \(2,\).*got shape \(1,\)"),
        ({"weights": [1.0, np.inf]}, ValueError, "weights has an infinite value.*row 1"),
        ({"index": "SII"}, ValueError, "index must be one of 'SV', 'BV'; got 'SII'"),
        (
            {"index": "BV", "method": "recursion"},
            ValueError,
            "method='recursion' does not support index='BV'",
        ),
        ({"method": "exact"}, ValueError, "method must be one of 'quadrature', 'recursion'"),
        ({"summation": None}, ValueError, "summation must be one of 'compensated', 'plain'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be -1"),
        (
            {"wieghts": [1.0, 1.0]},  # codespell:ignore wieghts
            TypeError,
            "no argument 'wieghts' .did you mean 'weights'",
        ),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        pkex.product_game(**({"present": np.full((2, 2), 0.5)} | arguments))


def test_a_result_that_overflows_is_an_error():
    with pytest.raises(OverflowError):
        pkex.product_game(np.full((2, 2), 1e200), weights=[1.0, 1.0])
