"""Names of features and outputs: as many as there are, and no two outputs of one name."""

import itertools

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC

import pkex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


def labelled(labels):
    return np.array(labels)[np.arange(len(X)) % len(labels)]


@pytest.mark.parametrize("model", [SVC(), SVC(decision_function_shape="ovo")], ids=repr)
@pytest.mark.parametrize("forgotten", ["a", "b", "c"])
def test_a_class_of_no_weight_at_all_is_refused_with_the_remedy(model, forgotten):
    y = labelled(["a", "b", "c"])
    weights = (y != forgotten).astype(float)
    message = "weight 0 is not supported.*3 classes, but only 2.*without the rows of weight 0"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.fit(X, y, sample_weight=weights))
    assert pkex.Explainer(model.fit(X[weights > 0], y[weights > 0])).output_name


def test_a_row_of_no_weight_is_no_reason_to_refuse():
    model = SVC(decision_function_shape="ovo")
    y = labelled(["a", "b", "c"])
    model.fit(X, y, sample_weight=np.arange(len(X)) > 3)
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-10)


AMBIGUOUS = [
    ["a", "b vs c", "a vs b", "c"],
    ["a", "a vs", "b", "vs b"],
    ["'a'", "a vs b", "'b'"],
    ["vs", " vs ", "vs vs"],
]


@pytest.mark.parametrize(
    "model", [SVC(), GaussianProcessClassifier(optimizer=None, multi_class="one_vs_one")], ids=repr
)
@pytest.mark.parametrize("labels", AMBIGUOUS, ids=str)
def test_labels_with_vs_in_them_are_quoted_so_that_no_names_are_equal(model, labels):
    names = pkex.Explainer(model.fit(X, labelled(labels))).output_names
    assert names == [f"{a!r} vs {b!r}" for a, b in itertools.combinations(sorted(labels), 2)]
    assert len(set(names)) == len(names)


def test_labels_with_vs_within_a_word_are_named_as_they_are():
    model = OneVsOneClassifier(SVC()).fit(X, labelled(["canvas", "b", "c"]))
    assert pkex.Explainer(model).output_names == ["b vs c", "b vs canvas", "c vs canvas"]


class Model:
    """A model of which an adapter says what `names` are."""

    def __init__(self, coefficients, *, own_names=None, **names):
        self.expansion = pkex.KernelExpansion(
            np.zeros((1, 2)), [coefficients], pkex.kernels.RBF(), feature_names=own_names
        )
        self.names = names

    def predict(self, X):
        return self.expansion.predict(np.asarray(X))


@pkex.adapters.register(Model)
def _(model):
    parts = {"method": "predict", "predict": model.predict, **model.names}
    return pkex.adapters.AdaptedModel(model.expansion, **parts)


@pytest.mark.parametrize(
    ("coefficients", "names", "message"),
    [
        ([1.0, 2.0], {"output_names": ("a",)}, "Model returns 1 output_names.* has 2"),
        (1.0, {"output_names": ("a", "b")}, "Model returns 2 output_names.* has 1"),
        (1.0, {"output_names": ()}, "Model returns 0 output_names.* has 1"),
        ([1.0, 2.0], {"output_names": ("a", "a")}, "Model returns output_names with 'a' twice"),
        (1.0, {"feature_names": ("a", "b", "c")}, "Model returns 3 feature_names.* has 2"),
    ],
)
def test_names_of_an_adapter_that_do_not_fit_its_function_are_refused(coefficients, names, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(Model(coefficients, **names))


def test_names_of_an_adapter_that_fit_its_function_are_taken():
    explainer = pkex.Explainer(Model([1.0, 2.0], output_names=("a", "b"), feature_names=("u", "v")))
    assert explainer.output_names == ["a", "b"]
    assert pkex.Explainer(Model(1.0, output_names=("a",))).output_name == "a"


def test_names_of_an_expansion_are_those_of_its_model():
    explainer = pkex.Explainer(Model(1.0, own_names=["u", "v"]))
    assert explainer.feature_names == ["u", "v"]
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="in another order"):
        explainer(pd.DataFrame([[1.0, 2.0]], columns=["v", "u"]))


def test_a_method_that_the_model_lacks_is_an_error():
    model = Model(1.0, method="nope")
    for explained in (model, model.predict):
        with pytest.raises(TypeError, match="method='nope', but Model has no such method"):
            pkex.Explainer(explained)


class Unread:
    """A model whose adapter does not return a description."""


@pytest.mark.parametrize("result", [5, None])
def test_an_adapter_must_return_a_description(result):
    pkex.adapters.register(Unread)(lambda model: result)
    with pytest.raises(TypeError, match=f"adapter of Unread must return .*got {result}"):
        pkex.Explainer(Unread())


def test_the_expansion_of_a_description_must_be_a_function_of_pkex():
    with pytest.raises(TypeError, match=r"expansion must be a KernelExpansion.*got 'x' \(str\)"):
        pkex.adapters.AdaptedModel("x", predict=None, method="predict")


class TwiceKernels(pkex.KernelExpansion):
    def predict(self, X):
        return 2.0 * super().predict(X)


class TwiceTerms(pkex.TermExpansion):
    def predict(self, X):
        return 2.0 * super().predict(X)


class TwiceProducts(pkex.ProductExpansion):
    def predict(self, X):
        return 2.0 * super().predict(X)


@pytest.mark.parametrize(
    "model",
    [
        TwiceKernels([[0.0]], [1.0], pkex.kernels.RBF()),
        TwiceProducts([{0: np.sin}], [1.0]),
        TwiceTerms([(0, np.sin)]),
    ],
)
def test_an_expansion_with_another_predict_is_not_supported(model):
    for explained in (model, model.predict):
        message = f"{type(model).__name__} defines its own predict"
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(explained, [[0.5]])


def test_an_expansion_with_another_predict_may_have_an_adapter():
    class Adapted(TwiceTerms):
        """A class with an adapter."""

    @pkex.adapters.register(Adapted)
    def _(model):
        doubled = pkex.TermExpansion([(0, lambda column: 2.0 * np.sin(column))])
        return pkex.adapters.AdaptedModel(doubled, method="predict", predict=model.predict)

    model = Adapted([(0, np.sin)])
    explanation = pkex.Explainer(model, [[0.0]])([[0.5]])
    np.testing.assert_allclose(explanation.values[0], model.predict([[0.5]]))
