"""scikit-learn's models: their outputs, signs, orders and names, against brute force."""

import functools
import itertools
import types

import numpy as np
import pytest
from brute_force import assert_explained, neutral
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import pkex

D = 6
X, Y = make_regression(n_samples=60, n_features=D, noise=5.0, random_state=0)
Y /= np.abs(Y).max()
TWO = np.where(Y > 0.0, "yes", "no")
FOUR = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-1.0, 0.0, 1.0])
TARGETS = np.column_stack([Y, Y**2, -Y])
ROWS = X[:3] + 0.1


def dense(array):
    return array.toarray() if sparse.issparse(array) else array


def rbf_of(gamma):
    return functools.partial(rbf_kernel, gamma=gamma)


def libsvm_parts(model):
    """Support vectors, coefficients and kernel of a model with a single output."""
    return dense(model.support_vectors_), dense(model.dual_coef_)[0], rbf_of(model._gamma)


def pair_parts(model):
    """The same of all pairs of classes, from libsvm's layout, one coefficient at a time."""
    dual, classes = dense(model.dual_coef_), range(len(model.classes_))
    owner = np.repeat(classes, model.n_support_)
    pairs = list(itertools.combinations(classes, 2))
    coefficients = np.zeros((len(owner), len(pairs)))
    for i, own in enumerate(owner):
        for row, other in enumerate(c for c in classes if c != own):
            coefficients[i, pairs.index(tuple(sorted((own, other))))] = dual[row, i]
    return dense(model.support_vectors_), coefficients, rbf_of(model._gamma)


def ridge_parts(model):
    function = {"rbf": rbf_kernel, "laplacian": laplacian_kernel}[model.kernel]
    gamma = 1.0 / D if model.gamma is None else model.gamma
    return dense(model.X_fit_), model.dual_coef_, functools.partial(function, gamma=gamma)


def predict(model, rows):
    return model.predict(rows)


def decide(model, rows):
    return model.decision_function(rows)


def ovo(model, rows):
    return model.set_params(decision_function_shape="ovo").decision_function(rows)


# name: (unfitted model, target, its output, its parts)
MODELS = {
    "SVR": (SVR(C=2.0), Y, predict, libsvm_parts),
    "SVR gamma=auto": (SVR(gamma="auto", epsilon=0.01), Y, predict, libsvm_parts),
    "SVR narrow": (SVR(gamma=3.0), Y, predict, libsvm_parts),
    "NuSVR": (NuSVR(gamma=0.2), Y, predict, libsvm_parts),
    "SVC": (SVC(), TWO, decide, libsvm_parts),
    "SVC weighted": (SVC(C=10.0, class_weight="balanced"), TWO == "yes", decide, libsvm_parts),
    "NuSVC": (NuSVC(gamma=0.1), TWO, decide, libsvm_parts),
    "SVC of four": (SVC(), FOUR, ovo, pair_parts),
    "SVC of four, ovo": (SVC(decision_function_shape="ovo"), FOUR, ovo, pair_parts),
    "NuSVC of four": (NuSVC(nu=0.2), FOUR, ovo, pair_parts),
    "OneClassSVM": (OneClassSVM(nu=0.3), None, decide, libsvm_parts),
    "KernelRidge": (KernelRidge(kernel="rbf"), Y, predict, ridge_parts),
    "KernelRidge gamma": (KernelRidge(kernel="rbf", gamma=0.3), Y, predict, ridge_parts),
    "KernelRidge of three": (KernelRidge(kernel="rbf"), TARGETS, predict, ridge_parts),
    "KernelRidge of a column": (KernelRidge(kernel="rbf"), Y[:, None], predict, ridge_parts),
    "KernelRidge laplacian": (KernelRidge(kernel="laplacian"), Y, predict, ridge_parts),
    "KernelRidge laplacian, of three": (
        KernelRidge(kernel="laplacian", gamma=0.7),
        TARGETS,
        predict,
        ridge_parts,
    ),
}


@pytest.fixture(params=["dense", "sparse"])
def table(request):
    """Makes a table of an array."""
    return {"dense": np.asarray, "sparse": sparse.csr_matrix}[request.param]


@pytest.fixture(params=MODELS)
def case(request, table):
    model, target, output, parts = MODELS[request.param]
    rows = X if table is np.asarray else np.where(np.abs(X) > 0.5, X, 0.0)
    return model.fit(table(rows), target), output, parts


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
def test_values_equal_brute_force_with_the_librarys_own_kernel(case, table, method):
    model, _, parts = case
    points, coefficients, kernel = parts(model)
    explainer = pkex.Explainer(model, method=method, value_function="neutral")
    for row, found in zip(ROWS, explainer.shap_values(table(ROWS)), strict=True):
        neutral(kernel, row, points, coefficients).assert_close(found)


