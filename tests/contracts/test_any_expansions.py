"""Kernels and expansions of random numbers, and of anything: right, or a documented exception."""

from itertools import product

import numpy as np
import pytest
from anything import (
    ANYTHING,
    DTYPES,
    LOST,
    NUMBERS,
    OPTIONS,
    examples,
    matrices,
    mostly,
    names,
    outcome,
    tables,
    words,
)
from extended_precision import DIGITS, FACTORS, Integers, omegas
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from mpmath import mp

import pkex
from pkex.kernels import RBF, Cauchy, Kernel, Laplacian

LENGTH_SCALES = st.floats(0.1, 10.0) | st.sampled_from([1e-300, 1e-150, 1e-3, 1e6, 1e150, 1e300])


@st.composite
def kernels(draw, d):
    """Kernels of d features, composed at random."""
    one_factor = st.builds(
        lambda family, scale: family(scale),
        st.sampled_from([RBF, Laplacian, Cauchy]),
        LENGTH_SCALES | st.lists(LENGTH_SCALES, min_size=d, max_size=d),
    )
    restricted = st.builds(
        lambda kernel, columns: kernel.on(columns),
        st.builds(RBF, LENGTH_SCALES) | st.builds(Cauchy, LENGTH_SCALES),
        st.lists(st.integers(0, d - 1), min_size=1, max_size=d, unique=True),
    )
    combined = st.recursive(
        one_factor | restricted,
        lambda inner: st.one_of(
            st.builds(lambda a, b: a * b, inner, inner),
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda amplitude, a: amplitude * a, st.floats(1e-3, 1e3), inner),
        ),
        max_leaves=4,
    )
    return draw(combined)


@st.composite
def expansions(draw):
    n, d = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    shape = (n,) if draw(st.booleans()) else (n, draw(st.integers(1, 3)))
    return pkex.KernelExpansion(
        draw(matrices(n, d)),
        draw(npst.arrays(np.float64, shape, elements=st.floats(-1e6, 1e6))),
        draw(kernels(d)),
        draw(st.floats(-1e6, 1e6)),
    )


def exact_terms(expansion, row):
    """Of each product game of an expansion at a row: weights by output, values, product."""
    coefficients = expansion.coefficients
    if coefficients.ndim == 1:
        coefficients = coefficients[:, None]
    terms = expansion.kernel.terms(expansion.n_features)
    for (point, alphas), term in product(zip(expansion.points, coefficients, strict=True), terms):
        one = [(mp.one, mp.one, mp.zero)] * len(row)
        for factor in term.factors:
            for j, (scale,) in zip(factor.columns, factor.parameters, strict=True):
                z = (mp.mpf(float(row[j])) - float(point[j])) / float(scale)
                (a, b, c), (more_a, more_c) = one[j], FACTORS[factor.family](z)
                one[j] = (a * more_a, b, c + a * more_c)
        omega = omegas(one, range(len(row)), Integers())
        yield (
            [float(alpha) * mp.mpf(term.coefficient) for alpha in alphas],
            [c * o for (_, _, c), o in zip(one, omega, strict=True)],
            mp.fprod(a for a, _, _ in one),
        )


def assert_explanation(expansion, row, values, prediction, base):
    """Check the values (d, outputs), the prediction (outputs,) and the base value of one row."""
    intercepts = np.broadcast_to(expansion.intercept, expansion.coefficients.shape[1:] or [1])
    with mp.workdps(DIGITS):
        games = list(exact_terms(expansion, row))
        for k, intercept in enumerate(intercepts):
            size = mp.fsum((weights[k] for weights, *_ in games), absolute=True)

            def assert_sum(found, parts, size=size):
                error, scale = abs(float(found) - mp.fsum(parts)), mp.fsum(parts, absolute=True)
                assert error <= 1e-11 * scale + 1e-300 * size + float(LOST)

            for j, of_outputs in enumerate(values):
                assert_sum(of_outputs[k], [w[k] * of_game[j] for w, of_game, _ in games])
            assert_sum(prediction[k], [float(intercept), *(w[k] * p for w, _, p in games)])
            assert_sum(base[k], [float(intercept), *(w[k] for w, *_ in games)])


@examples(150)
@given(data=st.data(), expansion=expansions(), method=st.sampled_from(["quadrature", "recursion"]))
def test_expansions_of_any_numbers_are_predicted_and_explained(data, expansion, method):
    rows = data.draw(matrices(data.draw(st.integers(1, 3)), expansion.n_features))
    n, d, outputs = *rows.shape, expansion.coefficients.shape[1:]
    explainer = pkex.Explainer(expansion, method=method, value_function="neutral")
    explanation, prediction = explainer(rows), expansion.predict(rows)
    assert explanation.values.shape == (n, d, *outputs)
    assert prediction.shape == explanation.base_values.shape == (n, *outputs)
    np.testing.assert_array_equal(explanation.values, explainer.shap_values(rows))
    for row, values, of_row, base in zip(
        rows, explanation.values, prediction, explanation.base_values, strict=True
    ):
        base = np.reshape(base, -1)
        np.testing.assert_array_equal(base, np.reshape(explainer.expected_value, -1))
        assert_explanation(expansion, row, values.reshape(d, -1), np.reshape(of_row, -1), base)


