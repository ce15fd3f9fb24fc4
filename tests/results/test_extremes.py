"""Tables, pictures and reports of every result, of values and data at the limits of floats."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from pages import Page, check_page
from sklearn.linear_model import Lasso

import pkex

ROWS = 12
RNG = np.random.default_rng(0)


def _values(rows=ROWS, features=3, scale=1.0):
    return scale * RNG.uniform(-1.0, 1.0, size=(rows, features))


# Values of rows, and the rows themselves.
EXTREMES = {
    "ordinary": (_values(), _values()),
    "zero": (np.zeros((ROWS, 3)), np.zeros((ROWS, 3))),
    "constant": (np.full((ROWS, 3), 0.1), np.full((ROWS, 3), 7.0)),
    "constant values, binary data": (np.full((ROWS, 3), 0.1), np.eye(ROWS, 3)),
    "one row": (_values(1), _values(1)),
    "one row twice": (np.tile(_values(1), (2, 1)), np.tile(_values(1), (2, 1))),
    "one feature": (_values(features=1), _values(features=1)),
    "one feature, constant": (np.ones((ROWS, 1)), np.ones((ROWS, 1))),
    "huge": (_values(scale=1e300), _values(scale=1e300)),
    "huge constant": (np.full((ROWS, 3), 1e300), np.full((ROWS, 3), -1e300)),
    "tiny": (_values(scale=1e-300), _values(scale=1e-300)),
    "tiny constant": (np.full((ROWS, 3), 1e-300), np.full((ROWS, 3), 1e-300)),
    "smallest": (5e-324 * np.eye(ROWS, 3), 5e-324 * np.eye(ROWS, 3)),
    "close": (1.0 + 1e-16 * _values(), 1e16 + np.arange(3.0 * ROWS).reshape(ROWS, 3)),
    "huge and tiny": (_values() * [1e300, 1.0, 1e-300], _values() * [1e-300, 1.0, 1e300]),
    "300 features": (_values(features=300), _values(features=300)),
    "missing data": (_values(), np.where(np.eye(ROWS, 3) > 0.0, np.nan, 1.0)),
    "texts": (_values(), np.array([["a", None, "<b>"]] * ROWS, dtype=object)),
}


def _explanation(values, data, kind=pkex.Explanation, **options):
    names = [f"x{j}" for j in range(values.shape[1])]
    return kind(values, np.full(len(values), values[0, 0]), data, names, **options)


def _of_outputs(values, data):
    names = [f"x{j}" for j in range(values.shape[1])]
    base = np.full((len(values), 2), values[0, 0])
    both = np.stack([values, values[::-1]], axis=2)
    return pkex.Explanation(both, base, data, names, ["a", "b"])


def _interactions(values, data):
    d = values.shape[1]
    pairs = np.zeros((len(values), d * (d - 1) // 2)) + values[0, 0]
    coefficients = np.concatenate([values, pairs], axis=1)
    names, order = [f"x{j}" for j in range(d)], min(d, 2)
    empty = np.zeros(len(values))
    return pkex.Interactions(coefficients, empty, 0.0, data.copy(), names, None, "k-SII", order)


@cache
def _computed(kind, d):
    """Return a result of as many features."""
    rows = np.random.default_rng(0).normal(size=(2, 8, d))
    kernel = pkex.kernels.RBF(np.sqrt(d))
    if kind == "MMD":
        return pkex.mmd(*rows, kernel=kernel, n_permutations=9, random_state=0)
    if kind == "HSIC":
        return pkex.hsic(rows[0], rows[1, :, 0], kernel=kernel)
    detector = pkex.MMDDrift(rows[0], kernel=kernel, n_permutations=19, random_state=0)
    return detector.predict(rows[1])


def _statistic(kind, values):
    """Return a result with other numbers in the place of its own."""
    result = _computed(kind, values.shape[1])
    tested = result.significance
    permuted = np.tile(values[-1] * 0.5, (9, 1))
    return replace(
        result,
        values=values[0].copy(),
        alone=values[-1].copy(),
        standard_errors=np.abs(values[-1]),
        significance=None if tested is None else replace(tested, permuted_values=permuted),
    )


def _timeline(values, data):
    batches = _statistic("drift", values), _statistic("drift", values[::-1])
    return pkex.DriftTimeline(batches, ("one", "two"))


def _sensitivity(values, data):
    d = values.shape[1]
    model = pkex.KernelExpansion(np.zeros((1, d)), [1.0], pkex.kernels.RBF())
    result = pkex.sensitivity(model, RNG.normal(size=(4, d)), order=min(d, 2))
    of_variance = np.abs(values[0]) / max(np.abs(values[0]).sum() or 1.0, 1e-300)
    return replace(
        result, shapley_effects=of_variance, first_order=0.5 * of_variance, total=of_variance,
        variance=float(abs(values[0, 0])),
    )  # fmt: skip


RESULTS = {
    "Explanation": _explanation,
    "outputs": _of_outputs,
    "Estimate": lambda values, data: _explanation(
        values, data, pkex.Estimate, standard_errors=np.abs(values)
    ),
    "Interactions": _interactions,
    "MMDResult": lambda values, data: _statistic("MMD", values),
    "HSICResult": lambda values, data: _statistic("HSIC", values),
    "DriftResult": lambda values, data: _statistic("drift", values),
    "DriftTimeline": _timeline,
    "SensitivityResult": _sensitivity,
}


def _check_places(page):
    """Check that everything in the pictures is in the frame."""
    for element in page.elements:
        if any(above["tag"] == "svg" for above in element["within"]):
            for name in ("x", "width", "cx", "x1", "x2"):
                place = element["attributes"].get(name, "0")
                assert re.fullmatch(r"-?[\d.]+%?", place), element
                assert -1.0 <= float(place.rstrip("%")) <= 101.0, element
            assert not re.search("nan|inf", element["attributes"].get("d", ""))


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_can_be_shown(name, extreme):
    values, data = EXTREMES[extreme]
    result = RESULTS[name](values, data)
    assert type(result).__name__ in repr(result)
    assert "nan" not in repr(result) or "nan" in str(data)
    if hasattr(result, "to_frame"):
        assert isinstance(result.to_frame(), pd.DataFrame)
    text = result.to_html()
    assert len(text) < 100_000
    _check_places(check_page(text))
    if isinstance(result, pkex.MMDResult | pkex.HSICResult) and len(data) == ROWS:
        _check_places(check_page(result.to_html(samples=(data, data[::-1]))))
    _check_places(Page(result._repr_html_()))
    if hasattr(result, "plot") and name != "outputs":
        result.plot(Figure().add_subplot())


def test_a_model_that_ignores_a_binary_column_has_a_report():
    X = np.column_stack([np.arange(20.0), np.arange(20) % 2])
    explanation = pkex.Explainer(Lasso(alpha=1.0).fit(X, X[:, 0]), X)(X)
    assert not explanation[:, 1].values.any()
    _check_places(check_page(explanation.to_html()))
