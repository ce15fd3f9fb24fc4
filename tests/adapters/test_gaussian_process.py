"""scikit-learn's Gaussian processes: kernels, units, outputs, signs and names, by brute force."""

import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import coalitions, shapley_weights, weighted_games
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    Product,
    RationalQuadratic,
    Sum,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge

import pkex
from pkex.adapters import adapt, verify
from pkex.adapters.sklearn import gp_kernels

D = 5
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(60, D)) + 20.0  # far from the origin, compared with its spread
Z[40:50] = Z[:10]  # repeated rows
SCALES = np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
X = Z * SCALES
Y = np.sin(Z - 20.0).sum(axis=1) + 0.1 * RNG.normal(size=60)
TARGETS = np.column_stack([1e6 * Y + 1e7, 1e-6 * Y**2, 3.0 - Y])
TWO = np.where(Y > 0.0, "yes", "no")
THREE = np.digitize(Y, [-0.7, 0.7])
NAMED = np.array(["low", "middle", "high"])[THREE]
# New rows, and one that is a training row.
ROWS = np.concatenate([X[:2] + 0.3 * SCALES, X[7:8]])

ARD = SCALES * np.array([0.5, 1.0, 2.0, 4.0, 8.0])
WIDER = SCALES * np.array([3.0, 2.0, 5.0, 1.0, 2.0])
NOISE = WhiteKernel(0.1)

KERNELS = {
    "ard": RBF(ARD),
    "the usual": ConstantKernel(2.0) * RBF(ARD) + NOISE,
    "sum": ConstantKernel(2.0) * RBF(ARD) + RBF(WIDER) * ConstantKernel(0.1) + NOISE,
    "product": RBF(ARD) * RBF(WIDER) * ConstantKernel(1e-3) + WhiteKernel(1e-3),
    "constant": RBF(ARD) + ConstantKernel(4.0) + NOISE,
    "constant of zero": RBF(ARD) + ConstantKernel(0.0) * RBF(WIDER) + NOISE,
    "noise in a product": (RBF(ARD) + NOISE) * (RBF(WIDER) + WhiteKernel(0.5)),
    "noise alone in a product": RBF(ARD) + NOISE * RBF(WIDER),
    "noise in a power": (ConstantKernel(0.5) * RBF(ARD) + ConstantKernel(0.2) + NOISE) ** 3,
    "power of a sum": (RBF(ARD) + ConstantKernel(0.3) * RBF(WIDER)) ** 2 + NOISE,
    "power of a power": ((RBF(ARD) + ConstantKernel(0.5)) ** 2) ** 2 + NOISE,
    "root of a product": (ConstantKernel(2.0) * RBF(ARD) * RBF(WIDER) ** 2) ** 0.5 + NOISE,
    "power of zero": RBF(ARD) + (RBF(ARD) + NOISE) ** 0 + NOISE,
    "constant and noise": ConstantKernel(3.0) + NOISE,
    "noise": NOISE,
    "noise in all products": NOISE * RBF(ARD) + NOISE**2,
}


def on_columns(kernel, members):
    """The kernel of some columns alone: length-scales of the others are left out."""
    if isinstance(kernel, RBF):
        scales = np.broadcast_to(kernel.length_scale, D)[members]
        return RBF(scales) if members else ConstantKernel(1.0)
    if isinstance(kernel, Exponentiation):
        return Exponentiation(on_columns(kernel.kernel, members), kernel.exponent)
    if isinstance(kernel, (Sum, Product)):
        return type(kernel)(on_columns(kernel.k1, members), on_columns(kernel.k2, members))
    return kernel


def brute_force(kernel, row, points, coefficients):
    """Neutral game of Σ_i coefficients_i · kernel(row, points_i), by scikit-learn's own kernel."""
    games = np.empty((2**D, len(points)))
    for number, members in enumerate(coalitions(D)):
        games[number] = on_columns(kernel, members)(row[None, members], points[:, members])[0]
    reference = weighted_games(games, coefficients, shapley_weights(D))
    return reference, games[0] @ coefficients


