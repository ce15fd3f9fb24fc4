"""The variance of scikit-learn's Gaussian processes, by brute force through their own predict."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, interventional, marginal
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    SCALES,
    THREE,
    TWO,
    WIDER,
    D,
    X,
    Y,
    classifier,
    fitted,
    total,
)
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import VotingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex
from pkex.functions.gaussian_process import latent, pairs, variance
from pkex.games.indices import Index

BACKGROUND = X[10:15] + 0.1 * SCALES
TARGETS = np.column_stack([1e6 * Y + 1e7, 1e-6 * Y**2, 3.0 - Y])


def own_variance(model):
    """What scikit-learn says, with the noise of WhiteKernel."""
    return lambda rows: model.predict(rows, return_std=True)[1] ** 2


def latent_variance(model):
    """The same, less what the kernel of a row with itself has more than with an equal row."""
    noise = model.kernel_.diag(ROWS)[0] - model.kernel_(ROWS, ROWS.copy())[0, 0]
    return lambda rows: own_variance(model)(rows) - noise * model._y_train_std**2


@pytest.mark.parametrize("name", KERNELS)
def test_interventional_values_equal_brute_force_through_predict(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    for target, output in (
        ("variance", latent_variance(model)),
        ("predictive_variance", own_variance(model)),
    ):
        explainer = pkex.Explainer(model, BACKGROUND, target=target)
        for row, found in zip(ROWS, explainer(ROWS), strict=True):
            reference, base = interventional(output, row, BACKGROUND)
            reference.assert_close(found.values, 1e-9)
            # The variance of the kernel of noise alone is 0.
            np.testing.assert_allclose(found.base_values, base, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", ["the usual", "sum", "power of a sum", "noise in a product"])
def test_marginal_values_equal_brute_force_over_all_rows_that_combine_entries(name):
    model, few = fitted(KERNELS[name], alpha=1e-3), BACKGROUND[:3]
    explainer = pkex.Explainer(model, few, target="variance", value_function="marginal")
    for row, found in zip(ROWS, explainer(ROWS), strict=True):
        reference, base = marginal(latent_variance(model), row, few)
        reference.assert_close(found.values, 1e-9)
        np.testing.assert_allclose(found.base_values, base, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", KERNELS)
def test_values_and_base_add_up_to_the_models_own_variance(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    own = latent_variance(model)(ROWS)
    for game in ({"background": BACKGROUND}, {"value_function": "neutral"}):
        found = total(pkex.Explainer(model, target="variance", **game)(ROWS))
        np.testing.assert_allclose(found, own, rtol=0, atol=1e-9 * np.abs(own).max() + 1e-15)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("target", [1e6 * Y + 1e7, Y[:, None], TARGETS])
def test_variances_are_in_squared_units_of_y(target, normalize_y):
    model = fitted(KERNELS["the usual"], target, normalize_y=normalize_y)
    found = total(pkex.Explainer(model, target="predictive_variance")(ROWS))
    own = np.squeeze(own_variance(model)(ROWS))
    assert found.shape == model.predict(ROWS).shape
    np.testing.assert_allclose(found, own, rtol=1e-9)


def test_selected_outputs_keep_their_units():
    model = fitted(KERNELS["the usual"], TARGETS, normalize_y=True)
    every = pkex.Explainer(model, BACKGROUND, target="variance").shap_values(ROWS)
    selected = pkex.Explainer(model, BACKGROUND, target="variance", outputs=[2, 0])
    np.testing.assert_array_equal(selected.shap_values(ROWS), every[..., [2, 0]])


def test_the_noise_is_in_the_base_value_alone():
    model = fitted(KERNELS["the usual"], normalize_y=True)
    latent, predictive = (
        pkex.Explainer(model, BACKGROUND, target=target)
        for target in ("variance", "predictive_variance")
    )
    np.testing.assert_array_equal(latent.shap_values(ROWS), predictive.shap_values(ROWS))
    noise = predictive.expected_value - latent.expected_value
    assert noise == pytest.approx(0.1 * model._y_train_std**2)
    least, most = (way.interactions(ROWS, index="BII").empty_values for way in (latent, predictive))
    np.testing.assert_allclose(most - least, noise, rtol=1e-9)


@pytest.mark.parametrize(
    ("target", "name"), [("variance", "variance"), ("predictive_variance", "predictive variance")]
)
def test_explanations_say_which_variance_they_are_of(target, name):
    explanation = pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND, target=target)(ROWS)
    assert explanation.output_name == name
    assert f"output '{name}'" in repr(explanation)
    assert pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND)(ROWS).output_name is None


def test_a_column_that_the_kernel_hardly_sees_has_hardly_a_value():
    scales = SCALES * np.array([1.0, 1.0, 1e9, 1.0, 1.0])
    model = fitted(ConstantKernel(2.0) * RBF(scales) + NOISE)
    values = pkex.Explainer(model, target="variance").shap_values(ROWS)
    assert np.abs(values[:, 2]).max() < 1e-12 < 1e-3 < np.abs(values[:, 3]).max()


def test_interactions_and_groups_add_up_to_the_variance():
    model = fitted(KERNELS["the usual"])
    own = latent_variance(model)(ROWS)
    explainer = pkex.Explainer(model, BACKGROUND, target="variance", groups={"two": [0, 3]})
    found = explainer.interactions(ROWS, order=2)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, own, rtol=1e-9)
    assert explainer.feature_names == ["two", "x1", "x2", "x4"]


def test_a_pipeline_is_explained_in_its_own_columns():
    model = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE)).fit(X, Y)
    search = GridSearchCV(model, {}, cv=2).fit(X, Y)
    for fit in (model, search):
        last = model[-1] if fit is model else search.best_estimator_[-1]
        before = model[:-1] if fit is model else search.best_estimator_[:-1]
        output = latent_variance_of(last, before)
        explainer = pkex.Explainer(fit, BACKGROUND, target="variance")
        assert_explained(explainer, output, ROWS, BACKGROUND, 1e-9)


def latent_variance_of(last, before):
    noise = last.kernel_.k2.noise_level
    return lambda rows: own_variance(last)(before.transform(rows)) - noise


# --- classifiers ---


def latent_variance_of_machine(machine):
    """Rasmussen & Williams, algorithm 3.2, by the inverse of K + W⁻¹."""
    kernel = machine.kernel_(machine.X_train_) + np.diag(machine.W_sr_**-2.0)
    # Noise is of a training row only.
    noise = machine.kernel_.k2.noise_level

    def variance(rows):
        cross = machine.kernel_(rows, machine.X_train_)
        explained = np.sum(cross * np.linalg.solve(kernel, cross.T).T, axis=1)
        return machine.kernel_.diag(rows) - noise - explained

    return variance


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
def test_latent_variances_of_classifiers_equal_brute_force(target, multi_class):
    model = classifier(multi_class=multi_class).fit(X, target)
    base = model.base_estimator_
    machines = getattr(base, "estimators_", [base])
    explainer = pkex.Explainer(model, BACKGROUND, target="variance")
    values = explainer.shap_values(ROWS).reshape(len(ROWS), D, len(machines))
    assert explainer.output_names == pkex.Explainer(model, BACKGROUND).output_names
    for output, machine in enumerate(machines):
        for row, found in zip(ROWS, values[..., output], strict=True):
            reference, _ = interventional(latent_variance_of_machine(machine), row, BACKGROUND)
            reference.assert_close(found, 1e-9)


# --- the standard deviation ---


@pytest.mark.parametrize("name", ["the usual", "sum", "matern", "power of a sum"])
def test_standard_deviations_equal_brute_force_through_predict(name):
    model = fitted(KERNELS[name], alpha=1e-3, normalize_y=True)
    variance = latent_variance(model)
    explainer = pkex.Explainer(model, BACKGROUND, target="std")
    assert_explained(explainer, lambda rows: np.sqrt(variance(rows)), ROWS, BACKGROUND, 1e-9)
    assert explainer.output_name == "standard deviation"


def test_an_upper_bound_adds_up_of_the_mean_and_the_standard_deviation():
    model = fitted(KERNELS["sum"], TARGETS, normalize_y=True)
    mean, deviation = (
        total(pkex.Explainer(model, BACKGROUND, target=target)(ROWS)) for target in ("mean", "std")
    )
    own_mean, own_deviation = model.predict(ROWS, return_std=True)
    noise = 0.1 * model._y_train_std**2
    own = own_mean + 2.0 * np.sqrt(own_deviation**2 - noise)
    np.testing.assert_allclose(mean + 2.0 * deviation, own, rtol=1e-10)


def test_standard_deviations_of_pipelines_and_classifiers_are_roots_of_their_variances():
    pipeline = make_pipeline(StandardScaler(), GaussianProcessRegressor(RBF(2.0) + NOISE))
    for model in (pipeline.fit(X, Y), classifier().fit(X, TWO), classifier().fit(X, THREE)):
        squares, roots = (
            pkex.Explainer(model, BACKGROUND, target=target)(ROWS) for target in ("variance", "std")
        )
        np.testing.assert_allclose(total(roots) ** 2, total(squares), rtol=1e-10)
        if roots.output_name != "standard deviation":
            assert roots.output_names == squares.output_names


def test_standard_deviations_are_of_processes_alone():
    model = SVR().fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="target='std' needs a Gaussian process"):
        pkex.Explainer(model, target="std")


def test_standard_deviations_are_not_for_the_neutral_game_nor_for_many_features():
    model = fitted(KERNELS["the usual"])
    with pytest.raises(
        ValueError, match=r"is not available for target=.std.: .* is not a variance"
    ):
        pkex.Explainer(model, target="std", value_function="neutral")
    rows = np.random.default_rng(0).normal(size=(20, 21))
    wide = GaussianProcessRegressor(RBF(3.0) + NOISE, optimizer=None).fit(rows, rows[:, 0])
    explainer = pkex.Explainer(wide, rows[:3], target="std")
    with pytest.raises(
        ValueError, match=r"supports up to 20 features.*Explainer\(\.\.\.\)\.estimate"
    ):
        explainer(rows[:1])
    estimate = explainer.estimate(rows[3:4], n_permutations=20, random_state=0)
    own = np.sqrt(own_variance(wide)(rows[3:4]) - 0.1)
    np.testing.assert_allclose(estimate.values.sum() + estimate.base_values, own, rtol=1e-9)


# --- degenerate and refused ---


def test_a_process_of_one_row_is_explained():
    model = GaussianProcessRegressor(RBF(1.0), alpha=0.5, optimizer=None).fit([[0.0, 1.0]], [1.0])
    rows = np.array([[0.3, 0.0], [0.0, 1.0]])
    explanation = pkex.Explainer(model, [[2.0, 2.0]], target="variance")(rows)
    np.testing.assert_allclose(total(explanation), own_variance(model)(rows), rtol=1e-12)


def test_a_column_of_one_entry_has_values_of_exactly_zero():
    rows = X.copy()
    rows[:, 2] = 20.0
    kernel = ConstantKernel(2.0) * RBF(ARD) + NOISE
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(rows, Y)
    for game in ({"background": rows[:5]}, {}):
        values = pkex.Explainer(model, target="variance", **game).shap_values(rows[:3])
        assert np.all(values[:, 2] == 0.0)
        assert np.all(values[:, 3] != 0.0)


def test_an_unknown_target_is_refused_by_name():
    with pytest.raises(ValueError, match="target must be one of 'mean', 'variance'"):
        pkex.Explainer(fitted(KERNELS["ard"], alpha=0.1), target="entropy")


@pytest.mark.parametrize("target", [Y, Y.tolist(), pd.Series(Y), 1.0])
def test_a_target_that_is_no_word_is_refused_with_the_reason(target):
    with pytest.raises(TypeError, match=r"one of 'mean', .*does not need the targets"):
        pkex.Explainer(fitted(KERNELS["ard"], alpha=0.1), BACKGROUND, target=target)


def test_the_mean_is_what_is_explained_without_a_target():
    model = fitted(KERNELS["the usual"])
    by_default, named = pkex.Explainer(model), pkex.Explainer(model, target="mean")
    np.testing.assert_array_equal(by_default.shap_values(ROWS), named.shap_values(ROWS))
    assert repr(by_default) == repr(named)


@pytest.mark.parametrize("target", [Y, Y[:, None], np.column_stack([Y, -3.0 * Y])])
def test_variances_are_in_squared_units_of_a_scaled_target(target):
    process = GaussianProcessRegressor(RBF(1.5) + NOISE, optimizer=None)
    whole = TransformedTargetRegressor(process, transformer=StandardScaler())
    model = make_pipeline(StandardScaler(), whole).fit(X, target)
    whole, rows = model[-1], model[0].transform(ROWS)
    own = whole.regressor_.predict(rows, return_std=True)[1].reshape(len(rows), -1)
    explanation = pkex.Explainer(model, BACKGROUND, target="predictive_variance")(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    expected = (own * whole.transformer_.scale_) ** 2
    np.testing.assert_allclose(total.reshape(expected.shape), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        SVR(),
        VotingRegressor([("process", GaussianProcessRegressor(alpha=0.1))]),
        # The pipeline's output is that of its last step, which is a sum of others.
        make_pipeline(
            StandardScaler(), VotingRegressor([("process", GaussianProcessRegressor(alpha=0.1))])
        ),
    ],
    ids=["svr", "sum", "pipeline of one"],
)
def test_models_of_which_no_variance_is_known_are_refused(model):
    rows = X / SCALES
    for target in ("variance", "predictive_variance", "mean"):
        with pytest.raises(
            pkex.UnsupportedModelError, match=r"the (variance|posterior) of .* is unknown"
        ):
            pkex.Explainer(model.fit(rows, Y), rows[:3], target=target)


def test_noise_that_varies_from_row_to_row_is_refused():
    model = fitted(DotProduct() * NOISE + RBF(ARD), alpha=1.0)
    with pytest.raises(pkex.UnsupportedModelError, match="differs from row to row"):
        pkex.Explainer(model, BACKGROUND, target="variance")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (DotProduct() + NOISE, "differs between rows, .* for up to 16 features"),
        (KERNELS["product of materns"], "sum over pairs of 60 points times"),
    ],
    ids=["dot product", "too many products"],
)
def test_variances_that_are_no_sum_over_pairs_ask_for_a_background(kernel, message):
    model = fitted(kernel, alpha=1.0)
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=f"{message}.*[Pp]ass a background, for value_function='interventional'",
    ):
        pkex.Explainer(model, target="variance")


def test_classes_have_no_noise_to_predict():
    model = classifier().fit(X, TWO)
    with pytest.raises(pkex.UnsupportedModelError, match="of a classifier has no noise"):
        pkex.Explainer(model, target="predictive_variance")


def test_sums_that_cancel_too_far_are_refused_with_numbers_and_need_not_be_formed():
    rows = np.linspace(0.0, 1.0, 40)[:, None] * [1.0, 2.0]
    model = GaussianProcessRegressor(RBF(1.0), optimizer=None).fit(rows, rows[:, 0])
    with pytest.raises(pkex.UnsupportedModelError, match=r"rounding errors would be \de-04 of"):
        pkex.Explainer(model, target="variance")
    explainer = pkex.Explainer(model, rows[::8], target="variance")
    new = rows[:3] + 0.01
    reference, _base = interventional(own_variance(model), new[0], rows[::8])
    np.testing.assert_allclose(explainer.shap_values(new)[0], reference.values, atol=1e-9)
    noisy = GaussianProcessRegressor(RBF(1.0), alpha=1e-3, optimizer=None).fit(rows, rows[:, 0])
    found = total(pkex.Explainer(noisy, target="variance")(new))
    np.testing.assert_allclose(found, own_variance(noisy)(new), atol=1e-9)


def process_of_a_hidden_cluster():
    """A process of 600 rows, of which 35 are nearly the same; and a row among these."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(600, 3)) * 30.0
    rows[2:37] = rows[2] + 1e-3 * rng.normal(size=(35, 3))
    model = GaussianProcessRegressor(RBF(4.0), optimizer=None).fit(rows, np.sin(rows[:, 0]))
    return model, rows, rows[[2]] + 3e-4


