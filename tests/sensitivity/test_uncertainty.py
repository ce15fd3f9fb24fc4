"""Indices of draws from a posterior: by brute force through the process's own covariances."""

import pickle

import numpy as np
import pytest
from brute_force_sensitivity import Grid
from gaussian_processes import KERNELS, NOISE, TWO, D, X, Y, classifier, fitted
from pages import check_page
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex
from pkex.adapters.adapted_model import variance_of
from pkex.adapters.registry import adapt
from pkex.functions.gaussian_process.kriging import KrigingVariance

RNG = np.random.default_rng(0)
POINTS = RNG.random((12, 3))
OUTPUT = np.sin(5.0 * POINTS[:, 0]) + POINTS[:, 1] * POINTS[:, 2]
KERNEL = ConstantKernel(2.0) * RBF([0.5, 0.8, 1.5]) + WhiteKernel(1e-3)
PROCESS = GaussianProcessRegressor(KERNEL, optimizer=None, normalize_y=True).fit(POINTS, OUTPUT)
# Three columns of few entries, which all rows combine.
ENTRIES = [np.array([0.0, 0.4, 1.0]), np.array([0.2, 0.9]), np.array([0.1, 0.5, 0.8])]
GRID = np.stack(np.meshgrid(*ENTRIES, indexing="ij"), axis=-1).reshape(-1, 3)


class Unit:
    """A generator whose normal numbers are those of a single one of the rows of an array."""

    def standard_normal(self, shape):
        return np.eye(*np.atleast_1d(shape)) if np.ndim(shape) else np.zeros(shape)


def latent_covariance(process, rows):
    """The covariance at rows by predict, less the noise of single observations."""
    noise = process.kernel_.diag(rows)[0] - process.kernel_(rows[:1], rows[:1].copy())[0, 0]
    covariance = np.reshape(process.predict(rows, return_cov=True)[1], (len(rows), len(rows), -1))
    scales = np.atleast_1d(process._y_train_std**2)
    return covariance - noise * np.eye(len(rows))[..., None] * scales


def variance(process):
    return variance_of(adapt(process)).adapt(False).function


@pytest.mark.parametrize(
    "name", ["the usual", "sum", "constant", "power of a sum", "matern", "linear"]
)
def test_draws_have_the_covariance_that_the_process_predicts(name):
    linear = ConstantKernel(1e-6) * DotProduct(1.0) + NOISE
    process = fitted(KERNELS.get(name, linear), alpha=1e-3)
    rows = X[10:22] + 0.3 * X.std(axis=0)
    (found,) = variance(process).draws(np.tile(rows, (2, 1)), len(rows), Unit())
    at_rows = found.function.predict(rows)
    expected = latent_covariance(process, rows)[..., 0]
    # What scikit-learn's own subtraction leaves of a large prior variance.
    rounding = 1e-14 * process.kernel_.diag(rows).max()
    np.testing.assert_allclose(at_rows @ at_rows.T, expected, rtol=0.0, atol=1e-7 + rounding)
    assert found.missing < 1e-3


def test_outputs_are_drawn_in_their_units_and_independently():
    targets = np.column_stack([1e3 * Y, Y**2])
    process = fitted(KERNELS["the usual"], targets, normalize_y=True)
    found = variance(process).draws(np.tile(X[:8], (2, 1)), 8, Unit())
    expected = latent_covariance(process, X[:8])
    for output, own in enumerate(found):
        at_rows = own.function.predict(X[:8])
        scale = expected[..., output].max()
        found_there, expected_there = at_rows @ at_rows.T / scale, expected[..., output] / scale
        np.testing.assert_allclose(found_there, expected_there, rtol=0.0, atol=1e-3)
    result = pkex.sensitivity(process, X[:3], uncertainty=20, random_state=0)
    assert result.draws.total.shape == (20, D, 2)
    assert result.draws.variance.shape == (20, 2)
    assert result.credible_interval("total").shape == (2, D, 2)


def test_indices_of_draws_are_distributed_as_those_of_functions_drawn_by_brute_force():
    result = pkex.sensitivity(PROCESS, GRID, order=2, uncertainty=600, random_state=0)
    covariance = latent_covariance(PROCESS, GRID)[..., 0]
    functions = np.random.default_rng(1).multivariate_normal(
        PROCESS.predict(GRID), covariance, size=600, method="eigh"
    )
    shares = [np.full(len(own), 1.0 / len(own)) for own in ENTRIES]
    grid = Grid(lambda rows: functions.T, ENTRIES, shares)
    pairs = [
        (result.draws.variance, grid.variance),
        (result.draws.shapley_effects[:, 0], grid.shapley_effects()[0]),
        (result.draws.first_order[:, 1], grid.first_order()[1]),
        (result.draws.total[:, 2], grid.total()[2]),
        (result.draws.second_order[:, 1, 2], grid.second_order(1, 2)),
    ]
    for found, expected in pairs:
        assert stats.ks_2samp(found, expected).pvalue > 1e-3
        np.testing.assert_allclose(found.std(), expected.std(), rtol=0.2)


