"""What every kernel, function and model keeps that is explained: the list is in `explainable`."""

import functools
import inspect
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from brute_force import Reference, coalitions, interventional, marginal, shapley_weights
from explainable import NAMES, explainable
from explainable_functions import FUNCTIONS, KERNELS, WEIGHTS, D
from explainable_models import MODELS, fitted
from sklearn.pipeline import Pipeline

import pkex
from pkex.adapters import registry
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.coalitionwise import CoalitionGames
from pkex.functions.conditional import Conditional
from pkex.functions.dense_points import TermKernel
from pkex.functions.encoded import EncodedKernelSum, EncodedTransformed
from pkex.functions.losses import squared_errors
from pkex.functions.row_losses import RowLosses
from pkex.functions.squares import PairSquares
from pkex.functions.term_sum import TermSum
from pkex.kernels import Kernel, OrthogonalANOVA
from pkex.kernels.polyharmonic import GrowingKernel

GROUPS, PLAYERS = {"first": [0, 3], "last": [2, 4]}, [[0, 3], [1], [2, 4]]
COLUMNS = ["age", "bmi", "bp", "s1", "s2"]
SHARES = WEIGHTS / WEIGHTS.sum()
FEW = np.array([0.5, 0.125, 0.375])


@pytest.fixture(params=NAMES)
def case(request):
    return explainable(request.param)


@pytest.fixture(params=[name for name in NAMES if not name.startswith("model ")])
def with_worths(request):
    return explainable(request.param)


def background_of(case, value_function):
    """None in a game that needs none; by default that is the one of the model's own points."""
    is_default = value_function is None
    is_needed = value_function in ("marginal", "interventional")
    return case.background if is_needed or (is_default and not case.keeps_points) else None


def is_refused(case, value_function):
    """Whether a model has no neutral game, and this was asked for: then it has to say so."""
    if value_function != "neutral" or case.is_neutral:
        return False
    with pytest.raises(ValueError, match=r"a sum of functions of columns has none\. Pass backgr"):
        pkex.Explainer(case.model, value_function="neutral")
    return True


def assert_explained(explainer, rows, expected):
    """Compare values and the base value with a reference and the empty coalition's worth."""
    for row, found in zip(rows, explainer.shap_values(rows), strict=True):
        reference, base = expected(row)
        reference.assert_close(found)
        np.testing.assert_allclose(
            explainer.expected_value, base, rtol=0, atol=1e-10 * reference.scale.max()
        )


# --- values ---


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_interventional_values_equal_brute_force(case, weights):
    explainer = pkex.Explainer(case.model, case.background, background_weights=weights)
    shares = None if weights is None else SHARES
    assert_explained(
        explainer,
        case.rows,
        lambda row: interventional(case.output, row, case.background, shares),
    )


def test_marginal_values_equal_brute_force(case):
    few = case.background[:3]
    options = {"background_weights": 8.0 * FEW, "value_function": "marginal"}
    explainer = pkex.Explainer(case.model, few, **options)
    assert_explained(explainer, case.rows, lambda row: marginal(case.output, row, few, FEW))


def test_neutral_values_equal_brute_force(with_worths):
    case = with_worths

    def expected(row):
        worths = np.stack([case.worth(row, members) for members in coalitions(D)])
        values = np.tensordot(shapley_weights(D), worths, axes=1)
        return Reference(values, np.abs(worths).max(axis=0) * np.ones_like(values)), worths[0]

    explainer = pkex.Explainer(case.model, value_function="neutral")
    assert_explained(explainer, case.rows, expected)


@pytest.mark.parametrize("value_function", [None, "neutral", "marginal", "interventional"])
def test_values_and_base_add_up_to_the_output(case, value_function):
    if is_refused(case, value_function):
        return
    background = background_of(case, value_function)
    explainer = pkex.Explainer(case.model, background, value_function=value_function)
    explanation, own = explainer(case.rows), case.output(case.rows)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total.shape == own.shape
    scale = max(np.abs(explanation.values).max(), np.abs(own).max())
    np.testing.assert_allclose(total, own, rtol=0, atol=1e-11 * scale)