def test_a_few_nearly_dependent_rows_among_many_are_found():
    model, rows, new = process_of_a_hidden_cluster()
    for background in (rows[3:9], rows[100:106]):
        with pytest.raises(pkex.UnsupportedModelError, match=r"errors would be 2e-04 of the prior"):
            pkex.Explainer(model, background, target="variance", value_function="marginal")
        explanation = pkex.Explainer(model, background, target="variance")(new)
        np.testing.assert_allclose(total(explanation), own_variance(model)(new), atol=1e-14)


def test_rounding_errors_are_bounded_at_background_rows(monkeypatch):
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    model = GaussianProcessRegressor(RBF(1.5), alpha=0.01, optimizer=None).fit(ring, angles)
    # Between the bound in the ring's center, which is near all rows, and that on the ring.
    monkeypatch.setattr(pairs, "_MAX_ROUNDING", 1.95e-13)
    options = {"target": "variance", "value_function": "marginal"}
    assert pkex.Explainer(model, ring, **options)
    with pytest.raises(pkex.UnsupportedModelError, match=r"errors would be 2e-13 of the prior"):
        pkex.Explainer(model, [[0.0, 0.0]], **options)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("game", ["neutral", "marginal"])
def test_errors_are_relative_to_the_prior_variance(game, scale):
    rows = np.random.default_rng(0).normal(size=(30, 17))
    values = []
    for unit in (1.0, scale):
        model = GaussianProcessRegressor(
            ConstantKernel(unit) * RBF(5.0), alpha=0.1 * unit, optimizer=None
        ).fit(rows, rows[:, 0])
        explainer = pkex.Explainer(model, target="variance", value_function=game)
        values.append(explainer.shap_values(rows[:2] + 0.5) / unit)
    np.testing.assert_allclose(values[1], values[0], rtol=0, atol=1e-12)