def total(explanation):
    return explanation.values.sum(axis=1) + explanation.base_values


def fitted(kernel, target=Y, **options):
    with np.errstate(divide="ignore"):  # the logarithm of a constant of 0
        return GaussianProcessRegressor(kernel, optimizer=None, **options).fit(X, target)


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_with_the_models_own_kernel_and_alpha(name, method):
    model = fitted(KERNELS[name], alpha=1e-3)
    explanation = pkex.Explainer(model, method=method, value_function="neutral")(ROWS)
    for row, values, base in zip(ROWS, explanation.values, explanation.base_values, strict=True):
        reference, empty = brute_force(model.kernel_, row, model.X_train_, model.alpha_)
        reference.assert_close(values)
        assert abs(base - empty) <= 1e-10 * (abs(empty) + np.abs(model.alpha_).sum())


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("target", [1e6 * Y + 1e7, 1e-6 * Y - 1e-5, Y[:, None], TARGETS])
def test_values_are_in_units_of_y(target, normalize_y):
    model = fitted(KERNELS["the usual"], target, normalize_y=normalize_y)
    values = pkex.Explainer(model, value_function="neutral").shap_values(ROWS)
    deviation = target.std(axis=0) if normalize_y else np.ones(target.shape[1:])
    coefficients = model.alpha_ * deviation
    if target.ndim == 2 and target.shape[1] == 1:
        coefficients = coefficients[:, 0]
    for row, found in zip(ROWS, values, strict=True):
        brute_force(model.kernel_, row, model.X_train_, coefficients)[0].assert_close(found)


@pytest.mark.parametrize("normalize_y", [False, True])
@pytest.mark.parametrize("target", [1e6 * Y + 1e7, 1e-6 * Y - 1e-5, Y[:, None], TARGETS])
@pytest.mark.parametrize("name", KERNELS)
def test_values_and_base_add_up_to_the_prediction(name, target, normalize_y):
    model = fitted(KERNELS[name], target, alpha=1e-3, normalize_y=normalize_y)
    for rows in (X, ROWS):
        explanation = pkex.Explainer(model)(rows)
        own = model.predict(rows)
        assert explanation.base_values.shape == own.shape
        np.testing.assert_allclose(
            total(explanation), own, rtol=0, atol=1e-9 * np.abs(target).max()
        )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("length_scale", [1.5, [1.5]])
def test_isotropic_kernels_at_any_scale_equal_brute_force(scale, length_scale):
    kernel = ConstantKernel(3.0) * RBF(scale * np.array(length_scale)) + NOISE
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(scale * Z, Y)
    rows = scale * (Z[:2] + 0.3)
    explanation = pkex.Explainer(model, value_function="neutral")(rows)
    np.testing.assert_allclose(total(explanation), model.predict(rows), rtol=0, atol=1e-10)
    for row, values in zip(rows, explanation.values, strict=True):
        brute_force(model.kernel_, row, model.X_train_, model.alpha_)[0].assert_close(values)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_tuned_models_and_the_default_kernel_are_explained():
    tuned = ConstantKernel() * RBF(np.ones(D)) + WhiteKernel()
    for kernel in (None, tuned):
        model = GaussianProcessRegressor(kernel, normalize_y=True, alpha=1e-6).fit(Z, Y)
        explanation = pkex.Explainer(model)(Z)
        np.testing.assert_allclose(total(explanation), model.predict(Z), rtol=0, atol=1e-6)


