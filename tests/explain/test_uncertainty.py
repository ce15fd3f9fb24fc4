"""How sure values of Gaussian processes are: by brute force through the models' own covariances."""

import pickle

import numpy as np
import pytest
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    SCALES,
    SINGLE,
    THREE,
    TWO,
    D,
    X,
    Y,
    classifier,
    composites,
    fitted,
    independent,
    latent_covariance,
    total,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex

BACKGROUND = X[10:15] + 0.1 * SCALES
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.25, 0.15])


def brute_force(model, row, background, weights, groups=SINGLE):
    rows, values = composites(row, background, weights, groups)
    return np.einsum("ir,rso,js->ijo", values, latent_covariance(model, rows), values)


def assert_same(found, expected, tolerance=1e-8):
    np.testing.assert_allclose(found, np.squeeze(expected), rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"product of materns"}))
def test_covariances_equal_brute_force_through_predict(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    explainer = pkex.Explainer(model, BACKGROUND, background_weights=WEIGHTS)
    explanation = explainer(ROWS, uncertainty=True)
    for number, row in enumerate(ROWS):
        expected = brute_force(model, row, BACKGROUND, WEIGHTS)[..., 0]
        assert_same(explanation.covariance(number), expected)
        deviations = np.sqrt(np.maximum(np.diag(expected), 0.0))
        assert_same(explanation.standard_deviations[number], deviations, 1e-7)
    np.testing.assert_array_equal(explanation.values, explainer.shap_values(ROWS))


@pytest.mark.parametrize("shares", [[0.3, 0.7], [0.5, 0.5]])
@pytest.mark.parametrize("name", ["the usual", "sum", "matern"])
def test_covariances_of_independent_features_equal_brute_force(name, shares):
    model = fitted(KERNELS[name], alpha=1e-3)
    background, weights = independent(BACKGROUND[:2], np.array(shares))
    explainer = pkex.Explainer(
        model, BACKGROUND[:2], background_weights=shares, value_function="marginal"
    )
    explanation = explainer(ROWS, uncertainty=True)
    for number, row in enumerate(ROWS):
        assert_same(explanation.covariance(number), brute_force(model, row, background, weights))


def test_without_a_background_the_training_rows_are_drawn_from():
    model = fitted(KERNELS["the usual"])
    by_itself = pkex.Explainer(model)(ROWS, uncertainty=True)
    given = pkex.Explainer(model, X, value_function="marginal")(ROWS, uncertainty=True)
    assert_same(by_itself.covariance(1), given.covariance(1), 1e-14)
    # With other weights, means are not computed by the engine.
    halves = {"background_weights": np.r_[0.5, np.ones(len(X) - 1), 0.5]}
    twice = pkex.Explainer(model, np.r_[X, X[:1]], value_function="marginal", **halves)
    assert_same(by_itself.covariance(1), twice(ROWS, uncertainty=True).covariance(1), 1e-12)


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_groups_are_features(value_function):
    model, groups = fitted(KERNELS["sum"]), [[0, 3], [1], [2, 4]]
    explainer = pkex.Explainer(
        model, BACKGROUND[:1], groups={"a": [0, 3], "b": [2, 4]}, value_function=value_function
    )
    explanation = explainer(ROWS, uncertainty=True)
    expected = brute_force(model, ROWS[0], BACKGROUND[:1], np.ones(1), groups)
    assert_same(explanation.covariance(0), expected)


def test_covariances_are_in_squared_units_of_each_output():
    targets = np.column_stack([1e3 * Y, Y**2, 3.0 - Y])
    model = fitted(KERNELS["the usual"], targets, normalize_y=True)
    explainer = pkex.Explainer(model, BACKGROUND, background_weights=WEIGHTS)
    explanation = explainer(ROWS, uncertainty=True)
    expected = brute_force(model, ROWS[1], BACKGROUND, WEIGHTS)
    assert_same(explanation.covariance(1) / expected.max(), expected / expected.max())
    names = ["thousands", "squares", "rest"]
    for outputs in ("squares", 1):
        options = {"background_weights": WEIGHTS, "outputs": outputs, "output_names": names}
        one = pkex.Explainer(model, BACKGROUND, **options)(ROWS, uncertainty=True)
        assert one.output_name == "squares"
        assert_same(one.covariance(1), expected[..., 1])


def test_a_pipeline_has_the_covariances_of_its_last_step():
    model = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE)).fit(X, Y)
    found = pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty=True)
    last = pkex.Explainer(model[-1], model[:-1].transform(BACKGROUND))
    own = last(model[:-1].transform(ROWS), uncertainty=True)
    np.testing.assert_allclose(found.covariance(0), own.covariance(0), atol=1e-15)


