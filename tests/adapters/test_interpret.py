"""interpret's explainable boosting machines, by brute force through their own outputs."""

import importlib
import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pkex

glassbox = pytest.importorskip("interpret.glassbox")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Missing values detected:UserWarning"),
    pytest.mark.filterwarnings("ignore:For multiclass we cannot currently visualize:UserWarning"),
]

RNG = np.random.default_rng(0)
N, D = 200, 5
X = RNG.normal(size=(N, D))
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
MANY = np.digitize(Y, [-0.5, 0.5])
FEW = {"outer_bags": 1, "max_rounds": 40, "n_jobs": 1}
# Missing entries; strings, codes and truth values as categories; entries that are whole numbers.
TABLE = pd.DataFrame(
    {
        "age": np.where(np.arange(N) % 7 == 0, np.nan, X[:, 0]),
        "kind": np.where(np.arange(N) % 9 == 0, None, RNG.choice(["u", "v", "w"], N)),
        "code": RNG.integers(8, 12, N),
        "flag": RNG.random(N) > 0.5,
        "half": np.round(2.0 * X[:, 4]) / 2.0,
    }
)
TYPES = [None, None, "nominal", "nominal", "nominal"]
MISSING = np.nan_to_num(X[:, 0]) * (TABLE["kind"] == "u") + TABLE["code"] * TABLE["flag"]


def machine(kind, X=X, y=Y, **options):
    model = getattr(glassbox, f"ExplainableBoosting{kind}")(**{**FEW, "interactions": 3, **options})
    return model.fit(X, y)


def test_values_of_a_regressor_equal_brute_force_through_predict():
    model = machine("Regressor")
    assert any(len(features) == 2 for features in model.term_features_)
    explainer = pkex.Explainer(model, X[:6])
    assert_explained(explainer, model.predict, X[6:9], X[:6])
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(X), explainer.shap_values(X))


@pytest.mark.parametrize("y", [Y > 0.0, MANY], ids=["two", "three"])
def test_values_of_a_classifier_equal_brute_force_through_its_outputs(y):
    model = machine("Classifier", y=y)
    explainer = pkex.Explainer(model, X[:6])
    names = ["0", "1", "2"] if y is MANY else None
    assert explainer.output_names == names
    assert_explained(explainer, model.decision_function, X[6:8], X[:6])
    assert_explained(pkex.Explainer(model.predict_proba, X[:6]), model.predict_proba, X[6:8], X[:6])
    if y is not MANY:
        assert explainer(X[:1]).output_name == "True vs False"
        odds = pkex.Explainer(model, X[:6], target="log-odds").shap_values(X[6:8])
        np.testing.assert_allclose(odds, explainer.shap_values(X[6:8]), rtol=1e-12)


def test_missing_entries_and_categories_are_what_the_model_makes_of_them():
    model = machine("Regressor", TABLE, MISSING, feature_types=TYPES, interactions=6)
    assert {len(features) for features in model.term_features_} == {1, 2}
    rows = TABLE.iloc[[0, 1, 9, 14]].astype({"kind": object, "code": object})
    rows.iloc[3, 1], rows.iloc[2, 2] = "never met", 99
    background = TABLE.iloc[5:12]

    def output(rows):
        return model.predict(pd.DataFrame(rows, columns=TABLE.columns))

    explainer = pkex.Explainer(model, background)
    assert explainer.feature_names == list(TABLE.columns)
    assert_explained(explainer, output, rows, background)
    with pytest.raises(ValueError, match="columns"):
        explainer(rows[["kind", "age", "code", "flag", "half"]])


def test_categories_may_come_as_numbers_or_as_texts():
    codes = np.round(np.abs(2.0 * X))
    codes[:, 1] += 0.5
    model = machine("Regressor", codes, feature_types=["nominal"] * D)
    explainer = pkex.Explainer(model, codes[:6])
    assert_explained(explainer, model.predict, codes[6:9], codes[:6])
    expected = explainer.shap_values(codes[6:9])
    texts = np.array([[f"{entry:g}" for entry in row] for row in codes[6:9]], dtype=object)
    np.testing.assert_array_equal(explainer.shap_values(texts), expected)
    # Beside a text, numbers of NumPy's and truth values stay what they are.
    mixed = texts.copy()
    mixed[:, 1] = [np.float32(codes[6, 1]), np.float64(codes[7, 1]), codes[8, 1]]
    np.testing.assert_array_equal(explainer.shap_values(mixed), expected)
    mixed[:, 2] = [np.bool_(True), True, "1"]
    texts[:, 2] = "1"
    np.testing.assert_array_equal(explainer.shap_values(mixed), explainer.shap_values(texts))


