"""The default game of models: marginal against the points of the model's own expansion."""

import numpy as np
import pandas as pd
import pytest
from brute_force import marginal, product_games, shapley_weights
from scipy.stats import spearmanr
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.kernels import RBF, Cauchy, Constant, Laplacian

RNG = np.random.default_rng(0)
# So few rows that all combinations of their entries can be tried.
X = RNG.normal(size=(7, 3))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
ROWS = RNG.normal(size=(3, 3))

# Models whose points are all training rows.
MODELS = {
    "KernelRidge": KernelRidge(kernel="rbf", gamma=0.4),
    "KernelRidge laplacian": KernelRidge(kernel="laplacian", alpha=0.1),
    "SVR": SVR(C=5.0, epsilon=0.0),
    "GaussianProcessRegressor": GaussianProcessRegressor(
        2.0 * GPRBF([0.5, 1.0, 2.0]) + ConstantKernel(0.3) + WhiteKernel(0.1),
        normalize_y=True,
        optimizer=None,
    ),
    "Pipeline": make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
    "Voting": VotingRegressor(
        [("a", KernelRidge(kernel="rbf")), ("b", KernelRidge(kernel="rbf", gamma=3.0))]
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_default_values_equal_brute_force_through_predict_over_all_combinations_of_points(name):
    model = MODELS[name].fit(X, Y)
    explainer = pkex.Explainer(model)
    assert explainer.value_function == "marginal"
    for row, found in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        expected, base = marginal(model.predict, row, X)
        expected.assert_close(found)
        np.testing.assert_allclose(explainer.expected_value, base, atol=1e-12)


def test_the_points_of_a_support_vector_machine_are_its_support_vectors():
    model = SVR(C=2.0, epsilon=0.4).fit(X, Y)
    support = model.support_vectors_
    assert 1 < len(support) < len(X)
    explainer = pkex.Explainer(model)
    np.testing.assert_array_equal(explainer.background, support)
    np.testing.assert_allclose(explainer.background_weights, 1.0 / len(support))
    expected, base = marginal(model.predict, ROWS[0], support)
    expected.assert_close(explainer.shap_values(ROWS[:1])[0])
    np.testing.assert_allclose(explainer.expected_value, base, atol=1e-12)


def test_machines_of_all_columns_in_order_keep_the_points_of_these():
    options = {"n_estimators": 2, "random_state": 0}
    for ridge in (KernelRidge(kernel="rbf"), make_pipeline(KernelRidge(kernel="rbf"))):
        bagging = BaggingRegressor(ridge, bootstrap=False, **options).fit(X, Y)
        np.testing.assert_array_equal(pkex.Explainer(bagging).background, X)
    bagging = BaggingRegressor(KernelRidge(kernel="rbf"), **options).fit(X, Y)
    reordered = bagging.estimators_features_[0][::-1]
    bagging.estimators_features_ = [reordered, reordered]
    assert pkex.Explainer(bagging).background is None
    some = BaggingRegressor(KernelRidge(kernel="rbf"), max_features=2, **options).fit(X, Y)
    assert pkex.Explainer(some).background is None


def test_each_part_of_a_combination_has_its_own_points():
    targets = np.column_stack([Y, np.abs(Y)])
    model = MultiOutputRegressor(SVR(epsilon=0.4)).fit(X, targets)
    explainer = pkex.Explainer(model)
    assert explainer.background is None
    assert explainer.background_weights is None
    values = explainer.shap_values(ROWS)
    for output, machine in enumerate(model.estimators_):
        alone = pkex.Explainer(machine).shap_values(ROWS)
        np.testing.assert_array_equal(values[..., output], alone)
    assert [len(machine.support_) for machine in model.estimators_] != [len(X), len(X)]


def test_parts_with_the_same_points_share_them():
    model = MODELS["Voting"].fit(X, Y)
    np.testing.assert_array_equal(pkex.Explainer(model).background, X)


def test_points_of_a_pipeline_stay_in_the_columns_of_its_last_step():
    model = MODELS["Pipeline"].fit(X, Y)
    assert pkex.Explainer(model).background is None


def test_columns_made_of_one_input_column_are_drawn_together():
    frame = pd.DataFrame({"colour": list("rgbrgbr"), "size": X[:, 0], "age": X[:, 1]})
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(encoder, KernelRidge(kernel="rbf", gamma=0.3)).fit(frame, Y)
    # Categories by number, for the brute force.
    colours = np.array(list("rgb"))
    numbers = np.column_stack([[list("rgb").index(c) for c in frame["colour"]], X[:, :2]])

    def predict(rows):
        table = {"colour": colours[rows[:, 0].astype(int)], "size": rows[:, 1], "age": rows[:, 2]}
        return model.predict(pd.DataFrame(table))

    found = pkex.Explainer(model).shap_values(frame[:2])
    for row, values in zip(numbers[:2], found, strict=True):
        marginal(predict, row, numbers)[0].assert_close(values)


def test_groups_are_drawn_together():
    model = MODELS["KernelRidge"].fit(X, Y)
    explainer = pkex.Explainer(model, groups={"pair": [0, 2]})
    expected, base = marginal(model.predict, ROWS[0], X, groups=[[0, 2], [1]])
    expected.assert_close(explainer.shap_values(ROWS[:1])[0])
    np.testing.assert_allclose(explainer.expected_value, base, atol=1e-12)


KERNELS = {
    "RBF": RBF([0.3, 1.0, 4.0, 1e5]),
    "Laplacian": Laplacian(0.7),
    "sum": 0.5 * RBF(1.0).on([0, 2]) * Laplacian(2.0).on([1, 3]) + Cauchy(1.5) + 2.0 * Constant(),
}


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_over_coalitions_with_the_points_mean_factors(name, method):
    kernel = KERNELS[name]
    points, coefficients = RNG.normal(size=(37, 4)), RNG.normal(size=37)
    function = pkex.KernelExpansion(points, coefficients, kernel, 0.25)
    row = RNG.normal(size=4)

    explainer = pkex.Explainer(function, method=method)
    values = explainer.shap_values(row[None])[0]
    expected = base = 0.0
    scale = np.zeros(4)
    for term in kernel.terms(4):
        columns = single_columns(term)
        present = np.stack([columns(j, row[None, j], points[:, j])[0] for j in range(4)], axis=1)
        absent = np.stack(
            [columns(j, points[:, j], points[:, j]).mean(axis=0) for j in range(4)], axis=1
        )
        part = product_games(present, absent, term.coefficient * coefficients, shapley_weights(4))
        expected, scale = expected + part.values, scale + part.scale
        base = base + term.coefficient * coefficients @ absent.prod(axis=1)
    assert np.all(np.abs(values - expected) <= 1e-10 * scale)
    np.testing.assert_allclose(explainer.expected_value, base + 0.25, rtol=1e-12)


def single_columns(term):
    """The kernel values of a term in one column, between all entries of two."""
    shapes = {
        "rbf": lambda r: np.exp(-(r**2) / 2.0),
        "laplacian": lambda r: np.exp(-np.abs(r)),
        "cauchy": lambda r: 1.0 / (1.0 + r**2),
    }

    def values(column, a, b):
        product = np.ones((len(a), len(b)))
        for factor in term.factors:
            for j, (length_scale,) in zip(factor.columns, factor.parameters, strict=True):
                if j == column:
                    product *= shapes[factor.family]((a[:, None] - b) / length_scale)
        return product

    return values


def test_interactions_are_of_the_same_game():
    model = MODELS["KernelRidge"].fit(X, Y)
    interactions = pkex.Explainer(model).interactions(ROWS[:1], index="Moebius", order=3)
    given = pkex.Explainer(model, X, value_function="marginal")
    expected = given.interactions(ROWS[:1], index="Moebius", order=3)
    np.testing.assert_allclose(interactions.values, expected.values, atol=1e-13)


def test_points_given_as_background_make_the_same_game():
    model = MODELS["KernelRidge"].fit(X, Y)
    own, given = pkex.Explainer(model), pkex.Explainer(model, X, value_function="marginal")
    np.testing.assert_allclose(own.shap_values(ROWS), given.shap_values(ROWS), atol=1e-13)
    np.testing.assert_allclose(own.expected_value, given.expected_value, atol=1e-13)


def test_outputs_chosen_have_the_values_that_they_have_among_all():
    points, coefficients = RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3))
    coefficients[:10, 1] = 0.0
    function = pkex.KernelExpansion(points, coefficients, RBF(1.0))
    whole = pkex.Explainer(function).shap_values(ROWS)
    chosen = pkex.Explainer(function, outputs=1).shap_values(ROWS)
    np.testing.assert_array_equal(chosen, whole[..., 1])


