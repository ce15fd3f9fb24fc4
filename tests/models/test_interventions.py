"""Effects of interventions, compared with Gaussian conditioning, sampling and the model itself."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import interventional, marginal
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

import pkex
from pkex.kernels import RBF, Categorical, Chi2, Linear, Matern
from pkex.models import InterventionalRegressor
from pkex.models.interventions.likelihood import EmbeddingLikelihood
from pkex.models.interventions.nuclear_kernel import NuclearKernel

RNG = np.random.default_rng(0)
N, M = 6, 5
X, Z = RNG.normal(size=(N, 2)), RNG.normal(size=(N, 1))
Y, TARGET_MEDIATOR = np.linspace(-4.0, 3.0, N)[:, None], np.linspace(-3.5, 4.0, M)[:, None]
T = np.array([1.0, 2.5, -0.5, 0.7, 3.0])
NEW = RNG.normal(size=(3, 2))
KERNEL, OF_Z, OF_Y = RBF([1.5, 0.7]), RBF(1.2), RBF(0.8)
FIXED = {
    "kernel": KERNEL,
    "adjustment_kernel": OF_Z,
    "mediator_kernel": OF_Y,
    "regularization": 0.3,
    "noise": 0.1,
}
METHODS = ["IMP", "BayesIME", "BayesIMP"]
ADJUSTMENTS = ["back-door", "front-door"]
OBSERVATIONAL = [pkex.Observational(embedding=one) for one in ("absent", "rows")]
VALUE_FUNCTIONS = ["interventional", *OBSERVATIONAL]


def fitted(rows=X, **options):
    model = InterventionalRegressor(**FIXED | options)
    return model.fit(rows, Y, T, TARGET_MEDIATOR, adjustment_variables=Z)


def nuclear(left, right):
    """The kernel ∫ k(y, u) k(u, y') exp(−½ ((u − m) / η)²) du by quadrature, with r(m, m) = 1."""
    everything = np.concatenate([Y, TARGET_MEDIATOR])
    center, width = everything.mean(), np.ptp(everything)
    u, step = np.linspace(-60.0, 60.0, 20_001, retstep=True)
    measure = np.exp(-0.5 * ((u - center) / width) ** 2) * step
    integrals = (OF_Y(left, u[:, None]) * measure) @ OF_Y(u[:, None], right)
    return integrals / (OF_Y([[center]], u[:, None])[0] ** 2 @ measure)


def test_the_nuclear_dominant_kernel_is_its_integral():
    kernel = NuclearKernel(np.array([0.8, 1.5]), np.array([0.3, -0.2]), np.array([2.0, 1.1]))
    scales = kernel.length_scales

    def integral(left, right):
        """The integral over u, a product of those over its columns."""
        total = 1.0
        for j, (center, width) in enumerate(zip(kernel.center, kernel.widths, strict=True)):

            def integrand(u, j=j, center=center, width=width):
                exponent = ((left[0, j] - u) ** 2 + (right[0, j] - u) ** 2) / scales[j] ** 2
                return np.exp(-0.5 * (exponent + ((u - center) / width) ** 2))

            total *= integrate.quad(integrand, -12.0, 12.0, points=[0.0])[0]
        return total

    left, right, center = np.array([[0.5, 1.0]]), np.array([[-0.7, 0.4]]), kernel.center[None]
    expected = integral(left, right) / integral(center, center)
    np.testing.assert_allclose(kernel(left, right)[0, 0], expected, rtol=1e-6)


def causes_of(adjustment, rows):
    """Pairs (x', z') under do(x), and their weights for each x: the adjustment formulas."""
    if adjustment == "back-door":
        pairs = [(np.repeat(row[None], N, axis=0), Z) for row in rows]
        weights = np.kron(np.eye(len(rows)), np.full(N, 1.0 / N))
        return np.concatenate([x for x, _ in pairs]), np.concatenate([z for _, z in pairs]), weights
    given_x = np.linalg.solve(KERNEL(X) + 0.3 * np.eye(N), KERNEL(X, rows)).T
    return np.tile(X, (N, 1)), np.repeat(Z, N, axis=0), np.repeat(given_x, N, axis=1) / N


@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_the_mean_is_the_adjustment_formula_of_two_ridge_regressions(adjustment):
    ratio = fitted(method="IMP").noise_ / fitted(method="IMP").amplitude_
    of_targets = KernelRidge(alpha=ratio, kernel="rbf", gamma=0.5 / 0.8**2)
    of_targets.fit(TARGET_MEDIATOR, T - T.mean())
    of_y = KernelRidge(alpha=0.3, kernel="precomputed")
    of_y.fit(KERNEL(X) * OF_Z(Z), of_targets.predict(Y))
    x, z, weights = causes_of(adjustment, NEW)
    expected = T.mean() + weights @ of_y.predict(KERNEL(x, X) * OF_Z(z, Z))
    model = fitted(method="IMP", adjustment=adjustment)
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-10)


