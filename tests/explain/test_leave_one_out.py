"""Rows that are in the background of the observational game, and left out of it there."""

import numpy as np
import pytest
from brute_force import coalitions, conditional_weights, imputed, shapley_weights
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVR

import pkex
from pkex.models import ShapleyRegularizedRidge

D, N = 4, 25
RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(N, D))
X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
# A row with two copies.
X[[9, 16]] = X[3]
Y = X[:, 0] + np.sin(X[:, 2]) * X[:, 3]
SHARES = RANDOM.uniform(0.5, 2.0, N)
SHARES /= SHARES.sum()
LENGTH_SCALES = np.array([0.7, 0.8, 0.9, 1.1])
KERNEL = pkex.kernels.RBF(LENGTH_SCALES)
GAME = pkex.Observational(KERNEL, regularization=0.01, leave_one_out=True)
MODEL = SVR(gamma=0.5).fit(X, Y)
ROWS = [0, 3, 20]
OWN_ROWS = pytest.mark.filterwarnings("ignore:.*are in the background themselves")


def gaussian(left, right, columns):
    difference = (left[:, None] - right) / LENGTH_SCALES[columns]
    return np.exp(-0.5 * np.square(difference).sum(axis=2))


def without(number):
    """The numbers of the rows that differ from one."""
    return np.flatnonzero((X[number] != X).any(axis=1))


def by_removing(number, *, normalize=True, embedding="absent"):
    """Values of a row, by weights on the other rows alone; with nothing known they are of all."""
    kept, row, worths = without(number), X[number], []
    share = SHARES[kept].sum()
    for members in coalitions(D):
        if not members:
            worths.append(SHARES @ MODEL.predict(X))
        elif len(members) == D:
            worths.append(MODEL.predict(row[None])[0])
        else:
            of_kept = SHARES[kept] / share, gaussian, 0.01 / share
            weights = conditional_weights(row, X[kept], *of_kept, members, normalize=normalize)
            replaced = members if embedding == "absent" else []
            worths.append(imputed(MODEL.predict, row, X[kept], weights, replaced))
    return shapley_weights(D) @ np.array(worths)


@pytest.mark.parametrize("transform", [None, np.positive], ids=["in closed form", "by mixed rows"])
@pytest.mark.parametrize("n_landmarks", [None, N])
def test_values_are_those_of_the_background_without_the_row(transform, n_landmarks):
    game = pkex.Observational(KERNEL, 0.01, n_landmarks, leave_one_out=True)
    options = {"background_weights": SHARES, "value_function": game, "transform": transform}
    explainer = pkex.Explainer(MODEL, X, **options)
    wanted = np.array([by_removing(number) for number in ROWS])
    assert explainer.shap_values(X[ROWS]) == pytest.approx(wanted, abs=1e-12)
    assert explainer.expected_value == pytest.approx(SHARES @ MODEL.predict(X))


@pytest.mark.parametrize("embedding", ["absent", "rows"])
@pytest.mark.parametrize("normalize", [True, False])
def test_rows_are_left_out_of_all_variants(normalize, embedding):
    options = {"normalize": normalize, "embedding": embedding}
    game = pkex.Observational(KERNEL, 0.01, leave_one_out=True, **options)
    explainer = pkex.Explainer(MODEL, X, background_weights=SHARES, value_function=game)
    wanted = np.array([by_removing(number, **options) for number in ROWS])
    assert explainer.shap_values(X[ROWS]) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.filterwarnings("ignore:n_landmarks=12 changes the values of coalitions")