def test_values_that_do_not_add_up_to_the_variance_are_refused_with_both(monkeypatch):
    model, rows, new = process_of_a_hidden_cluster()
    # As if the bound were too low.
    monkeypatch.setattr(pairs.VarianceReduction, "are_exact", lambda *_: True)
    options = {"target": "variance", "value_function": "marginal"}
    explainer = pkex.Explainer(model, rows[100:106], **options)
    message = r"row 1 the base value and the values add up to \S+ but the variance is 1\.\d+e-11"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        explainer.shap_values(np.concatenate([rows[[200]], new]))
    with pytest.raises(pkex.UnsupportedModelError, match=r"errors in row 0 would be 2e-04 of"):
        explainer.interactions(new, index="FSII", order=2)


def test_a_factor_changed_after_fitting_is_noticed():
    model = fitted(ConstantKernel(2.0) * RBF(WIDER) + WhiteKernel(0.5))
    model.L_ = 1.01 * model.L_
    model.alpha_ = model.alpha_ / 1.01**2
    with pytest.raises(pkex.UnsupportedModelError):
        pkex.Explainer(model, target="variance")


# --- both ways ---


def of_dot_products():
    rows = X / SCALES - 20.0
    kernel = ConstantKernel(0.3) * DotProduct(0.5) + RBF(2.0) * DotProduct() ** 2 + NOISE
    return GaussianProcessRegressor(kernel, optimizer=None).fit(rows, Y), rows