def test_an_expansion_without_points_is_constant():
    explainer = pkex.Explainer(pkex.KernelExpansion(np.zeros((0, 2)), [], RBF(1.0), 3.0))
    assert explainer.expected_value == 3.0
    assert explainer.background is explainer.background_weights is None
    np.testing.assert_array_equal(explainer.shap_values([[1.0, 2.0]]), [[0.0, 0.0]])


def test_columns_that_are_constant_among_the_points_are_worth_nothing_there():
    points = np.column_stack([RNG.normal(size=30), np.full(30, 1e6)])
    function = pkex.KernelExpansion(points, RNG.normal(size=30), RBF([1.0, 1e-3]))
    values = pkex.Explainer(function).shap_values([[0.5, 1e6]])
    assert values[0, 1] == 0.0
    np.testing.assert_allclose(
        values[0, 0],
        function.predict([[0.5, 1e6]])[0] - pkex.Explainer(function).expected_value,
        rtol=1e-12,
    )


# --- what a newcomer would take it to say ---


def test_features_of_no_effect_and_constant_offsets_do_not_lead():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 4))
    model = KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1)
    model.fit(data, 3.0 * data[:, 0] + data[:, 1] + 10.0 + 0.1 * rng.normal(size=300))
    importance = pkex.Explainer(model)(data).importance()
    assert importance[0] > 2.0 * importance[1]
    assert importance[1] > 5.0 * importance[2:].max()


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return SVR(C=100.0), StandardScaler().fit_transform(X), y


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return SVC(C=1.0), StandardScaler().fit_transform(X), y


