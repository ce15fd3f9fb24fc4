"""ProductKernelExplainer: shapiq's arguments in, shapiq's objects out, exact values in between."""

import inspect
import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.games.indices import INDICES

shapiq = pytest.importorskip("shapiq")
from shapiq.explainer.base import Explainer  # noqa: E402
from shapiq.explainer.product_kernel import ProductKernelExplainer as Theirs  # noqa: E402

from pkex.integrations.shapiq import ProductKernelExplainer  # noqa: E402

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, D))
Y = X[:, 0] * X[:, 1] + X[:, 2]
ROWS = RNG.normal(size=(4, D))
Z = X[:10]
MODEL = SVR().fit(X, Y)
PAIRS = SVC().fit(X, np.digitize(Y, [-0.5, 0.5]))

MODELS = {
    "SVR": MODEL,
    "SVC": SVC(C=3.0).fit(X, Y > 0.0),
    "GaussianProcessRegressor": GaussianProcessRegressor(RBF(1.5), alpha=0.1).fit(X, Y),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("min_order", [0, 1])
def test_neutral_values_are_those_of_shapiqs_own_explainer(model, min_order):
    theirs = Theirs(model, min_order=min_order)
    ours = ProductKernelExplainer(model, min_order=min_order)
    assert ours.empty_prediction == pytest.approx(theirs.empty_prediction, abs=1e-12)
    for row in ROWS:
        found, expected = ours.explain(row), theirs.explain(row)
        assert type(found) is type(expected)
        assert set(found.interactions) == set(expected.interactions)
        for interaction, value in expected.interactions.items():
            assert found[interaction] == pytest.approx(value, abs=1e-12)
        for name in ("index", "min_order", "max_order", "n_players", "estimated"):
            assert getattr(found, name) == getattr(expected, name)
        assert found.baseline_value == pytest.approx(expected.baseline_value, abs=1e-12)


class Imputed(shapiq.Game):
    """The mean output over background rows that have the entries of x of a coalition."""

    def __init__(self, model, x, background):
        self.model, self.x, self.background = model, x, background
        super().__init__(n_players=len(x), normalize=False)

    def value_function(self, coalitions):
        rows = np.where(coalitions[:, None], self.x, self.background)
        outputs = self.model.predict(rows.reshape(-1, len(self.x)))
        return outputs.reshape(len(coalitions), -1).mean(axis=1)


CASES = [("SV", 1), ("BV", 1), *((index, order) for index in INDICES for order in (1, 2, 3))]


@pytest.mark.parametrize(("index", "order"), CASES)
def test_every_index_and_order_is_as_shapiqs_exact_computer_has_it(index, order):
    explainer = ProductKernelExplainer(MODEL, Z, index=index, max_order=order)
    for row, found in zip(ROWS[:2], explainer.explain_X(ROWS[:2]), strict=True):
        computer = shapiq.ExactComputer(Imputed(MODEL, row, Z))
        with warnings.catch_warnings(action="ignore"):  # CHII has no empty coalition, it says
            expected = computer(index, order)
        tolerance = 1e-8 if index == "FSII" else 1e-12  # theirs is a least-squares fit
        orders = range(1 if index == "CHII" else 0, order + 1)
        members = [m for size in orders for m in combinations(range(D), size)]
        assert {m for m in found.interactions if len(m) in orders} == set(members)
        for coalition in members:
            assert found[coalition] == pytest.approx(expected[coalition], abs=tolerance)
        assert found.index == expected.index == explainer.index
        assert (found.min_order, found.max_order) == (0, order)
        assert found.n_players == D
        assert not found.estimated
        assert found.baseline_value == pytest.approx(expected.baseline_value, abs=tolerance)
        if index != "FBII":
            assert found.baseline_value == pytest.approx(MODEL.predict(Z).mean(), abs=1e-12)
        assert list(found.interactions) == [tuple(sorted(m)) for m in found.interactions]


def test_the_coefficients_of_smaller_coalitions_are_left_out_on_request():
    whole = ProductKernelExplainer(MODEL, Z, index="SII", max_order=3).explain(ROWS[0])
    assert whole[()] != pytest.approx(whole.baseline_value)
    for min_order, n_coalitions in [(0, 26), (1, 25), (2, 20), (3, 10)]:
        explainer = ProductKernelExplainer(MODEL, Z, index="SII", max_order=3, min_order=min_order)
        for found in (explainer.explain(ROWS[0]), explainer.explain_X(ROWS)[0]):
            expected = {m: v for m, v in whole.interactions.items() if len(m) >= min_order}
            assert found.interactions == expected
            assert len(found.interactions) == n_coalitions
            assert (found.min_order, found.max_order, found.index) == (min_order, 3, "SII")
            assert found.baseline_value == whole.baseline_value


def test_arguments_by_position_are_those_of_shapiqs_explainer():
    theirs = list(inspect.signature(Explainer.__init__).parameters)[1:6]
    assert list(inspect.signature(ProductKernelExplainer).parameters)[:5] == theirs
    by_position = ProductKernelExplainer(MODELS["SVC"], Z, 1, "STII", 2)
    by_name = ProductKernelExplainer(
        model=MODELS["SVC"], data=Z, class_index=1, index="STII", max_order=2
    )
    assert (by_position.index, by_position.max_order) == ("STII", 2)
    assert by_position.explain(ROWS[0]) == by_name.explain(ROWS[0])


def test_shapiq_draws_interactions():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    values = ProductKernelExplainer(MODEL, Z, index="k-SII", max_order=2).explain(ROWS[0])
    names = ["a", "b", "c", "d", "e"]
    for plot in (values.plot_network, values.plot_si_graph, values.plot_force, values.plot_upset):
        plot(feature_names=names, show=False)
        plt.close("all")
    shapiq.network_plot(interaction_values=values)
    shapiq.force_plot(values, feature_names=names)
    shapiq.stacked_bar_plot(values, feature_names=names, show=False)
    plt.close("all")


def test_it_is_a_shapiq_explainer_with_shapiqs_conventions():
    explainer = ProductKernelExplainer(MODEL)
    assert isinstance(explainer, Explainer)
    assert (explainer.index, explainer.max_order) == ("SV", 1)
    assert explainer.model is MODEL
    values = explainer.explain(ROWS[0])
    assert list(values.interactions) == [(), *((j,) for j in range(D))]
    assert values[()] == values.baseline_value == explainer.empty_prediction
    np.testing.assert_allclose(values.values.sum(), MODEL.predict(ROWS[:1])[0], atol=1e-12)
    np.testing.assert_allclose(explainer.predict(ROWS), MODEL.predict(ROWS), atol=1e-12)
    values.get_n_order(1).plot_waterfall(show=False)
    explainer.set_random_state(0)
    for name in ("approximator", "imputer", "exact_computer"):
        assert not hasattr(explainer, name)


def test_rows_are_explained_in_one_batch():
    explainer = ProductKernelExplainer(MODEL, Z)
    expected = pkex.Explainer(MODEL, Z).shap_values(ROWS)
    for options in ({}, {"n_jobs": 2, "random_state": 0}, {"verbose": True}, {"budget": 100}):
        found = explainer.explain_X(ROWS, **options)
        np.testing.assert_array_equal([values.values[1:] for values in found], expected)
    found = explainer.explain_X(pd.DataFrame(ROWS))
    np.testing.assert_array_equal([values.values[1:] for values in found], expected)


def test_a_row_may_be_a_table_or_a_series_whose_names_are_checked():
    names = ["a", "b", "c", "d", "e"]
    model = SVR().fit(pd.DataFrame(X, columns=names), Y)
    explainer = ProductKernelExplainer(model)
    row = pd.Series(ROWS[0], index=names)
    same_rows = [row, pd.Series(ROWS[0]), row.astype(object), ROWS[0].tolist(), ROWS[:1]]
    for same in [*same_rows, pd.DataFrame(ROWS[:1], columns=names), csr_matrix(ROWS[:1])]:
        assert explainer.explain(same) == explainer.explain(ROWS[0])
    with pytest.raises(ValueError, match="X has its columns in another order"):
        explainer.explain(row[::-1])


def test_all_models_of_pkex_are_supported():
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, Y > 0.0)
    for model in (pipeline, pipeline.decision_function):
        explainer = ProductKernelExplainer(model, Z, class_index=1)
        values = explainer.explain(ROWS[0])
        assert values.values.sum() == pytest.approx(pipeline.decision_function(ROWS[:1])[0])
        np.testing.assert_allclose(explainer.predict(ROWS), pipeline.decision_function(ROWS))


