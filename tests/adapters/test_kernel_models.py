"""Kernel PCA, Nystroem before a linear model, kernel density estimates: against brute force."""

import functools

import numpy as np
import pandas as pd
import pytest
from brute_force import Reference, coalitions, shapley_weights, weighted_games
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNetCV,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    MultiTaskLasso,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
)
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.neighbors import KernelDensity
from sklearn.svm import SVC, LinearSVC, LinearSVR

import pkex
from pkex.adapters import verify
from pkex.adapters.sklearn.nystroem import nystroem_model

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, D)) + 3.0
X[60:70] = X[:10]  # repeated rows
Y = np.sin(X).sum(axis=1) + 0.1 * RNG.normal(size=80)
TARGETS = np.column_stack([1e6 * Y + 1e7, 1e-6 * Y**2, 3.0 - Y])
TWO = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
ROWS = np.concatenate([X[:2] + 0.3, X[7:8]])
SUBSETS = coalitions(D)


def total(explanation):
    return explanation.values.sum(axis=1) + explanation.base_values


def kernel_on(kernel, members, rows, points):
    """A kernel of some columns alone; of none it is 1."""
    if not members:
        return np.ones((len(rows), len(points)))
    return kernel(rows[:, members], points[:, members])


def brute_force(model_of_kernel, kernel, row, points, coefficients):
    """Values of the games v(S) = model_of_kernel(k_S(row, points)), for several outputs.

    `coefficients` are used only for the scale that errors are measured on.
    """
    grams = np.concatenate([kernel_on(kernel, members, row[None], points) for members in SUBSETS])
    weights = shapley_weights(D)
    return Reference(
        weights @ model_of_kernel(grams), weighted_games(grams, coefficients, weights).scale
    )


# --- kernel PCA ---


def principal_components(model):
    """The steps of `KernelPCA.transform` after the kernel."""
    kept = model.eigenvalues_ > 0
    scaled = np.zeros_like(model.eigenvectors_)
    scaled[:, kept] = model.eigenvectors_[:, kept] / np.sqrt(model.eigenvalues_[kept])
    return lambda gram: model._centerer.transform(gram.copy()) @ scaled


PCAS = {
    "default gamma": KernelPCA(4, kernel="rbf"),
    "wide": KernelPCA(3, kernel="rbf", gamma=1e-3),
    "narrow": KernelPCA(3, kernel="rbf", gamma=5.0),
    "one": KernelPCA(1, kernel="rbf"),
    "all": KernelPCA(kernel="rbf", gamma=0.1),
    "null space kept": KernelPCA(80, kernel="rbf", gamma=0.1),
    "randomized": KernelPCA(3, kernel="rbf", eigen_solver="randomized", random_state=0),
    "with inverse": KernelPCA(3, kernel="rbf", fit_inverse_transform=True),
}


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("name", PCAS)
def test_components_equal_brute_force(name, method):
    model = PCAS[name].fit(X)
    explainer = pkex.Explainer(model, method=method, value_function="neutral")
    coefficients = pkex.adapters.adapt(model).function.coefficients
    kernel = functools.partial(rbf_kernel, gamma=model.gamma_)
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference = brute_force(principal_components(model), kernel, row, X, coefficients)
        reference.assert_close(values)


@pytest.mark.parametrize("name", PCAS)
def test_components_add_up_to_the_transformed_rows(name):
    model = PCAS[name].fit(X)
    explanation = pkex.Explainer(model)(ROWS)
    own = model.transform(ROWS)
    scale = np.abs(pkex.adapters.adapt(model).function.coefficients).sum(axis=0)
    assert np.all(np.abs(total(explanation) - own) <= 1e-13 * scale)
    assert explanation.output_names == list(model.get_feature_names_out())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_components_of_data_at_any_scale_are_explained(scale):
    model = KernelPCA(3, kernel="rbf", gamma=0.2 / scale**2).fit(scale * X)
    explanation = pkex.Explainer(model.transform)(scale * ROWS)
    np.testing.assert_allclose(total(explanation), model.transform(scale * ROWS), atol=1e-12)


def test_components_of_sparse_data_are_explained():
    few = sparse.csr_matrix(np.where(X > 3.0, X, 0.0))
    model = KernelPCA(3, kernel="rbf").fit(few)
    explanation = pkex.Explainer(model)(few)
    np.testing.assert_allclose(total(explanation), model.transform(few), atol=1e-12)


