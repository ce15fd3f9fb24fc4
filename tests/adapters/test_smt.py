"""SMT's kriging models: correlations, units and refusals, by brute force."""

import copy
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from brute_force import coalitions, interventional, marginal, shapley_weights
from sklearn.exceptions import NotFittedError

import pkex
from pkex.adapters import adapt

surrogates = pytest.importorskip("smt.surrogate_models")

RNG = np.random.default_rng(0)
D = 4
SCALES = np.array([1e-3, 1.0, 50.0, 1e6])
Z = RNG.normal(size=(30, D))
X = (Z + 3.0) * SCALES  # off the origin, in columns of all units
Y = 1e4 + 100.0 * (np.sin(Z[:, 0]) + Z[:, 1] * Z[:, 2])
ROWS = (RNG.normal(size=(3, D)) + 3.0) * SCALES
BACKGROUND = X[:6]


def trained(kind="KRG", X=X, y=Y, **options):
    options = {"nugget": 0.01, "n_start": 1, "print_global": False, **options}
    model = getattr(surrogates, kind)(**options)
    model.set_training_values(X, y)
    model.train()
    return model


def squared(r, theta):
    return np.exp(-theta * r**2)


def absolute(r, theta):
    return np.exp(-theta * r)


def matern32(r, theta):
    z = np.sqrt(3.0) * theta * r
    return (1.0 + z) * np.exp(-z)


def matern52(r, theta):
    z = np.sqrt(5.0) * theta * r
    return (1.0 + z + z**2 / 3.0) * np.exp(-z)


def squared_sine(r, theta, omega):
    return np.exp(-theta * np.sin(omega * r) ** 2)


# name: (options, correlation of a column from its distance in standard deviations)
KRIGING = {
    "squar_exp": ({"corr": "squar_exp"}, squared),
    "linear regression": ({"poly": "linear"}, squared),
    "quadratic regression": ({"poly": "quadratic"}, squared),
    "KPLS linear": ({"kind": "KPLS", "n_comp": 2, "poly": "linear"}, squared),
    "abs_exp": ({"corr": "abs_exp"}, absolute),
    "matern32": ({"corr": "matern32"}, matern32),
    "matern52": ({"corr": "matern52"}, matern52),
    "squar_sin_exp": ({"corr": "squar_sin_exp"}, squared_sine),
    "power 2": ({"corr": "pow_exp", "pow_exp_power": 2.0}, squared),
    "power 1": ({"corr": "pow_exp", "pow_exp_power": 1.0}, absolute),
    "estimated noise": ({"eval_noise": True, "hyper_opt": "Cobyla"}, squared),
    "given noise": ({"noise0": [0.1], "hyper_opt": "Cobyla"}, squared),
    "KPLS": ({"kind": "KPLS", "n_comp": 2}, squared),
    "KPLS abs_exp": ({"kind": "KPLS", "n_comp": 2, "corr": "abs_exp"}, absolute),
    "KPLSK": ({"kind": "KPLSK", "n_comp": 2}, squared),
}


def rates(model):
    """The parameters of each column, (parameters, d)."""
    theta = model.optimal_theta
    if type(model).__name__ == "KPLS":
        power = 2 if model.options["corr"] == "squar_exp" else 1
        theta = np.abs(model.coeff_pls) ** power @ theta
    return theta.reshape(-1, D)