def test_one_of_several_outputs_is_chosen():
    expected = pkex.Explainer(PAIRS, outputs="0 vs 2", value_function="neutral")
    expected = expected.shap_values(ROWS)
    for outputs in (1, "0 vs 2"):
        found = ProductKernelExplainer(PAIRS, outputs=outputs).explain_X(ROWS)
        np.testing.assert_array_equal([values.values[1:] for values in found], expected)
    with pytest.raises(ValueError, match=r"3 outputs.*Choose it by outputs"):
        ProductKernelExplainer(PAIRS)


def test_values_are_positive_for_the_class_that_is_meant():
    model = MODELS["SVC"]
    for options in ({}, {"data": Z, "index": "k-SII", "max_order": 2}, {"min_order": 1}):
        second = ProductKernelExplainer(model, class_index=1, **options)
        first = ProductKernelExplainer(model, class_index=0, **options)
        assert first.explain(ROWS[0]).index == second.explain(ROWS[0]).index
        for a, b in zip(first.explain_X(ROWS), second.explain_X(ROWS), strict=True):
            assert a.interactions == {m: -value for m, value in b.interactions.items()}
            assert a.baseline_value == -b.baseline_value == first.empty_prediction
            assert (a.min_order, a.max_order) == (b.min_order, b.max_order)
        np.testing.assert_array_equal(first.predict(ROWS), -second.predict(ROWS))
    regression = ProductKernelExplainer(MODEL, class_index=0).explain(ROWS[0])
    assert regression == ProductKernelExplainer(MODEL).explain(ROWS[0])