def test_intervals_hold_the_indices_of_functions_drawn_from_the_prior():
    # If the process is right, 90 % of true indices are in 90 % intervals.
    random = np.random.default_rng(3)
    runs, is_held = random.random((8, 2)), []
    kernel = RBF([0.6, 0.9])
    everything = np.concatenate([runs, GRID[:, :2]])
    shares = [np.full(len(own), 1.0 / len(own)) for own in ENTRIES[:2]]
    rows = np.unique(GRID[:, :2], axis=0)
    for seed in range(40):
        covariance = kernel(everything)
        truth = random.multivariate_normal(np.zeros(len(everything)), covariance, method="eigh")
        known = GaussianProcessRegressor(kernel, alpha=1e-8, optimizer=None)
        known.fit(runs, truth[: len(runs)])
        of_rows = {tuple(row): own for row, own in zip(everything, truth, strict=True)}
        grid = Grid(lambda r, o=of_rows: np.array([o[tuple(x)] for x in r]), ENTRIES[:2], shares)
        result = pkex.sensitivity(known, rows, uncertainty=100, random_state=seed)
        low, high = result.credible_interval("total", level=0.9)
        is_held += list((low <= grid.total()[:, 0]) & (grid.total()[:, 0] <= high))
    assert 0.8 <= np.mean(is_held) <= 0.98


def test_a_constant_that_is_estimated_is_drawn_with_the_process():
    # Sacks et al. 1989: the variance of differences, of which no constant is left.
    kernel, noise = pkex.kernels.RBF([0.5, 0.8, 1.5]), 1e-3
    matrix = kernel(POINTS, POINTS) + noise * np.eye(len(POINTS))
    kriging = KrigingVariance.of(POINTS, np.linalg.cholesky(matrix), kernel, np.array(4.0))
    (found,) = kriging.draws(np.tile(GRID, (2, 1)), 20_000, np.random.default_rng(0))
    contrast = np.zeros((len(GRID), 2))
    contrast[[0, 5], 0] = contrast[[2, 17], 1] = 1.0, -1.0
    cross, ones = kernel(GRID, POINTS) @ np.linalg.inv(matrix), np.ones((len(POINTS), 1))
    trend = 1.0 - cross @ ones
    share = 1.0 / (ones.T @ np.linalg.inv(matrix) @ ones)
    covariance = kernel(GRID, GRID) - cross @ kernel(POINTS, GRID) + share * trend @ trend.T
    expected = contrast.T @ covariance @ contrast
    sample = np.cov(contrast.T @ found.function.predict(GRID)) / 4.0
    np.testing.assert_allclose(sample, expected, rtol=0.0, atol=0.05 * expected.max())


def test_pipelines_and_classifiers_are_drawn_as_their_processes():
    steps = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE)).fit(X, Y)
    found = pkex.sensitivity(steps, X[:4], uncertainty=20, random_state=0)
    last = pkex.sensitivity(steps[-1], steps[:-1].transform(X[:4]), uncertainty=20, random_state=0)
    np.testing.assert_allclose(found.draws.total, last.draws.total, rtol=0.0, atol=1e-9)
    latent = pkex.sensitivity(classifier().fit(X, TWO), X[:4], uncertainty=20, random_state=0)
    assert np.ptp(latent.draws.shapley_effects, axis=0).min() > 0.0


def test_draws_are_as_the_seed_says_and_change_nothing_else():
    one, same, other = (
        pkex.sensitivity(PROCESS, GRID, uncertainty=20, random_state=s) for s in (0, 0, 1)
    )
    plain = pkex.sensitivity(PROCESS, GRID)
    assert np.array_equal(one.draws.total, same.draws.total)
    assert not np.array_equal(one.draws.total, other.draws.total)
    assert np.array_equal(one.total, plain.total)
    assert plain.draws is None


def test_distributions_and_groups_have_draws():
    inputs, groups = [stats.uniform(0.0, 1.0)] * 3, {"both": [0, 2]}
    result = pkex.sensitivity(PROCESS, inputs, groups=groups, uncertainty=100, random_state=0)
    effects = result.draws.shapley_effects
    assert effects.shape == (100, 2)
    np.testing.assert_allclose(effects.sum(axis=1), 1.0, rtol=1e-12)
    assert result.draws.left_out < 1e-3
    # Of inputs that are known well the draws are near the mean's.
    middle = np.median(effects, axis=0)
    np.testing.assert_allclose(middle, result.shapley_effects, atol=0.1)


@pytest.fixture(scope="module")
def result():
    return pkex.sensitivity(PROCESS, GRID, order=2, uncertainty=40, random_state=0)


