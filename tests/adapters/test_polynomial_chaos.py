"""Polynomial chaos of OpenTURNS and chaospy: values by brute force, indices by coefficients."""

import brute_force
import numpy as np
import pytest
from scipy import stats

import pkex

MARGINALS = [stats.norm(10.0, 2.0), stats.uniform(-1.0, 4.0)]


def output(rows):
    return rows[:, 0] * rows[:, 1] + np.sin(rows[:, 1])


def assert_explained(model, own, rows):
    """Compare values with brute force through the library's own output."""
    background = rows[:6]
    explainer = pkex.Explainer(model, background)
    brute_force.assert_explained(explainer, own, rows[7:9], background)
    return explainer


# --- OpenTURNS ---


def chaos(distribution, outputs=1):
    ot = pytest.importorskip("openturns")
    ot.RandomGenerator.SetSeed(0)
    rows = distribution.getSample(100)
    values = output(np.array(rows))[:, None] * np.arange(1.0, 1.0 + outputs)
    algorithm = ot.FunctionalChaosAlgorithm(rows, ot.Sample(values), distribution)
    algorithm.run()
    return algorithm.getResult(), np.array(rows)


def independent(ot):
    return ot.JointDistribution([ot.Normal(10.0, 2.0), ot.Uniform(-1.0, 3.0)])


@pytest.mark.parametrize("outputs", [1, 2])
def test_meta_models_of_openturns_equal_brute_force(outputs):
    ot = pytest.importorskip("openturns")
    result, rows = chaos(independent(ot), outputs)
    meta_model = result.getMetaModel()

    def own(rows):
        values = np.array(meta_model(rows))
        return values if outputs > 1 else values[:, 0]

    explainer = assert_explained(result, own, rows)
    assert explainer.output_names == (["v0", "v1"] if outputs > 1 else None)
    assert explainer.feature_names == ["x0", "x1"]


def test_indices_of_openturns_are_those_of_its_coefficients():
    ot = pytest.importorskip("openturns")
    result, _ = chaos(independent(ot))
    expected = ot.FunctionalChaosSobolIndices(result)
    found = pkex.sensitivity(result, MARGINALS)
    for j in range(2):
        assert found.first_order[j] == pytest.approx(expected.getSobolIndex(j), rel=1e-8)
        assert found.total[j] == pytest.approx(expected.getSobolTotalIndex(j), rel=1e-8)


def test_transformed_inputs_keep_their_names():
    ot = pytest.importorskip("openturns")
    distribution = ot.JointDistribution([ot.LogNormal(0.0, 0.3), ot.Triangular(-1.0, 0.5, 2.0)])
    distribution.setDescription(["rate", "load"])
    result, rows = chaos(distribution)
    explainer = assert_explained(result, lambda r: np.array(result.getMetaModel()(r))[:, 0], rows)
    assert explainer.feature_names == ["rate", "load"]


def test_dependent_inputs_are_not_supported():
    ot = pytest.importorskip("openturns")
    copula = ot.NormalCopula(ot.CorrelationMatrix(2, [1.0, 0.5, 0.5, 1.0]))
    result, rows = chaos(ot.JointDistribution([ot.Normal(), ot.Normal()], copula))
    with pytest.raises(pkex.UnsupportedModelError, match="with dependent inputs is not supported"):
        pkex.Explainer(result, rows)


# --- chaospy ---


def distribution_of(cp):
    return cp.J(cp.Normal(10.0, 2.0), cp.Uniform(-1.0, 3.0))


@pytest.mark.parametrize("outputs", [1, 2])
def test_polynomials_of_chaospy_equal_brute_force(outputs):
    cp = pytest.importorskip("chaospy")
    distribution = distribution_of(cp)
    expansion = cp.generate_expansion(4, distribution)
    rows = distribution.sample(60, seed=0).T
    values = output(rows)
    if outputs > 1:
        values = np.stack([values, values**2], axis=1)
    model = cp.fit_regression(expansion, rows.T, values)
    assert_explained(model, lambda r: np.asarray(model(*r.T)).T, rows)
    found = pkex.sensitivity(model, MARGINALS)
    np.testing.assert_allclose(found.first_order, cp.Sens_m(model, distribution), rtol=1e-8)


def test_variables_of_chaospy_are_columns_by_number():
    cp = pytest.importorskip("chaospy")
    _, _, third = cp.variable(3)
    values = pkex.Explainer(third**2 + 1.0, [[0.0, 0.0, 1.0]]).shap_values([[5.0, 5.0, 3.0]])
    np.testing.assert_allclose(values, [[0.0, 0.0, 8.0]])


def test_polynomials_without_variables_or_of_several_axes_are_named():
    cp = pytest.importorskip("chaospy")
    first, second = cp.variable(2)
    with pytest.raises(pkex.UnsupportedModelError, match="a constant polynomial is not supported"):
        pkex.Explainer(first * 0.0 + 1.0, [[0.0]])
    table = cp.polynomial([[first, second], [second, first]])
    with pytest.raises(pkex.UnsupportedModelError, match=r"a polynomial of shape \(2, 2\)"):
        pkex.Explainer(table, [[0.0, 0.0]])
