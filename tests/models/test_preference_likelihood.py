"""The marginal likelihood of preference models, and the parameters that maximize it."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF as SklearnRBF
from sklearn.gaussian_process.kernels import ConstantKernel

from pkex.kernels import RBF
from pkex.models import PreferenceLogistic, PreferenceRidge
from pkex.models.preferences.marginal_likelihood import (
    LengthScales,
    LogisticLoss,
    MarginalLikelihood,
    SquaredLoss,
)
from pkex.models.preferences.preferential import Contexts, Preferential
from pkex.models.preferences.utility import UtilityDifference

RNG = np.random.default_rng(0)
N = 40
LEFT, RIGHT = RNG.normal(size=(2, N, 3))
CONTEXT = RNG.normal(size=(N, 2))
DEGREES = LEFT[:, 0] - RIGHT[:, 0] + 0.5 * RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)
LOSSES = [SquaredLoss(DEGREES, WEIGHTS), LogisticLoss(np.sign(DEGREES), WEIGHTS)]


def likelihood(function, loss, in_contexts=False):
    contexts = Contexts(CONTEXT, RBF(1.0)) if in_contexts else None
    pairs = function(LEFT, RIGHT, np.zeros(N), RBF(1.0), contexts)
    items = LengthScales(np.concatenate([LEFT, RIGHT]), "kernel")
    of_contexts = LengthScales(CONTEXT, "context_kernel") if in_contexts else None
    return MarginalLikelihood(pairs, loss, items, of_contexts)


@pytest.mark.parametrize("function", [Preferential, UtilityDifference])
@pytest.mark.parametrize("loss", LOSSES, ids=["squared", "logistic"])
@pytest.mark.parametrize("in_contexts", [False, True], ids=["alone", "in contexts"])
def test_the_gradient_is_that_of_differences(function, loss, in_contexts):
    objective = likelihood(function, loss, in_contexts)
    at = np.array([0.7, 0.9, 0.4, 0.2, 0.5, -1.0] if in_contexts else [0.7, 0.9, 0.4, -1.0])
    gradient, step = objective(at)[1], 1e-5
    steps = step * np.eye(len(at))
    differences = [(objective(at + e)[0] - objective(at - e)[0]) / (2.0 * step) for e in steps]
    np.testing.assert_allclose(gradient, differences, rtol=0, atol=1e-5)


def test_the_likelihood_of_degrees_is_that_of_their_normal_distribution():
    kernel, alpha = RBF([1.0, 2.0, 3.0]), 0.3
    found = likelihood(UtilityDifference, LOSSES[0])(np.log([1.0, 2.0, 3.0, alpha]))[0]
    matrix = (
        kernel(LEFT) + kernel(RIGHT) - kernel(LEFT, RIGHT) - kernel(RIGHT, LEFT)
        + alpha * np.diag(1.0 / WEIGHTS)
    )  # fmt: skip
    scales = DEGREES @ np.linalg.solve(matrix, DEGREES) / N * np.array([0.99, 1.0, 1.01])
    expected = [-multivariate_normal(cov=scale * matrix).logpdf(DEGREES) for scale in scales]
    assert expected[0] > expected[1] < expected[2]
    assert abs(found - expected[1]) <= 1e-8


def test_laplaces_approximation_is_that_of_scikit_learn():
    # A pair of an item and one that is far away has the kernel of the item, times a constant.
    rows, alpha = RNG.normal(size=(30, 1)), 0.2
    y = rows[:, 0] + 0.7 * RNG.normal(size=30) > 0.0
    far = np.full((30, 1), 1e3)
    pairs = Preferential(rows, far, np.zeros(30), RBF(0.8))
    matrix = pairs.gram()
    np.testing.assert_allclose(matrix, RBF(0.8)(rows), atol=1e-12)
    found = LogisticLoss(np.where(y, 1.0, -1.0), np.ones(30)).evidence(matrix, alpha).value
    theirs = GaussianProcessClassifier(
        ConstantKernel(0.5 / alpha, "fixed") * SklearnRBF(0.8, "fixed"), optimizer=None
    ).fit(rows, y)
    assert abs(found + theirs.log_marginal_likelihood_value_) <= 1e-6


@pytest.mark.parametrize("model", [PreferenceRidge, PreferenceLogistic])
@pytest.mark.parametrize("pair_kernel", ["preferential", "utility"])
def test_the_default_chooses_length_scales_and_alpha(model, pair_kernel):
    random = np.random.default_rng(1)
    left, right = random.normal(size=(2, 250, 2))
    odds = 3.0 * (np.sin(2.0 * left[:, 0]) - np.sin(2.0 * right[:, 0]))
    y = odds + 0.2 * random.normal(size=250)
    if model is PreferenceLogistic:
        y = random.random(250) < expit(odds)
    chosen = model(pair_kernel=pair_kernel).fit(left[:150], right[:150], y[:150])
    passed = model(alpha=1.0, pair_kernel=pair_kernel).fit(left[:150], right[:150], y[:150])
    # The second column does not matter.
    assert chosen.kernel_.length_scale[1] > 4.0 * chosen.kernel_.length_scale[0]
    test = left[150:], right[150:], y[150:]
    assert chosen.score(*test) > passed.score(*test) + 0.02
    assert passed.alpha_ == 1.0
    assert chosen.get_params()["alpha"] is None


def test_kernels_that_are_passed_are_kept():
    kernel, context_kernel = RBF(2.0), RBF(100.0)
    options = {"alpha": None, "kernel": kernel, "context_kernel": context_kernel}
    model = PreferenceRidge(**options).fit(LEFT, RIGHT, DEGREES, CONTEXT, WEIGHTS)
    assert model.kernel_ is kernel
    assert model.context_kernel_ is context_kernel
    pairs = Preferential(LEFT, RIGHT, np.zeros(N), kernel, Contexts(CONTEXT, context_kernel))
    objective, at = MarginalLikelihood(pairs, LOSSES[0], None, None), np.log([model.alpha_])
    assert objective(at)[0] < min(objective(at - 0.1)[0], objective(at + 0.1)[0])
    again = PreferenceRidge(**options | {"alpha": model.alpha_})
    again.fit(LEFT, RIGHT, DEGREES, CONTEXT, WEIGHTS)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


def test_constant_columns_have_no_length_scale(monkeypatch):
    monkeypatch.setattr("pkex.models.preferences.marginal_likelihood._MAX_PAIRS", 20)
    left, right = (np.insert(rows, 1, 0.5, axis=1) for rows in (LEFT, RIGHT))
    with pytest.warns(UserWarning, match="which are constant in left and right"):
        model = PreferenceRidge(alpha=None).fit(left, right, DEGREES)
    without = PreferenceRidge(alpha=None).fit(LEFT, RIGHT, DEGREES)
    np.testing.assert_allclose(model.dual_coef_, without.dual_coef_, rtol=1e-6)


@pytest.mark.parametrize("model", [PreferenceRidge, PreferenceLogistic])
def test_centers_have_the_parameters_that_all_pairs_choose(model):
    y = DEGREES if model is PreferenceRidge else DEGREES > 0.0
    chosen = model(alpha=None, n_centers=20, random_state=0).fit(LEFT, RIGHT, y)
    exact = model(alpha=None, n_centers=None).fit(LEFT, RIGHT, y)
    assert (chosen.alpha_, chosen.kernel_) == (exact.alpha_, exact.kernel_)
    options = {"alpha": exact.alpha_, "kernel": exact.kernel_, "random_state": 0}
    again = model(**options, n_centers=20).fit(LEFT, RIGHT, y)
    np.testing.assert_array_equal(chosen.dual_coef_, again.dual_coef_)
    assert len(chosen.dual_coef_) == 20
