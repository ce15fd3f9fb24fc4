"""bayes_opt: the posterior mean of an optimizer of numbers, by brute force."""

import numpy as np
import pytest
from brute_force import interventional
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
    for row, values in zip(rows, explainer.shap_values(rows), strict=True):
        reference, base = interventional(optimizer._gp.predict, row, background)
        reference.assert_close(values)
        assert explainer.expected_value == pytest.approx(base, rel=1e-10)


@pytest.mark.parametrize("name", KERNELS)
def test_variances_equal_brute_force(name):
    optimizer = optimizers.fitted(kernel=KERNELS[name])
    background, row = optimizer.space.params[:6], optimizer.space.params[6] + 0.01

    def predictive(rows):
        return optimizer._gp.predict(rows, return_std=True)[1] ** 2

    explainer = pkex.Explainer(optimizer, background, target="predictive_variance")
    reference, base = interventional(predictive, row, background)
    reference.assert_close(explainer.shap_values(row[None])[0], 1e-9)
    assert explainer.expected_value == pytest.approx(base, rel=1e-9)
    assert explainer(row[None]).feature_names == ["decay", "momentum", "rate"]
    deviations = pkex.Explainer(optimizer)(row[None], uncertainty=True).standard_deviations
    assert np.all(deviations > 0.0)


def test_rows_are_those_that_the_optimizer_lists():
    optimizer = optimizers.fitted()
    explainer = pkex.Explainer(optimizer)
    explanation = explainer(optimizers.table(optimizer))
    np.testing.assert_array_equal(explanation.values, explainer(optimizer.space.params).values)
    np.testing.assert_array_equal(explainer.background, optimizer.space.params)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, optimizer._gp.predict(optimizer.space.params), rtol=1e-11)


def test_an_optimizer_whose_process_was_not_fitted_is_refused():
    with pytest.raises(NotFittedError, match=r"is not fitted yet\. Call its suggest\(\), or"):
        pkex.Explainer(optimizers.told())


def test_an_optimizer_that_knows_more_points_than_its_process_is_refused():
    optimizer = optimizers.fitted(n=10)
    optimizer.register({"decay": 1.0, "momentum": 0.0, "rate": 2.0}, 1000.0)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"11 registered points.* fitted on 10\. .*suggest"
    ):
        pkex.Explainer(optimizer)
    optimizer._gp.fit(optimizer.space.params, optimizer.space.target)
    assert pkex.Explainer(optimizer)


def test_other_kernels_and_methods_are_refused_by_name():
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"with PairwiseKernel\(.*its kernel is no"
    ):
        pkex.Explainer(optimizers.fitted(kernel=RBF() * PairwiseKernel(metric="cosine")))
    with pytest.raises(pkex.UnsupportedModelError, match="whose posterior mean is explained"):
        pkex.Explainer(optimizers.fitted().maximize)
