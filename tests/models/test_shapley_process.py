"""The process of Shapley values, by brute force through its kernel at mixed rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import coalitions, shapley_weights
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import pkex
from pkex.models import ShapleyProcess

D = 3
RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.normal(size=(6, D)), RANDOM.normal(size=(3, D))
NEW[0] += 30.0  # far from all others
BACKGROUND = RANDOM.normal(size=(3, D))
LENGTH_SCALES = np.array([0.8, 1.5, 2.5])
GAUSSIAN = 3.0 * pkex.kernels.RBF(LENGTH_SCALES)
KERNELS = {
    "rbf": GAUSSIAN,
    "sum": GAUSSIAN + pkex.kernels.RBF([3.0, 0.7, 1.0]),
    "matern": pkex.kernels.Matern(LENGTH_SCALES, nu=2.5),
}


def output(rows):
    return np.sin(rows[:, 0]) + rows[:, 1] * rows[:, 2]


def functional(row, value_function):
    """The rows at which the values of a row evaluate f, and the map from f there to values."""
    of_coalitions, pool = shapley_weights(D), BACKGROUND
    if value_function == "marginal":
        chosen = np.indices((len(pool),) * D).reshape(D, -1)
        pool = np.stack([pool[chosen[j], j] for j in range(D)], axis=1)
    rows, maps = [], []
    for number, members in enumerate(coalitions(D)):
        mixed = pool.copy()
        mixed[:, list(members)] = row[list(members)]
        rows.append(mixed)
        maps.append(np.repeat(of_coalitions[:, [number]] / len(pool), len(pool), axis=1))
    return np.concatenate(rows), np.concatenate(maps, axis=1)


def prior(kernel, left, right, value_function):
    """The prior covariances of values, shape (n d, m d)."""
    sides = [[functional(row, value_function) for row in rows] for rows in (left, right)]
    return np.block([[p @ kernel(a, b) @ q.T for b, q in sides[1]] for a, p in sides[0]])


def known_values(rows, value_function="interventional"):
    parts = [functional(row, value_function) for row in rows]
    return np.stack([values @ output(mixed) for mixed, values in parts])


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
@pytest.mark.parametrize("name", KERNELS)
def test_predictions_equal_the_conditional_distribution_by_brute_force(name, value_function):
    kernel, alpha = KERNELS[name], 1e-2
    values = known_values(X, value_function)
    process = ShapleyProcess(kernel=kernel, value_function=value_function, alpha=alpha)
    process.fit(X, values, background=BACKGROUND)
    known = prior(kernel, X, X, value_function)
    known += alpha * kernel(X[:1], X[:1])[0, 0] * np.eye(len(known))
    between = prior(kernel, NEW, X, value_function)
    gain = np.linalg.solve(known, between.T).T
    amplitude = values.ravel() @ np.linalg.solve(known, values.ravel()) / values.size
    assert process.amplitude_ == pytest.approx(amplitude, rel=1e-9)
    covariance = amplitude * (prior(kernel, NEW, NEW, value_function) - gain @ between.T)
    mean, found = process.predict(NEW, return_cov=True)
    scale = np.abs(covariance).max()
    np.testing.assert_allclose(mean.ravel(), gain @ values.ravel(), atol=1e-10)
    np.testing.assert_allclose(found.reshape(covariance.shape), covariance, atol=1e-10 * scale)
    again, deviations = process.predict(NEW, return_std=True)
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_allclose(deviations.ravel() ** 2, np.diag(covariance), atol=1e-10 * scale)
    sign, logarithm = np.linalg.slogdet(2.0 * np.pi * amplitude * known)
    assert sign == 1.0
    likelihood = -0.5 * (logarithm + values.size)
    assert process.log_marginal_likelihood_value_ == pytest.approx(likelihood, rel=1e-9)


def test_known_values_are_predicted_with_certainty():
    values = known_values(X)
    process = ShapleyProcess(kernel=GAUSSIAN, alpha=1e-10).fit(X, values, background=BACKGROUND)
    mean, deviations = process.predict(X, return_std=True)
    np.testing.assert_allclose(mean, values, atol=1e-7)
    assert deviations.max() < 1e-3 * process.predict(NEW, return_std=True)[1].max()


def test_the_background_is_the_rows_by_default():
    model = GaussianProcessRegressor(RBF(LENGTH_SCALES), optimizer=None).fit(X, output(X))
    values = pkex.Explainer(model, X)(X)
    given = ShapleyProcess(kernel=GAUSSIAN).fit(X, values.values, background=X)
    np.testing.assert_array_equal(
        ShapleyProcess(kernel=GAUSSIAN).fit(X, values).predict(NEW), given.predict(NEW)
    )


def test_many_rows_are_predicted_in_blocks():
    process = ShapleyProcess(kernel=GAUSSIAN).fit(X, known_values(X), background=BACKGROUND)
    rows = RANDOM.normal(size=(70, D))
    mean, deviations = process.predict(rows, return_std=True)
    one, of_one = process.predict(rows[66:67], return_std=True)
    np.testing.assert_allclose(one[0], mean[66], atol=1e-12)
    np.testing.assert_allclose(of_one[0], deviations[66], atol=1e-9)


def test_alpha_and_the_default_length_scales_have_the_largest_likelihood():
    values = known_values(X) + 0.05 * np.random.default_rng(1).normal(size=X.shape)

    def likelihood(kernel, alpha):
        process = ShapleyProcess(kernel=kernel, alpha=alpha).fit(X, values, background=BACKGROUND)
        return process.log_marginal_likelihood_value_

    process = ShapleyProcess().fit(X, values, background=BACKGROUND)
    length_scales = np.asarray(process.kernel_.length_scale)
    largest = process.log_marginal_likelihood_value_
    assert largest == pytest.approx(likelihood(process.kernel_, process.alpha_))
    assert 1e-9 < process.alpha_ < 1.0
    for factor in (0.8, 1.25):
        assert likelihood(process.kernel_, factor * process.alpha_) < largest
    steps = length_scales / np.asarray(pkex.kernels.median_heuristic(X).length_scale)
    np.testing.assert_allclose(np.log2(steps), np.log2(steps[0]), atol=1e-12)
    others = [pkex.kernels.RBF(factor * length_scales / steps) for factor in (0.5, 1.0, 2.0, 4.0)]
    assert largest == pytest.approx(max(likelihood(kernel, None) for kernel in others))


def test_it_is_an_estimator_of_scikit_learn():
    frame = pd.DataFrame(X, columns=["age", "sex", "bmi"])
    process = ShapleyProcess(alpha=1e-4).fit(frame, known_values(X), background=BACKGROUND)
    assert clone(process).get_params() == {
        "alpha": 1e-4,
        "kernel": None,
        "value_function": "interventional",
    }
    assert list(process.feature_names_in_) == ["age", "sex", "bmi"]
    assert process.score(frame, known_values(X)) > 0.99
    restored = pickle.loads(pickle.dumps(process))
    np.testing.assert_array_equal(restored.predict(frame), process.predict(frame))
    with pytest.raises(ValueError, match=r"X has other columns than the model: missing \['age'\]"):
        process.predict(frame.rename(columns={"age": "years"}))


@pytest.mark.parametrize(
    ("options", "values", "message"),
    [
        ({}, known_values(X)[:5], r"values has 5 rows, but X has 6"),
        ({}, known_values(X)[:, :2], r"values has the wrong number of columns: expected 3"),
        ({}, np.zeros_like(X), r"values are all 0"),
        ({"alpha": 0.0}, known_values(X), r"alpha must be a finite number above 0, or None"),
        ({"alpha": 1e-30}, known_values(X), r"alpha 1e-30 is below the rounding errors"),
        (
            {"value_function": "neutral"},
            known_values(X),
            r"value_function must be one of 'interventional', 'marginal'; got 'neutral'",
        ),
        ({"kernel": pkex.kernels.Linear()}, known_values(X), r"kernel Linear.* has dot products"),
    ],
)
def test_wrong_input_raises_errors(options, values, message):
    rows = X[[0, 1, 2, 3, 4, 0]]
    with pytest.raises(ValueError, match=message):
        ShapleyProcess(**options).fit(rows, values, background=BACKGROUND)


def test_tables_have_the_columns_of_the_rows():
    columns = ["age", "sex", "bmi"]
    frame, background, values = (
        pd.DataFrame(table, columns=columns) for table in (X, BACKGROUND, known_values(X))
    )
    process = ShapleyProcess(alpha=1e-4).fit(X, known_values(X), background=BACKGROUND)
    expected = process.predict(NEW)
    process.fit(frame, values, background=background)
    np.testing.assert_array_equal(process.predict(pd.DataFrame(NEW, columns=columns)), expected)
    reordered = ["bmi", "age", "sex"]
    with pytest.raises(ValueError, match="background has its columns in another order than X"):
        process.fit(frame, values, background=background[reordered])
    with pytest.raises(ValueError, match="values has its columns in another order than X"):
        process.fit(frame, values[reordered], background=background)


def test_explanations_are_of_the_same_columns_and_value_function():
    columns = ["age", "sex", "bmi"]
    frame = pd.DataFrame(X, columns=columns)
    model = GaussianProcessRegressor(RBF(LENGTH_SCALES), alpha=1e-3).fit(X, output(X))
    explainer = pkex.Explainer(model, BACKGROUND)
    process = ShapleyProcess(alpha=1e-4).fit(X, explainer(X).values, background=BACKGROUND)
    expected = process.predict(NEW)
    process.fit(X, explainer(X), background=BACKGROUND)
    np.testing.assert_array_equal(process.predict(NEW), expected)
    # The explained rows have no names of columns.
    process.fit(frame, explainer(X), background=BACKGROUND)
    with pytest.raises(ValueError, match="values has its columns in another order than X"):
        process.fit(frame[["bmi", "sex", "age"]], explainer(frame))
    marginal = pkex.Explainer(model, BACKGROUND, value_function="marginal")(X)
    with pytest.raises(ValueError, match="values are of the marginal value function, but"):
        process.fit(X, marginal, background=BACKGROUND)


def test_values_may_be_an_explanation_of_shap():
    shap = pytest.importorskip("shap")
    values = known_values(X)
    explained = shap.Explanation(values, base_values=np.zeros(len(X)), data=X)
    process = ShapleyProcess().fit(X, explained, background=BACKGROUND)
    other = ShapleyProcess().fit(X, values, background=BACKGROUND)
    np.testing.assert_array_equal(process.predict(X), other.predict(X))


def test_the_process_itself_is_not_explained():
    process = ShapleyProcess().fit(X, known_values(X), background=BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match=r"predicts Shapley values itself\. Call"):
        pkex.Explainer(process)


def test_too_many_values_raise_an_error_before_computing():
    with pytest.raises(ValueError, match=r"X has 1,366 rows of 3 features.*at most 1,365 rows"):
        ShapleyProcess().fit(np.ones((1366, D)), np.ones((1366, D)))
    process = ShapleyProcess(kernel=GAUSSIAN).fit(X, known_values(X))
    with pytest.raises(ValueError, match="must not both be True"):
        process.predict(X, return_std=True, return_cov=True)