def neutral(model, correlation, row):
    """Values and base: columns outside a coalition have the correlation 1, and no linear term."""
    distances = np.abs((row - X) / X.std(axis=0, ddof=1))
    factors = correlation(distances, *rates(model))
    gamma = model.optimal_par["gamma"][:, 0] * Y.std(ddof=1)
    worths = np.array([factors[:, members].prod(axis=1) @ gamma for members in coalitions(D)])
    beta = model.optimal_par["beta"][:, 0] * Y.std(ddof=1)
    scaled = (row - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    linear = beta[1 : D + 1] * scaled if len(beta) > 1 else 0.0
    if len(beta) > D + 1:
        # Half of what two columns do together belongs to each.
        products = np.zeros((D, D))
        products[np.triu_indices(D)] = beta[D + 1 :]
        products *= np.outer(scaled, scaled)
        linear = linear + 0.5 * (products.sum(axis=0) + products.sum(axis=1))
    base = worths[0] + Y.mean() + beta[0]
    return shapley_weights(D) @ worths + linear, base, np.abs(gamma).sum()


@pytest.mark.parametrize("name", KRIGING)
def test_values_equal_brute_force_through_predict_values(name):
    model = trained(**KRIGING[name][0])
    explainer = pkex.Explainer(model, BACKGROUND)
    scale = np.abs(model.optimal_par["gamma"]).sum() * Y.std()

    def output(rows):
        return model.predict_values(rows)[:, 0]

    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, base = interventional(output, row, BACKGROUND)
        np.testing.assert_allclose(values, reference.values, rtol=0, atol=1e-11 * scale)
        assert explainer.expected_value == pytest.approx(base, rel=1e-11)


@pytest.mark.parametrize("name", KRIGING)
def test_neutral_values_equal_brute_force_by_the_formula(name):
    options, correlation = KRIGING[name]
    model = trained(**options)
    explainer = pkex.Explainer(model, value_function="neutral")
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        expected, base, scale = neutral(model, correlation, row)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-11 * scale)
        assert explainer.expected_value == pytest.approx(base, abs=1e-10 * scale)


