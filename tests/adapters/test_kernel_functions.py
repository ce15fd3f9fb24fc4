"""scikit-learn's kernels by name and by function, and those within Gaussian processes' kernels."""

import functools

import numpy as np
import pytest
from brute_force import assert_explained, interventional
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import pkex
from pkex import kernels
from pkex.adapters import adapt
from pkex.adapters.sklearn.covariances import CovarianceReader

RNG = np.random.default_rng(0)
D = 4
X = RNG.gamma(1.0, size=(50, D))
X[RNG.random(size=X.shape) < 0.2] = 0.0
Y = np.sqrt(X[:, 0]) + np.sin(X[:, 1])
TWO = np.median(Y) < Y
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.7]))
BACKGROUND, ROWS = X[:4], X[20:22]


def assert_values(model, output):
    """Values equal brute force through the model's own output."""
    values = pkex.Explainer(model, BACKGROUND).shap_values(ROWS)
    for row, found in zip(ROWS, values, strict=True):
        interventional(output, row, BACKGROUND)[0].assert_close(found)


# --- functions as kernels of support vector machines ---

FUNCTIONS = {
    "rbf": (rbf_kernel, kernels.RBF(np.sqrt(D / 2.0))),
    "laplacian": (laplacian_kernel, kernels.Laplacian(float(D))),
    "chi2": (chi2_kernel, kernels.Chi2(1.0)),
    "rbf of gamma": (
        functools.partial(rbf_kernel, gamma=0.3),
        kernels.RBF(np.sqrt(0.5) / np.sqrt(0.3)),
    ),
    "laplacian without gamma": (
        functools.partial(laplacian_kernel, gamma=None),
        kernels.Laplacian(float(D)),
    ),
    "chi2 of gamma": (functools.partial(chi2_kernel, gamma=0.3), kernels.Chi2(0.3)),
    "linear": (linear_kernel, kernels.Linear()),
    "polynomial": (polynomial_kernel, kernels.Polynomial(3, 1.0 / D)),
    "polynomial with options": (
        functools.partial(polynomial_kernel, degree=2, coef0=-0.5, gamma=None),
        kernels.Polynomial(2, 1.0 / D, -0.5),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("machine", "target"),
    [
        (SVR(), Y),
        (NuSVR(), Y),
        (SVC(), TWO),
        (NuSVC(nu=0.3), TWO),
        (SVC(decision_function_shape="ovo"), THREE),
        (OneClassSVM(), None),
    ],
    ids=["SVR", "NuSVR", "SVC", "NuSVC", "SVC of three", "OneClassSVM"],
)
def test_machines_with_a_function_as_kernel_are_explained_as_what_it_is(machine, target, name):
    function, kernel = FUNCTIONS[name]
    model = clone(machine).set_params(kernel=function, gamma=7.0).fit(X, target)
    found = adapt(model).function.kernel
    assert type(found) is type(kernel)
    np.testing.assert_allclose(found(X), kernel(X), rtol=1e-14)
    assert_values(model, getattr(model, "decision_function", None) or model.predict)


def test_a_function_whose_model_was_fitted_on_a_sparse_matrix_is_explained():
    model = SVR(kernel=rbf_kernel).fit(sparse.csr_matrix(X), Y)
    assert_values(model, model.predict)


def test_rows_that_are_edited_later_change_no_explainer():
    rows = X.copy()
    model = SVR(kernel=chi2_kernel).fit(rows, Y)
    explainer = pkex.Explainer(model)
    before = explainer.shap_values(ROWS)
    rows += 1.0  # scikit-learn keeps the array itself
    np.testing.assert_array_equal(explainer.shap_values(ROWS), before)


def test_machines_that_do_not_keep_their_rows_are_refused():
    model = SVR(kernel=rbf_kernel).fit(X, Y)
    del model._BaseLibSVM__Xfit
    with pytest.raises(pkex.UnsupportedModelError, match="does not keep the training rows"):
        pkex.Explainer(model)


def linear(A, B):
    return linear_kernel(A, B)


@pytest.mark.parametrize(
    "function",
    [
        linear,
        additive_chi2_kernel,
        functools.partial(rbf_kernel, Y=X),
        functools.partial(linear_kernel, dense_output=True),
        lambda A, B: rbf_kernel(A, B),
        RBF(2.0),
    ],
    ids=["def", "additive_chi2", "partial", "partial of another", "lambda", "kernel"],
)
def test_other_functions_are_refused_with_the_remedy(function):
    is_bound = isinstance(function, functools.partial) and "Y" in function.keywords
    model = SVR(kernel=rbf_kernel if is_bound else function).fit(X, Y).set_params(kernel=function)
    message = "SVR with the kernel .* is not supported: if the function is.*pkex.KernelExpansion"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)