@pytest.mark.parametrize("target", [TWO, THREE])
def test_classifiers_have_those_of_their_latent_functions(target):
    model = classifier().fit(X, target)
    explainer = pkex.Explainer(model, BACKGROUND, background_weights=WEIGHTS)
    explanation = explainer(ROWS, uncertainty=True)
    machines = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])
    rows, values = composites(ROWS[0], BACKGROUND, WEIGHTS)
    for output, machine in enumerate(machines):
        # Algorithm 3.2, with the kernel of rows that are not the same.
        cross, prior = machine.kernel_(rows, X), machine.kernel_(rows, rows.copy())
        known = machine.W_sr_[:, None] * cross.T
        whitened = np.linalg.solve(machine.L_, known)
        expected = values @ (prior - whitened.T @ whitened) @ values.T
        part = explanation if explanation.output_names is None else explanation[..., output]
        assert_same(part.covariance(0), expected)


# --- as what they stand for ---


def test_draws_from_the_posterior_that_are_explained_one_by_one_spread_as_said():
    model, n_draws = fitted(KERNELS["the usual"]), 20_000
    explainer = pkex.Explainer(model, BACKGROUND, background_weights=WEIGHTS)
    explanation = explainer(ROWS[:1], uncertainty=True)
    rows, values = composites(ROWS[0], BACKGROUND, WEIGHTS)
    # What predict says of a function without noise at rows, some of which are the same.
    roots = np.linalg.cholesky(latent_covariance(model, rows)[..., 0] + 1e-10 * np.eye(len(rows)))
    functions = roots @ np.random.default_rng(0).standard_normal((len(rows), n_draws))
    drawn = values @ (functions + model.predict(rows)[:, None])
    deviations = explanation.standard_deviations[0]
    # Four standard errors: of means, standard deviations, shares and correlations.
    mean_errors = np.abs(drawn.mean(axis=1) - explanation.values[0]) / deviations
    assert mean_errors.max() < 4.0 / np.sqrt(n_draws)
    np.testing.assert_allclose(drawn.std(axis=1), deviations, rtol=4.0 / np.sqrt(2 * n_draws))
    inside = np.abs(drawn - explanation.values[0][:, None]) <= 1.959964 * deviations[:, None]
    assert np.abs(inside.mean(axis=1) - 0.95).max() < 4.0 * np.sqrt(0.95 * 0.05 / n_draws)
    correlations = np.corrcoef(drawn) - explanation.covariance(0) / np.outer(deviations, deviations)
    assert np.abs(correlations).max() < 4.0 / np.sqrt(n_draws)


def test_samples_have_the_covariances():
    model = fitted(KERNELS["sum"])
    explanation = pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty=True)
    drawn = explanation.sample(20_000, random_state=0)
    assert drawn.shape == (20_000, *explanation.shape)
    np.testing.assert_array_equal(drawn, explanation.sample(20_000, random_state=0))
    legacy = [explanation.sample(3, np.random.RandomState(0)) for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    for row in range(len(ROWS)):
        covariance = explanation.covariance(row)
        found = np.cov(drawn[:, row].T) - covariance
        assert np.abs(found).max() < 0.05 * np.diag(covariance).max()
    spread = np.abs(drawn.mean(axis=0) - explanation.values) / explanation.standard_deviations
    assert spread.max() < 0.04


def test_sums_of_values_are_as_sure_as_the_prediction_less_the_base():
    model = fitted(KERNELS["the usual"])
    explanation = pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty=True)
    rows = np.concatenate([ROWS[:1], BACKGROUND])
    difference = np.array([1.0, *[-0.2] * 5])
    expected = difference @ latent_covariance(model, rows)[..., 0] @ difference
    assert explanation.covariance(0).sum() == pytest.approx(expected, rel=1e-9)
    assert total(explanation)[0] == pytest.approx(model.predict(ROWS)[0])