def test_options_of_estimates_have_no_effect():
    expected = ProductKernelExplainer(MODEL, Z).explain(ROWS[0])
    for options in (
        {"imputer": "marginal", "sample_size": 5, "random_state": 0},
        {"approximator": "permutation", "joint_marginal_distribution": True},
        {"approximator": shapiq.KernelSHAP(n=D), "verbose": False},
    ):
        assert ProductKernelExplainer(MODEL, Z, **options).explain(ROWS[0]) == expected


def test_features_may_be_drawn_independently_as_by_shapiqs_imputer():
    found = ProductKernelExplainer(MODEL, Z, joint_marginal_distribution=False)
    expected = ProductKernelExplainer(MODEL, Z, value_function="marginal")
    assert found.explain(ROWS[0]) == expected.explain(ROWS[0])
    with pytest.raises(
        ValueError, match="requires value_function='marginal'; got 'interventional'"
    ):
        ProductKernelExplainer(
            MODEL, Z, joint_marginal_distribution=False, value_function="interventional"
        )


def test_progress_is_shown_if_asked_for_when_made(capsys):
    ProductKernelExplainer(MODEL).explain_X(ROWS)
    assert capsys.readouterr().err == ""
    ProductKernelExplainer(MODEL, verbose=True).explain_X(ROWS)
    assert "100%" in capsys.readouterr().err


def test_a_background_may_be_a_series():
    row = pd.Series(Z[0])
    found = ProductKernelExplainer(MODEL, row).explain(ROWS[0])
    assert found == ProductKernelExplainer(MODEL, Z[:1]).explain(ROWS[0])


def test_the_game_is_shapiqs_unless_there_are_data():
    neutral = pkex.Explainer(MODEL, value_function="neutral").shap_values(ROWS[:1])[0]
    found = ProductKernelExplainer(MODEL).explain(ROWS[0]).values[1:]
    np.testing.assert_array_equal(found, neutral)


def test_the_arguments_of_pkex_are_taken_too():
    options = {
        "value_function": "marginal",
        "background_weights": np.arange(1.0, 11.0),
        "groups": {"a": [0, 3]},
    }
    values = ProductKernelExplainer(MODEL, Z, **options).explain(ROWS[0])
    expected = pkex.Explainer(MODEL, Z, **options).shap_values(ROWS[:1])[0]
    assert values.n_players == 4
    np.testing.assert_array_equal(values.values[1:], expected)


def test_a_pickle_explains_to_equal_bits():
    explainer = ProductKernelExplainer(MODEL, Z)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.explain(ROWS[0]).values, explainer.explain(ROWS[0]).values)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_order": 2}, ValueError, "max_order=1; got max_order=2.*such as 'k-SII'"),
        ({"index": "BV", "max_order": 3}, ValueError, "'BV' requires max_order=1.*'BII'"),
        ({"index": "SGV"}, NotImplementedError, "'SGV' is not supported. Use one of 'SV', 'BV'"),
        ({"index": "JointSV", "max_order": 2}, NotImplementedError, "'k-SII', 'SII', .*'CHII'"),
        ({"index": "sv"}, ValueError, "index must be one of 'SV'"),
        ({"index": ["SV"]}, ValueError, "index must be one of 'SV'"),
        ({"max_order": 0}, ValueError, "max_order must be an integer, at least 1; got 0"),
        ({"min_order": -1}, ValueError, "min_order must be an integer, at least 0; got -1"),
        ({"min_order": 2}, ValueError, "min_order must not exceed max_order"),
        ({"max_order": "1"}, ValueError, "max_order must be an integer, at least 1; got '1'"),
        ({"max_order": True}, ValueError, "max_order must be an integer"),
        ({"index": "SII", "max_order": 6}, ValueError, "must not exceed the 5 players; got 6"),
        ({"min_order": 0.5}, ValueError, "min_order must be an integer"),
        ({"n_jobs": "junk"}, TypeError, "n_jobs must be"),
        ({"class_index": -1}, ValueError, "class_index must be an integer, at least 0; got -1"),
        ({"imputer": "marginal"}, ValueError, "^imputer requires the rows .*Pass data"),
        (
            {"imputer": "baseline", "data": Z},
            NotImplementedError,
            "'baseline'. Pass a baseline as the only row of data",
        ),
        ({"joint_marginal_distribution": False}, ValueError, "drawn from. Pass data"),
        ({"approximator": "shap"}, ValueError, "approximator must be one of 'auto', 'spex'"),
        ({"sample_size": 0}, ValueError, "sample_size has no effect.*at least 1; got 0"),
        ({"verbose": "yes"}, ValueError, "verbose must be True or False"),
        ({"data": Z[0]}, ValueError, r"data\.reshape\(1, -1\)"),
        ({"budget": 100}, TypeError, "has no argument 'budget'; it takes model, data"),
    ],
)
def test_bad_arguments_are_answered_with_what_is_wrong(options, error, message):
    with pytest.raises(error, match=message):
        ProductKernelExplainer(MODEL, **options)


