"""Kernels: what they are, how they combine, print, compare and expand."""

import copy
import pickle
import re
import tracemalloc

import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from pkex import KernelExpansion
from pkex.kernels import (
    RBF,
    Cauchy,
    Chi2,
    Constant,
    Factor,
    Kernel,
    Laplacian,
    Matern,
    Term,
    median_heuristic,
)

COMBINATIONS = [
    RBF(),
    Laplacian(length_scale=0.1),
    Cauchy(length_scale=[1.0, 2.0, 0.5]),
    2.0 * RBF(length_scale=0.5),
    RBF() * Laplacian(length_scale=(1.0, 2.0, 3.0)),
    3.0 * (RBF() + Cauchy()),
    (RBF() + 0.5 * Cauchy()) * Laplacian() * (RBF(2.0) + RBF(3.0)),
    RBF(length_scale=[1.0, 2.0]).on([2, 0]) * Cauchy().on([1]),
    (2.0 * RBF()).on([0, 2]) + (RBF() + Cauchy()).on([1]) + (RBF() * Cauchy()).on([0, 1]),
    RBF().on([2, 1]).on([1]),
    1e-300 * RBF(1e-300) * (1e300 * Cauchy(1e300)),
    0.5 * Constant() + RBF() * Constant(),
    2.0 * Chi2(0.5) * RBF() + Chi2().on([1]),
]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(7, 3)), rng.normal(size=(5, 3))


def test_length_scales_are_those_of_scikit_learn(rows):
    X, Y = rows
    np.testing.assert_allclose(RBF(0.7)(X, Y), rbf_kernel(X, Y, gamma=0.5 / 0.7**2), rtol=1e-12)
    np.testing.assert_allclose(Laplacian(0.7)(X, Y), laplacian_kernel(X, Y, gamma=1 / 0.7))
    squares = ((X[:, None] - Y) / 0.7) ** 2
    np.testing.assert_allclose(Cauchy(0.7)(X, Y), np.prod(1 / (1 + squares), axis=2))


def test_a_length_scale_per_feature_rescales_that_feature(rows):
    X, Y = rows
    scales = np.array([0.5, 2.0, 10.0])
    for kernel in (RBF, Laplacian, Cauchy):
        np.testing.assert_allclose(kernel(scales)(X, Y), kernel()(X / scales, Y / scales))


def test_without_second_argument_the_gram_matrix_is_evaluated(rows):
    X, _ = rows
    gram = (2.0 * RBF())(X)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(np.diag(gram), 2.0)


@pytest.mark.parametrize("kernel", [RBF(3.0), RBF(3.0) + Chi2(0.1) * Matern(nu=1.5)], ids=repr)
def test_evaluation_takes_little_more_memory_than_its_result(rng, kernel):
    X, Y = rng.random((701, 6)), rng.random((503, 6))
    tracemalloc.start()
    values = kernel(X, Y)
    peak = tracemalloc.get_traced_memory()[1] - values.nbytes
    tracemalloc.stop()
    assert peak < values.nbytes
    np.testing.assert_array_equal(values[-3:], kernel(X[-3:], Y))


@pytest.mark.parametrize("kernel", [RBF(3.0), Laplacian(3.0)], ids=repr)
def test_rows_that_nearly_agree_keep_all_digits(kernel):
    X = np.array([[0.0, 0.0], [0.5, 0.25], [1.0, -2.0]])
    np.testing.assert_array_equal(kernel(2.0**40 + X), kernel(X))