def test_a_new_row_equal_to_a_training_row_has_no_noise_in_common_with_it():
    model = fitted(RBF(ARD) + WhiteKernel(100.0))
    base = pkex.Explainer(model, value_function="neutral").expected_value
    assert base == pytest.approx(model.alpha_.sum())
    np.testing.assert_allclose(
        total(pkex.Explainer(model, value_function="neutral")(X)),
        RBF(ARD)(X, X) @ model.alpha_,
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize("kernel", [NOISE, ConstantKernel(2.0) + NOISE])
def test_without_a_kernel_of_the_features_all_is_in_the_base(kernel):
    model = fitted(kernel, TARGETS, normalize_y=True)
    explanation = pkex.Explainer(model)(ROWS)
    assert explanation.values.shape == (3, D, 3)
    assert np.all(explanation.values == 0.0)
    np.testing.assert_allclose(explanation.base_values, model.predict(ROWS), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "terms"),
    [
        (ConstantKernel(2.0) * RBF(ARD) + NOISE, 1),
        ((RBF(ARD) + NOISE) * (RBF(WIDER) + NOISE), 1),
        (RBF(ARD) + ConstantKernel(3.0) * RBF(ARD), 1),
        (RBF(ARD) * RBF(WIDER) + RBF(WIDER) * RBF(ARD), 1),
        ((RBF(ARD) + RBF(WIDER) + NOISE) ** 4, 5),
        ((RBF(ARD) + ConstantKernel(1.0)) ** 2 * (RBF(ARD) + NOISE), 3),
        (ConstantKernel(1.0) + ConstantKernel(2.0) ** 2 + RBF(ARD), 2),
    ],
    ids=str,
)
def test_equal_products_are_merged(kernel, terms):
    found = adapt(fitted(kernel, alpha=1.0)).expansion.kernel.terms(D)
    assert len(found) == terms
    assert all(len(term.factors) <= 1 for term in found)


def test_length_scales_are_taken_over_to_the_last_bit():
    model = fitted(ConstantKernel(2.0) * RBF(ARD) + NOISE)
    own = model.kernel_.k1.k2.length_scale
    assert pkex.Explainer(model)
    assert adapt(model).expansion.kernel.kernel == pkex.kernels.RBF(own)


def test_products_of_extreme_length_scales_neither_overflow_nor_vanish():
    kernel = RBF(1e-160 * ARD) * RBF(1e160 * ARD) + RBF(ARD) + NOISE
    read = gp_kernels.kernel_to_training_points(kernel, D, "the model")
    scales = {term.factors[0].parameters[0, 0] for term in read.terms(D)}
    assert scales == {1e-160 * ARD[0], ARD[0]}


# --- classifiers ---


def latent(machine, rows):
    """As in `latent_mean_and_variance` of scikit-learn ≥ 1.7."""
    return machine.kernel_(machine.X_train_, rows).T @ (machine.y_train_ - machine.pi_)


def classifier(kernel=None, **options):
    kernel = ConstantKernel(4.0) * RBF(ARD) + NOISE if kernel is None else kernel
    return GaussianProcessClassifier(kernel, optimizer=None, **options)


def assert_values_equal_brute_force(machines, values, sign=1.0):
    for row, found in zip(ROWS, values, strict=True):
        for output, machine in enumerate(machines):
            coefficients = sign * (machine.y_train_ - machine.pi_)
            reference, _ = brute_force(machine.kernel_, row, machine.X_train_, coefficients)
            reference.assert_close(found[:, output])


@pytest.mark.parametrize("name", ["ard", "the usual", "constant", "power of a sum", "noise"])
def test_latent_means_of_two_classes_equal_brute_force(name):
    model = classifier(KERNELS[name]).fit(X, TWO)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    assert explanation.output_names is None
    assert_values_equal_brute_force([model.base_estimator_], explanation.values[..., None])
    np.testing.assert_allclose(
        total(explanation), latent(model.base_estimator_, ROWS), rtol=0, atol=1e-10
    )


def test_latent_means_of_two_classes_are_scikit_learns_own():
    model = classifier().fit(X, TWO)
    if not hasattr(model, "latent_mean_and_variance"):
        pytest.skip("scikit-learn < 1.7")
    own, _ = model.latent_mean_and_variance(X)
    np.testing.assert_allclose(total(pkex.Explainer(model)(X)), own, rtol=0, atol=1e-10)


