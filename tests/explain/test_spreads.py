"""How sure values are, beside them in tables: of estimates, and of Gaussian processes."""

import numpy as np
import pandas as pd
import pytest
from pages import check_page
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import pkex

NAMES = ["age", "bmi"]
VALUES = np.array([[0.25, -0.125], [3.0, 1.0]])
ERRORS = np.array([[0.002, 0.001], [0.1, 0.2]])
DATA = np.array([[36.6, 80.0], [1.0, 2.0]])
ESTIMATE = pkex.Estimate(VALUES, [0.5, 0.5], DATA, NAMES, standard_errors=ERRORS)
OUTPUTS = pkex.Estimate(
    np.stack([VALUES, 10.0 * VALUES], axis=-1),
    np.zeros((2, 2)),
    DATA,
    NAMES,
    ["a", "b"],
    standard_errors=np.stack([ERRORS, 10.0 * ERRORS], axis=-1),
)


@pytest.fixture(scope="module")
def both():
    """An estimate of a Gaussian process's values: neither are sure, nor is the process."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None).fit(X, X[:, 0])
    explainer = pkex.Explainer(model, X, value_function="observational")
    return explainer.estimate(X[:4] + 0.1, n_coalitions=20, uncertainty=True, random_state=0)


def lines(result):
    return [line.split() for line in repr(result).splitlines()[1:]]


def test_a_row_has_its_standard_errors_beside_the_values():
    head, *rows = lines(ESTIMATE[0])
    assert head == ["feature", "value", "±", "std", "err", "data"]
    assert rows == [["age", "0.250", "0.002", "36.6"], ["bmi", "-0.125", "0.001", "80"]]


def test_several_rows_have_means_of_their_standard_errors():
    head, *rows = lines(ESTIMATE)
    assert head == ["feature", "mean", "|value|", "mean", "std", "err"]
    assert rows == [["age", "1.6250", "0.0510"], ["bmi", "0.5625", "0.1005"]]


def test_each_output_has_its_own():
    head, first, _ = lines(OUTPUTS[0])
    assert head == ["value", "of", "a", "±", "std", "err", "b", "±", "std", "err", "data"]
    assert first == ["age", "0.250", "0.002", "2.50", "0.02", "36.6"]


def test_what_the_draws_and_what_the_model_leave_open_are_apart(both):
    assert lines(both[1])[0][2:8] == ["±", "std", "err", "±", "std", "dev"]
    frame = both.to_frame(errors=True)
    assert list(frame.columns.levels[0]) == ["value", "standard error", "standard deviation"]
    np.testing.assert_array_equal(frame["standard error"], both.standard_errors)
    np.testing.assert_array_equal(frame["standard deviation"], both.standard_deviations)
    pd.testing.assert_frame_equal(frame["value"], both.to_frame())
    cells = check_page(both[:1].to_html()).cells()
    assert cells[0] == ["feature", "|value|", "value", "± std err", "± std dev"]


def test_what_is_exact_has_neither():
    exact = pkex.Explanation(VALUES, [0.5, 0.5], DATA, NAMES)
    assert "±" not in repr(exact[0])
    assert "std" not in repr(exact)
    assert "±" not in exact.to_html()
    with pytest.raises(ValueError, match="requires estimates, or rows that were explained with"):
        exact.to_frame(errors=True)
    assert "std" not in repr(ESTIMATE.centered())


def test_frames_of_outputs_have_a_level_for_each():
    frame = OUTPUTS.to_frame(errors=True)
    assert frame.columns.names == ["number", "output", "feature"]
    np.testing.assert_array_equal(frame["standard error"]["b"], 10.0 * ERRORS)


@pytest.mark.parametrize("part", [ESTIMATE, ESTIMATE[1], ESTIMATE[0, "bmi"], OUTPUTS, OUTPUTS[0]])
def test_an_estimate_has_a_report(part, tmp_path):
    text = part.to_html(tmp_path / "r.html", name="my model")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    assert page.text("h1") == ["Explanation of my model"]
    assert "± standard error of the strongest features" in "".join(page.text("caption"))
    assert "Values are estimates" in text
    assert "y estimates, " in page.text("p")[0]


def test_a_report_has_the_standard_errors_of_the_first_rows():
    cells = [cell for line in check_page(ESTIMATE.to_html()).cells() for cell in line]
    assert "0.0510" in cells
    text = ESTIMATE.to_html()
    assert "<td>3.00 ± 0.100</td><td>1.000 ± 0.200</td>" in text


def test_a_report_of_the_observational_game_says_what_its_values_are_of():
    told = pkex.Explanation(VALUES, [0.5, 0.5], DATA, NAMES, value_function="observational")
    assert "Observational values are conditional expectations" in told.to_html()
    plain = pkex.Explanation(VALUES, [0.5, 0.5], DATA, NAMES, value_function="interventional")
    assert "what a feature tells" not in plain.to_html()


def test_only_errors_of_estimates_are_said_to_have_a_size(both):
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None).fit(X, X[:, 0])
    # Means under the posterior are what they are, however sure the process is.
    exact = pkex.Explainer(model)(X[:4], uncertainty=True).to_html()
    assert "Std dev is the standard deviation" in exact
    assert "Sampling errors add to mean |values|" not in exact
    assert "Sampling errors add to mean |values|" in both.to_html()
    assert "Sampling errors add to mean |values|" not in both[:1].to_html()