@pytest.mark.parametrize("poly", ["constant", "linear", "quadratic"])
def test_points_are_the_training_rows_in_their_own_units(poly):
    explainer = pkex.Explainer(trained(poly=poly))
    np.testing.assert_allclose(explainer.background, X, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:Kriging-based surrogate is not intended:UserWarning")
@pytest.mark.parametrize("poly", ["constant", "linear", "quadratic"])
def test_several_targets_are_outputs(poly):
    model = trained(y=np.column_stack([Y, Z[:, 0]]), poly=poly)
    explanation = pkex.Explainer(model)(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_values(ROWS), rtol=1e-10)


def test_repeated_rows_with_noise_of_their_own_are_explained():
    twice = np.concatenate([X, X])
    y = np.concatenate([Y + 30.0, Y - 10.0])
    options = {"eval_noise": True, "use_het_noise": True, "hyper_opt": "Cobyla"}
    model = trained(X=twice, y=y, **options)
    explanation = pkex.Explainer(model)(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_values(ROWS)[:, 0], rtol=1e-9)


@pytest.mark.parametrize("extra_points", [0, 2])
def test_a_model_of_gradients_is_explained(extra_points):
    y = np.sin(Z).sum(axis=1)
    limits = np.column_stack([X.min(axis=0), X.max(axis=0)])
    model = surrogates.GEKPLS(
        xlimits=limits, n_comp=2, extra_points=extra_points, nugget=0.01, print_global=False
    )
    model.set_training_values(X, y)
    for column in range(D):
        model.set_training_derivatives(X, np.cos(Z[:, [column]]) / SCALES[column], column)
    model.train()
    explainer = pkex.Explainer(model, BACKGROUND)
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, _ = interventional(
            lambda rows: model.predict_values(rows)[:, 0], row, BACKGROUND
        )
        scale = np.abs(model.optimal_par["gamma"]).sum() * model.y_std[0]
        np.testing.assert_allclose(values, reference.values, rtol=0, atol=1e-11 * scale)


def test_a_constant_column_has_the_value_0():
    constant = X.copy()
    constant[:, 2] = 7.0
    for kind, options in (("KRG", {}), ("KPLS", {"n_comp": 1})):
        model = trained(kind, X=constant, **options)
        rows = ROWS.copy()
        rows[:, 2] = 7.0
        assert np.all(pkex.Explainer(model).shap_values(rows)[:, 2] == 0.0)


def test_the_model_is_silent_and_stays_as_it_is(capsys):
    model = trained()
    model.options["print_global"] = True
    before = copy.deepcopy(vars(model.printer))
    assert pkex.Explainer(model.predict_values)
    assert capsys.readouterr().out == ""
    assert model.options["print_global"]
    assert vars(model.printer) == before


# --- kernels that are objects ---

OBJECTS = {
    "PowExp": lambda k: k.PowExp([0.1] * D),
    "Matern32": lambda k: k.Matern32([0.1] * D),
    "Matern52": lambda k: k.Matern52([0.1] * D),
    "SquarSinExp": lambda k: k.SquarSinExp([0.1] * 2 * D),
    "sum": lambda k: k.PowExp([0.1] * D) + k.Matern52([0.2] * D) + 0.5,
    "product": lambda k: 0.5 * ((k.PowExp([0.1] * D) + 1.0) * k.Matern32([0.2] * D)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_values_with_kernels_that_are_objects_equal_brute_force(name):
    kernels = pytest.importorskip("smt.kernels")  # of newer versions
    model = trained(corr=OBJECTS[name](kernels), hyper_opt="NoOp")
    explainer = pkex.Explainer(model, BACKGROUND)
    scale = np.abs(model.optimal_par["gamma"]).sum() * Y.std()
    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, base = interventional(
            lambda rows: model.predict_values(rows)[:, 0], row, BACKGROUND
        )
        np.testing.assert_allclose(values, reference.values, rtol=0, atol=1e-11 * scale)
        assert explainer.expected_value == pytest.approx(base, rel=1e-11)


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corr": "pow_exp"}, r"^KRG with corr='pow_exp' and pow_exp_power=1\.9 is not supported"),
        (
            {"kind": "KPLS", "corr": "pow_exp", "pow_exp_power": 1.5},
            r"^KPLS with corr='pow_exp' and pow_exp_power=1\.5 is not supported",
        ),
    ],
)
def test_other_options_are_refused_by_name(options, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(trained(**options))


def test_other_kriging_models_are_refused_by_name():
    with pytest.raises(pkex.UnsupportedModelError, match=r"^MGP is not supported: the supported"):
        pkex.Explainer(surrogates.MGP(print_global=False))


def test_kernels_of_oblique_directions_are_refused():
    kernels = pytest.importorskip("smt.kernels")  # of newer versions
    model = trained(corr=kernels.Matern52([0.1] * D), hyper_opt="NoOp")
    model.corr = model.corr * kernels.ActExp([0.1] * D)
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"^KRG with ActExp in its kernel is not supported; supported are PowExp",
    ):
        pkex.Explainer(model)


def test_integer_variables_are_refused():
    where = "smt.design_space" if find_spec("smt.design_space") else "smt.utils.design_space"
    spaces = import_module(where)  # in older versions the second
    variables = [spaces.IntegerVariable(0, 3), spaces.FloatVariable(-10.0, 10.0)]
    rows = np.column_stack([np.arange(30) % 4, Z[:, 1]])
    model = trained(X=rows, design_space=spaces.DesignSpace(variables), hyper_opt="Cobyla")
    with pytest.raises(pkex.UnsupportedModelError, match=r"^KRG with integer, ordinal or categ"):
        pkex.Explainer(model)


@pytest.mark.parametrize("kind", ["KRG", "KPLS"])
def test_untrained_models_are_refused(kind):
    model = getattr(surrogates, kind)(print_global=False)
    with pytest.raises(NotFittedError, match=f"^{kind} is not trained"):
        pkex.Explainer(model)
    model.set_training_values(X, Y)
    with pytest.raises(NotFittedError, match=f"^{kind} is not trained"):
        pkex.Explainer(model)


def test_a_model_without_noise_that_computes_otherwise_is_refused():
    """Its huge coefficients cancel, so that its output alone would not show it."""
    model = trained(nugget=1e-12)
    assert adapt(model)
    own = model._componentwise_distance
    model._componentwise_distance = lambda *args, **options: 1.001 * own(*args, **options)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"^KRG with the kernel 'squar_exp' is not"
    ):
        pkex.Explainer(model)


# --- the variance, and how sure values are ---


@pytest.mark.parametrize("name", [n for n in KRIGING if "linear" not in n and "quadr" not in n])
def test_variances_equal_brute_force_through_predict_variances(name):
    model = trained(**KRIGING[name][0])
    explainer = pkex.Explainer(model, BACKGROUND, target="variance")

    def output(rows):
        return model.predict_variances(rows)[:, 0]

    for row, values in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        reference, base = interventional(output, row, BACKGROUND)
        atol = 1e-10 * model.optimal_par["sigma2"][0]
        np.testing.assert_allclose(values, reference.values, rtol=0, atol=atol)
        assert explainer.expected_value == pytest.approx(base, abs=atol)