# --- where there is nothing to be unsure of ---


def test_a_column_that_does_nothing_has_a_standard_deviation_of_0():
    with_constant = np.where(np.arange(D) == 2, 7.0, X)
    model = fitted(KERNELS["the usual"]).fit(with_constant, Y)
    rows = np.where(np.arange(D) == 2, 7.0, ROWS)
    for options in ({"background": with_constant[:5]}, {}):
        explanation = pkex.Explainer(model, **options)(rows, uncertainty=True)
        deviations = explanation.standard_deviations
        assert np.all(deviations[:, 2] == 0.0)
        assert np.all(np.delete(deviations, 2, axis=1) > 1e-3)


def test_a_row_that_is_the_background_is_sure_of_its_values():
    model = fitted(KERNELS["the usual"])
    explanation = pkex.Explainer(model, BACKGROUND[:1])(BACKGROUND[:1], uncertainty=True)
    assert np.all(explanation.standard_deviations == 0.0)
    assert np.all(explanation.sample(3) == explanation.values)


@pytest.mark.parametrize("kernel", [NOISE, ConstantKernel(3.0) + NOISE])
def test_a_kernel_of_no_column_is_sure_of_zeros(kernel):
    explanation = pkex.Explainer(fitted(kernel))(ROWS, uncertainty=True)
    assert np.all(explanation.standard_deviations == 0.0)


def test_rows_have_the_same_covariances_together_and_alone():
    model = fitted(KERNELS["matern"])
    explainer = pkex.Explainer(model, BACKGROUND)
    far = np.concatenate([ROWS, X[:1] + 50.0 * SCALES])
    together = explainer(far, uncertainty=True)
    for number in range(len(far)):
        alone = explainer(far[number : number + 1], uncertainty=True)
        np.testing.assert_array_equal(together.covariance(number), alone.covariance(0))


def test_both_methods_have_the_same_covariances():
    model = fitted(KERNELS["sum"])
    ways = [pkex.Explainer(model, BACKGROUND, method=m) for m in ("quadrature", "recursion")]
    one, other = (explainer(ROWS, uncertainty=True) for explainer in ways)
    assert_same(one.covariance(0), other.covariance(0), 1e-13)
    assert one[:0].standard_deviations.shape == (0, D)


def test_progress_is_of_values_and_covariances():
    shares = []
    explainer = pkex.Explainer(fitted(KERNELS["sum"]), BACKGROUND)
    explainer(ROWS, uncertainty=True, progress=lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    # Covariances, after each of two terms of the kernel, and values, which take less time.
    n_points, n_pairs = len(X), 7 * len(BACKGROUND)
    first_term = (n_points + n_pairs / 2) / (n_points + n_pairs)
    assert shares == pytest.approx([first_term * 6 / 7, 6 / 7, 1.0], abs=1e-5)


# --- the explanation ---


@pytest.fixture(scope="module")
def explanation():
    model = fitted(KERNELS["the usual"], np.column_stack([Y, 2.0 * Y]))
    return pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty=True)


def test_slices_keep_their_part(explanation):
    whole, deviations = explanation.covariance(1), explanation.standard_deviations
    part = explanation[1, [3, 0], 1]
    np.testing.assert_allclose(part.covariance(), whole[np.ix_([3, 0], [3, 0])][..., 1], atol=1e-15)
    np.testing.assert_array_equal(part.standard_deviations, deviations[1, [3, 0], 1])
    assert explanation[0, 2].standard_deviations.shape == (2,)
    assert explanation[0, 2, 0].covariance() == pytest.approx(deviations[0, 2, 0] ** 2)
    assert explanation[:, 2].sample(4, 1).shape == (4, 3, 2)
    restored = pickle.loads(pickle.dumps(explanation))
    np.testing.assert_array_equal(restored.standard_deviations, deviations)


def test_what_is_uncertain_says_how_much(explanation):
    largest = explanation[0].standard_deviations.max()
    said = repr(explanation[0]).split("standard deviations up to ")[1]
    assert float(said.split(")")[0].split(",")[0]) == pytest.approx(largest, rel=1e-4)
    assert "deviations" not in repr(explanation.centered())