def product_draws(model, n):
    """Draws of ⟨f, μ⟩ for each row of NEW from the definitions."""
    adjustment, method = model.adjustment, model.method
    own = KERNEL(X) * OF_Z(Z) + 0.3 * np.eye(N)
    x, z, weights = causes_of(adjustment, NEW)
    cross = weights @ (KERNEL(x, X) * OF_Z(z, Z))
    prior = weights @ (KERNEL(x) * OF_Z(z)) @ weights.T
    ratio, amplitude = model.noise_ / model.amplitude_, model.amplitude_
    at = np.concatenate([Y, TARGET_MEDIATOR])
    landmarks = at if model.landmarks == "both" else Y
    # Functions k(y_i, ·) at landmarks are observations of the embedding with noise λ r (4.10).
    observed, dominant = OF_Y(Y, landmarks), nuclear(landmarks, landmarks)
    square = observed @ np.linalg.solve(dominant, observed.T)
    scale = np.trace(np.linalg.solve(own, square)) / observed.size
    np.testing.assert_allclose(model.embedding_amplitude_, scale, rtol=1e-6)
    covariance = scale * np.kron(own, dominant)
    gain = np.linalg.solve(covariance, scale * np.kron(cross, nuclear(at, landmarks)).T).T
    mean = gain @ observed.ravel()
    remaining = scale * np.kron(prior, nuclear(at, at)) - gain @ covariance @ gain.T
    of_f = OF_Y if method == "BayesIME" else nuclear
    known = of_f(TARGET_MEDIATOR, TARGET_MEDIATOR) + ratio * np.eye(M)
    dual = np.linalg.solve(known, T - T.mean())
    f = of_f(at, TARGET_MEDIATOR) @ dual
    to_targets = of_f(at, TARGET_MEDIATOR)
    of_process = nuclear(at, at) - to_targets @ np.linalg.solve(known, to_targets.T)
    rng = np.random.default_rng(1)
    mu = rng.multivariate_normal(mean, remaining, n, check_valid="ignore")
    values = np.repeat(f[None], n, axis=0)
    if method == "BayesIMP":
        values = rng.multivariate_normal(f, amplitude * of_process, n, check_valid="ignore")
    solved = np.linalg.solve(OF_Y(at), values.T).T
    return T.mean() + np.einsum("ny,nxy->nx", solved, mu.reshape(n, len(NEW), len(at)))


@pytest.mark.parametrize("landmarks", ["both", "first"])
@pytest.mark.parametrize("method", ["BayesIME", "BayesIMP"])
@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_mean_and_covariance_are_those_of_draws_of_both_processes(adjustment, method, landmarks):
    n = 50_000
    model = fitted(method=method, adjustment=adjustment, landmarks=landmarks)
    draws = product_draws(model, n)
    mean, covariance = model.predict(NEW, return_cov=True)
    deviations = draws.std(axis=0)
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 5.0 * deviations / n**0.5)
    # Standard errors of covariances, for tails that are heavier than those of Gaussians.
    centered = draws - draws.mean(axis=0)
    products = centered[:, :, None] * centered[:, None]
    errors = products.std(axis=0) / n**0.5
    assert np.all(np.abs(products.mean(axis=0) - covariance) < 5.0 * errors)
    assert deviations.min() > 1e-2
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1] ** 2, np.diag(covariance))