def test_latent_means_of_two_classes_are_positive_for_the_second():
    model = classifier().fit(X, TWO)
    assert list(model.classes_) == ["no", "yes"]
    latent_means = total(pkex.Explainer(model)(X))
    np.testing.assert_array_equal(latent_means > 0.0, model.predict(X) == "yes")
    np.testing.assert_array_equal(latent_means > 0.0, model.predict_proba(X)[:, 1] > 0.5)


@pytest.mark.parametrize("target", [THREE, NAMED], ids=["numbers", "strings"])
def test_one_vs_rest_has_an_output_for_each_class_positive_for_it(target):
    model = classifier().fit(X, target)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    assert explanation.output_names == [str(label) for label in model.classes_]
    machines = model.base_estimator_.estimators_
    assert_values_equal_brute_force(machines, explanation.values)
    own = np.column_stack([latent(machine, ROWS) for machine in machines])
    np.testing.assert_allclose(total(explanation), own, rtol=0, atol=1e-10)
    # The most probable class has the largest latent mean, where the variances are alike.
    sure = model.predict_proba(X).max(axis=1) > 0.6
    largest = model.classes_[
        total(pkex.Explainer(model, value_function="neutral")(X)).argmax(axis=1)
    ]
    assert sure.sum() > 10
    np.testing.assert_array_equal(largest[sure], model.predict(X)[sure])


@pytest.mark.parametrize("target", [THREE, NAMED], ids=["numbers", "strings"])
def test_one_vs_one_has_an_output_for_each_pair_positive_for_the_class_named_first(target):
    model = classifier(multi_class="one_vs_one").fit(X, target)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    machines = model.base_estimator_.estimators_
    # The machine of a pair is positive for the second class.
    assert_values_equal_brute_force(machines, explanation.values, sign=-1.0)
    own = -np.column_stack([latent(machine, ROWS) for machine in machines])
    np.testing.assert_allclose(total(explanation), own, rtol=0, atol=1e-10)

    pairs = [name.split(" vs ") for name in explanation.output_names]
    a, b, c = map(str, model.classes_)
    assert pairs == [[a, b], [a, c], [b, c]]
    everywhere = total(pkex.Explainer(model, value_function="neutral")(X))
    for output, (positive, negative) in enumerate(pairs):
        assert everywhere[target.astype(str) == positive, output].mean() > 0.5
        assert everywhere[target.astype(str) == negative, output].mean() < -0.5


@pytest.mark.parametrize(
    ("fitted_as", "changed"), [("one_vs_one", "one_vs_rest"), ("one_vs_rest", "one_vs_one")]
)
def test_pairs_or_classes_are_those_that_were_fitted(fitted_as, changed):
    model = classifier(multi_class=fitted_as).fit(X, NAMED)
    before = pkex.Explainer(model)(ROWS)
    after = pkex.Explainer(model.set_params(multi_class=changed))(ROWS)
    assert after.output_names == before.output_names
    np.testing.assert_array_equal(after.values, before.values)


@pytest.mark.parametrize("multi_class", ["one_vs_one", "one_vs_rest"])
def test_latent_means_against_the_models_classes_are_refused(multi_class):
    model = classifier(multi_class=multi_class).fit(X, NAMED)
    model.base_estimator_.estimators_ = model.base_estimator_.estimators_[::-1]
    model.classes_ = model.classes_[[1, 2, 0]]
    with pytest.raises(pkex.UnsupportedModelError, match="that the latent means are against"):
        pkex.Explainer(model)


@pytest.mark.parametrize(
    ("attribute", "changed"),
    [
        ("kernel_", lambda kernel: ConstantKernel(4.0) * RBF(1.0001 * ARD) + NOISE),
        ("X_train_", lambda points: points + 0.001 * SCALES * np.arange(len(points))[:, None]),
        ("pi_", lambda pi: pi * 0.999),
        ("y_train_", lambda targets: targets[:-1]),
        ("L_", lambda factor: factor[:-1, :-1]),
    ],
)
@pytest.mark.parametrize("target", [TWO, NAMED], ids=["two", "three"])
def test_a_machine_of_which_a_part_was_changed_is_refused(attribute, changed, target):
    model = classifier().fit(X, target)
    machine = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])[-1]
    setattr(machine, attribute, changed(getattr(machine, attribute)))
    with pytest.raises(pkex.UnsupportedModelError, match="was changed after fitting"):
        pkex.Explainer(model)