@pytest.mark.parametrize("kernel", ["sigmoid", "cosine"])
def test_other_kernels_of_kernel_pca_are_named(kernel):
    model = KernelPCA(2, kernel=kernel).fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match=f"^KernelPCA with kernel '{kernel}' is"):
        pkex.Explainer(model)


# --- Nystroem before a linear model ---

FEATURES = {
    "rbf": Nystroem(n_components=20, random_state=0),
    "rbf gamma": Nystroem(gamma=0.5, n_components=20, random_state=0),
    "rbf gamma in a dictionary": Nystroem(kernel_params={"gamma": 0.5}, n_components=20),
    "laplacian": Nystroem("laplacian", n_components=20, random_state=0),
    "laplacian gamma": Nystroem("laplacian", gamma=0.4, n_components=20, random_state=0),
}
KERNELS = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}

# name: (unfitted model, target, method, outputs)
LINEAR = {
    "Ridge": (Ridge(), Y, "predict", None),
    "Ridge, three": (Ridge(0.1), TARGETS, "predict", ["y0", "y1", "y2"]),
    "Ridge without intercept": (Ridge(fit_intercept=False), Y, "predict", None),
    "LinearRegression": (LinearRegression(), Y, "predict", None),
    "LinearRegression of a column": (LinearRegression(), Y[:, None], "predict", ["y0"]),
    "LinearRegression, no intercept, three": (
        LinearRegression(fit_intercept=False),
        TARGETS,
        "predict",
        ["y0", "y1", "y2"],
    ),
    "Lasso": (Lasso(0.01), Y, "predict", None),
    "Lasso of a column": (Lasso(0.01), Y[:, None], "predict", None),
    "MultiTaskLasso": (MultiTaskLasso(0.01), TARGETS[:, 1:], "predict", ["y0", "y1"]),
    "ElasticNetCV": (ElasticNetCV(cv=3), Y, "predict", None),
    "HuberRegressor": (HuberRegressor(max_iter=1000), Y, "predict", None),
    "BayesianRidge": (BayesianRidge(), Y, "predict", None),
    "SGDRegressor": (SGDRegressor(random_state=0), Y, "predict", None),
    "LinearSVR": (LinearSVR(C=1.0, random_state=0, max_iter=10_000), Y, "predict", None),
    "LogisticRegression": (LogisticRegression(), TWO, "decision_function", None),
    "LogisticRegression, three": (
        LogisticRegression(),
        THREE,
        "decision_function",
        ["0", "1", "2"],
    ),
    "RidgeClassifier": (RidgeClassifier(), TWO, "decision_function", None),
    "RidgeClassifier, three": (RidgeClassifier(), THREE, "decision_function", ["0", "1", "2"]),
    "SGDClassifier": (SGDClassifier(random_state=0), TWO, "decision_function", None),
    "SGDClassifier, three": (
        SGDClassifier(random_state=0),
        THREE,
        "decision_function",
        ["0", "1", "2"],
    ),
    "LinearSVC": (LinearSVC(dual=False), TWO, "decision_function", None),
    "LinearSVC, three": (LinearSVC(dual=False), THREE, "decision_function", ["0", "1", "2"]),
    "LinearDiscriminantAnalysis": (
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
        TWO,
        "decision_function",
        None,
    ),
    "LinearDiscriminantAnalysis, three": (
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
        THREE,
        "decision_function",
        ["0", "1", "2"],
    ),
    "SGDOneClassSVM": (SGDOneClassSVM(random_state=0), None, "decision_function", None),
}


def fitted_pair(features, linear, target):
    mapped = features.fit(X).transform(X)
    return features, linear.fit(mapped, target)


def assert_pair_is_explained(features, linear, method):
    adapted = nystroem_model(features, linear)
    verify(adapted, linear)
    assert adapted.method == method
    described = pkex.KernelExpansion._of(adapted.function)
    explanation = pkex.Explainer(described, value_function="neutral")(ROWS)
    output = getattr(linear, method)
    own = output(features.transform(ROWS))
    assert explanation.base_values.shape == own.shape
    magnitude = adapted.function.magnitude(ROWS, n_threads=1)
    rounding = 1e-12 + adapted.kernel_rounding
    assert np.all(np.abs(total(explanation) - own) <= rounding * magnitude)

    gamma = features.gamma or (features.kernel_params or {}).get("gamma") or 1.0 / D
    kernel = functools.partial(KERNELS[features.kernel], gamma=gamma)
    for row, values in zip(ROWS, explanation.values, strict=True):
        brute_force(
            lambda gram: linear_output(gram, features, linear),
            kernel,
            row,
            features.components_,
            adapted.function.coefficients,
        ).assert_close(values)
    return adapted