def test_what_is_not_uncertain_says_so(explanation):
    plain = pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND)(ROWS)
    for without in (plain, explanation.centered()):
        assert without.standard_deviations is None
        with pytest.raises(ValueError, match=r"uncertainty=(True|\"joint\")"):
            without.sample(3)
        with pytest.raises(ValueError, match=r"uncertainty=(True|\"joint\")"):
            without.covariance(0)
    with pytest.raises(ValueError, match="number of a row"):
        explanation.covariance()
    with pytest.raises(ValueError, match="single row"):
        explanation[0].covariance(0)
    with pytest.raises(IndexError, match="row 3 is out of range"):
        explanation.covariance(3)


def test_shap_gets_bounds_that_its_waterfall_draws(explanation):
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    one = explanation[..., 0]
    for ours, theirs in ((one, one.to_shap()), (one[0], one[0].to_shap())):
        margin = 1.959964 * ours.standard_deviations
        np.testing.assert_allclose(theirs.upper_bounds, ours.values + margin)
        np.testing.assert_allclose(theirs.lower_bounds, ours.values - margin)
    figure = plt.figure()
    shap.plots.waterfall(one[0].to_shap(), show=False)
    # A line for each feature, from bound to bound.
    lines = [c for ax in figure.axes for c in ax.containers if getattr(c, "has_xerr", False)]
    assert len(lines) == D
    plt.close(figure)


def test_values_that_cannot_be_told_from_0_are_drawn_pale(explanation):
    plt = pytest.importorskip("matplotlib.pyplot")
    one = explanation[..., 0]
    ax = one[0].plot()
    order = np.argsort(-np.abs(one[0].values))
    is_pale = np.abs(one.values) <= 1.959964 * one.standard_deviations
    assert 0 < is_pale[0].sum() < D
    assert [bar.get_alpha() is not None for bar in ax.patches] == is_pale[0][order].tolist()
    ax = one.plot()
    drawn = np.column_stack([points.get_alpha() for points in ax.collections[:D]])
    np.testing.assert_array_equal(drawn < 1.0, is_pale[:, np.argsort(-one.importance())])
    assert "pale" in ax.get_title()
    plt.close("all")


# --- refused ---


def test_the_neutral_game_is_refused_with_the_reason():
    explainer = pkex.Explainer(fitted(KERNELS["the usual"]), value_function="neutral")
    with pytest.raises(pkex.UnsupportedModelError, match="average of the function at rows"):
        explainer(ROWS, uncertainty=True)


@pytest.mark.parametrize("model", [SVR(), LinearRegression()])
def test_other_models_are_refused(model):
    explainer = pkex.Explainer(model.fit(X, Y), BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="mean of a Gaussian process"):
        explainer(ROWS, uncertainty=True)


def test_the_variance_has_no_uncertainty():
    explainer = pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND, target="variance")
    with pytest.raises(pkex.UnsupportedModelError, match="mean of a Gaussian process"):
        explainer(ROWS, uncertainty=True)


def test_kernels_that_are_no_products_are_refused_when_asked_for_and_not_before():
    dots = GaussianProcessRegressor(DotProduct() + NOISE, optimizer=None).fit(X / SCALES, Y)
    noisy = GaussianProcessRegressor(DotProduct() * WhiteKernel() + RBF(3.0), optimizer=None)
    for model, reason in ((dots, "dot products"), (noisy.fit(X / SCALES, Y), "WhiteKernel")):
        explainer = pkex.Explainer(model, BACKGROUND / SCALES)
        assert explainer(ROWS / SCALES).standard_deviations is None
        with pytest.raises(pkex.UnsupportedModelError, match=reason):
            explainer(ROWS / SCALES, uncertainty=True)


def test_an_approximated_kernel_of_nearly_dependent_rows_is_refused_with_numbers():
    rows = np.unique(X, axis=0)
    smooth = GaussianProcessRegressor(Matern(100.0 * ARD, nu=7.5), alpha=1e-14, optimizer=None)
    explainer = pkex.Explainer(smooth.fit(rows, Y[: len(rows)]), BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="of the prior variance"):
        explainer(ROWS + 100.0 * SCALES, uncertainty=True)