def test_with_landmarks_the_row_is_left_out_of_the_regression_on_them(normalize):
    game = pkex.Observational(KERNEL, 0.01, 12, leave_one_out=True, normalize=normalize)
    explainer = pkex.Explainer(MODEL, X, background_weights=SHARES, value_function=game)
    conditioning, present = (
        explainer._problem.function.conditioning,
        np.array([True, False, True, False]),
    )
    centres, columns = X[conditioning.landmarks], [0, 2]

    def features(rows):
        # Copies among the landmarks say nothing more.
        among = np.unique(centres[:, columns], axis=0)
        root = np.linalg.cholesky(gaussian(among, among, columns))
        return np.linalg.solve(root, gaussian(among, rows[:, columns], columns))

    (found,) = conditioning.weights(X[ROWS], [present])
    values = RANDOM.normal(size=(N, 2))
    for place, number in enumerate(ROWS):
        kept = without(number)
        known = features(X[kept]) * SHARES[kept]
        gram = known @ features(X[kept]).T + 0.01 * np.eye(len(known))
        weights = np.linalg.solve(gram, features(X[[number]]))[:, 0] @ known
        if normalize:
            weights += (1.0 - weights.sum()) * SHARES[kept] / SHARES[kept].sum()
        whole = np.zeros(N)
        whole[kept] = weights
        np.testing.assert_allclose(found.whole()[place], whole, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.times(values)[place], whole @ values, rtol=0, atol=1e-10)


@OWN_ROWS
def test_rows_that_are_not_in_the_background_have_the_values_that_they_have_without():
    rows = X[:3] + 0.1
    usual = pkex.Explainer(MODEL, X, value_function=pkex.Observational(KERNEL, 0.01))
    left_out = pkex.Explainer(MODEL, X, value_function=GAME)
    np.testing.assert_array_equal(left_out.shap_values(rows), usual.shap_values(rows))
    apart = np.abs(left_out.shap_values(X[:3]) - usual.shap_values(X[:3]))
    assert apart.max() > 0.01


def test_what_features_say_of_others_is_not_hidden_and_not_warned_of():
    rows = np.random.default_rng(0).normal(size=(100, 8))
    first = pkex.KernelExpansion(rows, rows[:, 0], pkex.kernels.RBF(3.0).on([0]))
    game = pkex.Observational(leave_one_out=True)
    values = pkex.Explainer(first, rows, value_function=game).shap_values(rows[:20])
    alone = pkex.Explainer(first, rows).shap_values(rows[:20])[:, 0]
    assert np.abs(values[:, 0]).mean() > 0.9 * np.abs(alone).mean()


@OWN_ROWS
def test_estimates_uncertainties_and_penalties_leave_rows_out_as_well():
    process = GaussianProcessRegressor(RBF(1.5), alpha=0.1, optimizer=None).fit(X, Y)
    explainer = pkex.Explainer(process, X, value_function=GAME)
    exact = explainer(X[ROWS], uncertainty=True)
    estimate = explainer.estimate(X[ROWS], n_coalitions=400, random_state=0)
    assert np.all(np.abs(estimate.values - exact.values) < 4.0 * estimate.standard_errors + 1e-9)
    usual = pkex.Explainer(process, X, value_function=pkex.Observational(KERNEL, 0.01))
    sure = usual(X[ROWS], uncertainty=True).standard_deviations
    assert np.abs(exact.standard_deviations - sure).max() > 1e-3

    options = {"features": [1], "value_function": GAME, "penalty": 1e9}
    model = ShapleyRegularizedRidge(**options).fit(X, Y)
    values = pkex.Explainer(model, X, value_function=GAME).shap_values(X)[:, 1]
    free = ShapleyRegularizedRidge(**options | {"penalty": 0.0}).fit(X, Y)
    before = pkex.Explainer(free, X, value_function=GAME).shap_values(X)[:, 1]
    assert np.abs(values).max() < 1e-3 * np.abs(before).max()


def test_a_background_of_nothing_but_the_row_is_refused():
    explainer = pkex.Explainer(MODEL, X[[3, 9]], value_function=GAME)
    with pytest.raises(ValueError, match="X has the only row of the background in row 1, so"):
        explainer.shap_values(X[[0, 3]])
    with pytest.raises(TypeError, match="leave_one_out must be True or False; got 1"):
        pkex.Observational(leave_one_out=1)