def linear_output(gram, features, linear):
    """The linear model on the features of some kernel values, without its intercept.

    In extended precision: among the components are repeated rows, for which `normalization_` has
    entries of 1e6 that cancel.
    """
    mapped = gram.astype(np.longdouble) @ features.normalization_.T.astype(np.longdouble)
    coef = linear.coef_.toarray() if sparse.issparse(linear.coef_) else linear.coef_
    outputs = mapped @ coef.T.astype(np.longdouble)
    is_flat = outputs.ndim == 2 and outputs.shape[1] == 1 and not is_regressor(linear)
    return np.asarray(outputs[:, 0] if is_flat else outputs, dtype=np.float64)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_models_on_nystroem_features_equal_brute_force(name):
    linear, target, method, outputs = LINEAR[name]
    features, linear = fitted_pair(FEATURES["rbf"], linear, target)
    adapted = assert_pair_is_explained(features, linear, method)
    assert adapted.function.has_output_axis == (outputs is not None)
    if method == "decision_function" and outputs is not None:
        assert list(adapted.output_names) == outputs


@pytest.mark.parametrize("name", FEATURES)
def test_nystroem_features_of_other_kernels_equal_brute_force(name):
    assert_pair_is_explained(*fitted_pair(FEATURES[name], Ridge(), Y), "predict")


def test_sparse_coefficients_are_read():
    features, linear = fitted_pair(FEATURES["rbf"], SGDClassifier(random_state=0), THREE)
    assert_pair_is_explained(features, linear.sparsify(), "decision_function")


@pytest.mark.parametrize("linear", [Ridge(1e-8), LinearRegression()], ids=repr)
def test_components_that_coincide_are_no_reason_to_refuse(linear):
    features = Nystroem(gamma=1e-4, n_components=80, random_state=0)
    features, linear = fitted_pair(features, linear, Y)
    assert np.abs(features.normalization_).max() > 1e4
    adapted = nystroem_model(features, linear)
    verify(adapted, linear)


def test_two_classes_are_positive_for_the_second():
    features, linear = fitted_pair(FEATURES["rbf"], LogisticRegression(C=100.0), TWO)
    adapted = nystroem_model(features, linear)
    decided = adapted.function.predict(X) > 0.0
    np.testing.assert_array_equal(decided, linear.predict(features.transform(X)) == "yes")


@pytest.mark.parametrize(
    "linear",
    [PoissonRegressor(), SVC(kernel="rbf"), KernelPCA()],
    ids=lambda m: type(m).__name__,
)
def test_models_that_are_not_linear_are_named(linear):
    features, linear = fitted_pair(FEATURES["rbf"], linear, THREE)
    message = f"^Nystroem followed by {type(linear).__name__} is not supported"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        nystroem_model(features, linear)


def test_other_kernels_of_nystroem_are_named():
    features, linear = fitted_pair(Nystroem("cosine", n_components=20), Ridge(), Y)
    with pytest.raises(pkex.UnsupportedModelError, match="Nystroem with kernel 'cosine' is not"):
        nystroem_model(features, linear)


def test_an_unfitted_pair_is_reported_as_such():
    features, linear = fitted_pair(Nystroem(n_components=20), Ridge(), Y)
    for pair in ((Nystroem(), linear), (features, Ridge())):
        with pytest.raises(NotFittedError, match="not fitted"):
            nystroem_model(*pair)


def test_names_are_those_that_the_feature_map_was_fitted_on():
    frame = pd.DataFrame(X, columns=list("abcde"))
    features = Nystroem(n_components=20).fit(frame)
    linear = Ridge().fit(features.transform(frame), Y)
    adapted = nystroem_model(features, linear)
    verify(adapted, linear)
    assert adapted.feature_names == tuple("abcde")


# --- kernel density ---

WEIGHTS = RNG.uniform(size=80)
DENSITIES = {
    "default": ({}, None),
    "narrow": ({"bandwidth": 0.2}, None),
    "wide": ({"bandwidth": 20.0}, None),
    "weights": ({"bandwidth": 0.5}, WEIGHTS),
    "weights of zero": ({"bandwidth": 0.5}, WEIGHTS * (WEIGHTS > 0.5)),
    "large weights": ({"bandwidth": 0.5}, 1e6 * WEIGHTS),
    "ball tree": ({"bandwidth": 0.5, "algorithm": "ball_tree", "leaf_size": 3}, None),
}


