"""Naive Bayes classifiers: by brute force through their own joint log-likelihoods."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, interventional
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import pkex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5))
LATENT = X[:, 0] + X[:, 1] * X[:, 2]
TWO, THREE = np.where(LATENT > 0.0, "yes", "no"), np.digitize(LATENT, [-0.5, 0.5])
COUNTS = np.round(np.abs(3.0 * X))

# name: unfitted model, rows
MODELS = {
    "GaussianNB": (GaussianNB(), X),
    # Columns of the size of years, whose squares have no digits left for their differences.
    "GaussianNB of large numbers": (GaussianNB(), 2e6 + X),
    "GaussianNB, priors": (GaussianNB(priors=[0.9, 0.1]), X * [1e-6, 1.0, 1e3, 1.0, 1e6]),
    "MultinomialNB": (MultinomialNB(), COUNTS),
    "ComplementNB": (ComplementNB(), COUNTS),
    "ComplementNB, normalized": (ComplementNB(norm=True), COUNTS),
    "BernoulliNB": (BernoulliNB(), X),
    # Many counts equal the threshold, and are not above it.
    "BernoulliNB of counts": (BernoulliNB(binarize=2.0), COUNTS),
    "BernoulliNB of booleans": (BernoulliNB(binarize=None), (X > 0.0).astype(float)),
    "CategoricalNB": (CategoricalNB(min_categories=12), COUNTS),
}


def likelihoods(model, target):
    """The explained function: the joint log-likelihoods, or the difference of the two."""
    if target is THREE:
        return model.predict_joint_log_proba
    return lambda rows: model.predict_joint_log_proba(rows) @ [-1.0, 1.0]


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_the_joint_log_likelihood(name, target):
    model, rows = MODELS[name]
    if "priors" in name and target is THREE:
        model = GaussianNB(priors=[0.7, 0.2, 0.1])
    model = clone(model).fit(rows, target)
    explainer = pkex.Explainer(model, rows[:6])
    title = "log-odds" if target is TWO else "joint log-likelihood"
    assert repr(explainer).startswith(f"Explainer({title} of {type(model).__name__}, 5 features")
    explanation = explainer(rows[6:9])
    if target is TWO:
        assert explanation.output_name == "yes vs no"
    else:
        assert explanation.output_names == ["0", "1", "2"]
    assert_explained(explainer, likelihoods(model, target), rows[6:9], rows[:6])


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_equal_brute_force_through_predict_proba(name, target):
    model, rows = MODELS[name]
    if "priors" in name and target is THREE:
        model = GaussianNB(priors=[0.7, 0.2, 0.1])
    model = clone(model).fit(rows, target)
    found = pkex.Explainer(model.predict_proba, rows[:6])(rows[6:8])
    assert found.output_names == [str(label) for label in model.classes_]
    for row, values in zip(rows[6:8], found.values, strict=True):
        expected, _ = interventional(model.predict_proba, row, rows[:6])
        np.testing.assert_allclose(values, expected.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "CategoricalNB"])
def test_odds_equal_brute_force_through_predict_proba(name):
    model, rows = MODELS[name]
    model = clone(model).fit(rows, TWO)

    def odds(some):
        return np.exp(model.predict_log_proba(some) @ [-1.0, 1.0])

    assert_explained(pkex.Explainer(model, rows[:6], target="odds"), odds, rows[6:9], rows[:6])


def test_the_log_odds_are_those_of_predict_proba_for_thousands_of_words():
    counts = RNG.poisson(0.2, size=(60, 3000)).astype(float)
    model = MultinomialNB().fit(counts, TWO[:60])
    for explainer in (
        pkex.Explainer(model, counts),
        pkex.Explainer(model, counts, target="log-odds"),
        pkex.Explainer(model, value_function="neutral"),
    ):
        explanation = explainer(counts[:3])
        total = explanation.values.sum(axis=1) + explanation.base_values
        expected = model.predict_log_proba(counts[:3]) @ [-1.0, 1.0]
        np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)
    # A word that does not occur has no value if absent words do not occur.
    assert (explanation.values[counts[:3] == 0.0] == 0.0).all()


def test_they_may_be_part_of_pipelines_and_searches():
    words = pd.DataFrame(np.array(["a", "b", "c", "d", "e"])[np.minimum(COUNTS, 4).astype(int)])
    words.columns = list("pqrst")
    model = make_pipeline(OrdinalEncoder(), CategoricalNB()).fit(words, TWO)

    def output(rows):
        made = model[0].transform(pd.DataFrame(rows, columns=words.columns))
        return likelihoods(model[1], TWO)(made)

    assert_explained(pkex.Explainer(model, words[:6]), output, words[6:8], words[:6])
    search = GridSearchCV(
        make_pipeline(StandardScaler(), GaussianNB()), {"gaussiannb__var_smoothing": [1e-9]}, cv=2
    ).fit(X, THREE)
    found = pkex.Explainer(search, X[:6])(X[6:8])
    inner = search.best_estimator_
    own = inner[1].predict_joint_log_proba(inner[0].transform(X[6:8]))
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, own, rtol=1e-12)


def test_other_methods_are_answered_by_what_is_explained():
    two, three = GaussianNB().fit(X, TWO), GaussianNB().fit(X, THREE)
    assert pkex.Explainer(three.predict_joint_log_proba, X)
    for method in (two.predict, two.predict_joint_log_proba):
        with pytest.raises(pkex.UnsupportedModelError, match=r"model itself, whose log-odds is ex"):
            pkex.Explainer(method, X)
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict_joint_log_proba, which is expl"):
        pkex.Explainer(three.predict, X)
    with pytest.raises(NotFittedError):
        pkex.Explainer(CategoricalNB())


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (1.5, r"has the value 1.5 in row 1, column 2: CategoricalNB requires integers from 0"),
        (-1.0, r"has the value -1.0 in row 1, column 2: CategoricalNB requires"),
        (12.0, r"has the value 12.0 in row 1, column 2: .* min_categories"),
        (np.nan, r"has a missing value \(NaN\) in row 1, column 2"),
    ],
)
def test_values_that_are_not_categories_are_named(entry, message):
    model = CategoricalNB(min_categories=12).fit(COUNTS, TWO)
    rows = COUNTS[:3].copy()
    rows[1, 2] = entry
    with pytest.raises(pkex.errors.InputError, match=f"X {message}"):
        pkex.Explainer(model, COUNTS)(rows)
    with pytest.raises(pkex.errors.InputError, match=f"background {message}"):
        pkex.Explainer(model, rows)


@pytest.mark.parametrize(
    ("model", "fix"),
    [
        (MultinomialNB(alpha=0.0), "Fit it with alpha > 0"),
        (BernoulliNB(alpha=0.0), "Fit it with alpha > 0"),
        (CategoricalNB(alpha=0.0), "Fit it with alpha > 0"),
        (GaussianNB(priors=[1.0, 0.0]), "positive priors"),
        (GaussianNB(var_smoothing=0.0), "var_smoothing > 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_probabilities_of_0_are_an_error_with_the_fix(model, fix):
    rows = np.column_stack([COUNTS, (TWO == "yes").astype(float)])
    with pytest.raises(pkex.UnsupportedModelError, match=fix):
        pkex.Explainer(clone(model).fit(rows, TWO), rows)


class Doubled(GaussianNB):
    def _joint_log_likelihood(self, X):
        return 2.0 * super()._joint_log_likelihood(X)


def test_subclasses_and_changed_attributes_are_found_out():
    with pytest.raises(pkex.UnsupportedModelError, match="replaces scikit-learn's _joint_log_lik"):
        pkex.Explainer(Doubled().fit(X, TWO), X)
    model = GaussianNB().fit(X, TWO)
    model.theta_ = model.theta_[:, :4]
    with pytest.raises(pkex.UnsupportedModelError):
        pkex.Explainer(model, X)