@pytest.mark.parametrize("machine", [SVR, SVC, OneClassSVM])
@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_a_machine_with_a_kernel_of_pkex_is_explained(machine, rows):
    kernel = kernels.Matern(1.5) + 0.5 * kernels.Laplacian(2.0)
    model = machine(kernel=kernel).fit(rows, TWO)
    output = getattr(model, "decision_function", model.predict)
    explainer = pkex.Explainer(model, rows[:4])
    dense = rows.toarray() if sparse.issparse(rows) else rows
    assert_explained(explainer, output, dense[:2], dense[:4])
    np.testing.assert_array_equal(explainer.shap_values(rows[:2]), explainer.shap_values(dense[:2]))


def test_a_polynomial_function_of_broken_degree_is_refused():
    model = SVR(kernel=functools.partial(polynomial_kernel, degree=1.5)).fit(X, Y)
    message = "this polynomial_kernel is not supported .degree=1.5: it must be a positive integer"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)


# --- by name ---


OF_DOT_PRODUCTS = {
    "SVR linear": (SVR(kernel="linear"), kernels.Linear(), Y),
    "SVR poly": (SVR(kernel="poly", degree=2, gamma=0.3, coef0=-1.0), (2, 0.3, -1.0), Y),
    "NuSVR poly": (NuSVR(kernel="poly", gamma="auto"), (3, 1.0 / D, 0.0), Y),
    "SVC linear": (SVC(kernel="linear"), kernels.Linear(), TWO),
    "SVC poly of three": (
        SVC(kernel="poly", gamma=0.2, coef0=1, decision_function_shape="ovo"),
        (3, 0.2, 1.0),
        THREE,
    ),
    "NuSVC poly": (NuSVC(kernel="poly", nu=0.3, gamma=0.5, degree=1), (1, 0.5, 0.0), TWO),
    "OneClassSVM linear": (OneClassSVM(kernel="linear"), kernels.Linear(), None),
    "KernelRidge": (KernelRidge(), kernels.Linear(), np.c_[Y, -2.0 * Y]),
    "KernelRidge poly": (KernelRidge(kernel="poly", degree=2), (2, 1.0 / D, 1.0), Y),
    "KernelRidge polynomial": (
        KernelRidge(kernel="polynomial", gamma=0.4, coef0=2.0),
        (3, 0.4, 2.0),
        Y,
    ),
    "KernelPCA": (KernelPCA(2), kernels.Linear(), None),
    "KernelPCA poly": (KernelPCA(2, kernel="poly", gamma=0.3, degree=2), (2, 0.3, 1.0), None),
    "Nystroem linear": (
        make_pipeline(Nystroem(kernel="linear", n_components=4, random_state=0), Ridge()),
        kernels.Linear(),
        Y,
    ),
    "Nystroem poly": (
        make_pipeline(
            Nystroem(
                kernel="poly",
                kernel_params={"degree": 2, "coef0": 0.5},
                coef0=2.0,
                n_components=6,
                random_state=0,
            ),
            Ridge(),
        ),
        (2, 1.0 / D, 2.0),
        Y,
    ),
}