def test_entries_on_a_cut_belong_to_the_bin_above_it():
    model = machine("Regressor", np.round(X), interactions=1)
    cuts = np.array([levels[0][:3] for levels in model.bins_]).T
    explainer = pkex.Explainer(model, X[:6])
    assert_explained(explainer, model.predict, cuts, X[:6])


@pytest.mark.parametrize("interactions", [0, 3])
def test_predictions_behind_a_log_link_are_explained_and_their_logarithms(interactions):
    options = {"objective": "poisson_deviance", "interactions": interactions}
    model = machine("Regressor", y=np.exp(Y), **options)
    assert_explained(pkex.Explainer(model, X[:6]), model.predict, X[6:8], X[:6])
    explainer = pkex.Explainer(model, X[:6], target="log-mean")
    assert repr(explainer).startswith("Explainer(logarithm of predict of ExplainableBoosting")
    assert_explained(explainer, lambda rows: np.log(model.predict(rows)), X[6:8], X[:6])


def test_predictions_behind_a_log_link_of_more_than_20_columns_need_terms_of_one_column():
    wide = RNG.normal(size=(N, 22))
    options = {"objective": "poisson_deviance"}
    model = machine("Regressor", wide, np.exp(Y), interactions=0, **options)
    explanation = pkex.Explainer(model, wide[:6])(wide[:3])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(wide[:3]), rtol=1e-12)
    log_values = pkex.Explainer(model, wide[:1], target="log-mean").shap_values(wide[1:2])
    exponents = np.exp(log_values[0])
    game = pkex.product_game(exponents[None], weights=model.predict(wide[:1]))
    values = pkex.Explainer(model, wide[:1]).shap_values(wide[1:2])[0]
    np.testing.assert_allclose(values, game, rtol=1e-9, atol=1e-12)
    paired = machine("Regressor", wide, np.exp(Y), interactions=2, **options)
    with pytest.raises(ValueError, match="the explained output is not a sum over features"):
        pkex.Explainer(paired, wide[:6])(wide[:1])


def test_they_may_be_the_last_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), machine("Regressor")).fit(10.0 * X, Y)
    explainer = pkex.Explainer(model, 10.0 * X[:6])
    assert_explained(explainer, model.predict, 10.0 * X[6:8], 10.0 * X[:6])


def below_its_cut(bins, entries):
    return np.searchsorted(bins.cuts, entries, side="left") + 1.0


def one_further(bins, entries):
    return np.searchsorted(bins.cuts, entries, side="right") + 2.0


@pytest.mark.parametrize("misread", [below_its_cut, one_further])
def test_a_machine_that_is_misread_is_found_out(monkeypatch, misread):
    adapter = importlib.import_module("pkex.adapters.interpret")
    monkeypatch.setattr(adapter._Cuts, "of", misread)
    with pytest.raises(pkex.UnsupportedModelError, match="for a row for which its fitted"):
        pkex.Explainer(machine("Regressor"), X[:6])


class Doubled(glassbox.ExplainableBoostingRegressor):
    def predict(self, X, init_score=None):
        return 2.0 * super().predict(X, init_score)


def test_what_is_not_understood_is_refused_by_name():
    with pytest.raises(pkex.UnsupportedModelError, match="Doubled, a subclass of interpret"):
        pkex.Explainer(Doubled(**FEW).fit(X, Y), X[:6])
    with pytest.raises(pkex.UnsupportedModelError, match="of a single class"):
        pkex.Explainer(machine("Classifier", y=np.zeros(N)), X[:6])
    constant = machine("Regressor", interactions=0)
    constant.remove_terms(list(range(D)))
    with pytest.raises(pkex.UnsupportedModelError, match="without terms is not supported: it is c"):
        pkex.Explainer(constant, X[:6])
    with pytest.raises(NotFittedError):
        pkex.Explainer(glassbox.ExplainableBoostingRegressor(), X[:6])
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict cannot be .* predict_proba is"):
        pkex.Explainer(machine("Classifier", y=MANY).predict, X[:6])