@pytest.mark.parametrize("target", [TWO, NAMED], ids=["two", "three"])
def test_steps_that_ended_before_the_mode_are_explained(target):
    model = classifier(max_iter_predict=1).fit(X, target)
    machines = getattr(model.base_estimator_, "estimators_", [model.base_estimator_])
    assert all(np.all(machine.pi_ == 0.5) for machine in machines)
    own = np.column_stack([latent(machine, ROWS) for machine in machines])
    found = total(pkex.Explainer(model)(ROWS)).reshape(len(ROWS), -1)
    np.testing.assert_allclose(found, own, rtol=0, atol=1e-10)


def test_machines_with_kernels_of_their_own_are_explained_by_their_own():
    kernel = ConstantKernel() * RBF(np.ones(D), length_scale_bounds=(0.3, 30.0))
    model = GaussianProcessClassifier(kernel).fit(Z, THREE)
    machines = model.base_estimator_.estimators_
    assert len({str(machine.kernel_) for machine in machines}) == 3
    explanation = pkex.Explainer(model)(Z)
    own = np.column_stack([latent(machine, Z) for machine in machines])
    np.testing.assert_allclose(total(explanation), own, rtol=0, atol=1e-10)
    one = pkex.Explainer(model, outputs="1")(Z)
    np.testing.assert_array_equal(one.values, explanation[..., "1"].values)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_labels_and_probabilities_of_a_classifier_are_refused_with_what_is_explained(method):
    model = classifier().fit(X, TWO)
    message = rf"GaussianProcessClassifier.{method} cannot be .*log-odds.* whose latent mean is"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(getattr(model, method))


# --- kernel ridge regression with the same kernels ---


@pytest.mark.parametrize("name", ["ard", "sum", "noise in a product", "constant", "noise"])
@pytest.mark.parametrize("target", [Y, TARGETS], ids=["one", "three"])
def test_kernel_ridge_with_a_gaussian_process_kernel_equals_brute_force(name, target):
    model = KernelRidge(kernel=KERNELS[name], alpha=0.1).fit(X, target)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    np.testing.assert_allclose(
        total(explanation), model.predict(ROWS), rtol=0, atol=1e-10 * np.abs(target).max()
    )
    for row, found in zip(ROWS, explanation.values, strict=True):
        brute_force(KERNELS[name], row, model.X_fit_, model.dual_coef_)[0].assert_close(found)


def test_kernel_ridge_with_a_gaussian_process_kernel_unknown_is_refused():
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"^KernelRidge with Matern\(.*RBF, Matern w",
    ):
        pkex.Explainer(KernelRidge(kernel=RBF(ARD) + Matern(), alpha=0.1).fit(X, Y))


# --- the check at construction ---


@pytest.fixture(scope="module")
def noise_free():
    """A smooth function without noise: coefficients of 1e7 that cancel to outputs of 1."""
    rows = np.random.default_rng(1).uniform(-1.0, 1.0, size=(300, 4))
    target = 100.0 + 30.0 * np.sin(3.0 * rows).sum(axis=1)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.5, 2.0, 2.5]) + WhiteKernel(1e-10)
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
    model.fit(rows, target)
    assert np.abs(model.alpha_).sum() > 1e7
    assert np.linalg.cond(model.kernel_(rows)) > 1e10
    return model


def test_an_ill_conditioned_process_without_noise_passes(noise_free):
    rows = np.random.default_rng(2).uniform(-1.0, 1.0, size=(50, 4))
    explanation = pkex.Explainer(noise_free)(rows)
    np.testing.assert_allclose(total(explanation), noise_free.predict(rows), rtol=0, atol=1e-4)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_data_far_from_the_origin_are_no_reason_to_refuse(offset):
    kernel = ConstantKernel(2.0) * RBF(np.ones(D)) + WhiteKernel(1e-3)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(Z + offset, Y)
    assert pkex.Explainer(model)