def test_values_of_groups_equal_brute_force_over_their_coalitions(case):
    explainer = pkex.Explainer(case.model, case.background, groups=GROUPS)
    assert explainer.feature_names == ["first", case.names[1] if case.names else "x1", "last"]
    assert_explained(
        explainer,
        case.rows,
        lambda row: interventional(case.output, row, case.background, groups=PLAYERS),
    )


@pytest.mark.parametrize("value_function", [None, "neutral", "marginal"])
def test_squared_errors_equal_those_of_all_coalitions(case, value_function, monkeypatch):
    """Sums over pairs of points and closed forms, where there are any."""
    if is_refused(case, value_function):
        return
    monkeypatch.setattr(PairSquares, "are_faster", True)
    background = background_of(case, value_function)
    background = None if background is None else background[:3]
    problem = pkex.Explainer(case.model, background, value_function=value_function)._problem
    function, rows = problem.function, problem.schema.read(case.rows).rows
    targets = (
        case.output(case.rows).reshape(len(rows), -1)
        + np.sin(np.arange(1.0, 1 + len(rows)))[:, None]
    )
    n = targets.shape[1]
    losses = RowLosses(function, squared_errors, n, function.has_output_axis)
    rows = np.column_stack([rows, targets])
    found = losses.explain(rows, game=problem.game, computation=Computation())
    expected = CoalitionGames.explain(losses, rows, game=problem.game, computation=Computation())
    scale = max(1e-300, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("is_own", [True, False], ids=["own points", "background"])
def test_both_methods_and_summations_agree(case, is_own):
    background = None if is_own and case.keeps_points else case.background
    values = pkex.Explainer(case.model, background).shap_values(case.rows)
    scale = max(1.0, np.abs(case.output(case.rows)).max())
    for options in ({"method": "recursion"}, {"summation": "plain"}):
        other = pkex.Explainer(case.model, background, **options)
        np.testing.assert_allclose(other.shap_values(case.rows), values, rtol=0, atol=1e-12 * scale)


def test_what_keeps_no_points_asks_for_a_background(case):
    if case.keeps_points:
        assert np.isfinite(pkex.Explainer(case.model).expected_value).all()
    else:
        with pytest.raises(ValueError, match="background is required"):
            pkex.Explainer(case.model)


# --- outputs and names ---


def test_a_chosen_output_has_the_values_that_it_has_among_all(case):
    whole = pkex.Explainer(case.model, case.background)
    explanation = whole(case.rows)
    if explanation.values.ndim == 2:
        assert whole.output_names is None
        with pytest.raises(ValueError, match="single output"):
            pkex.Explainer(case.model, case.background, outputs=0)
        return
    names = explanation.output_names
    assert len(set(names)) == len(names) == explanation.values.shape[2]
    for outputs, index in ((1, 1), (names[-1], len(names) - 1), ([1, names[0]], [1, 0])):
        chosen = pkex.Explainer(case.model, case.background, outputs=outputs)(case.rows)
        np.testing.assert_array_equal(chosen.values, explanation.values[..., index])
        np.testing.assert_array_equal(chosen.base_values, explanation.base_values[..., index])


def test_features_have_the_names_of_the_columns(case):
    explainer = pkex.Explainer(case.model, case.background)
    assert explainer(case.rows).feature_names == (case.names or [f"x{j}" for j in range(D)])
    columns = case.names or COLUMNS
    frame = pd.DataFrame(case.rows, columns=columns)
    assert explainer(frame).feature_names == columns
    np.testing.assert_array_equal(explainer.shap_values(frame), explainer.shap_values(case.rows))
    named = pkex.Explainer(case.model, case.background, feature_names=COLUMNS)
    assert named(case.rows).feature_names == COLUMNS


# --- equal bits ---


@pytest.mark.parametrize("value_function", [None, "neutral", "marginal", "interventional"])
def test_threads_pieces_and_pickles_give_equal_bits(case, value_function):
    if is_refused(case, value_function):
        return
    background = background_of(case, value_function)
    if value_function == "marginal":
        background = background[:3]  # all combinations of their columns are rows
    options = {"value_function": value_function}
    explainer = pkex.Explainer(case.model, background, n_jobs=1, **options)
    values = explainer.shap_values(case.rows)
    again = pickle.loads(pickle.dumps(explainer))
    assert repr(again) == repr(explainer)
    threads = [pkex.Explainer(case.model, background, n_jobs=n, **options) for n in (3, -1)]
    for other in (again, *threads):
        np.testing.assert_array_equal(other.shap_values(case.rows), values)
        np.testing.assert_array_equal(other.expected_value, explainer.expected_value)
    pieces = [explainer.shap_values(row[None]) for row in case.rows]
    np.testing.assert_array_equal(np.concatenate(pieces), values)


@pytest.fixture
def frequent_switches():
    """The interpreter changes threads some hundred times as often as usual."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.parametrize("value_function", ["marginal", "interventional"])
def test_threads_with_backgrounds_of_their_own_share_a_model(
    case, value_function, frequent_switches
):
    """One explainer for each background; every explainer has its first calls in several threads."""
    backgrounds = [case.background[:2], case.background[1:3]]
    make = functools.partial(pkex.Explainer, case.model, value_function=value_function, n_jobs=2)
    barrier = Barrier(4, timeout=60.0)

    def explained(explainer):
        barrier.wait()
        values = explainer.shap_values(case.rows[:1])
        return np.concatenate([values.ravel(), np.ravel(explainer.expected_value)])

    explainers = [make(background) for background in backgrounds]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(explained, explainers * 2))
    barrier = Barrier(1)
    expected = [explained(make(background)) for background in backgrounds]
    np.testing.assert_array_equal(found, expected * 2)


# --- nothing is left out ---


def concrete(base):
    """The classes of pkex below a class that are none's base, and public ones all the same."""
    below = [cls for cls in base.__subclasses__() if cls.__module__.partition(".")[0] == "pkex"]
    is_public = {cls: not (inspect.isabstract(cls) or cls.__name__[0] == "_") for cls in below}
    own = {cls for cls in below if is_public[cls] or not cls.__subclasses__()}
    return own.union(*map(concrete, below))


def test_every_kernel_is_among_them():
    # That of interpolators is not a kernel for users; they are among the models. The kernel that is
    # centered on a sample is tested with samples, in tests/kernels. That of one term is part of a
    # sum at sparse points.
    others = {GrowingKernel, OrthogonalANOVA, TermKernel}
    assert {type(kernel) for kernel in KERNELS.values()} == concrete(Kernel) - others


def test_every_function_is_among_them():
    # Those of tables that hold more than numbers are tested with such, in tests/compare.
    # That of the observational game knows no other, and sums of terms have no neutral one: see
    # tests/explain/test_observational.py and tests/functions/test_terms.py.
    others = {EncodedKernelSum, EncodedTransformed, Conditional, TermSum}
    assert {type(function) for function, _ in FUNCTIONS.values()} == concrete(Function) - others


def test_every_adapter_is_among_them():
    models = [fitted(name)[0] for name in MODELS]
    # Some accept only what a step before them makes, such as categories.
    models += [model[-1] for model in models if isinstance(model, Pipeline)]
    for model in models:
        registry._import_adapters_for(type(model))
    adapters = registry._adapt.registry
    met = {next(cls for cls in type(model).__mro__ if cls in adapters) for model in models}
    ours = {cls for cls in adapters if adapters[cls].__module__.startswith("pkex.")}
    # A class of pkex stands in for one that an old library has not.
    stand_ins = {cls for cls in ours if cls.__module__.startswith("pkex.")} - {
        pkex.models.ShapleyRegularizedRidge,
        pkex.models.ShapleyRegularizedClassifier,
        pkex.models.RWReLU,
        pkex.models.RWSign,
        pkex.models.RWStumps,
    }
    assert met == ours - stand_ins - {
        object,
        pkex.KernelExpansion,
        pkex.ProductExpansion,
        pkex.TermExpansion,
    }