@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_the_covariance_of_a_fixed_embedding_is_that_of_means_of_a_process(adjustment):
    model = fitted(method="IMP", adjustment=adjustment)
    x, z, weights = causes_of(adjustment, NEW)
    cross = weights @ (KERNEL(x, X) * OF_Z(z, Z))
    of_y = np.linalg.solve(KERNEL(X) * OF_Z(Z) + 0.3 * np.eye(N), cross.T).T
    known = model.amplitude_ * OF_Y(TARGET_MEDIATOR) + 0.1 * np.eye(M)
    to_targets = model.amplitude_ * OF_Y(Y, TARGET_MEDIATOR)
    of_f = model.amplitude_ * OF_Y(Y) - to_targets @ np.linalg.solve(known, to_targets.T)
    found = model.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(found, of_y @ of_f @ of_y.T, rtol=1e-9)


def test_parameters_maximize_the_likelihood_of_features():
    features = np.linalg.qr(RNG.normal(size=(N, 3)))[0]
    causes = [(X, None), (Z, OF_Z)]
    likelihood = EmbeddingLikelihood(features, causes, None)
    at = np.array([0.3, -0.2, -1.0])
    steps = 1e-5 * np.eye(3)
    derivatives = [(likelihood(at + s)[0] - likelihood(at - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(likelihood(at)[1], derivatives, rtol=1e-6)
    covariance = RBF(np.exp(at[:2]))(X) * OF_Z(Z) + np.exp(-1.0) * np.eye(N)
    scale = np.trace(features.T @ np.linalg.solve(covariance, features)) / features.size
    expected = -stats.multivariate_normal(np.zeros(N), scale * covariance).logpdf(features.T).sum()
    constant = 0.5 * features.size * (np.log(2.0 * np.pi / features.size) + 1.0)
    np.testing.assert_allclose(likelihood(at)[0] + constant, expected, rtol=1e-12)
    (chosen, _), regularization = likelihood.maximize()
    best = np.log([*chosen.length_scale, regularization])
    assert likelihood(best)[0] <= likelihood(at)[0]


@pytest.mark.parametrize("method", ["IMP", "BayesIMP"])
def test_amplitude_and_noise_maximize_the_likelihood_of_targets(method):
    rng = np.random.default_rng(6)
    others = rng.uniform(-3.0, 4.0, size=(20, 1))
    smooth = 5.0 + 2.0 * np.sin(others[:, 0])
    of_f = OF_Y(others)
    if method == "BayesIMP":
        of_f = NuclearKernel.over(OF_Y, np.concatenate([Y, others]))(others)

    def likelihood(model, centered, of_amplitude, of_noise):
        covariance = of_amplitude * model.amplitude_ * of_f + of_noise * model.noise_ * np.eye(20)
        form = centered @ np.linalg.solve(covariance, centered)
        return -0.5 * (form + np.linalg.slogdet(covariance)[1])

    for noise in (None, 1e-6, 1e-2, 1.0):
        targets = smooth if noise else smooth + 0.4 * rng.normal(size=20)
        model = InterventionalRegressor(**FIXED | {"method": method, "noise": noise})
        model.fit(X, Y, targets, others, adjustment_variables=Z)
        centered = targets - targets.mean()
        best = likelihood(model, centered, 1.0, 1.0)
        assert likelihood(model, centered, 1.02, 1.0) < best
        assert likelihood(model, centered, 0.98, 1.0) < best
        if noise is None:
            assert likelihood(model, centered, 1.0, 1.02) < best
            assert likelihood(model, centered, 1.0, 0.98) < best


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_its_mean_and_variance_are_explained(adjustment, method):
    frame = pd.DataFrame(X, columns=["dose", "duration"])
    model = fitted(frame, adjustment=adjustment, method=method)
    explanation = pkex.Explainer(model, frame[:4])(frame[:2], uncertainty=True)
    assert explanation.feature_names == ["dose", "duration"]

    def output(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns))

    def variance(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns), return_std=True)[1] ** 2

    of_variance = pkex.Explainer(model, frame[:4], target="variance")(frame[:2])
    # Sums over pairs of rows, instead of coalitions.
    of_pairs = pkex.Explainer(model, target="variance")(frame[:2])
    for row in range(2):
        interventional(output, X[row], X[:4])[0].assert_close(explanation.values[row])
        interventional(variance, X[row], X[:4])[0].assert_close(of_variance.values[row])
        expected = marginal(variance, X[row], X)[0]
        np.testing.assert_allclose(of_pairs.values[row], expected.values, atol=1e-9)
    # The sum of the values of a row is g(x) − mean g(background), in all value functions.
    _, covariance = model.predict(frame.iloc[[0, *range(4)]], return_cov=True)
    contrast = np.array([1.0, -0.25, -0.25, -0.25, -0.25])
    expected = contrast @ covariance @ contrast
    for value_function in VALUE_FUNCTIONS:
        explainer = pkex.Explainer(model, frame[:4], value_function=value_function)
        total = explainer(frame[:1], uncertainty=True).covariance(0).sum()
        np.testing.assert_allclose(total, expected, rtol=1e-7)
    with pytest.raises(pkex.UnsupportedModelError, match="single targets of a treatment"):
        pkex.Explainer(model, frame, target="predictive_variance")
    with pytest.raises(pkex.errors.InputError, match="X has its columns in another order than the"):
        model.predict(frame[["duration", "dose"]])


@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_draws_have_the_covariance_of_the_model(adjustment):
    model = fitted(method="IMP", adjustment=adjustment)
    rng = np.random.default_rng(0)
    (drawn,) = model._variance.draws(rng.normal(size=(200, 2)), 5_000, rng)
    covariance = np.cov(drawn.function.evaluate(NEW, n_threads=1))
    expected = model.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(covariance, expected, atol=0.05 * expected.max())


def confounded(n, seed):
    """Return x, y and z: y is x − 2 z + noise, and z raises x."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = z + 0.7 * rng.normal(size=n)
    return x[:, None], x - 2.0 * z + 0.1 * rng.normal(size=n), z


def test_back_door_adjustment_removes_confounding():
    x, y, z = confounded(150, 1)
    of_target = np.linspace(-5.0, 5.0, 60)
    at = np.array([[-1.0], [1.0]])
    t = np.sin(0.5 * of_target)
    model = InterventionalRegressor().fit(x, y, t, of_target, adjustment_variables=z)
    # Under do(x), y is normal with mean x and variance 4.01.
    expected = np.sin(0.5 * at[:, 0]) * np.exp(-4.01 / 8.0)
    mean, deviation = model.predict(at, return_std=True)
    assert np.all(np.abs(mean - expected) < 0.15)
    assert np.all(np.abs(mean - expected) < 3.0 * deviation)
    naive = InterventionalRegressor().fit(x, y, t, of_target)
    assert naive.adjustment_kernel_ is None
    assert np.all(np.abs(naive.predict(at) - expected) > 0.25)


def test_front_door_adjustment_removes_confounding():
    rng = np.random.default_rng(3)
    hidden = rng.normal(size=200)
    x = hidden + 0.5 * rng.normal(size=200)
    between = 0.8 * x + 0.5 * rng.normal(size=200)
    y = between - 1.5 * hidden + 0.1 * rng.normal(size=200)
    of_target = np.linspace(-5.0, 5.0, 60)
    model = InterventionalRegressor(adjustment="front-door")
    model.fit(x[:, None], y, of_target, of_target, adjustment_variables=between)
    (low, high), covariance = model.predict([[-1.0], [1.0]], return_cov=True)
    # The effect is 0.8; the regression of y on x has slope 0.8 − 1.5 · 0.8 = −0.4.
    error = abs(high - low - 1.6)
    assert error < 0.3
    assert error < 2.0 * (covariance.trace() - 2.0 * covariance[0, 1]) ** 0.5


def test_treatments_may_be_categories_and_mediators_have_several_columns():
    rng = np.random.default_rng(3)
    group = rng.integers(3, size=90)
    y = np.array([-1.0, 0.0, 2.0])[group, None] + 0.1 * rng.normal(size=(90, 2))
    of_target = rng.uniform(-2.0, 3.0, size=(60, 2))
    model = InterventionalRegressor(kernel=Categorical(), method="IMP", mediator_kernel=Matern(3.0))
    model.fit(group[:, None], y, of_target.sum(axis=1), of_target)
    np.testing.assert_allclose(model.predict([[0], [1], [2]]), [-2.0, 0.0, 4.0], atol=0.3)


def test_units_change_nothing_else():
    x, y, z = confounded(60, 4)
    of_target = np.linspace(-5.0, 5.0, 30)
    t = np.cos(of_target)
    model = InterventionalRegressor().fit(x, y, t, of_target, adjustment_variables=z)
    other = InterventionalRegressor().fit(
        1e3 * x,
        5.0 + 10.0 * y,
        1e2 * t - 7.0,
        5.0 + 10.0 * of_target,
        adjustment_variables=1e-2 * z,
    )
    mean, deviation = model.predict(x, return_std=True)
    others = other.predict(1e3 * x, return_std=True)
    np.testing.assert_allclose(others[0], 1e2 * mean - 7.0, atol=0.5)
    np.testing.assert_allclose(others[1], 1e2 * deviation, rtol=0.05)


@pytest.mark.parametrize("adjustment", ADJUSTMENTS)
def test_constant_treatments_have_no_influence(adjustment):
    model = InterventionalRegressor(adjustment=adjustment)
    data = Y, T, TARGET_MEDIATOR
    expected = model.fit(X, *data, adjustment_variables=Z).predict(NEW)
    constant = pd.DataFrame(X, columns=["a", "b"]).assign(c=3.0)[["c", "a", "b"]]
    with pytest.warns(UserWarning, match=r"the default kernel ignores columns \['c'\]"):
        model.fit(constant, *data, adjustment_variables=Z)
    changed = pd.DataFrame(NEW, columns=["a", "b"]).assign(c=7.0)[["c", "a", "b"]]
    np.testing.assert_array_equal(model.predict(changed), expected)
    np.testing.assert_array_equal(pkex.Explainer(model, changed)(changed).values[:, 0], 0.0)
    with pytest.raises(ValueError, match="all columns of X are constant"):
        model.fit(np.ones((N, 2)), *data, adjustment_variables=Z)


@pytest.mark.parametrize("method", METHODS)
def test_it_is_cloned_and_pickled(method):
    model = fitted(method=method)
    restored = pickle.loads(pickle.dumps(model))
    for found, expected in zip(
        restored.predict(NEW, return_std=True), model.predict(NEW, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert repr(clone(model)) == repr(model)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"adjustment": "front"}, ValueError, r"adjustment must be .*Did you mean 'front-door'\?"),
        ({"method": "GP"}, ValueError, "method must be"),
        ({"landmarks": "second"}, ValueError, "landmarks must be"),
        ({"kernel": "rbf"}, TypeError, "kernel must be a kernel of pkex.kernels"),
        ({"mediator_kernel": Linear()}, ValueError, 'RBF for method=.BayesIMP.; .* method="IMP"'),
        (
            {"regularization": 0.0},
            ValueError,
            r"regularization must be a finite number above 0, or None",
        ),
        ({"noise": 1e-12}, ValueError, "noise=1e-12 is below 1e-08 of the variance of y, 1.6"),
        ({"n_jobs": 0}, ValueError, "n_jobs must"),
        ({"noise": -1.0}, ValueError, r"noise must be a finite number above 0, or None"),
        ({"mediator_kernel": RBF([1.0, 2.0])}, ValueError, "mediator_kernel: .* has 2 values"),
        ({"adjustment_kernel": Chi2()}, ValueError, "adjustment_variables has the value -"),
    ],
)
def test_wrong_parameters_are_named(options, error, message):
    with pytest.raises(error, match=message):
        fitted(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mediator": Y[:3]}, r"mediator must have shape \(6,\) or \(6, n_columns\)"),
        ({"target_mediator": np.ones((M, 2))}, "must have the same columns; got 1 and 2"),
        ({"y": np.ones(M)}, "y must have two or more targets that differ"),
        ({"y": T[:3]}, "target_mediator must have shape"),
        ({"y": T[:0], "target_mediator": np.empty(0)}, "y must have two or more targets"),
        ({"adjustment_variables": Z[:2]}, "adjustment_variables must have shape"),
        ({"adjustment_variables": None}, "adjustment_kernel was given, but no adjustment_var"),
    ],
)
def test_wrong_data_are_named(change, message):
    data = {"mediator": Y, "y": T, "target_mediator": TARGET_MEDIATOR, "adjustment_variables": Z}
    with pytest.raises(ValueError, match=message):
        InterventionalRegressor(**FIXED).fit(X, **data | change)


def test_columns_of_text_are_named():
    variables = pd.DataFrame({"age": Z[:, 0], "sex": ["f", "m"] * (N // 2)})
    message = r"^adjustment_variables .* got 'f' \(str\) in row 0, column 'sex'\. .*get_dummies"
    with pytest.raises(ValueError, match=message):
        InterventionalRegressor().fit(X, Y, T, TARGET_MEDIATOR, adjustment_variables=variables)
    with pytest.raises(ValueError, match=r"^mediator .* column 'sex'\. .* encode .* equally in"):
        InterventionalRegressor().fit(X, variables, T, TARGET_MEDIATOR)


def test_columns_of_both_mediators_are_compared():
    frame = pd.DataFrame({"pressure": Y[:, 0], "pulse": Y[:, 0] ** 2})
    other = pd.DataFrame({"pulse": TARGET_MEDIATOR[:, 0] ** 2, "pressure": TARGET_MEDIATOR[:, 0]})
    with pytest.raises(ValueError, match="target_mediator has its columns in another order"):
        InterventionalRegressor().fit(X, frame, T, other)
    constant = other[["pressure", "pulse"]].assign(pulse=9.0)
    with pytest.raises(ValueError, match="column 1 of target_mediator is constant, but"):
        InterventionalRegressor().fit(X, frame, T, constant)
    passed = InterventionalRegressor(mediator_kernel=RBF([1.0, 40.0]))
    assert np.isfinite(passed.fit(X, frame, T, constant).predict(NEW)).all()


@pytest.mark.parametrize("fits", [(T, TARGET_MEDIATOR + 100.0), (TARGET_MEDIATOR[:, 0], T + 9.0)])
def test_mediators_without_a_common_range_cause_a_warning(fits):
    with pytest.warns(UserWarning, match=r"column 0 of mediator is from -4 to 3, that of target_"):
        InterventionalRegressor(**FIXED).fit(X, Y, *fits, adjustment_variables=Z)


def test_a_regularization_below_rounding_errors_has_to_be_larger():
    model = InterventionalRegressor(regularization=1e-18)
    with pytest.raises(ValueError, match=r"no Cholesky factor\. Pass a larger regularization"):
        model.fit(np.repeat(X[:3], 2, axis=0), Y, T, TARGET_MEDIATOR)


def test_a_front_door_without_variables_is_an_error():
    model = InterventionalRegressor(adjustment="front-door")
    with pytest.raises(ValueError, match="requires adjustment_variables"):
        model.fit(X, Y, T, TARGET_MEDIATOR)
    with pytest.raises(ValueError, match="both given"):
        fitted().predict(X, return_std=True, return_cov=True)
