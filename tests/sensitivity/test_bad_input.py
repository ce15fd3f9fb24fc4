"""Bad input to `pkex.sensitivity`: errors and warnings that name the argument and the remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pkex
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import RBF, Chi2, Constant, Laplacian, Matern, Polynomial
from pkex.sensitivity import deviations

RNG = np.random.default_rng(0)
NAMES = ["age", "bmi", "bp"]
ROWS = RNG.normal(size=(20, 3))
MODEL = pkex.KernelExpansion(
    RNG.normal(size=(5, 3)), RNG.normal(size=5), RBF(), feature_names=NAMES
)
NORMAL = stats.norm(0.0, 1.0)


def refused(error, message, *args, **options):
    with pytest.raises(error, match=message):
        pkex.sensitivity(*args, **options)


def test_inputs_must_have_the_columns_of_the_model():
    refused(ValueError, "inputs has the wrong number of columns: expected 3", MODEL, ROWS[:, :2])
    frame = pd.DataFrame(ROWS[:, :2], columns=NAMES[:2])
    refused(ValueError, r"inputs has other columns than the model: missing \['bp'\]", MODEL, frame)
    some = {"age": NORMAL, "bmi": NORMAL, "height": NORMAL}
    message = (
        r"inputs has other columns than the model: missing \['bp'\]; not expected \['height'\]"
    )
    refused(ValueError, message, MODEL, some)
    refused(
        ValueError, "inputs has 2 distributions, but the model has 3 columns", MODEL, [NORMAL] * 2
    )


def test_columns_have_the_names_that_are_given():
    unnamed = pkex.KernelExpansion(ROWS[:5], ROWS[:5, 0], RBF())
    result = pkex.sensitivity(unnamed, ROWS, feature_names=NAMES, groups={"both": ["age", "bp"]})
    assert result.feature_names == ["both", "bmi"]
    by_name = pkex.sensitivity(unnamed, dict.fromkeys(NAMES, NORMAL), feature_names=NAMES)
    assert by_name.feature_names == NAMES
    np.testing.assert_array_equal(
        by_name.shapley_effects, pkex.sensitivity(unnamed, [NORMAL] * 3).shapley_effects
    )
    message = "feature_names must have 3 names, one for each; got 2"
    refused(ValueError, message, unnamed, ROWS, feature_names=NAMES[:2])


def test_inputs_must_be_finite_rows_or_frozen_distributions():
    rows = ROWS.copy()
    rows[2, 1] = np.nan
    refused(ValueError, "inputs has a missing value", MODEL, rows)
    refused(TypeError, r"inputs is a single distribution\. Give a list", MODEL, NORMAL)
    refused(TypeError, "inputs must be rows, or a frozen", MODEL, [NORMAL, stats.norm, NORMAL])
    refused(TypeError, "inputs must be rows, or a frozen", MODEL, dict.fromkeys(NAMES, 1.0))


def test_distributions_of_other_kinds_are_told_from_frozen_ones():
    refused(TypeError, "not frozen: call it", MODEL, dict.fromkeys(NAMES, stats.norm))
    if hasattr(stats, "Normal"):
        refused(TypeError, "newer kind are not supported", MODEL, [stats.Normal()] * 3)


def test_bounds_and_problems_of_salib_are_told_how_to_become_distributions():
    remedy = r"scipy.stats.uniform\(lo, hi - lo\)"
    bounds = [(0.0, 1.0), (0.0, 2.0), (-1.0, 1.0)]
    refused(ValueError, remedy, MODEL, bounds)
    refused(TypeError, remedy, MODEL, [NORMAL, *bounds[:2]])
    refused(TypeError, remedy, MODEL, dict(zip(NAMES, bounds, strict=True)))
    problem = {"num_vars": 3, "names": NAMES, "bounds": bounds}
    refused(ValueError, f"problem of SALib.*{remedy}", MODEL, problem)


def test_columns_of_entries_beside_distributions_are_checked():
    refused(ValueError, r"'bp' of inputs must have shape \(m,\)", MODEL, [NORMAL, NORMAL, ROWS])
    refused(ValueError, "'bp' of inputs must have shape", MODEL, [NORMAL, NORMAL, np.array([])])
    refused(ValueError, "missing value.*'bp'", MODEL, [NORMAL, NORMAL, np.array([1.0, np.nan])])
    refused(TypeError, r"numpy.array\(values\)", MODEL, [NORMAL, NORMAL, [1.0, 2.0, 3.0]])


def test_the_model_comes_first():
    for first in (ROWS, pd.DataFrame(ROWS), [NORMAL] * 3):
        message = r"the model comes first: pkex.sensitivity\(model, inputs\)"
        refused(pkex.UnsupportedModelError, message, first, MODEL)


@pytest.mark.parametrize("frozen", [stats.cauchy(), stats.t(2.0), stats.norm(0.0, -1.0)])
def test_distributions_without_a_finite_variance_are_refused(frozen):
    refused(
        ValueError,
        "'bmi' of inputs has a distribution with the variance",
        MODEL,
        [NORMAL, frozen, NORMAL],
    )


def test_tails_that_cannot_be_integrated_are_refused():
    message = "'bmi' of inputs has a density that is not smooth"
    refused(ValueError, message, MODEL, [NORMAL, stats.t(2.05), NORMAL])


def test_too_many_values_of_a_discrete_distribution_are_refused():
    message = "'age' of inputs has a distribution of 200001 values; at most 100000"
    refused(ValueError, message, MODEL, [stats.randint(0, 200_001), NORMAL, NORMAL])


def test_entries_for_which_the_kernel_is_not_defined_are_refused():
    model = pkex.KernelExpansion([[1.0, 0.0]], [1.0], Chi2())
    frozen = [stats.randint(0, 3), stats.randint(-1, 3)]
    refused(ValueError, "column 'x1' of inputs has the value -1, but", model, frozen)


def test_weights_are_those_of_rows():
    refused(ValueError, "weights are those of rows", MODEL, [NORMAL] * 3, weights=[1.0, 1.0])
    refused(ValueError, r"weights must have shape \(20,\)", MODEL, ROWS, weights=[1.0, 1.0])
    refused(ValueError, "weights must not be negative", MODEL, ROWS, weights=-np.ones(20))


def test_options_are_checked():
    refused(ValueError, "order must be 1, or 2", MODEL, ROWS, order=3)
    refused(ValueError, "order must be 1, or 2", MODEL, ROWS, order=0)
    refused(ValueError, "summation must be one of", MODEL, ROWS, summation="exact")
    refused(ValueError, "groups: 'a' has 'weight'", MODEL, ROWS, groups={"a": ["weight"]})
    refused(TypeError, "sensitivity.*background", MODEL, ROWS, background=ROWS)


def test_constant_inputs_have_no_part_and_a_warning():
    rows = ROWS.copy()
    rows[:, 1] = 7.0
    with pytest.warns(UserWarning, match=r"inputs are constant in \['bmi'\]") as caught:
        result = pkex.sensitivity(MODEL, rows)
    assert caught[0].filename == __file__
    for indices in (result.shapley_effects, result.first_order, result.total):
        assert indices[1] == 0.0


@pytest.mark.parametrize(
    "constant", [stats.randint(3, 4), stats.rv_discrete(values=([0.1], [1.0]))()]
)
def test_distributions_of_a_single_value_have_no_part_and_a_warning(constant):
    with pytest.warns(UserWarning, match=r"inputs are constant in \['bmi'\]"):
        result = pkex.sensitivity(MODEL, [NORMAL, constant, NORMAL])
    for indices in (result.shapley_effects, result.first_order, result.total):
        assert indices[1] == 0.0


def test_an_output_that_does_not_vary_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(ValueError, "the variance of the output is 0", MODEL, ROWS[:1])
    constant = pkex.KernelExpansion(ROWS, np.ones((20, 2)), Constant())
    refused(ValueError, "the variance of the output 'y0' is 0", constant, ROWS)


def test_a_model_without_points_does_not_vary():
    nothing = pkex.KernelExpansion(np.empty((0, 3)), np.empty(0), RBF(), 1.0)
    refused(ValueError, "the variance of the output is 0", nothing, ROWS)


def test_functions_that_are_no_sums_of_products_are_refused():
    of_variance = pkex.adapters.AdaptedModel(
        PosteriorVariance([[0.0]], [[1.0]], RBF()), method="predict", predict=None
    )

    class Model:
        predict = None

    pkex.adapters.register(Model)(lambda model: of_variance)
    refused(
        pkex.UnsupportedModelError,
        "PosteriorVariance is not a sum of products",
        Model(),
        ROWS[:, :1],
    )
    wide = np.ones((2, 200))
    model = pkex.KernelExpansion(wide, [1.0, 2.0], Polynomial(degree=4))
    refused(
        pkex.UnsupportedModelError, "sum of 70058751 products", model, RNG.normal(size=(3, 200))
    )


def test_a_variance_that_is_lost_in_rounding_is_refused():
    points = np.linspace(0.0, 1e-3, 8)[:, None]
    flat = np.array([(-1.0) ** i * v for i, v in enumerate([1, 7, 21, 35, 35, 21, 7, 1])])
    model = pkex.KernelExpansion(points, flat, RBF(1.0))
    refused(ValueError, "lost in rounding errors", model, np.linspace(-1.0, 1.0, 9)[:, None])


def test_kernels_with_kinks_that_are_sums_of_gaussians_are_told_to_take_rows():
    model = pkex.KernelExpansion(RNG.random((100, 2)), np.ones(100), Matern(0.5, nu=0.5))
    message = "a kernel such as Matern with nu = 0.5 .* Give rows instead"
    refused(ValueError, message, model, [stats.uniform()] * 2)
    few = pkex.KernelExpansion([[0.0, 0.1], [0.3, 0.2]], [1.0, 2.0], Matern(0.5, nu=0.5))
    assert pkex.sensitivity(few, np.array([[0.0, 0.0], [0.3, 0.5]])).total.min() > 0.0


@pytest.mark.parametrize(
    ("nu", "n_gaussians", "fits", "exceeds"), [(0.5, 164, 10, 20), (1.5, 61, 50, 100)]
)
def test_the_number_of_points_of_matern_kernels_is_limited_as_documented(
    monkeypatch, nu, n_gaussians, fits, exceeds
):
    class Accepted(Exception):
        """A rule of the first column has few enough nodes."""

    def accept(*_):
        raise Accepted

    def compute(n_points):
        points = np.random.default_rng(0).random((n_points, 2))
        model = pkex.KernelExpansion(points, np.ones(n_points), Matern(0.5, nu=nu))
        pkex.sensitivity(model, [stats.uniform()] * 2)

    # The moments, which take minutes, are those of a rule that is exact.
    monkeypatch.setattr(deviations, "_moments", lambda *_: np.ones((2, 1)))
    monkeypatch.setattr(deviations, "_column_deviations", accept)
    # The numbers of points are those of docs/sensitivity.md: 2^27 factors at the nodes of a column.
    with pytest.raises(Accepted):
        compute(fits)
    most = 2**27 // (exceeds * n_gaussians)
    with pytest.raises(ValueError, match=f"takes more than {most} nodes"):
        compute(exceeds)


def test_a_rule_has_fewer_nodes_than_its_limit(monkeypatch):
    # The first rule, of 200 nodes, is exact.
    model = pkex.KernelExpansion(np.linspace(-1.0, 1.0, 50)[:, None], np.ones(50), RBF(0.3))
    expected = pkex.sensitivity(model, [NORMAL]).variance
    for limit, unit in (("_MAX_NODES", 1), ("_MAX_FACTORS", 50)):
        with monkeypatch.context() as patched:
            patched.setattr(deviations, limit, 201 * unit)
            assert pkex.sensitivity(model, [NORMAL]).variance == expected
            patched.setattr(deviations, limit, 201 * unit - 1)
            refused(ValueError, "takes more than 200 nodes", model, [NORMAL])


def test_rules_that_do_not_become_exact_enough_are_refused():
    # Length-scales of which no rule has enough nodes.
    model = pkex.KernelExpansion(np.linspace(-1.0, 1.0, 500)[:, None], np.ones(500), RBF(1e-7))
    refused(
        ValueError,
        "'x0' of inputs has a distribution that takes more than .* nodes",
        model,
        [NORMAL],
    )
    model = pkex.KernelExpansion([[0.0], [0.3]], [1.0, 2.0], Laplacian(1e-9))
    assert pkex.sensitivity(model, np.array([[0.0], [0.3], [0.5]])).total.tolist() == [1.0]