@pytest.mark.parametrize("name", OF_DOT_PRODUCTS)
def test_models_with_linear_and_polynomial_kernels_are_explained(name):
    model, kernel, target = OF_DOT_PRODUCTS[name]
    model = model.fit(X) if target is None else model.fit(X, target)
    expected = kernels.Polynomial(*kernel) if isinstance(kernel, tuple) else kernel
    assert adapt(model).function.kernel == expected
    methods = ("decision_function", "predict", "transform")
    assert_values(model, next(getattr(model, m) for m in methods if hasattr(model, m)))


@pytest.mark.parametrize("gamma", [0.3, 5.0])
def test_kernel_ridge_of_chi2_is_explained(gamma):
    model = KernelRidge(kernel="chi2", gamma=gamma).fit(X, np.c_[Y, -2.0 * Y])
    assert adapt(model).function.kernel == kernels.Chi2(gamma)
    assert_values(model, model.predict)


@pytest.mark.parametrize("gamma", [None, 0.3])
def test_nystroem_of_chi2_is_explained(gamma):
    model = make_pipeline(Nystroem(kernel="chi2", gamma=gamma, n_components=20), Ridge())
    model.fit(X, Y)
    assert adapt(model).function.kernel == kernels.Chi2(gamma or 1.0)
    total = pkex.Explainer(model)(ROWS)
    np.testing.assert_allclose(
        total.values.sum(axis=1) + total.base_values, model.predict(ROWS), rtol=1e-8
    )


def test_chi2_behind_a_scaler_is_explained():
    model = make_pipeline(MinMaxScaler(), KernelRidge(kernel="chi2", gamma=2.0)).fit(X - 5.0, Y)
    explanation = pkex.Explainer(model, X - 5.0)(X - 5.0)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(X - 5.0), rtol=1e-9)


# --- within kernels of Gaussian processes ---

SCALES = [0.5, 1.0, 2.0, 4.0]
# name: (scikit-learn's kernel, ours between a new row and the training rows)
COVARIANCES = {
    "Matern": (Matern(SCALES, nu=np.inf), kernels.RBF(SCALES)),
    "Matern in a tree": (
        2.0 * Matern(2.0, nu=np.inf) + WhiteKernel(0.1),
        2.0 * kernels.RBF(2.0),
    ),
    "rbf": (PairwiseKernel(metric="rbf", gamma=0.5), kernels.RBF(1.0)),
    "laplacian": (PairwiseKernel(metric="laplacian", gamma=0.25), kernels.Laplacian(4.0)),
    "chi2": (PairwiseKernel(metric="chi2", gamma=0.7), kernels.Chi2(0.7)),
    "options that reach no kernel": (
        PairwiseKernel(metric="rbf", gamma=0.5, pairwise_kernels_kwargs={"degree": 3}),
        kernels.RBF(1.0),
    ),
    "products and powers": (
        PairwiseKernel(metric="laplacian", gamma=0.25) ** 2
        * (PairwiseKernel(metric="chi2", gamma=0.5) * RBF(2.0) + ConstantKernel(3.0))
        * PairwiseKernel(metric="laplacian", gamma=0.5),
        kernels.RBF(2.0) * kernels.Laplacian(1.0) * kernels.Chi2(0.5)
        + 3.0 * kernels.Laplacian(1.0),
    ),
    "products of one family": (
        PairwiseKernel(metric="chi2", gamma=0.5) ** 3 * PairwiseKernel(metric="chi2", gamma=0.25),
        kernels.Chi2(1.75),
    ),
}


@pytest.mark.parametrize("name", COVARIANCES)
def test_kernels_of_gaussian_processes_are_read_as_what_they_are(name):
    covariance, kernel = COVARIANCES[name]
    read = CovarianceReader("the model", D).read(covariance)
    assert read == kernel
    np.testing.assert_allclose(read(X[:9], X), covariance(X[:9], X), rtol=1e-12)
    model = GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None).fit(X, Y)
    assert_values(model, model.predict)
    ridge = KernelRidge(kernel=covariance).fit(X, Y)
    assert_values(ridge, ridge.predict)
    classifier = GaussianProcessClassifier(covariance, optimizer=None).fit(X, THREE)
    assert pkex.Explainer(classifier).shap_values(ROWS).shape == (2, D, 3)