def test_values_and_base_add_up_to_the_output(case):
    model, output, _ = case
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, output(model, X), rtol=0, atol=1e-10)


def test_values_of_two_classes_are_positive_for_the_second():
    model = SVC().fit(X, TWO)
    assert list(model.classes_) == ["no", "yes"]
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_array_equal(total > 0, model.predict(X) == "yes")
    assert explanation.output_names is None


@pytest.mark.parametrize("labels", [[30, 10, 20], ["c", "a", "b"], [2.0, 0.0, 1.0]])
def test_pairs_are_named_as_scikit_learn_orders_them_and_positive_for_the_first(labels):
    iris = load_iris()
    model = SVC(decision_function_shape="ovo").fit(iris.data, np.array(labels)[iris.target])
    a, b, c = map(str, sorted(labels))
    explanation = pkex.Explainer(model)(iris.data)
    assert explanation.output_names == [f"{a} vs {b}", f"{a} vs {c}", f"{b} vs {c}"]
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(iris.data), atol=1e-10)
    own = model.predict(iris.data).astype(str)
    assert np.all(total[own == a, :2] > 0)
    assert np.all(total[own == c, 1:] < 0)


def test_the_default_shape_of_a_classifier_is_explained_and_left_as_it_is():
    model = SVC().fit(X, FOUR)
    assert pkex.Explainer(model).shap_values(ROWS).shape == (3, D, 6)
    assert model.decision_function_shape == "ovr"
    assert model.decision_function(ROWS).shape == (3, 4)


@pytest.mark.parametrize("model", [SVC(), NuSVC(nu=0.2), make_pipeline(SVC())], ids=repr)
def test_a_method_that_has_votes_of_several_classes_is_no_name_for_the_values_of_pairs(model):
    fitted = clone(model).fit(X, FOUR)
    assert fitted.decision_function(ROWS).shape == (3, 4)
    with pytest.raises(pkex.UnsupportedModelError, match=r"votes and ranks.*Pass the model itself"):
        pkex.Explainer(fitted.decision_function)
    assert pkex.Explainer(fitted).shap_values(ROWS).shape == (3, D, 6)
    pkex.Explainer(clone(model).fit(X, TWO).decision_function)


def test_there_is_an_output_axis_exactly_if_predict_is_two_dimensional():
    for target in (Y, Y[:, None], TARGETS):
        model = KernelRidge(kernel="rbf").fit(X, target)
        explainer = pkex.Explainer(model)
        outputs = model.predict(ROWS).shape[1:]
        assert explainer.shap_values(ROWS).shape == (3, D, *outputs)
        assert np.shape(explainer.expected_value) == outputs


def test_methods_are_unwrapped(case):
    model, _, _ = case
    if isinstance(model, SVC | NuSVC):
        model.set_params(decision_function_shape="ovo")
    method = model.decision_function if hasattr(model, "decision_function") else model.predict
    np.testing.assert_array_equal(
        pkex.Explainer(method).shap_values(ROWS), pkex.Explainer(model).shap_values(ROWS)
    )


def test_methods_of_an_expansion_are_unwrapped():
    expansion = pkex.KernelExpansion(X, Y, pkex.kernels.Cauchy())
    np.testing.assert_array_equal(
        pkex.Explainer(expansion.predict).shap_values(ROWS),
        pkex.Explainer(expansion).shap_values(ROWS),
    )


@pytest.mark.parametrize("data", ["sparse", "dense"])
def test_a_model_without_support_vectors_has_values_of_zero(data):
    model = SVR(epsilon=100.0).fit(sparse.csr_matrix(X) if data == "sparse" else X, Y)
    explanation = pkex.Explainer(model)(ROWS)
    assert np.all(explanation.values == 0.0)
    np.testing.assert_array_equal(explanation.base_values, model.predict(ROWS))


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_models_fitted_on_other_dtypes_are_explained(dtype, kernel):
    model = KernelRidge(kernel=kernel).fit((10 * X).astype(dtype), Y.astype(np.float32))
    explanation = pkex.Explainer(model)(10 * X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(10 * X), atol=1e-10)


def test_data_far_from_the_origin_is_no_reason_to_refuse():
    # scikit-learn's own kernel loses digits there.
    for offset in (1e3, 1e6):
        for model in (KernelRidge(kernel="rbf", alpha=0.1), SVR()):
            assert pkex.Explainer(model.fit(X + offset, Y))