def test_combinations_evaluate_as_their_parts(rows):
    X, Y = rows
    a, b = RBF(0.5), Cauchy([1.0, 2.0, 3.0])
    np.testing.assert_allclose((a * b)(X, Y), a(X, Y) * b(X, Y))
    np.testing.assert_allclose((a + b)(X, Y), a(X, Y) + b(X, Y))
    np.testing.assert_allclose((2 * a)(X, Y), 2 * a(X, Y))
    np.testing.assert_allclose((np.float64(2) * a)(X, Y), 2 * a(X, Y))
    np.testing.assert_allclose((a * 3)(X, Y), 3 * a(X, Y))
    np.testing.assert_allclose(a.on([2, 0])(X, Y), a(X[:, [2, 0]], Y[:, [2, 0]]))
    np.testing.assert_allclose(
        ((a + 2 * b) * (a + a.on([1])))(X, Y),
        (a(X, Y) + 2 * b(X, Y)) * (a(X, Y) + a(X[:, [1]], Y[:, [1]])),
    )


def test_sums_distribute_over_products():
    product = (RBF() + 2.0 * Cauchy()) * (3.0 * Laplacian() + RBF())
    terms = [
        (term.coefficient, tuple(factor.family for factor in term.factors))
        for term in product.terms(4)
    ]
    assert terms == [
        (3.0, ("rbf", "laplacian")),
        (1.0, ("rbf", "rbf")),
        (6.0, ("cauchy", "laplacian")),
        (2.0, ("cauchy", "rbf")),
    ]


def test_a_restriction_of_a_restriction_refers_to_its_columns():
    (term,) = RBF([1.0, 2.0]).on([1, 0]).on([5, 7]).terms(9)
    (factor,) = term.factors
    np.testing.assert_array_equal(factor.columns, [7, 5])
    np.testing.assert_array_equal(factor.parameters, [[1.0], [2.0]])


@pytest.mark.parametrize("kernel", COMBINATIONS, ids=repr)
def test_the_repr_evaluates_to_an_equal_kernel(kernel):
    again = eval(repr(kernel))
    assert again == kernel
    assert hash(again) == hash(kernel)