# Of one column; by what it is.
OF_ONE_COLUMN = {
    "nu=0.5": (Matern(0.7, nu=0.5), kernels.Laplacian(0.7)),
    "nu=1.5": (Matern([0.7], nu=1.5), kernels.ProductMatern(0.7)),
    "nu=2.5": (2.0 * Matern(0.7, nu=2.5), 2.0 * kernels.ProductMatern(0.7, 2.5)),
    "ExpSineSquared": (ExpSineSquared(0.7, periodicity=1.3), kernels.Periodic(0.7, 1.3)),
    "powers": (
        (ExpSineSquared(0.5, 1.3) * Matern(0.7)) ** 2 * Matern(3.0, nu=0.5),
        kernels.Laplacian(3.0)
        * (kernels.ProductMatern(0.7) * kernels.ProductMatern(0.7))
        * kernels.Periodic(0.5 / np.sqrt(2.0), 1.3),
    ),
    "any power": (ExpSineSquared(0.6, 1.3) ** 2.25, kernels.Periodic(0.6 / 1.5, 1.3)),
    "nu=0.7": (Matern(0.7, nu=0.7), kernels.Matern(0.7, 0.7)),
    "RationalQuadratic": (
        RationalQuadratic(0.7, alpha=2.0) ** 0.25,
        kernels.RationalQuadratic(1.4, alpha=0.5),
    ),
    "sum": (
        RBF(2.0) * ExpSineSquared() + WhiteKernel(0.1),
        kernels.RBF(2.0) * kernels.Periodic(),
    ),
}


@pytest.mark.parametrize("name", OF_ONE_COLUMN)
def test_kernels_of_one_column_are_read_as_what_they_are(name):
    covariance, kernel = OF_ONE_COLUMN[name]
    column = X[:, :1]
    read = CovarianceReader("the model", 1).read(covariance)
    assert read == kernel
    np.testing.assert_allclose(read(column[:9], column), covariance(column[:9], column), rtol=1e-12)
    models = [
        GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None).fit(column, Y),
        KernelRidge(kernel=covariance).fit(column, Y),
    ]
    for model in models:
        explanation = pkex.Explainer(model)(column)
        total = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(total, model.predict(column), rtol=1e-9, atol=1e-9)
    classifier = GaussianProcessClassifier(covariance, optimizer=None).fit(column, THREE)
    assert pkex.Explainer(classifier).shap_values(column).shape == (len(X), 1, 3)


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_scikit_learns_rounding_of_periods_is_no_reason_to_refuse(far):
    covariance = ExpSineSquared(0.3, periodicity=0.7)
    model = GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None)
    assert pkex.Explainer(model.fit(far * X[:, :1], Y))


def test_what_kernels_of_one_column_may_not_have_is_refused():
    for covariance, why in [
        (Matern() ** 1.5, "the exponent of a Matern or dot-product kernel must be an integer"),
        (
            Matern() ** 1e9,
            "the exponent of a Matern or dot-product kernel must be an integer of at most 1000",
        ),
        (ExpSineSquared(-1.0), "length_scale and periodicity must be positive"),
        (ExpSineSquared(1.0, np.nan), "length_scale and periodicity must be positive"),
    ]:
        with pytest.raises(pkex.UnsupportedModelError, match=why):
            CovarianceReader("A model", 1).read(covariance)
    half = {"pairwise_kernels_kwargs": {"degree": 2.5}}
    with pytest.raises(pkex.UnsupportedModelError, match="degree must be an integer from 1 to 128"):
        CovarianceReader("A model", 1).read(PairwiseKernel(metric="poly", **half))
    with pytest.raises(pkex.UnsupportedModelError, match="a sum of products for one column only"):
        CovarianceReader("A model", 2).read(ExpSineSquared())


