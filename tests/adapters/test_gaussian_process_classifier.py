"""scikit-learn's Gaussian process classifiers: latent means, signs and names, by brute force."""

import numpy as np
import pytest
from gaussian_processes import (
    ARD,
    KERNELS,
    NOISE,
    ROWS,
    SCALES,
    THREE,
    TWO,
    D,
    X,
    Z,
    brute_force,
    classifier,
    total,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import pkex

NAMED = np.array(["low", "middle", "high"])[THREE]


def latent(machine, rows):
    """As in `latent_mean_and_variance` of scikit-learn ≥ 1.7."""
    return machine.kernel_(machine.X_train_, rows).T @ (machine.y_train_ - machine.pi_)


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
    with pytest.raises(pkex.UnsupportedModelError, match="another class than the latent means say"):
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


def test_labels_of_a_classifier_are_refused_with_what_is_explained():
    model = classifier().fit(X, TWO)
    message = r"GaussianProcessClassifier.predict cannot be .*log-odds.* whose latent mean is"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.predict)