def test_deviations_where_hardly_anything_is_unknown_equal_brute_force():
    inputs = RNG.uniform(size=(25, 3))
    outputs = np.sin(4.0 * inputs[:, 0]) + inputs[:, 1]
    model = trained(X=inputs, y=outputs, nugget=1e-10)
    explainer = pkex.Explainer(model, inputs[:4], target="std")
    row = np.array([0.3, 0.6, 0.9])
    expected, base = interventional(
        lambda rows: np.sqrt(model.predict_variances(rows)[:, 0]), row, inputs[:4]
    )
    scale = np.abs(expected.values).max()
    assert scale < 1e-3
    np.testing.assert_allclose(
        explainer.shap_values(row[None])[0], expected.values, rtol=0, atol=1e-3 * scale
    )
    assert explainer.expected_value == pytest.approx(base, rel=1e-3)


def test_marginal_variances_equal_brute_force():
    model, few = trained(), BACKGROUND[:3]
    explainer = pkex.Explainer(model, few, target="variance", value_function="marginal")
    reference, base = marginal(lambda rows: model.predict_variances(rows)[:, 0], ROWS[0], few)
    values = explainer.shap_values(ROWS[:1])[0]
    np.testing.assert_allclose(values, reference.values, rtol=0, atol=1e-9 * base)


@pytest.mark.filterwarnings("ignore:Kriging-based surrogate is not intended:UserWarning")
def test_variances_are_in_squared_units_of_each_target():
    model = trained(y=np.column_stack([Y, Z[:, 0]]))
    explanation = pkex.Explainer(model, target="variance")(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_variances(ROWS), rtol=1e-8)


def own_covariance(model, rows):
    """That of the function at rows: the mean that was estimated is not sure, either."""
    scaled, points = ((part - model.X_offset) / model.X_scale for part in (rows, X))
    theta = model.optimal_theta
    prior, cross = (
        np.exp(-(np.square(scaled[:, None] - others) @ theta)) for others in (scaled, points)
    )
    covariance = np.exp(-(np.square(points[:, None] - points) @ theta))
    precision = np.linalg.inv(covariance + model.options["nugget"] * np.eye(len(X)))
    of_mean = 1.0 - cross @ precision.sum(axis=1)
    unsure = np.outer(of_mean, of_mean) / precision.sum()
    return model.optimal_par["sigma2"][0] * (prior - cross @ precision @ cross.T + unsure)


def test_covariances_equal_brute_force():
    model = trained()
    explanation = pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty=True)
    weights = shapley_weights(D) / len(BACKGROUND)
    rows = np.concatenate(
        [np.where(np.isin(np.arange(D), c), ROWS[0], BACKGROUND) for c in coalitions(D)]
    )
    values = np.repeat(weights, len(BACKGROUND), axis=1)
    covariance = own_covariance(model, rows)
    assert np.allclose(np.diag(covariance), model.predict_variances(rows)[:, 0], rtol=1e-6)
    expected = values @ covariance @ values.T
    scale = np.diag(expected).max()
    np.testing.assert_allclose(explanation.covariance(0), expected, rtol=0, atol=1e-8 * scale)


def test_the_estimated_constant_has_no_values_only_if_weights_add_up_to_1():
    game = pkex.Observational(embedding="rows", normalize=False)
    explainer = pkex.Explainer(trained(), BACKGROUND, value_function=game)
    with pytest.raises(pkex.UnsupportedModelError, match="whose constant is estimated"):
        explainer(ROWS, uncertainty=True)
    game = pkex.Observational(embedding="rows")
    explanation = pkex.Explainer(trained(), BACKGROUND, value_function=game)(ROWS, uncertainty=True)
    model, difference = trained(), np.array([1.0, *[-1.0 / len(BACKGROUND)] * len(BACKGROUND)])
    own = own_covariance(model, np.concatenate([ROWS[:1], BACKGROUND]))
    expected = difference @ own @ difference
    assert explanation.covariance(0).sum() == pytest.approx(expected, rel=1e-6)


def test_variances_that_are_not_known_are_refused_with_the_reason():
    with pytest.raises(pkex.UnsupportedModelError, match=r"of KRG with poly='linear' is not supp"):
        pkex.Explainer(trained(poly="linear"), BACKGROUND, target="variance")
    with pytest.raises(pkex.UnsupportedModelError, match=r"of KRG with poly='linear' is not supp"):
        pkex.Explainer(trained(poly="linear"), BACKGROUND)(ROWS, uncertainty=True)
    with pytest.raises(pkex.UnsupportedModelError, match="predict_variances has no noise"):
        pkex.Explainer(trained(), BACKGROUND, target="predictive_variance")