def test_results_have_intervals_in_tables_pictures_and_salibs_names(result):
    low, high = result.credible_interval("first_order", 0.5)
    assert np.allclose(np.mean(result.draws.first_order < low, axis=0), 0.25, atol=0.03)
    assert np.all(low < high)
    frame = result.to_frame()
    assert list(frame.columns[:3]) == [
        "Shapley effect",
        "Shapley effect low",
        "Shapley effect high",
    ]
    assert frame.loc["x1", "total high"] == result.credible_interval("total")[1, 1]
    found = result.to_dict()
    margins = 1.959964 * result.draws.total.std(axis=0, ddof=1)
    np.testing.assert_allclose(found["ST_conf"], margins)
    assert {"S1_conf", "S2_conf", "shapley_effects_conf", "variance_conf"} < found.keys()
    assert found["S2_conf"][1][0] is None
    assert found["S2_conf"][0][1] > 0.0
    assert "credible interval from 40 posterior draws" in repr(result)
    assert repr(result).count("–") == 9
    assert "effect, 95 %" in result.plot().get_legend_handles_labels()[1]
    again = pickle.loads(pickle.dumps(result))
    assert repr(again.draws) == "SensitivityDraws(40 draws, 3 inputs)"
    with pytest.raises(ValueError, match="read-only"):
        again.draws.total[0] = 1.0


def test_bad_input_is_refused_with_a_remedy(result):
    with pytest.raises(pkex.UnsupportedModelError, match="uncertainty is for the mean of a Gauss"):
        pkex.sensitivity(SVR().fit(X, Y), X[:3], uncertainty=100)
    for wrong in (5, -1):
        with pytest.raises(
            ValueError, match=r"uncertainty must be 0, or a number of draws from 20"
        ):
            pkex.sensitivity(PROCESS, GRID, uncertainty=wrong)
    with pytest.raises(TypeError, match="uncertainty must be 0, or a number of draws"):
        pkex.sensitivity(PROCESS, GRID, uncertainty=True)
    with pytest.raises(ValueError, match=r"uncertainty=100"):
        pkex.sensitivity(PROCESS, GRID).credible_interval()
    with pytest.raises(ValueError, match="index must be one of 'variance'"):
        result.credible_interval("S1")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        result.credible_interval(level=95)


def test_draws_that_lack_much_of_the_variance_say_so():
    rough = GaussianProcessRegressor(RBF(0.08), optimizer=None).fit(POINTS, OUTPUT)
    with pytest.warns(UserWarning, match=r"draws of the posterior miss \d+.\d% of its variance"):
        result = pkex.sensitivity(rough, [stats.uniform(0, 1)] * 3, uncertainty=20, random_state=0)
    assert any("miss" in note for note in result.notes)
    assert 0.01 < result.draws.left_out < 0.5


def test_draws_that_lack_most_of_the_variance_are_refused_with_a_remedy():
    rough = GaussianProcessRegressor(RBF(0.02), optimizer=None).fit(POINTS, OUTPUT)
    with pytest.raises(ValueError, match=r"miss 9\d.\d% of its variance.*fewer inputs"):
        pkex.sensitivity(rough, [stats.uniform(0, 1)] * 3, uncertainty=20, random_state=0)


def test_the_report_has_the_intervals_of_the_effects():
    result = pkex.sensitivity(PROCESS, GRID, uncertainty=20, random_state=0)
    page = check_page(result.to_html())
    low, high = result.credible_interval("shapley_effects")
    head, *lines = page.cells()
    assert head[-2:] == ["effect from", "effect to"]
    places = [result.feature_names.index(line[0]) for line in lines]
    np.testing.assert_allclose([float(line[-2]) for line in lines], low[places], atol=1e-4)
    np.testing.assert_allclose([float(line[-1]) for line in lines], high[places], atol=1e-4)
    assert any("from 20 posterior draws of the Gaussian process" in text for text in page.text("p"))


@pytest.mark.parametrize("length_scale", [0.2, 0.4])
def test_an_index_outside_its_interval_has_a_note(length_scale):
    rows = np.random.default_rng(5).uniform(size=(5, 3))
    process = GaussianProcessRegressor(RBF(length_scale), alpha=1e-4, optimizer=None)
    result = pkex.sensitivity(
        process.fit(rows, 5.0 * rows[:, 0] - 2.5),
        [stats.uniform()] * 3,
        uncertainty=20,
        random_state=0,
    )
    is_outside = False
    for name in ("shapley_effects", "first_order", "total"):
        low, high = result.credible_interval(name)
        values = getattr(result, name)
        is_outside |= bool(np.any(np.maximum(low - values, values - high) > 5e-4))
    assert ("an index is outside its interval" in repr(result)) is is_outside
    assert is_outside is (length_scale == 0.2)