def test_models_whose_output_is_rounding_noise_are_refused_with_the_remedy():
    model = KernelRidge(kernel="rbf", alpha=1.0).fit(X + 1e7, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="Center and scale the features"):
        pkex.Explainer(model)


def test_ill_conditioned_models_are_no_reason_to_refuse():
    X_close = np.concatenate([X, X + 1e-7])
    model = KernelRidge(kernel="rbf", alpha=1e-12).fit(X_close, np.concatenate([Y, -Y]))
    assert np.abs(model.dual_coef_).max() > 1e4
    assert pkex.Explainer(model)


def test_subclasses_are_explained_as_their_parent():
    class MyRegressor(SVR):
        """Fits and scores in its own way, and can do more, but predicts as its parent."""

        def __init__(self, gamma="scale"):
            super().__init__(gamma=gamma)

        def fit(self, X, y, sample_weight=None, note=""):
            self.note_ = note
            return super().fit(X, y, sample_weight)

        def score(self, X, y, sample_weight=None):
            return 1.0

        def support_share(self):
            return len(self.support_) / 100.0

    model = MyRegressor().fit(X, Y)
    np.testing.assert_array_equal(
        pkex.Explainer(model).shap_values(ROWS),
        pkex.Explainer(SVR().fit(X, Y)).shap_values(ROWS),
    )


@pytest.mark.parametrize(
    "model",
    [SVR(), KernelRidge(kernel="rbf"), KernelRidge(kernel="laplacian")],
    ids=repr,
)
@pytest.mark.parametrize(("n", "d"), [(1, D), (1, 1), (60, 1), (2, 2)])
def test_models_of_one_row_or_one_column_equal_brute_force(model, n, d):
    model.fit(X[:n, :d], Y[:n])
    explainer = pkex.Explainer(model, X[5:8, :d])
    assert_explained(explainer, model.predict, ROWS[:, :d], X[5:8, :d])


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_options_that_change_labels_or_probabilities_only_change_no_value():
    plain = pkex.Explainer(SVC().fit(X, FOUR), X[:5]).shap_values(ROWS)
    for options in ({"break_ties": True}, {"probability": True, "random_state": 0}):
        model = SVC(decision_function_shape="ovr", **options).fit(X, FOUR)
        np.testing.assert_array_equal(pkex.Explainer(model, X[:5]).shap_values(ROWS), plain)


@pytest.mark.parametrize("scale", [1e160, 1e307])
def test_rows_out_of_the_reach_of_any_kernel_are_explained(scale):
    model = SVR().fit(X, Y)
    rows, far = ROWS * scale, X[5:8] * -scale
    explainer = pkex.Explainer(model, far)
    assert_explained(explainer, model.predict, ROWS, far)
    assert np.all(explainer.shap_values(rows) == 0.0)


class Doubled(SVR):
    def predict(self, X):
        return 2.0 * super().predict(X)


class Clipped(SVR):
    """Agrees with its parent on every row that a check might try."""

    def predict(self, X):
        return np.maximum(super().predict(X), -100.0)


class Helper(SVR):
    """Changes rows that no check would think of."""

    def _dense_predict(self, X):
        return np.where(X[:, 0] > 50.0, 0.0, super()._dense_predict(X))


class Prepared:
    def _validate_for_predict(self, X):
        return np.clip(super()._validate_for_predict(X), -50.0, 50.0)


class Mixed(Prepared, SVR):
    """The same by way of a mixin."""


class Widened(KernelRidge):
    def _get_kernel(self, X, Y=None):
        return super()._get_kernel(X, Y)


class Property(SVC):
    coef_ = property(lambda self: None)


class Reversed(SVC):
    def decision_function(self, X):
        return -super().decision_function(X)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (Doubled(), Y),
        (Clipped(), Y),
        (Reversed(), TWO),
        (Helper(), Y),
        (Mixed(), Y),
        (Widened(kernel="rbf"), Y),
        (Property(), TWO),
    ],
    ids=repr,
)
def test_subclasses_that_compute_something_else_are_refused(model, target):
    with pytest.raises(pkex.UnsupportedModelError, match=f"{type(model).__name__} replaces"):
        pkex.Explainer(model.fit(X, target))


def test_a_method_replaced_on_the_model_is_refused():
    for name in ("predict", "_dense_predict"):
        model = SVR().fit(X, Y)
        setattr(model, name, lambda X: np.zeros(len(X)))
        with pytest.raises(pkex.UnsupportedModelError, match=f"SVR replaces scikit-learn's {name}"):
            pkex.Explainer(model)