def friedman():
    X, y = make_friedman1(300, random_state=0)
    return KernelRidge(kernel="rbf", gamma=1.0, alpha=0.1), X, y


def friedman_gp():
    X, y = make_friedman1(200, random_state=1)
    kernel = ConstantKernel(100.0) * GPRBF(np.full(10, 1.5)) + WhiteKernel(1.0)
    return GaussianProcessRegressor(kernel, normalize_y=True, optimizer=None), X, y


@pytest.mark.parametrize("problem", [diabetes, breast_cancer, friedman, friedman_gp])
def test_default_values_rank_features_as_interventional_ones_do(problem):
    model, data, target = problem()
    model.fit(data, target)
    rows = data[::10][:30]
    background = data[np.random.default_rng(0).choice(len(data), 100, replace=False)]
    default = pkex.Explainer(model).shap_values(rows)
    reference = pkex.Explainer(model, background).shap_values(rows)
    neutral = pkex.Explainer(model, value_function="neutral").shap_values(rows)
    agreement = mean_rank_correlation(default, reference)
    assert agreement > 0.9
    assert agreement > mean_rank_correlation(neutral, reference)


def mean_rank_correlation(first, second):
    """The mean over rows of the rank correlation of two tables of values."""
    return np.mean([spearmanr(a, b).statistic for a, b in zip(first, second, strict=True)])
