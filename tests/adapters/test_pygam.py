"""pyGAM's additive models, by brute force through their own outputs."""

import pickle

import numpy as np
import pytest
from brute_force import assert_explained

import pkex

pygam = pytest.importorskip("pygam")
f, linear, s, te = pygam.f, pygam.l, pygam.s, pygam.te

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
X[:, 3] = RNG.integers(1, 4, 150)
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + X[:, 3]
BACKGROUND = X[:6]
# Beyond the training rows, where splines go on as lines; but for the factor.
ROWS = np.where(np.arange(5) == 3, X[6:9], 2.0 * X[6:9])

MODELS = {
    "splines, by default": pygam.LinearGAM(n_splines=6),
    "a spline that is multiplied": pygam.LinearGAM(s(0, by=4) + linear(2)),
    "a tensor product": pygam.LinearGAM(te(1, 0, n_splines=4) + s(2, n_splines=5)),
    "a tensor product of others, multiplied": pygam.LinearGAM(
        te(s(0, by=2, n_splines=5), linear(1), by=4) + linear(3), fit_intercept=False
    ),
    "factors": pygam.LinearGAM(f(3) + f(3, coding="dummy") + s(1)),
    "a period": pygam.LinearGAM(s(2, basis="cp", n_splines=8)),
    "two terms of a column": pygam.LinearGAM(s(1) + s(1, n_splines=5, spline_order=1)),
    "expectiles": pygam.ExpectileGAM(s(0, n_splines=6) + linear(1), expectile=0.8),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_brute_force_through_predict(name):
    model = MODELS[name].fit(X, Y)
    explainer = pkex.Explainer(model, BACKGROUND)
    assert_explained(explainer, model.predict, ROWS, BACKGROUND)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(ROWS), explainer.shap_values(ROWS))


@pytest.mark.parametrize("kind", ["PoissonGAM", "GammaGAM"])
@pytest.mark.parametrize("terms", [s(0, n_splines=5) + f(3), s(0) + te(1, 2, n_splines=4)], ids=str)
def test_predictions_behind_a_log_link_are_explained_and_their_logarithms(kind, terms):
    model = getattr(pygam, kind)(terms).fit(X, np.round(np.exp(0.3 * Y)) + 1.0)
    assert_explained(pkex.Explainer(model, BACKGROUND), model.predict, ROWS, BACKGROUND)
    explainer = pkex.Explainer(model, BACKGROUND, target="log-mean")
    assert_explained(explainer, lambda rows: np.log(model.predict(rows)), ROWS, BACKGROUND)


def test_behind_other_links_the_linear_predictor_is_explained():
    model = pygam.LogisticGAM(s(0, n_splines=5) + te(1, 2, n_splines=4)).fit(X, np.median(Y) < Y)
    explainer = pkex.Explainer(model, BACKGROUND)
    assert repr(explainer).startswith("Explainer(linear predictor of LogisticGAM, 5 features")

    def log_odds(rows):
        mean = model.predict_mu(rows)
        return np.log(mean / (1.0 - mean))

    assert_explained(explainer, log_odds, ROWS, BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="behind the LogitLink of pyGAM"):
        pkex.Explainer(model.predict, BACKGROUND)


def test_entries_that_no_factor_knows_are_refused():
    explainer = pkex.Explainer(MODELS["factors"].fit(X, Y), BACKGROUND)
    with pytest.raises(ValueError, match="factor of column 3 was fitted on values from 1 to 3"):
        explainer(ROWS + np.array([0, 0, 0, 7, 0]))


class Doubled(pygam.LinearGAM):
    def predict(self, X):
        return 2.0 * super().predict(X)


def test_what_is_not_understood_is_refused_by_name():
    with pytest.raises(pkex.UnsupportedModelError, match="Doubled, a subclass of pyGAM's models"):
        pkex.Explainer(Doubled(n_splines=5).fit(X, Y), BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="LinearGAM is not fitted"):
        pkex.Explainer(pygam.LinearGAM(), BACKGROUND)
    changed = pygam.LinearGAM(n_splines=5).fit(X, Y)
    changed.coef_ = changed.coef_[:-1]
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting"):
        pkex.Explainer(changed, BACKGROUND)