def test_one_error_names_all_that_is_wrong_with_what_pkex_takes():
    gap = np.full((3, 2), np.nan)
    options = {"n_jobs": 0, "value_function": "x", "groups": {"ab": [0, 99]}, "outputs": "zz"}
    with pytest.raises(ValueError, match="problems:") as caught:
        ProductKernelExplainer(SVR().fit(X, X[:, 0]), gap, max_order=99, **options)
    problems = str(caught.value).split("\n- ")[1:]
    words = ("index='SV'", "value_function", "n_jobs", "outputs", "data", "groups")
    assert len(problems) == len(words)
    for problem, word in zip(problems, words, strict=True):
        assert problem.startswith(word)


def test_one_error_names_all_that_is_wrong_with_the_arguments():
    with pytest.raises(TypeError) as caught:
        ProductKernelExplainer(
            None, index="sv", max_order=0, min_order=-1, class_index="a", foo=3, imputer="baseline"
        )
    problems = str(caught.value).split("\n- ")[1:]
    words = ("foo", "class_index", "imputer", "index", "max_order", "min_order", "None is not")
    for problem, word in zip(problems, words, strict=True):
        assert word in problem[:60]
    with pytest.raises(ValueError, match=r"(?s)exceed.*max_order=1.*3 outputs"):
        ProductKernelExplainer(PAIRS, max_order=2, min_order=3)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (MODELS["SVC"], {"class_index": 2}, "must be 0, 1 or None.*'True vs False'"),
        (MODELS["SVC"], {"class_index": True}, "must be an integer.*got True"),
        (PAIRS, {"class_index": 1}, r"two classes. Choose.*outputs=.*\['0 vs 1', "),
        (PAIRS, {"class_index": 1, "outputs": 0}, "class_index and outputs were both given"),
    ],
)
def test_class_indices_that_mean_nothing_are_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        ProductKernelExplainer(model, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"foo": 1}, TypeError, "no argument 'foo'; it takes x, budget, random_state"),
        ({"budget": 0}, ValueError, "budget .*must be an integer, at least 1; got 0"),
        ({"budget": "many"}, ValueError, "budget has no effect"),
        ({"random_state": "abc"}, ValueError, "random_state has no effect"),
    ],
)
def test_options_of_a_call_that_mean_nothing_are_refused(options, error, message):
    explainer = ProductKernelExplainer(MODEL)
    with pytest.raises(error, match=message):
        explainer.explain(ROWS[0], **options)
    with pytest.raises(error, match=message.replace("x, budget", "X, n_jobs")):
        explainer.explain_X(ROWS, **options)
    with pytest.raises(TypeError, match="n_jobs must be"):
        explainer.explain_X(ROWS, n_jobs="junk")


def test_bad_rows_are_answered_with_what_is_wrong():
    explainer = ProductKernelExplainer(MODEL)
    with pytest.raises(ValueError, match=r"x must be one row.*\(4, 5\).*explain_X"):
        explainer.explain(ROWS)
    with pytest.raises(ValueError, match="X has the wrong number of columns: expected 5, got 2"):
        explainer.explain(ROWS[0, :2])
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        explainer.explain_X(ROWS[0])


def test_what_is_wrong_with_the_rows_is_named_beside_the_options():
    explainer = ProductKernelExplainer(MODEL)
    with pytest.raises(ValueError, match=r"(?s)budget.*wrong number of columns"):
        explainer.explain(ROWS[0, :2], budget=0)
    with pytest.raises(TypeError, match=r"(?s)no argument 'foo'.*verbose.*must be two-dimensional"):
        explainer.explain_X(ROWS[0], foo=1, verbose=3)
