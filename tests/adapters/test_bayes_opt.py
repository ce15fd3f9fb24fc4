"""bayes_opt: the posterior mean of an optimizer of numbers, by brute force."""

import numpy as np
import pytest
from brute_force import assert_explained
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, PairwiseKernel, WhiteKernel

import pkex

pytest.importorskip("bayes_opt")
optimizers = pytest.importorskip("bayes_opt_optimizers")

KERNELS = {
    "the usual": RBF(2.0),
    "sum": ConstantKernel(2.0) * RBF(3.0) + ConstantKernel(0.5) * RBF(0.7) + WhiteKernel(0.1),
}


@pytest.mark.parametrize("name", KERNELS)
def test_values_equal_brute_force_in_units_of_the_target(name):
    optimizer = optimizers.fitted(kernel=KERNELS[name])
    background, rows = optimizer.space.params[:6], optimizer.space.params[6:9] + 0.01
    explainer = pkex.Explainer(optimizer, background)
    assert explainer.feature_names == ["decay", "momentum", "rate"]
    assert_explained(explainer, optimizer._gp.predict, rows, background)


@pytest.mark.parametrize("name", KERNELS)
def test_variances_equal_brute_force(name):
    optimizer = optimizers.fitted(kernel=KERNELS[name])
    background, rows = optimizer.space.params[:6], optimizer.space.params[6:7] + 0.01

    def predictive(rows):
        return optimizer._gp.predict(rows, return_std=True)[1] ** 2

    explainer = pkex.Explainer(optimizer, background, target="predictive_variance")
    assert_explained(explainer, predictive, rows, background, 1e-9)
    assert explainer.feature_names == ["decay", "momentum", "rate"]
    deviations = pkex.Explainer(optimizer)(rows, uncertainty=True).standard_deviations
    assert np.all(deviations > 0.0)


def test_rows_are_those_that_the_optimizer_lists():
    optimizer = optimizers.fitted()
    explainer = pkex.Explainer(optimizer)
    explanation = explainer(optimizers.table(optimizer))
    np.testing.assert_array_equal(explanation.values, explainer(optimizer.space.params).values)
    np.testing.assert_array_equal(explainer.background, optimizer.space.params)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, optimizer._gp.predict(optimizer.space.params), rtol=1e-11)


def refits(process):
    """Let a process search for the parameters of its kernel, from random starts as well."""
    process.set_params(optimizer="fmin_l_bfgs_b", n_restarts_optimizer=2)


def assert_equals_the_next_fit(optimizer, rows):
    """The explained process is the one that the optimizer fits next; explaining changes nothing."""
    fitted_to = getattr(optimizer._gp, "X_train_", None)
    state = optimizer._random_state.get_state()[1].copy()
    explainer = pkex.Explainer(optimizer, rows[:4])
    explainer(rows[4:6])
    assert getattr(optimizer._gp, "X_train_", None) is fitted_to
    np.testing.assert_array_equal(optimizer._random_state.get_state()[1], state)
    optimizer.suggest()
    assert len(optimizer._gp.X_train_) == len(optimizer.space)
    assert_explained(explainer, optimizer._gp.predict, rows[4:6], rows[:4])


def test_after_maximize_the_process_of_all_points_is_explained():
    optimizer = optimizers.told(n=10)
    refits(optimizer._gp)
    optimizer.maximize(init_points=0, n_iter=2)
    assert len(optimizer._gp.X_train_) == len(optimizer.space) - 1
    assert_equals_the_next_fit(optimizer, optimizer.space.params)


def test_registered_points_are_enough():
    optimizer = optimizers.told(n=12)
    refits(optimizer._gp)
    assert_equals_the_next_fit(optimizer, optimizer.space.params)


def test_a_process_of_all_points_is_explained_as_it_is():
    optimizer = optimizers.fitted()
    rows = optimizer.space.params
    # Another suggestion would fit other parameters of the kernel.
    refits(optimizer._gp)
    total = pkex.Explainer(optimizer)(rows)
    np.testing.assert_allclose(
        total.values.sum(axis=1) + total.base_values, optimizer._gp.predict(rows), rtol=1e-11
    )


def test_an_optimizer_without_points_is_refused():
    with pytest.raises(
        NotFittedError, match=r"no registered points .*maximize\(\) or register\(\)"
    ):
        pkex.Explainer(optimizers.told(n=0))


def test_other_kernels_and_methods_are_refused_by_name():
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"with PairwiseKernel\(.*its kernel is no"
    ):
        pkex.Explainer(optimizers.fitted(kernel=RBF() * PairwiseKernel(metric="cosine")))
    with pytest.raises(pkex.UnsupportedModelError, match="whose posterior mean is explained"):
        pkex.Explainer(optimizers.fitted().maximize)
