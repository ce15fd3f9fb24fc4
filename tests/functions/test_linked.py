"""Functions of a model's outputs: transforms and links, and what they refuse."""

from math import factorial

import numpy as np
import pytest
import scipy.stats
from brute_force import coalitions, imputed, marginal, shapley_weights
from scipy.special import expit, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GaussianKernel
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.functions import coalitionwise
from pkex.kernels import RBF, Additive, Linear, Polynomial

D = 5
RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, D))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
ROWS, Z = RNG.normal(size=(2, D)), RNG.normal(size=(6, D))
EQUAL = np.full(6, 1.0 / 6.0)
MODELS = {
    "rbf": SVR(),
    "poly": SVR(kernel="poly", degree=2, coef0=1.0),
    "linear": SVR(kernel="linear"),
    "pipeline": make_pipeline(StandardScaler(), SVR()),
}
BY_NAME = {name: model.fit(X, Y) for name, model in MODELS.items()}
WIDE = SVR().fit(RNG.normal(size=(30, 21)), np.arange(30.0))


@pytest.mark.parametrize("name", MODELS)
def test_transformed_values_equal_brute_force(name):
    model = BY_NAME[name]
    explainer = pkex.Explainer(model, Z, transform=np.tanh)
    found = explainer(ROWS)
    for row, values in zip(ROWS, found.values, strict=True):
        games = [
            imputed(lambda rows: np.tanh(model.predict(rows)), row, Z, EQUAL, members)
            for members in coalitions(D)
        ]
        np.testing.assert_allclose(values, shapley_weights(D) @ games, rtol=0, atol=1e-10)
        assert explainer.expected_value == pytest.approx(games[0], rel=1e-12)


def test_a_transform_is_given_all_outputs_and_inside_of_the_link():
    model = SVC().fit(X, np.digitize(Y, [-0.5, 0.5]))
    seen = []

    def softmax(values):
        seen.append(values.shape)
        shares = np.exp(values)
        return shares / shares.sum(axis=1, keepdims=True)

    options = {"transform": softmax, "link": "logit", "outputs": 1}
    explanation = pkex.Explainer(model, Z, **options)(ROWS)
    assert {shape[1] for shape in seen} == {3}
    own = SVC(decision_function_shape="ovo").fit(X, model.predict(X))
    own.__dict__.update(vars(model) | {"decision_function_shape": "ovo"})
    p = softmax(own.decision_function(ROWS))[:, 1]
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, np.log(p / (1.0 - p)), rtol=0, atol=1e-11)


def test_an_affine_transform_changes_nothing():
    plain = pkex.Explainer(BY_NAME["rbf"], Z)
    transformed = pkex.Explainer(BY_NAME["rbf"], Z, transform=lambda y: 2.0 * y + 1.0)
    expected = 2.0 * plain.shap_values(ROWS)
    np.testing.assert_allclose(transformed.shap_values(ROWS), expected, rtol=0, atol=1e-12)
    for index in ("k-SII", "BII", "Moebius"):
        one, other = (
            explainer.interactions(ROWS, index=index, order=3) for explainer in (plain, transformed)
        )
        np.testing.assert_allclose(other.values, 2.0 * one.values, rtol=0, atol=1e-11)


def test_features_are_drawn_independently_where_combinations_are_few():
    model, few = BY_NAME["rbf"], Z[:3]
    explainer = pkex.Explainer(model, few, value_function="marginal", transform=np.tanh)
    expected, base = marginal(lambda rows: np.tanh(model.predict(rows)), ROWS[0], few)
    expected.assert_close(explainer.shap_values(ROWS[:1])[0])
    assert explainer.expected_value == pytest.approx(base, rel=1e-12)
    with pytest.raises(ValueError, match=r"40\^5 rows.*value_function='interventional'"):
        pkex.Explainer(model, X, value_function="marginal", transform=np.tanh)
    with pytest.raises(ValueError, match=r"stored points.*value_function='interventional'"):
        pkex.Explainer(model, value_function="marginal", transform=np.tanh)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2, gamma=0.3, coef0=0.5), Additive(RBF(1.5), 2), Linear(2.0)]
)
def test_neutral_games_of_any_kernel_are_made_of_the_worths_of_all_coalitions(kernel):
    f = pkex.KernelExpansion(X, np.cos(np.arange(40.0)), kernel, 0.25)
    plain = pkex.Explainer(f, value_function="neutral")
    parts = plain.interactions(ROWS, index="Moebius", order=D)
    games = []
    for chosen in coalitions(D):
        within = [set(members) <= set(chosen) for members in parts.coalitions]
        games.append(plain.expected_value + parts.values[:, within].sum(axis=1))
    expected = (shapley_weights(D) @ np.tanh(0.1 * np.array(games))).T
    found = pkex.Explainer(f, value_function="neutral", transform=lambda y: np.tanh(0.1 * y))
    np.testing.assert_allclose(found.shap_values(ROWS), expected, rtol=0, atol=1e-12)