def wider_by_one_percent(self, kernel, original=gp_kernels._Reader._length_scales):
    first, *others = original(self, kernel)
    return 1.01 * first, *others


def noise_as_constant(self, kernel, original=gp_kernels._Reader.read):
    if isinstance(kernel, WhiteKernel):
        return {frozenset(): kernel.noise_level}
    return original(self, kernel)


def amplitude_forgotten(self, kernel, original=gp_kernels._Reader._constant):
    return {part: 1.0001 * value for part, value in original(self, kernel).items()}


@pytest.mark.parametrize(
    ("part", "misread"),
    [
        ("_length_scales", wider_by_one_percent),
        ("read", noise_as_constant),
        ("_constant", amplitude_forgotten),
    ],
)
def test_a_misread_kernel_is_noticed_however_ill_conditioned(
    noise_free, part, misread, monkeypatch
):
    if part == "read":  # a noise that can be seen
        noise_free = fitted(KERNELS["the usual"])
    monkeypatch.setattr(gp_kernels._Reader, part, misread)
    with pytest.raises(pkex.UnsupportedModelError, match="kernel has other values than its parts"):
        pkex.Explainer(noise_free)


@pytest.mark.parametrize("part", ["deviation", "mean", "coefficients", "length-scale"])
def test_a_misread_model_is_noticed_however_ill_conditioned(noise_free, part):
    adapted = adapt(noise_free)
    right = adapted.expansion
    verify(adapted, noise_free)
    deviation, mean = noise_free._y_train_std, noise_free._y_train_mean
    wrong = {
        "deviation": (right.coefficients / deviation, right.kernel, mean),
        "mean": (right.coefficients, right.kernel, 0.0),
        "coefficients": (right.coefficients[::-1], right.kernel, mean),
        "length-scale": (right.coefficients, pkex.kernels.RBF([1.01, 1.5, 2.0, 2.5]), mean),
    }[part]
    misread = pkex.KernelExpansion(right.points, *wrong)
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict returns .* attributes say"):
        verify(dataclasses.replace(adapted, expansion=misread), noise_free)


def test_a_kernel_changed_after_fitting_is_explained_as_the_model_uses_it(noise_free):
    model = pickle.loads(pickle.dumps(noise_free))
    model.kernel_ = ConstantKernel(1.0) * RBF([1.01, 1.5, 2.0, 2.5])
    rows = np.random.default_rng(2).uniform(-1.0, 1.0, size=(5, 4))
    own = model.predict(rows)
    assert np.abs(own - noise_free.predict(rows)).max() > 1.0
    np.testing.assert_allclose(total(pkex.Explainer(model)(rows)), own, rtol=0, atol=1e-3)


# --- what is refused ---


class MyRBF(RBF):
    def __call__(self, X, Y=None, eval_gradient=False):
        return 0.5 * super().__call__(X, Y, eval_gradient)


@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (Matern(nu=1.5), r"Matern\(length_scale=1, nu=1.5\) in its kernel"),
        (RBF(ARD) + RationalQuadratic(), r"RationalQuadratic\(alpha=1, length_scale=1\)"),
        (ConstantKernel() * (DotProduct() + RBF(ARD)), r"DotProduct\(sigma_0=1\)"),
        ((RBF(ARD) + ExpSineSquared()) ** 2, r"ExpSineSquared\("),
        (PairwiseKernel(metric="poly"), r"PairwiseKernel\("),
        (MyRBF(ARD), r"MyRBF\("),
        (CompoundKernel([RBF(ARD)]), r"CompoundKernel|<sklearn"),
        (RBF(ARD) ** -1.0, r".* the exponent must not be negative"),
        ((RBF(ARD) + RBF(WIDER)) ** 0.5, r".* the exponent of a sum must be an integer"),
        (RBF(ARD) + ConstantKernel(-1.0), r".* the constant must not be negative"),
        ((RBF(ARD) + RBF(WIDER) + RBF() + RBF(2.0) + RBF(3.0)) ** 12, r".*more than 1000 products"),
    ],
)
def test_unknown_parts_of_a_kernel_are_named_with_what_is_known(kernel, named):
    # Not fitted with it: some are no positive definite kernels.
    model = fitted(RBF(ARD))
    model.kernel_ = kernel
    message = f"^GaussianProcessRegressor with .*{named}"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model)