@examples(100)
@given(data=st.data(), expansion=expansions())
def test_kernels_of_any_numbers_equal_the_predictions_of_their_columns(data, expansion):
    # A kernel evaluates itself in NumPy, an expansion with the coefficient 1 does so in the engine.
    d = expansion.n_features
    X, Y = (data.draw(matrices(data.draw(st.integers(1, 3)), d)) for _ in "XY")
    found = expansion.kernel(X, Y)
    expected = pkex.KernelExpansion(Y, np.eye(len(Y)), expansion.kernel).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@examples(200)
@given(data=st.data(), expansion=expansions(), n=st.integers(0, 3))
def test_explainers_answer_anything(data, expansion, n):
    right = tables(n, expansion.n_features)
    X = data.draw(mostly(right, npst.arrays(DTYPES, (n, expansion.n_features)) | ANYTHING))
    progress = data.draw(mostly(st.just(False)))
    assume(progress is not True)  # prints a bar
    explainer = pkex.Explainer(expansion)
    explanation = outcome(explainer, X, progress=progress)
    values = outcome(explainer.shap_values, X, progress=progress)
    predictions = outcome(expansion.predict, X) if progress is False else values
    assert (explanation is None) == (values is None) == (predictions is None)
    if explanation is not None:
        np.testing.assert_array_equal(explanation.values, values)
        assert np.isfinite(values).all()
        assert explanation.data.shape == np.shape(X)


EXPLAINED = pkex.KernelExpansion(np.eye(3), np.ones((3, 2)), RBF())


@examples(300)
@given(
    model=mostly(st.just(EXPLAINED)),
    background=mostly(st.none()),
    options=st.fixed_dictionaries(
        {},
        optional={
            "value_function": words(None, "neutral"),
            "background_weights": mostly(st.none()),
            "groups": mostly(st.none()),
            "outputs": words(0, 1, [1], [0, 1], "u", ["v", "u"]),
            "feature_names": mostly(st.just(["a", "b", "c"]), names | ANYTHING),
            "output_names": mostly(st.just(["u", "v"]), names | ANYTHING),
            **OPTIONS,
        },
    ),
)
def test_explainers_are_made_of_anything(model, background, options):
    explainer = outcome(pkex.Explainer, model, background, **options)
    if explainer is not None:
        assert model is EXPLAINED
        explanation = explainer(np.zeros((1, 3)))
        assert explanation.values.shape[:2] == (1, 3)
        assert list(options.get("feature_names") or ["x0", "x1", "x2"]) == explanation.feature_names


@pytest.mark.slow
@examples(200)
@given(data=st.data(), n=st.integers(0, 5), d=st.integers(1, 4), shape=st.sampled_from([(), (2,)]))
def test_expansions_are_made_of_anything(data, n, d, shape):
    right = (tables(n, d), tables(n, *shape), kernels(d), st.just(1.0) | tables(*shape))
    arguments = [data.draw(mostly(strategy)) for strategy in right]
    expansion = outcome(pkex.KernelExpansion, *arguments)
    if expansion is not None:
        points, coefficients, kernel, intercept = arguments
        rows = data.draw(matrices(2, expansion.n_features, st.floats(-2.0, 2.0)))
        predictions = outcome(expansion.predict, rows)
        if predictions is not None and np.size(points):
            weights = np.asarray(coefficients, dtype=float)
            expected = kernel(rows, points) @ weights + np.asarray(intercept, dtype=float)
            scale = kernel(rows, points) @ np.abs(weights) + np.abs(expected)
            assert (np.abs(predictions - expected) <= 1e-11 * scale).all()


@examples(200)
@given(
    family=st.sampled_from([RBF, Laplacian, Cauchy]),
    length_scale=mostly(st.lists(LENGTH_SCALES, min_size=1, max_size=3).map(np.array)) | NUMBERS,
)
def test_kernels_are_made_of_anything(family, length_scale):
    kernel = outcome(family, length_scale)
    if kernel is not None:
        d = np.size(length_scale)
        assert kernel(np.zeros((1, d))) == 1.0
        assert kernel == family(kernel.length_scale)


@pytest.mark.slow
@examples(150)
@given(
    kernel=kernels(3),
    other=kernels(3) | NUMBERS | ANYTHING,
    columns=mostly(st.lists(st.integers(-1, 3), max_size=3)),
    X=mostly(tables(2, 3)),
    Y=mostly(tables(4, 3)),
)
def test_kernels_combine_with_anything(kernel, other, columns, X, Y):
    made = [
        outcome(lambda: kernel * other),
        outcome(lambda: other * kernel),
        outcome(lambda: kernel + other),
        outcome(lambda: other + kernel),
        outcome(kernel.on, columns),
    ]
    for combined in made:
        assert combined is None or isinstance(combined, Kernel)
    values = outcome(kernel, X, Y)
    assert values is None or values.shape == (len(X), len(X if Y is None else Y))