def test_a_single_background_row_is_drawn_alike_in_both_games():
    options = {"transform": np.tanh, "groups": {"many": range(12)}}
    row, rows = np.ones((1, 21)), np.zeros((2, 21))
    values = [
        pkex.Explainer(WIDE, row, value_function=name, **options).shap_values(rows)
        for name in ("marginal", "interventional")
    ]
    np.testing.assert_array_equal(*values)


def test_more_features_than_can_be_enumerated_are_refused_with_their_number_and_what_to_do():
    explainer = pkex.Explainer(WIDE, np.zeros((2, 21)), transform=np.tanh)
    with pytest.raises(
        ValueError, match=r"2\^21 .*21 features.*Explainer\(\.\.\.\)\.estimate\(X, n_p"
    ):
        explainer(np.ones((1, 21)))
    groups = {"many": range(5, 21)}
    grouped = pkex.Explainer(WIDE, np.zeros((2, 21)), transform=np.tanh, groups=groups)
    assert grouped(np.ones((1, 21))).values.shape == (1, 6)


def test_backgrounds_with_too_many_coalitions_name_the_number_of_rows():
    groups = {"two": [0, 1]}
    explainer = pkex.Explainer(WIDE, np.zeros((129, 21)), transform=np.tanh, groups=groups)
    with pytest.raises(ValueError, match=r"drawn from 129 rows.*a background of up to 128 rows"):
        explainer(np.ones((1, 21)))


@pytest.mark.parametrize(
    "model", [SVC(probability=True, random_state=0), CalibratedClassifierCV(SVC(), ensemble=False)]
)
@pytest.mark.filterwarnings("ignore:.*probability:FutureWarning")
def test_coalitions_in_blocks_equal_brute_force(model, monkeypatch):
    model.fit(X, np.digitize(Y, [-0.5, 0.5]))
    explainer = pkex.Explainer(model.predict_proba, Z)
    pairs = explainer.interactions(ROWS).values
    monkeypatch.setattr(coalitionwise, "_MAX_TOGETHER", 4)
    found = explainer(ROWS)
    for row, values in zip(ROWS, found.values, strict=True):
        games = [imputed(model.predict_proba, row, Z, EQUAL, members) for members in coalitions(D)]
        np.testing.assert_allclose(values, shapley_weights(D) @ games, rtol=0, atol=1e-10)
    np.testing.assert_allclose(explainer.interactions(ROWS).values, pairs, rtol=0, atol=1e-14)


def test_coalitions_in_blocks_have_their_numbers_in_messages(monkeypatch):
    monkeypatch.setattr(coalitionwise, "_MAX_TOGETHER", 4)
    # Above 1 if and only if the last feature is present.
    expansion = pkex.KernelExpansion(np.zeros((1, D)), [1.0], RBF(1.0).on([D - 1]), 0.5)
    explainer = pkex.Explainer(expansion, np.full((1, D), 10.0), link="logit")
    with pytest.raises(ValueError, match=r"value of coalition 16 of row 0 of X is 1\.5"):
        explainer(np.zeros((1, D)))


