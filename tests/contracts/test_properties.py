"""Random arguments: a right answer or a documented exception, never a panic, abort or hang.

Right answers are checked against exact fractions or fifty digits. NumPy's warnings are errors here,
and a panic of the engine is no `Exception`: both fail these tests, as any other exception does.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from extended_precision import DIGITS, FACTORS, Integers, omegas
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from mpmath import mp

import pkex
from pkex.kernels import RBF, Cauchy, Kernel, Laplacian

DOCUMENTED = (
    ValueError,
    TypeError,
    OverflowError,
    NotImplementedError,
)  # UnsupportedModelError too


def examples(number):
    """That many examples, the same in every run."""
    return settings(max_examples=number, derandomize=True, deadline=None, database=None)


# --- random numbers and arrays ---

# Ordinary ones, and those that something special happens to.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-310, 1e-160, 1e-20, 1e20, 1e155, 1e300, 1.7e308]
NUMBERS = st.floats(-2.0, 2.0) | st.sampled_from([*SPECIAL, *(-x for x in SPECIAL)])


def matrices(rows, columns, elements=NUMBERS):
    return npst.arrays(np.float64, (rows, columns), elements=elements)


DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?"),
    st.sampled_from([np.dtype(np.longdouble), np.dtype(object), np.dtype("f8,f8")]),
    npst.complex_number_dtypes(),
    npst.unicode_string_dtypes(max_len=3),
    npst.byte_string_dtypes(max_len=3),
    npst.datetime64_dtypes(),
)
SHAPES = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.fractions(),
    st.decimals(),
)


@st.composite
def arrays_of_any_kind(draw):
    """NumPy arrays, mostly of numbers, in any memory order, and nested lists."""
    dtype = draw(st.sampled_from([np.dtype(np.float64), np.dtype(np.float32), None]))
    if dtype is None:
        dtype = draw(DTYPES)
    elements = SCALARS if dtype.hasobject else None
    array = draw(npst.arrays(dtype, draw(SHAPES), elements=elements))
    layout = draw(st.sampled_from(["C", "F", "reversed", "read-only", "list"]))
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "reversed":
        return array[..., ::-1] if array.ndim else array
    if layout == "read-only":
        array.setflags(write=False)
    return array.tolist() if layout == "list" else array


ANYTHING = st.one_of(
    arrays_of_any_kind(),
    SCALARS,
    st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4), max_leaves=12),
    st.dictionaries(st.text(max_size=2), SCALARS, max_size=2),
    st.sets(st.integers(), max_size=3),
    st.just(len),
    st.just(np.float64),
)


@st.composite
def mostly(draw, valid, otherwise=ANYTHING):
    """What is right, and one time in eight anything."""
    return draw(valid if draw(st.integers(0, 7)) else otherwise)


def words(*valid):
    return mostly(st.sampled_from(valid))


OPTIONS = {
    "method": words("quadrature", "recursion"),
    "summation": words("compensated", "plain"),
    "n_jobs": words(1, 2, -1, -5, 100, np.int8(3)),
}


@st.composite
def tables(draw, *shape):
    """Right arguments of a shape: numbers of some dtype in some memory order or container."""
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int8, np.uint16, np.longdouble, bool]))
    elements = st.floats(-2.0, 2.0, width=32) if np.dtype(dtype).kind == "f" else None
    array = draw(npst.arrays(dtype, shape, elements=elements))
    layouts = [np.copy, np.asfortranarray, lambda a: a.astype(object)]
    if 0 not in shape:
        layouts += [np.ndarray.tolist]
    if shape:
        layouts += [lambda a: a[::-1]]
    return draw(st.sampled_from(layouts))(array)


def outcome(function, *arguments, documented=DOCUMENTED, **options):
    """What the call returns, or None if it raises a documented exception with a message."""
    try:
        result = function(*arguments, **options)
    except documented as error:
        raised = error
    else:
        event("an answer")
        return result
    event(type(raised).__name__)
    assert str(raised)
    return None


# --- product_game ---


def exact_values(present, absent, weights, index):
    """Exact values, and their scale Σ_p |w_p c_pj| mean|∏|, by player and output."""
    values, scale = (np.full((present.shape[1], weights.shape[1]), Fraction(0)) for _ in range(2))
    for a, b, w in zip(*map(fractions, (present, absent, weights)), strict=True):
        for j, k in product(range(len(a)), range(len(w))):
            others = [(a[i], b[i]) for i in range(len(a)) if i != j]
            sizes = [(abs(x), abs(y)) for x, y in others]
            values[j, k] += w[k] * (a[j] - b[j]) * mean_product(others, index)
            scale[j, k] += abs(w[k] * (a[j] - b[j])) * mean_product(sizes, index)
    return values, scale


def fractions(array):
    return [[Fraction(x) for x in row] for row in array.tolist()]


def mean_product(players, index):
    """The mean product over all coalitions (BV), or over sizes of the mean at that size (SV)."""
    means = [Fraction(1)]
    for k, (a, b) in enumerate(players, 1):
        old, less = [*means, Fraction(0)], [Fraction(0), *means]
        if index == "BV":
            means = [(a + b) / 2 * means[0]]
        else:
            means = [((k - q) * b * old[q] + q * a * less[q]) / k for q in range(k + 1)]
    return sum(means) / len(means)


# What is this small may be lost to underflow, for a weight of 1; what is this large may overflow.
LOST = Fraction(2) ** -1070
LARGE = Fraction(2) ** 1020


def assert_values_of_games(found, present, absent, weights, index):
    expected, scale = exact_values(present, absent, weights, index)
    assert found.shape == expected.shape
    assert np.isfinite(found).all()
    lost = LOST * (1 + sum(abs(Fraction(w)) for w in weights.ravel().tolist()))
    for j, k in np.ndindex(found.shape):
        error = abs(Fraction(float(found[j, k])) - expected[j, k])
        assert error <= scale[j, k] / 10**12 + lost, (j, k)


def may_overflow(present, absent, weights, index):
    """Whether a result, or the value of a single game without its weight, comes near the limit."""
    unit = np.ones((len(present), 1))
    _, of_games = exact_values(present, absent, unit, index)
    _, scale = exact_values(present, absent, weights, index)
    return max([*of_games.ravel(), *scale.ravel()], default=0) > LARGE


@st.composite
def games(draw):
    """Present and absent factors, differences and weights; the last three where they are given."""
    p, d = draw(st.integers(0, 20)), draw(st.integers(1, 5))
    present = draw(matrices(p, d))
    absent = draw(st.none() | matrices(p, d))
    with np.errstate(over="ignore"):
        difference = present - (1.0 if absent is None else absent)
    given = np.isfinite(difference).all() and draw(st.booleans())
    weights = draw(st.none() | matrices(p, draw(st.integers(1, 3))))
    return present, absent, difference if given else None, weights


@pytest.mark.parametrize("summation", ["compensated", "plain"])
@pytest.mark.parametrize(
    ("index", "method"), [("SV", "quadrature"), ("SV", "recursion"), ("BV", "quadrature")]
)
@examples(60)
@given(games=games())
def test_games_of_any_numbers_have_exact_values_or_overflow(index, method, summation, games):
    present, absent, difference, weights = games
    b = np.ones_like(present) if absent is None else absent
    w = np.ones((len(present), 1)) if weights is None else weights
    options = {"index": index, "method": method, "summation": summation}
    try:
        found = pkex.product_game(present, absent, weights, difference=difference, **options)
    except OverflowError:
        assert may_overflow(present, b, w, index)
        return
    assert_values_of_games(found.reshape(-1, w.shape[1]), present, b, w, index)


@examples(300)
@given(data=st.data(), p=st.integers(0, 5), d=st.integers(1, 4), outputs=st.integers(1, 2))
def test_product_game_answers_anything(data, p, d, outputs):
    present, absent, difference, weights = (
        data.draw(mostly(strategy, st.none() | ANYTHING))
        for strategy in (tables(p, d), tables(p, d), st.none(), tables(p, outputs))
    )
    options = st.fixed_dictionaries({}, optional={"index": words("SV", "BV"), **OPTIONS})
    options = data.draw(options)
    found = outcome(pkex.product_game, present, absent, weights, difference=difference, **options)
    if found is not None:
        a = np.asarray(present, dtype=np.float64)
        b = np.ones_like(a) if absent is None else np.asarray(absent, dtype=np.float64)
        w = np.ones(len(a)) if weights is None else np.asarray(weights, dtype=np.float64)
        assert found.shape == (a.shape[1], *w.shape[1:])
        w = w.reshape(len(a), *(w.shape[1:] or (1,)))
        values = found.reshape(a.shape[1], w.shape[1])
        assert_values_of_games(values, a, b, w, options.get("index", "SV"))


# --- kernels and expansions ---

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
    coefficients = expansion.coefficients.reshape(len(expansion.points), expansion.n_outputs)
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
    intercepts = np.broadcast_to(expansion.intercept, expansion.n_outputs)
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
names = st.lists(st.text(max_size=2), max_size=4)


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


# --- explanations ---


@st.composite
def explanations(draw):
    """Explanations of several rows or one, with or without an output axis."""
    n, d, outputs = (
        draw(st.none() | st.integers(0, 4)),
        draw(st.integers(1, 4)),
        draw(st.none() | st.integers(1, 3)),
    )
    rows, of_outputs = () if n is None else (n,), () if outputs is None else (outputs,)
    shape = (*rows, d, *of_outputs)
    values = np.arange(np.prod(shape), dtype=float).reshape(shape)
    return pkex.Explanation(
        values,
        np.arange(np.prod((*rows, *of_outputs)), dtype=float).reshape((*rows, *of_outputs)),
        np.arange(np.prod((*rows, d))).reshape((*rows, d)) / 2.0,
        [f"f{j}" for j in range(d)],
        None if outputs is None else [f"o{k}" for k in range(outputs)],
    )


def indices(size, names):
    """Valid indices of one axis, each with the NumPy index that it stands for."""
    numbers = [st.integers(-size, size - 1).map(lambda i: (i, i))] if size else []
    slices = st.slices(size).map(lambda s: (s, s))
    masks = npst.arrays(bool, size).map(lambda mask: (mask, np.flatnonzero(mask)))
    lists = st.lists(*numbers, max_size=3) if size else st.just([])
    pairs = lists.map(lambda pairs: ([i for i, _ in pairs], np.array([j for _, j in pairs], int)))
    named = [st.sampled_from(range(size)).map(lambda i: (names[i], i))] if names and size else []
    return st.one_of(*numbers, slices, masks, pairs, *named)


@examples(300)
@given(explanation=explanations(), data=st.data())
def test_slices_are_those_of_numpy_axis_by_axis(explanation, data):
    values, base_values, rows = explanation.values, explanation.base_values, explanation.data
    has_rows, has_outputs = rows.ndim == 2, explanation.output_names is not None
    axes = (
        [None] * has_rows + [explanation.feature_names] + [explanation.output_names] * has_outputs
    )
    number = data.draw(st.integers(0, len(axes)))
    pairs = [
        data.draw(indices(size, names))
        for size, names in zip(values.shape[:number], axes, strict=False)
    ]
    key = tuple(key for key, _ in pairs)
    found = explanation[key[0] if number == 1 and data.draw(st.booleans()) else key]

    everything = slice(None)
    keys = [index for _, index in pairs] + [everything] * (len(axes) - number)
    of_features = int(has_rows)
    expected = pick(values, keys)
    np.testing.assert_array_equal(found.values, expected)
    without_features = keys[:of_features] + keys[of_features + 1 :]
    np.testing.assert_array_equal(found.base_values, pick(base_values, without_features))
    np.testing.assert_array_equal(found.data, pick(rows, keys[: of_features + 1]))
    names = np.array(explanation.feature_names)[keys[of_features]]
    assert found.feature_names == np.atleast_1d(names).tolist()
    assert found.shape == expected.shape


def pick(array, keys):
    """Index axis by axis, from the last."""
    for axis, key in reversed(list(enumerate(keys))):
        array = array[(slice(None),) * axis + (key,)]
    return array


KEYS = (
    ANYTHING
    | st.just(...)
    | st.sampled_from(["f0", "o1", ["f0"], [0], -1])
    | st.slices(4)
    | st.builds(slice, SCALARS, SCALARS, SCALARS)
)


@examples(300)
@given(explanation=explanations(), key=KEYS | st.lists(KEYS, max_size=4).map(tuple))
def test_explanations_answer_any_index(explanation, key):
    found = outcome(explanation.__getitem__, key, documented=(*DOCUMENTED, LookupError))
    if found is not None:
        assert isinstance(found, pkex.Explanation)
        assert np.isin(found.values, explanation.values).all()
        assert repr(found)


@examples(200)
@given(data=st.data(), n=st.integers(0, 3), d=st.integers(1, 3), outputs=st.none() | st.just(2))
def test_explanations_are_made_of_anything(data, n, d, outputs):
    k = () if outputs is None else (outputs,)
    right = [tables(n, d, *k), tables(n, *k), tables(n, d), st.just(list("abc")[:d])]
    right.append(st.just(None if outputs is None else ["u", "v"]))
    arguments = [data.draw(mostly(strategy, ANYTHING | names)) for strategy in right]
    explanation = outcome(pkex.Explanation, *arguments)
    if explanation is not None:
        values, base_values, rows, *_ = arguments
        np.testing.assert_array_equal(explanation.values, np.asarray(values, dtype=float))
        np.testing.assert_array_equal(explanation.base_values, np.asarray(base_values, dtype=float))
        np.testing.assert_array_equal(explanation.data, np.asarray(rows))


@pytest.mark.parametrize("which", [0, 1])
def test_explanations_are_not_made_of_complex_numbers(which):
    arrays = [np.ones((2, 1)), np.ones(2)]
    arrays[which] = arrays[which] * (1.0 + 1.0j)
    with pytest.raises(TypeError, match="values"):
        pkex.Explanation(*arrays, np.zeros((2, 1)), ["a"])