def test_hyperparameters_of_pairwise_kernels_are_those_that_were_fitted():
    bounds = (1e-2, 1e1)
    covariance = PairwiseKernel(metric="laplacian", gamma_bounds=bounds)
    model = GaussianProcessRegressor(covariance, alpha=0.1).fit(X, Y)
    assert model.kernel_.gamma != covariance.gamma
    assert_values(model, model.predict)


def test_the_squares_of_a_pairwise_gaussian_far_from_the_origin_are_no_reason_to_refuse():
    covariance = PairwiseKernel(metric="rbf", gamma=0.5)
    model = GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None).fit(X + 1e3, Y)
    assert pkex.Explainer(model)


GP_OF_DOT_PRODUCTS = [
    DotProduct(0.7),
    DotProduct(1e-3),
    DotProduct(0.5) ** 3,
    2.0 * (DotProduct(0.5) + RBF(2.0)) ** 2,
    DotProduct() * RBF(2.0) + DotProduct(3.0) * DotProduct(1e-3),
    PairwiseKernel(metric="linear") * Matern(),
    PairwiseKernel(0.3, metric="poly", pairwise_kernels_kwargs={"degree": 2, "coef0": 0.5}),
    PairwiseKernel(0.3, metric="polynomial") + RBF(),
]


@pytest.mark.parametrize("covariance", GP_OF_DOT_PRODUCTS, ids=repr)
def test_gaussian_processes_of_dot_products_are_explained(covariance):
    model = GaussianProcessRegressor(covariance, alpha=0.1, optimizer=None).fit(X, Y)
    found = CovarianceReader("A model", D).read(covariance)
    np.testing.assert_allclose(found(ROWS, X), covariance(ROWS, X), rtol=1e-11, atol=1e-12)
    assert_values(model, model.predict)


def test_fitted_dot_products_are_explained_as_fitted():
    regressor = GaussianProcessRegressor(DotProduct() ** 2 + RBF(), alpha=0.1).fit(X, Y)
    assert_values(regressor, regressor.predict)
    classifier = GaussianProcessClassifier(DotProduct() ** 2).fit(X, TWO)
    assert pkex.Explainer(classifier, BACKGROUND)
    ridge = KernelRidge(kernel=DotProduct(0.5) ** 2).fit(X, Y)
    assert_values(ridge, ridge.predict)


class MyMatern(Matern):
    """Another function."""


REFUSED = {
    "MyMatern": (MyMatern(nu=np.inf), "with one of these kernels"),
    "ExpSineSquared": (ExpSineSquared(), "with one of these kernels"),
    "metric=cosine": (PairwiseKernel(metric="cosine"), "with one of these kernels"),
    "metric=sigmoid": (PairwiseKernel(metric="sigmoid"), "with one of these kernels"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_parts_of_kernels_say_what_works_instead(name):
    covariance, instead = REFUSED[name]
    with pytest.raises(pkex.UnsupportedModelError) as raised:
        CovarianceReader("A model", D).read(RBF() * covariance)
    message = str(raised.value)
    assert name in message
    assert instead in message
    assert "shap.KernelExplainer, whose values are approximate" in message
    assert "planned" not in message


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        (
            SVR(kernel="sigmoid"),
            "tanh of a dot product.*fit it with kernel 'rbf', 'poly' or 'linear', or use shap.Ker",
        ),
        (SVR(kernel="poly", degree=0), "degree=0: it must be a positive integer"),
        (KernelRidge(kernel="poly", degree=2.5), "degree=2.5: it must be a positive integer"),
        (
            KernelRidge(kernel="cosine"),
            "the lengths of rows.*fit it with kernel 'rbf', .* 'chi2', .* or 'polynomial', or use",
        ),
    ],
    ids=repr,
)
def test_refused_kernels_say_what_works_instead(model, instead):
    with pytest.raises(pkex.UnsupportedModelError, match=instead):
        pkex.Explainer(model.fit(X, Y))