@pytest.mark.parametrize("kernel", COMBINATIONS, ids=repr)
def test_copies_and_pickles_are_equal(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert copy.deepcopy(kernel) == kernel


def test_different_kernels_are_not_equal():
    assert len(set(COMBINATIONS)) == len(COMBINATIONS)
    assert RBF() != Laplacian()


def test_equal_products_are_equal_objects():
    a, b, c = RBF(), Cauchy(), Laplacian()
    assert (2.0 * a) * (3.0 * b) == 6.0 * (a * b) == 2 * a * 3 * b
    assert (a * b) * c == a * (b * c)
    assert (a + b) + c == a + (b + c)
    assert 1.0 * a == a


def test_kernels_cannot_be_changed():
    with pytest.raises(AttributeError):
        RBF().length_scale = 2.0


@pytest.mark.parametrize("kernel", [RBF, Laplacian, Cauchy])
@pytest.mark.parametrize(
    "length_scale",
    [0.0, -1.0, np.nan, np.inf, 1e-309, [1.0, 0.0], [1.0, np.nan], "1", [], [[1.0]], None, 1j],
)
def test_a_length_scale_must_be_positive_and_finite(kernel, length_scale):
    with pytest.raises(ValueError, match="length_scale"):
        kernel(length_scale)


def test_the_message_on_a_length_scale_names_the_feature():
    with pytest.raises(ValueError, match=r"got 0.0 for feature 1"):
        RBF([1.0, 0.0])


@pytest.mark.parametrize("amplitude", [0.0, -1.0, np.nan, np.inf, 0])
def test_an_amplitude_must_be_positive_and_finite(amplitude):
    with pytest.raises(ValueError, match="amplitude"):
        amplitude * RBF()


def test_amplitudes_that_overflow_together_are_refused():
    with pytest.raises(ValueError, match="amplitude"):
        (1e200 * RBF()) * (1e200 * RBF())


@pytest.mark.parametrize("columns", [[], [-1], [0, 0]])
def test_columns_must_be_distinct_numbers_from_zero(columns):
    with pytest.raises(ValueError, match="columns"):
        RBF().on(columns)


@pytest.mark.parametrize("columns", [[0.5], "ab", 3, None, np.array(3)])
def test_columns_must_be_integers(columns):
    with pytest.raises(TypeError, match="columns must be a list of column numbers"):
        RBF().on(columns)


def test_a_wrong_number_of_length_scales_says_what_was_expected():
    with pytest.raises(ValueError, match=r"has 2 values; expected 3"):
        RBF([1.0, 2.0]).terms(3)
    with pytest.raises(ValueError, match=r"has 2 values; expected 1"):
        RBF([1.0, 2.0]).on([2]).terms(3)


def test_a_column_out_of_range_says_how_many_there_are():
    with pytest.raises(ValueError, match=r"column 3, but the data has 3 columns"):
        RBF().on([3]).terms(3)


def test_a_number_in_a_sum_is_a_constant_kernel():
    assert RBF() + 2.0 == RBF() + 2.0 * Constant()
    assert 2 + RBF() == RBF() + 2.0 * Constant()
    assert sum([RBF(), Cauchy()]) == RBF() + Cauchy()
    with pytest.raises(ValueError, match=r"must be positive and finite; got -1\.0"):
        RBF() + -1.0


@pytest.mark.parametrize("other", ["a", None, [1.0], np.ones(3)])
def test_kernels_combine_with_kernels_and_numbers_only(other):
    for combine in (lambda: RBF() * other, lambda: other * RBF(), lambda: RBF() + other):
        with pytest.raises(TypeError):
            combine()


@pytest.mark.parametrize(
    ("kernel", "formula", "own"),
    [(RBF, "(2 * gamma) ** -0.5", rbf_kernel), (Laplacian, "1 / gamma", laplacian_kernel)],
)
def test_gamma_is_answered_with_the_length_scale_that_it_stands_for(kernel, formula, own):
    with pytest.raises(TypeError, match=rf"instead of gamma.*length_scale={re.escape(formula)}"):
        kernel(gamma=0.3)
    rows = np.random.default_rng(0).normal(size=(5, 2))
    values = kernel(length_scale=eval(formula, {"gamma": 0.3}))(rows)
    np.testing.assert_allclose(values, own(rows, gamma=0.3), rtol=1e-14)


def test_kernels_without_a_gamma_elsewhere_say_only_that_they_have_none():
    with pytest.raises(TypeError, match=r"^Cauchy\(\) has a length_scale instead of gamma$"):
        Cauchy(gamma=0.3)


def test_a_kernel_is_no_length_scale():
    kernel = median_heuristic(np.random.default_rng(0).normal(size=(5, 2)))
    with pytest.raises(TypeError, match="median_heuristic returns a kernel, not a length-scale"):
        RBF(kernel)


def test_a_family_that_there_is_not_is_answered_with_those_there_are():
    class Other(Kernel):
        def terms(self, n_features):
            columns = np.arange(n_features)
            return [Term(1.0, (Factor("matern", columns, np.ones((n_features, 1))),))]

    with pytest.raises(ValueError, match=r"^family must be one of .*'rbf'.*; got 'matern'"):
        KernelExpansion([[0.0]], [1.0], Other())
    with pytest.raises(ValueError, match=r"^family must be one of .*'rbf'.*; got 'matern'"):
        Other()([[0.0]])


def test_families_are_known_by_their_names():
    assert [kernel.family for kernel in (RBF, Laplacian, Cauchy)] == ["rbf", "laplacian", "cauchy"]


def test_powers_are_products():
    rows = np.random.default_rng(0).normal(size=(4, 2))
    squared = (2.0 * RBF(3.0)) ** 2
    np.testing.assert_allclose(squared(rows), (2.0 * RBF(3.0)(rows)) ** 2)
    assert RBF() ** 1 == RBF()
    for exponent in (0, -1, 0.5):
        with pytest.raises((TypeError, ValueError), match="the exponent of a kernel"):
            RBF() ** exponent