def test_a_method_of_another_making_is_refused():
    def predict(self, X):
        return np.zeros(len(X))

    model = SVR().fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match=r"SVR.predict cannot be explained"):
        pkex.Explainer(types.MethodType(predict, model))


def replace(name, change):
    def tamper(model):
        setattr(model, name, change(getattr(model, name)))

    return tamper


@pytest.mark.parametrize(
    ("model", "tamper"),
    [
        (SVR(), replace("dual_coef_", lambda a: 1.001 * a)),
        (SVR(), replace("intercept_", lambda a: a + 1e-6)),
        (SVR(), replace("support_vectors_", lambda a: a[1:])),
        (KernelRidge(kernel="rbf"), replace("dual_coef_", lambda a: a[1:])),
        (KernelRidge(kernel="rbf"), replace("_get_kernel", lambda f: lambda A, B: 2.0 * f(A, B))),
        (KernelRidge(kernel="rbf"), replace("dual_coef_", lambda a: np.where(a > 0, a, np.nan))),
    ],
)
def test_models_changed_after_fitting_are_refused(model, tamper):
    model.fit(X, Y)
    tamper(model)
    with pytest.raises(pkex.UnsupportedModelError):
        pkex.Explainer(model)


def my_kernel(A, B):
    return rbf_kernel(A, B)


def my_pair_kernel(a, b):
    return np.exp(-np.abs(a - b).sum())


# what the message must name: (unfitted model, target)
UNSUPPORTED = {
    "SVR with kernel 'sigmoid'": (SVR(kernel="sigmoid"), Y),
    "SVR with kernel 'poly'": (SVR(kernel="poly", degree=0), Y),
    "SVR with kernel 'precomputed'": (SVR(kernel="precomputed"), Y[:D]),
    "SVR with the kernel my_kernel": (SVR(kernel=my_kernel), Y),
    "SVR with gamma=0.0": (SVR(gamma=0.0), Y),
    "SVC with kernel 'poly'": (SVC(kernel="poly", degree=0), TWO),
    "NuSVC with kernel 'sigmoid'": (NuSVC(kernel="sigmoid", nu=0.1), FOUR),
    "OneClassSVM with kernel 'sigmoid'": (OneClassSVM(kernel="sigmoid"), None),
    "KernelRidge with kernel 'polynomial'": (KernelRidge(kernel="polynomial", degree=0), Y),
    "KernelRidge with kernel 'cosine'": (KernelRidge(kernel="cosine"), Y),
    "KernelRidge with the kernel my_pair_kernel": (KernelRidge(kernel=my_pair_kernel), Y),
    "RandomForestClassifier": (RandomForestClassifier(n_estimators=2), TWO),
}


@pytest.mark.parametrize("named", UNSUPPORTED)
def test_unsupported_models_and_kernels_are_named_with_what_is_supported(named):
    model, target = UNSUPPORTED[named]
    model.fit(X[:D] if "precomputed" in named else X, target)
    message = f"^{named} is not supported.*Supported: .*SVR.*rbf.*KernelRidge.*laplacian"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)


@pytest.mark.parametrize(
    "model", [SVR(), NuSVR(), SVC(), NuSVC(), OneClassSVM(), KernelRidge(kernel="rbf")], ids=repr
)
def test_unfitted_models_are_reported_as_such(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(model)


@pytest.mark.parametrize("model", [SVC(), NuSVC()], ids=repr)
@pytest.mark.parametrize("target", [TWO, FOUR], ids=["two", "four"])
def test_class_labels_are_refused_with_what_to_pass_and_why(model, target):
    message = "predict cannot be explained.*class labels.*Pass the model itself"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.fit(X, target).predict)


@pytest.mark.parametrize("method", ["predict", "score_samples"])
def test_other_methods_of_a_one_class_machine_are_refused_with_what_to_pass_and_why(method):
    message = f"OneClassSVM.{method} cannot be explained.*1 or -1.*or its decision_function"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(getattr(OneClassSVM().fit(X), method))


def test_other_methods_of_a_regressor_are_refused_with_what_to_pass():
    with pytest.raises(pkex.UnsupportedModelError, match=r"SVR.score cannot.*its predict"):
        pkex.Explainer(SVR().fit(X, Y).score)


def test_probabilities_of_a_machine_without_them_are_refused_with_what_to_fit():
    X_two, y = make_classification(random_state=0)
    message = "probability of SVC without probability=True.*CalibratedClassifierCV"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(SVC().fit(X_two, y), target="probability")
