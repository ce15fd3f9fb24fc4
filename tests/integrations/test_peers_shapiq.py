"""What shapiq's own tests ask of its ProductKernelExplainer holds here.

docs/project/peer-tests.md lists which of these tests stands for which of shapiq's, and which are
impossible here.
"""

from typing import get_args

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC, SVR

import pkex

shapiq = pytest.importorskip("shapiq")
from shapiq.explainer.custom_types import ExplainerIndices  # noqa: E402
from shapiq.explainer.product_kernel.validation import validate_pk_model  # noqa: E402

from pkex.integrations.shapiq import ProductKernelExplainer  # noqa: E402

RNG = np.random.default_rng(42)
X = RNG.normal(size=(30, 5))
Y = X[:, 0] + 0.5 * X[:, 1] + RNG.normal(0.0, 0.1, size=30)
THREE = RNG.integers(0, 3, size=30)

# Models that shapiq supports, and what of each is explained.
MODELS = {
    "svr": (SVR().fit(X, Y), "predict"),
    "svc": (SVC().fit(X, np.median(Y) < Y), "decision_function"),
    "gpr": (GaussianProcessRegressor(RBF(), random_state=42).fit(X, Y), "predict"),
}
# shapiq's indices but for Fourier's transform (since 1.8), which is none of a game's players.
INDICES = [index for index in get_args(ExplainerIndices) if index != "Fourier"]
of_every_model = pytest.mark.parametrize(("model", "output"), MODELS.values(), ids=MODELS)


def shapiqs_game(model):
    """The game of the first row as shapiq has it."""
    try:
        from shapiq.explainer.product_kernel.game import ProductKernelGame
    except ImportError:  # since shapiq 1.8
        from shapiq_games.kernel import ProductKernelGame

        return ProductKernelGame(model, X[0])
    return ProductKernelGame(5, X[0], validate_pk_model(model))


@of_every_model
def test_values_add_up_to_the_output_with_that_of_the_empty_coalition(model, output):
    values = ProductKernelExplainer(model=model, max_order=1, index="SV").explain(X[0])
    expected = getattr(model, output)(X[:1])[0]
    assert values.values.sum() == pytest.approx(expected, rel=1e-6)


@of_every_model
def test_explanations_say_what_they_are(model, output):
    explainer = ProductKernelExplainer(model=model, max_order=1, min_order=0, index="SV")
    found = explainer.explain(X[0])
    assert isinstance(found, shapiq.InteractionValues)
    assert (found.n_players, found.max_order, found.min_order) == (5, 1, 0)
    assert found.estimated is False


@of_every_model
def test_several_rows_are_explained_in_a_list(model, output):
    found = ProductKernelExplainer(model=model, max_order=1, min_order=0).explain_X(X[:3])
    assert [type(values) for values in found] == [shapiq.InteractionValues] * 3
    assert all(values.n_players == 5 for values in found)


@of_every_model
def test_values_are_those_of_shapiqs_exact_computer_on_its_own_game(model, output):
    expected = shapiq.ExactComputer(shapiqs_game(model), n_players=5)("SV", order=1)
    found = ProductKernelExplainer(model=model).explain(X[0])
    scale = np.abs(expected.values).max()
    for players, value in expected.interactions.items():
        assert found[players] == pytest.approx(value, rel=0, abs=1e-10 * scale)
    np.testing.assert_allclose(expected.values.sum(), getattr(model, output)(X[:1])[0], rtol=1e-6)


@pytest.mark.parametrize("order", [1, 2, 5])
@pytest.mark.parametrize("index", INDICES)
def test_every_index_is_that_of_shapiqs_exact_computer_on_its_own_game(index, order):
    model, _ = MODELS["svr"]
    if index in ("SV", "BV") and order > 1:
        with pytest.raises(ValueError, match="max_order=1"):
            ProductKernelExplainer(model=model, index=index, max_order=order)
        return
    expected = shapiq.ExactComputer(shapiqs_game(model), n_players=5)(index, order=order)
    found = ProductKernelExplainer(model=model, index=index, max_order=order).explain(X[0])
    assert found.index == expected.index
    of_these_orders = {"min_order": 1, "max_order": order}
    expected, found = (values.get_n_order(**of_these_orders) for values in (expected, found))
    assert set(found.interactions) == set(expected.interactions)
    # FSII is a least-squares fit there.
    tolerance = 1e-8 if index == "FSII" else 1e-10
    for players, value in expected.interactions.items():
        assert found[players] == pytest.approx(value, rel=0, abs=tolerance)


def test_either_class_of_two_is_taken():
    model, _ = MODELS["svc"]
    first, second = (
        ProductKernelExplainer(model=model, max_order=1, min_order=0, class_index=k) for k in (0, 1)
    )
    np.testing.assert_array_equal(first.explain(X[0]).values, -second.explain(X[0]).values)


def test_an_order_above_that_of_the_index_is_a_value_error():
    with pytest.raises(ValueError, match="max_order=1"):
        ProductKernelExplainer(model=MODELS["svr"][0], max_order=2)


def test_a_model_that_is_not_supported_is_a_type_error():
    with pytest.raises(TypeError, match="KNeighborsRegressor is not supported"):
        ProductKernelExplainer(model=KNeighborsRegressor().fit(X, Y), max_order=1)


def test_a_classifier_of_several_classes_without_a_choice_is_a_type_error():
    model = SVC().fit(X, THREE)
    with pytest.raises(
        TypeError, match=r"interaction values are of one output.*outputs="
    ) as caught:
        ProductKernelExplainer(model=model, max_order=1)
    assert isinstance(caught.value, pkex.UnsupportedModelError)
    assert isinstance(caught.value, ValueError)
    chosen = ProductKernelExplainer(model=model, max_order=1, outputs="0 vs 2")
    assert chosen.explain(X[0]).n_players == 5