def test_interventional_variances_under_dot_products_equal_brute_force():
    model, rows = of_dot_products()

    def output(rows):
        return own_variance(model)(rows) - 0.1

    explainer = pkex.Explainer(model, rows[:4], target="variance", groups={"two": [0, 3]})
    players = [[0, 3], [1], [2], [4]]
    assert_explained(explainer, output, rows[4:6], rows[:4], 1e-9, groups=players)


def test_interventional_variances_of_more_features_equal_brute_force():
    rows = np.random.default_rng(0).normal(size=(40, 8))
    kernel = ConstantKernel(2.0) * RBF(np.arange(1.0, 9.0)) + ConstantKernel(0.5) + NOISE
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(rows, rows[:, 0])

    def output(rows):
        return own_variance(model)(rows) - 0.1

    explainer = pkex.Explainer(model, rows[:3], target="variance")
    assert_explained(explainer, output, rows[5:6] + 0.3, rows[:3], 1e-9)


@pytest.mark.parametrize("kind", ["dot products", "nearly dependent rows"])
def test_all_coalitions_are_evaluated_if_sums_over_fewer_pairs_are_not_exact(kind):
    rows = np.random.default_rng(0).normal(size=(20, 10))
    kernel, alpha = DotProduct(), 0.1
    if kind == "nearly dependent rows":
        rows, kernel, alpha = np.linspace(0.0, 1.0, 20)[:, None] * rows[0], RBF(3.0), 1e-10
    model = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(rows, rows[:, 0])
    background, row = rows[:2] + 0.1, rows[9] - 0.2
    reference, _ = interventional(own_variance(model), row, background)
    found = pkex.Explainer(model, background, target="variance").shap_values(row[None])
    np.testing.assert_allclose(found[0], reference.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize("game", ["interventional", "neutral"])
@pytest.mark.parametrize("groups", [None, {"two": [0, 3]}], ids=["columns", "groups"])
def test_coalition_by_coalition_and_pair_by_pair_are_the_same(monkeypatch, game, groups):
    model = fitted(KERNELS["sum"], alpha=1e-3)
    options = {"target": "predictive_variance", "value_function": game, "groups": groups}
    if game == "interventional":
        options["background"] = BACKGROUND
    by_coalitions = pkex.Explainer(model, **options)
    monkeypatch.setattr(variance, "MAX_PLAYERS", 0)
    by_pairs = pkex.Explainer(model, **options)
    assert by_pairs.expected_value == pytest.approx(by_coalitions.expected_value, rel=1e-11)
    for index in get_args(Index):
        ways = []
        for explainer, most in ((by_coalitions, 16), (by_pairs, 0)):
            monkeypatch.setattr(variance, "MAX_PLAYERS", most)
            ways.append(explainer.interactions(ROWS, index=index, order=3))
        np.testing.assert_allclose(ways[0].values, ways[1].values, rtol=0, atol=1e-11)
        for base in ("base_values", "empty_values"):
            found, expected = (getattr(way, base) for way in ways)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("game", ["interventional", "neutral"])
def test_progress_is_told_within_a_row(game):
    rows = np.random.default_rng(0).normal(size=(20, 12))
    model = GaussianProcessRegressor(Matern(3.0, nu=2.5), alpha=0.1, optimizer=None)
    model.fit(rows, rows[:, 0])
    options = {"background": rows[:2]} if game == "interventional" else {"value_function": game}
    shares = []
    explainer = pkex.Explainer(model, target="variance", **options)
    explainer(rows[3:4], progress=lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    assert len(shares) > 3
    assert shares[-1] == 1.0


def test_too_many_pairs_and_background_rows_are_refused_with_their_number(monkeypatch):
    model = fitted(KERNELS["the usual"])
    monkeypatch.setattr(pairs, "_MAX_GAMES", 60 * 61 // 2 * 4)
    options = {"target": "variance", "value_function": "marginal"}
    assert pkex.Explainer(model, BACKGROUND[:4], **options)
    message = r"60 points times 1 product .* times 5 background rows: 9\.2e\+03 games for each row"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model, BACKGROUND, **options)
    # Means of Gaussians do not take longer with more rows.
    monkeypatch.setattr(pairs, "_NODES", 4)
    assert pkex.Explainer(model, BACKGROUND, **options)
    monkeypatch.setattr(pairs, "_MAX_GAMES", 60 * 61 // 2)
    with pytest.raises(pkex.UnsupportedModelError, match=r"times 4 nodes for the means over"):
        pkex.Explainer(model, BACKGROUND, **options)


def test_means_that_are_not_of_gaussians_of_single_columns_count_all_rows(monkeypatch):
    model, message = fitted(KERNELS["the usual"]), "times 5 background rows"
    process = GaussianProcessRegressor(Matern(nu=2.5), alpha=0.1, optimizer=None)
    of_one_column = process.fit(X[:, 2:3], Y)
    monkeypatch.setattr(pairs, "_NODES", 4)
    monkeypatch.setattr(pairs, "_MAX_GAMES", 60 * 61 // 2 * 4)
    monkeypatch.setattr(variance, "MAX_PLAYERS", 0)
    options = {"target": "variance", "value_function": "marginal"}
    assert pkex.Explainer(model, BACKGROUND, **options)
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model, BACKGROUND, groups={"two": [0, 3]}, **options)
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(of_one_column, BACKGROUND[:, 2:3], **options)
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model, BACKGROUND, target="variance")


@pytest.mark.parametrize("kernel", ["matern", "the usual"])
def test_blocks_of_background_rows_and_coalitions_do_not_change_values(monkeypatch, kernel):
    model = fitted(KERNELS[kernel])
    explainer = pkex.Explainer(model, BACKGROUND, target="variance")
    expected, base = explainer.shap_values(X[:2]), explainer.expected_value
    monkeypatch.setattr(latent, "_TILE", 2 * 60)
    monkeypatch.setattr(latent, "_BLOCK", 6)
    in_parts = pkex.Explainer(model, BACKGROUND, target="variance")
    np.testing.assert_allclose(in_parts.shap_values(X[:2]), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(in_parts.expected_value, base, rtol=0, atol=1e-14)


def test_neutral_worths_are_solved_for_together(monkeypatch):
    model = fitted(KERNELS["matern"])
    explainer = pkex.Explainer(model, target="variance", value_function="neutral")
    calls, solve = [], latent.solve_lower

    def counted(*args, **options):
        calls.append(args)
        return solve(*args, **options)

    monkeypatch.setattr(latent, "solve_lower", counted)
    explainer.shap_values(ROWS)
    assert len(calls) == len(ROWS)