def test_unknown_parts_of_a_classifiers_kernel_are_named():
    model = classifier(RBF(ARD) + Matern()).fit(X, TWO)
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"^GaussianProcessClassifier with Matern.*RBF, Matern w",
    ):
        pkex.Explainer(model)


@pytest.mark.parametrize("length_scale", [[1.0, 2.0], 0.0, -1.0, np.nan])
def test_length_scales_that_do_not_fit_are_refused(length_scale):
    model = fitted(RBF(ARD))
    model.kernel_ = RBF(length_scale)
    with pytest.raises(pkex.UnsupportedModelError, match="length_scale must be positive, one numb"):
        pkex.Explainer(model)


@pytest.mark.parametrize("model", [GaussianProcessRegressor(), GaussianProcessClassifier()])
def test_the_prior_of_an_unfitted_process_is_reported_as_not_fitted(model):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(model)


class Clipped(GaussianProcessRegressor):
    def predict(self, X, return_std=False, return_cov=False):
        return np.maximum(super().predict(X, return_std, return_cov), -1e9)


def test_subclasses_that_compute_something_else_are_refused():
    with pytest.raises(pkex.UnsupportedModelError, match="Clipped replaces"):
        pkex.Explainer(Clipped(RBF(ARD), optimizer=None, alpha=0.1).fit(X, Y))


def test_processes_of_other_things_than_numbers_are_refused():
    kernel = ConstantKernel(1.0) + WhiteKernel(1.0)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(["a", "b", "c"], [1.0, 2.0, 3.0])
    with pytest.raises(pkex.UnsupportedModelError, match="rows of numbers"):
        pkex.Explainer(model)


# --- the rest of the contract ---


def test_methods_are_unwrapped_and_models_left_as_they_are():
    model = fitted(KERNELS["the usual"])
    before = pickle.dumps(model)
    values = pkex.Explainer(model.predict).shap_values(ROWS)
    np.testing.assert_array_equal(values, pkex.Explainer(model).shap_values(ROWS))
    assert pickle.dumps(model) == before
    with pytest.raises(pkex.UnsupportedModelError, match=r"sample_y cannot.*its predict"):
        pkex.Explainer(model.sample_y)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_models_fitted_on_other_dtypes_are_explained(dtype):
    rows = (10.0 * (Z - 20.0)).astype(dtype)
    for model in (
        GaussianProcessRegressor(ConstantKernel() * RBF(10.0) + NOISE, optimizer=None),
        GaussianProcessClassifier(ConstantKernel() * RBF(10.0), optimizer=None),
    ):
        model.fit(rows, THREE)
        explanation = pkex.Explainer(model)(rows)
        assert np.isfinite(total(explanation)).all()


def test_names_are_those_of_the_data_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    for model in (GaussianProcessRegressor(alpha=1.0, optimizer=None), classifier()):
        explanation = pkex.Explainer(model.fit(frame, THREE))(frame[:3])
        assert explanation.feature_names == ["a", "b", "c", "d", "e"]
        with pytest.raises(ValueError, match="another order"):
            pkex.Explainer(model)(frame[["b", "a", "c", "d", "e"]])


def test_explainers_of_several_machines_pickle_and_do_not_depend_on_threads():
    model = classifier(multi_class="one_vs_one").fit(X, THREE)
    values = [
        explainer.shap_values(ROWS)
        for explainer in (
            pkex.Explainer(model, n_jobs=1),
            pkex.Explainer(model, n_jobs=2),
            pickle.loads(pickle.dumps(pkex.Explainer(model))),
        )
    ]
    for one, other in itertools.pairwise(values):
        np.testing.assert_array_equal(one, other)