def test_values_of_eighteen_features_are_those_of_all_coalitions():
    d, n = 18, 12
    rng = np.random.default_rng(2)
    points, (row, *background) = rng.normal(size=(n, d)), rng.normal(size=(3, d))
    coefficients = rng.normal(size=n)
    function = pkex.KernelExpansion(points, coefficients, RBF(4.0))
    games = np.zeros(2**d)
    for other in background:
        outputs = coefficients[:, None]
        for j in range(d):
            absent, present = (
                np.exp(-((z - points[:, j]) ** 2) / 32.0) for z in (other[j], row[j])
            )
            outputs = np.concatenate(
                [outputs * absent[:, None], outputs * present[:, None]], axis=1
            )
        games += expit(outputs.sum(axis=0)) / 2.0
    sizes = np.array([number.bit_count() for number in range(2 ** (d - 1))])
    weights = np.array([factorial(s) * factorial(d - 1 - s) / factorial(d) for s in range(d)])
    halves = [games.reshape(-1, 2, 2**j) for j in range(d)]
    expected = [weights[sizes] @ (half[:, 1] - half[:, 0]).ravel() for half in halves]
    found = [
        pkex.Explainer(function, background, transform=expit, n_jobs=n_jobs).shap_values([row])[0]
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("transform", "error", "message"),
    [
        (lambda y: y[:-1], ValueError, "transform must return an array of the same shape"),
        (lambda y: np.stack([y, y], axis=1), ValueError, "transform must return an array of the"),
        (lambda y: y.astype(str), TypeError, "transform must return real numbers"),
        (lambda y: np.where(y > -9.0, np.nan, y), ValueError, "is nan for row 0 of the back"),
        ("exp", TypeError, "transform must be a function"),
    ],
)
def test_what_is_no_transform_is_refused(transform, error, message):
    with pytest.raises(error, match=message):
        pkex.Explainer(BY_NAME["rbf"], Z, transform=transform)


def test_a_transform_without_a_value_names_the_row():
    model = BY_NAME["rbf"]
    most = model.predict(np.concatenate([ROWS[:1], Z])).max() + 1e-9
    high = X[[np.argmax(model.predict(X))]]
    assert model.predict(high) > most
    few = Z[[np.argmin(model.predict(Z))]]
    explainer = pkex.Explainer(model, few, transform=lambda y: np.where(y > most, np.nan, y))
    with pytest.raises(ValueError, match="is nan for a coalition of row 1 of X"):
        explainer(np.concatenate([few, high]))


def test_links_and_transforms_are_attributes_and_said():
    explainer = pkex.Explainer(BY_NAME["rbf"], Z, transform=np.tanh)
    assert explainer.link == "identity"
    assert explainer.transform is np.tanh
    assert "transform of predict of SVR" in repr(explainer)
    with pytest.raises(ValueError, match="link must be one of 'identity', 'logit'"):
        pkex.Explainer(BY_NAME["rbf"], Z, link="probit")


def test_the_root_of_a_variance_is_not_named_a_variance():
    kernel = ConstantKernel(2.0) * GaussianKernel(1.5) + WhiteKernel(0.1)
    process = GaussianProcessRegressor(kernel, optimizer=None).fit(X[:, :2], X[:, 2])
    explainer = pkex.Explainer(process, X[:3, :2], target="predictive_variance", transform=np.sqrt)
    explanation = explainer(X[5:9, :2])
    assert explanation.output_name == "transform of predictive variance"
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, process.predict(X[5:9, :2], return_std=True)[1])


def test_progress_of_rows_and_orders_goes_forward_to_the_end():
    explainer = pkex.Explainer(SVR().fit(X, Y), X, transform=np.tanh)
    calls = {
        "values": lambda report: explainer(ROWS, progress=report),
        "interactions": lambda report: explainer.interactions(ROWS, progress=report),
        "estimates": lambda report: explainer.estimate(ROWS, n_permutations=400, progress=report),
    }
    for call in calls.values():
        told = []
        call(lambda done, total, told=told: told.append(done / total))
        assert len(told) >= 2
        assert told == sorted(told)
        assert told[-1] == 1.0


def test_a_callable_that_interrupts_is_heard():
    explainer = pkex.Explainer(SVR().fit(X, Y), X, transform=np.tanh)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explainer(ROWS, progress=stop)


@pytest.mark.parametrize("transform", [softmax, np.cumsum, scipy.stats.zscore])
def test_a_transform_that_mixes_rows_is_refused(transform):
    with pytest.raises(ValueError, match=r"transform must treat each row separately.*axis=1"):
        pkex.Explainer(BY_NAME["rbf"], Z, transform=transform)


def test_combinations_times_coalitions_are_bounded():
    narrow = SVR().fit(RNG.normal(size=(30, 16)), np.arange(30.0))
    rows = np.repeat([[0.0], [1.0]], 16, axis=1)
    explainer = pkex.Explainer(narrow, rows, transform=np.exp, value_function="marginal")
    with pytest.raises(ValueError, match=r"65536 combinations .* 2\^16 coalitions.*groups="):
        explainer(rows[:1])
