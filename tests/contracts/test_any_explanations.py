"""Explanations sliced and made at random: as NumPy does, or a documented exception."""

import numpy as np
import pytest
from anything import ANYTHING, DOCUMENTED, SCALARS, examples, mostly, names, outcome, tables
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import pkex


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


@pytest.mark.slow
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