# scikit-learn itself takes the logarithm of a weight of zero.
@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("name", DENSITIES)
def test_densities_equal_brute_force_by_densities_of_columns(name, scale):
    options, weights = DENSITIES[name]
    h, rows = scale * options.get("bandwidth", 1.0), scale * ROWS
    model = KernelDensity(**{**options, "bandwidth": h}).fit(scale * X, sample_weight=weights)
    explanation = pkex.Explainer(model, value_function="neutral")(rows)
    own = np.exp(model.score_samples(rows))
    base = explanation.base_values[0]
    np.testing.assert_allclose(total(explanation), own, rtol=1e-10, atol=1e-13 * base)

    # The density of some columns, which has a smaller power of h in front.
    games = np.empty((2**D, len(rows)))
    for number, members in enumerate(SUBSETS):
        logarithm = np.zeros(len(rows))
        if members:
            part = KernelDensity(bandwidth=h).fit(scale * X[:, members], sample_weight=weights)
            logarithm = part.score_samples(rows[:, members])
        absent = D - len(members)
        games[number] = np.exp(logarithm - absent * np.log(np.sqrt(2.0 * np.pi) * h))
    values = (shapley_weights(D) @ games).T
    assert np.all(np.abs(explanation.values - values) <= 1e-10 * np.abs(values).max())


def test_automatic_bandwidths_are_taken_as_chosen():
    for rule in ("scott", "silverman"):
        model = KernelDensity(bandwidth=rule).fit(X)
        own = np.exp(model.score_samples(ROWS))
        np.testing.assert_allclose(total(pkex.Explainer(model)(ROWS)), own, rtol=1e-10)


@pytest.mark.parametrize("tolerance", [{"rtol": 0.1}, {"atol": 1e-3}, {"rtol": 1e-4}])
def test_approximate_estimates_are_explained_as_defined(tolerance):
    approximate = KernelDensity(bandwidth=0.7, leaf_size=2, **tolerance).fit(X)
    exact = KernelDensity(bandwidth=0.7).fit(X)
    np.testing.assert_array_equal(
        pkex.Explainer(approximate).shap_values(ROWS), pkex.Explainer(exact).shap_values(ROWS)
    )
    assert {key: getattr(approximate, key) for key in tolerance} == tolerance


def test_the_logarithm_of_a_density_is_refused_with_what_is_explained():
    model = KernelDensity().fit(X)
    message = r"KernelDensity.score_samples cannot be .*logarithm.*exp\(score_samples\)"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.score_samples)


@pytest.mark.parametrize("kernel", ["tophat", "epanechnikov", "exponential", "linear", "cosine"])
def test_other_kernels_of_a_density_are_named(kernel):
    model = KernelDensity(kernel=kernel).fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match=f"^KernelDensity with kernel '{kernel}'"):
        pkex.Explainer(model)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_other_metrics_of_a_density_are_named(metric):
    model = KernelDensity(metric=metric).fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match=f"^KernelDensity with metric '{metric}'"):
        pkex.Explainer(model)


@pytest.mark.parametrize(("width", "size"), [(1e-80, "over"), (1e80, "under")])
def test_densities_beyond_the_range_of_a_float_are_refused_with_the_remedy(width, size):
    model = KernelDensity(bandwidth=width).fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match=f"which {size}flow. Rescale the f"):
        pkex.Explainer(model)


# --- all of them ---


@pytest.mark.parametrize("model", [KernelPCA(kernel="rbf"), KernelDensity()], ids=repr)
def test_unfitted_models_are_reported_as_such(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(model)


@pytest.mark.parametrize("model", [KernelPCA(2, kernel="rbf"), KernelDensity()], ids=repr)
def test_names_are_those_of_the_data_frame(model):
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert pkex.Explainer(model.fit(frame))(frame[:2]).feature_names == list("abcde")


def test_models_are_left_as_they_are():
    for model in (KernelPCA(2, kernel="rbf").fit(X), KernelDensity(rtol=0.1).fit(X)):
        before = dict(vars(model))
        assert pkex.Explainer(model)
        assert vars(model) == before


def test_a_model_that_contradicts_its_fitted_attributes_is_refused():
    model = KernelPCA(2, kernel="rbf").fit(X)
    model._centerer.transform = lambda kernel_values: kernel_values
    with pytest.raises(pkex.UnsupportedModelError, match=r"KernelPCA.transform returns"):
        pkex.Explainer(model)
