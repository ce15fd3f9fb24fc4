"""Games of random numbers, and of anything: right, or a documented exception."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from anything import ANYTHING, LOST, OPTIONS, examples, games, mostly, outcome, tables, words
from hypothesis import given
from hypothesis import strategies as st

import pkex


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
