"""Random arguments, right and wrong: a right answer or a documented exception, nothing else.

Right answers are checked against exact fractions or fifty digits. NumPy's warnings are errors in
tests, and a panic of the engine is no `Exception`: both fail, as any other exception does.
"""

from fractions import Fraction

import numpy as np
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

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


# What is this small may be lost to underflow, for a weight of 1; what is this large may overflow.
LOST = Fraction(2) ** -1070


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


names = st.lists(st.text(max_size=2), max_size=4)
