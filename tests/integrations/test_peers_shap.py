"""What shap's own tests ask of its KernelExplainer holds here, for kernel models.

docs/project/peer-tests.md lists which of these tests stands for which of shap's, and which are
impossible here.
"""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, random
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC, SVR

import pkex
from pkex.kernels import RBF

shap = pytest.importorskip("shap")
plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")

from shap.utils._exceptions import DimensionError  # noqa: E402

from pkex.integrations.shap import KernelMachineExplainer  # noqa: E402

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 4))
Y = X[:, 0] + 2.0 * X[:, 1] * X[:, 2]
MODEL = SVR(gamma=0.3).fit(X, Y)
OUTPUTS = KernelRidge(kernel="rbf", gamma=0.3).fit(X, np.column_stack([Y, X[:, 3]]))
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
IRIS = load_iris(as_frame=True)
FLOWERS = IRIS.data
SVM = SVC(decision_function_shape="ovo").fit(FLOWERS, IRIS.target)


def assert_adds_up(explainer, model, rows):
    """Values and expected value add up to the output, per row and output."""
    values = explainer.shap_values(rows, silent=True)
    total = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, model(rows), rtol=0, atol=1e-10)


# --- models and data ---


@pytest.mark.parametrize("d", [4, 10])
def test_a_model_that_is_0_has_values_of_0(d):
    nothing = pkex.KernelExpansion(np.ones((3, d)), np.zeros(3), RBF())
    explainer = KernelMachineExplainer(nothing, np.ones((2, d)), nsamples=100)
    np.testing.assert_array_equal(explainer.explain(np.zeros((1, d))), np.zeros(d))


@pytest.fixture(scope="module")
def probable():
    """shap's first example of a machine: its probabilities, behind a logit."""
    with warnings.catch_warnings(action="ignore"):  # probability=True is on its way out
        svm = SVC(kernel="rbf", probability=True, random_state=0).fit(FLOWERS, IRIS.target)
    return svm, KernelMachineExplainer(svm.predict_proba, FLOWERS, nsamples=100, link="logit")


def logits(p):
    return np.log(p / (1.0 - p))


def test_the_probabilities_of_a_class_are_drawn_as_on_shaps_front_page(probable):
    _, explainer = probable
    values = explainer.shap_values(FLOWERS[::10], l1_reg="num_features(4)")
    assert values.shape == (15, 4, 3)
    drawn = shap.force_plot(explainer.expected_value[0], values[..., 0], FLOWERS[::10])
    assert drawn is not None


def test_calls_and_values_add_up_to_the_log_odds_of_every_class(probable):
    svm, explainer = probable
    explanation = explainer(FLOWERS[::10])
    assert shap.force_plot(explanation[0, :, 1]) is not None
    total = explanation.values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, logits(svm.predict_proba(FLOWERS[::10])), atol=1e-9)


def test_log_odds_start_from_those_of_the_mean_and_recover_probabilities(probable):
    svm, explainer = probable
    mean = svm.predict_proba(FLOWERS).mean(axis=0)
    np.testing.assert_allclose(explainer.expected_value, logits(mean), rtol=0, atol=1e-12)
    total = explainer.shap_values(FLOWERS[:3]).sum(axis=1) + explainer.expected_value
    found = 1.0 / (1.0 + np.exp(-total))
    np.testing.assert_allclose(found, svm.predict_proba(FLOWERS[:3]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"keep_index_ordered": True}])
def test_frames_with_an_index_of_their_own_are_explained(options):
    frame = FRAME.set_index(pd.date_range("2018-01-01", periods=30, freq="D", tz="UTC"))
    model = SVR().fit(frame, Y)
    explainer = KernelMachineExplainer(model.predict, frame[::-1], keep_index=True, **options)
    assert explainer.shap_values(frame).shape == (30, 4)
    assert_adds_up(explainer, model.predict, frame)


def test_the_explanation_of_a_frame_is_drawn_by_the_names_of_its_columns():
    explanation = KernelMachineExplainer(SVR().fit(FRAME, Y).predict, FRAME)(FRAME)
    assert isinstance(explanation.data, np.ndarray)
    assert explanation.feature_names == ["a", "b", "c", "d"]
    shap.plots.scatter(explanation[:, "a"], show=False)
    plt.close("all")


def sparse_rows(n, d, density):
    return csr_matrix(random(n, d, density=density, random_state=1))


@pytest.mark.parametrize("background", ["zero", "one row", "rows"])
def test_a_sparse_background_is_worth_what_a_dense_one_is(background):
    rows = sparse_rows(40, 20, 0.3)
    model = SVR().fit(rows, np.arange(40.0))
    table = {"zero": csr_matrix((1, 20)), "one row": rows[3:4], "rows": rows[:5]}[background]
    values = KernelMachineExplainer(model.predict, table).shap_values(rows[:6])
    dense = KernelMachineExplainer(model.predict, table.toarray())
    np.testing.assert_array_equal(values, dense.shap_values(rows[:6].toarray()))
    np.testing.assert_array_equal(values, dense.shap_values(rows[:6]))
    total = values.sum(axis=1) + dense.expected_value
    np.testing.assert_allclose(total, model.predict(rows[:6]), atol=1e-10)


def test_very_wide_sparse_rows_are_explained():
    rows = sparse_rows(20, 2**16, 1e-3)
    model = KernelRidge(kernel="rbf", gamma=0.05).fit(rows, np.arange(20.0))
    explainer = KernelMachineExplainer(model.predict, csr_matrix((1, 2**16)))
    assert_adds_up(explainer, model.predict, rows[:2])


def test_sparse_and_dense_rows_have_the_same_values_for_every_class():
    sparse_model = SVC(decision_function_shape="ovo").fit(csr_matrix(FLOWERS), IRIS.target)
    dense = KernelMachineExplainer(SVM.decision_function, FLOWERS, l1_reg="rank(3)")
    sparse = KernelMachineExplainer(sparse_model.decision_function, csr_matrix(FLOWERS))
    expected = dense.shap_values(FLOWERS[::20])
    for explainer in (sparse, dense):
        values = explainer.shap_values(csr_matrix(FLOWERS[::20]))
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_features_of_an_additive_model_are_worth_their_deviation_from_the_mean():
    kernel = RBF(0.7).on([0]) + 2.0 * RBF(1.5).on([1])
    model = pkex.KernelExpansion(X[:, :3], Y, kernel)
    explainer = KernelMachineExplainer(model, X[:, :3])
    with pytest.warns(UserWarning, match="l1_reg"):
        values = explainer(X[:, :3], l1_reg="num_features(2)", silent=True).values
    parts = [
        pkex.KernelExpansion(X[:, [0]], Y, RBF(0.7)).predict(X[:, [0]]),
        pkex.KernelExpansion(X[:, [1]], Y, 2.0 * RBF(1.5)).predict(X[:, [1]]),
        np.zeros(len(X)),
    ]
    expected = np.column_stack([part - part.mean() for part in parts])
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_strings_are_explained_through_a_pipeline():
    rows = np.array([["A", "0", "0"], ["A", "1", "0"], ["B", "0", "0"], ["B", "1", "0"]])
    model = make_pipeline(OneHotEncoder(), SVR()).fit(rows, [0.0, 1.0, 2.0, 3.0])
    explainer = KernelMachineExplainer(model.predict, rows, nsamples=100)
    values = explainer.explain(rows[:1])
    assert values[2] == 0.0
    assert values.sum() + explainer.expected_value == pytest.approx(model.predict(rows[:1])[0])


@pytest.mark.parametrize("kind", [bool, object])
def test_truth_values_are_explained_as_the_numbers_that_they_are(kind):
    rows = RNG.choice([True, False], size=(15, 8)).astype(kind)
    model = SVC().fit(rows, np.arange(15) % 2)
    values = KernelMachineExplainer(model=model, data=rows, random_state=45479)(rows).values
    numbers = rows.astype(float)
    np.testing.assert_array_equal(values, KernelMachineExplainer(model, numbers)(numbers).values)


def test_an_explainer_explains_the_same_after_it_was_saved_and_loaded():
    explainer = KernelMachineExplainer(MODEL.predict, X)
    file = io.BytesIO()
    explainer.save(file)
    file.seek(0)
    again = KernelMachineExplainer.load(file)
    assert isinstance(explainer, type(again))
    assert isinstance(explainer.masker, type(again.masker))
    found, expected = again(X[:1]), explainer(X[:1])
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.base_values, expected.base_values)


@pytest.mark.parametrize("summarised", [shap.kmeans, shap.sample])
def test_summaries_of_a_background_are_taken(summarised):
    explainer = KernelMachineExplainer(MODEL.predict, summarised(X, 5))
    assert explainer.shap_values(X[:3], silent=True).shape == (3, 4)
    assert explainer.N == 5


@pytest.mark.parametrize("background", ["not_a_table", shap.maskers.Text()])
def test_what_is_no_background_is_a_type_error(background):
    with pytest.raises(TypeError):
        KernelMachineExplainer(MODEL.predict, background)


# --- options ---


@pytest.mark.parametrize("l1_reg", ["aic", "bic", 0.05, False, 0, "num_features(2)", "auto"])
def test_every_l1_reg_gives_values_of_all_features(l1_reg):
    explainer = KernelMachineExplainer(MODEL.predict, X)
    with warnings.catch_warnings(action="ignore"):
        values = explainer.shap_values(X[:2], l1_reg=l1_reg, silent=True)
    np.testing.assert_array_equal(values, explainer.shap_values(X[:2]))


@pytest.mark.parametrize("nsamples", [10, 50, 200, 99999, "auto"])
def test_any_number_of_samples_gives_the_exact_values(nsamples):
    rows = RNG.normal(size=(30, 12))
    explainer = KernelMachineExplainer(SVR().fit(rows, rows[:, 0]).predict, rows)
    values = explainer.shap_values(rows[:1], nsamples=nsamples, silent=True)
    np.testing.assert_array_equal(values, explainer.shap_values(rows[:1]))
    found = explainer.explain(rows[:1], nsamples=nsamples, silent=True)
    np.testing.assert_array_equal(found, values[0])


def test_garbage_may_be_collected():
    values = KernelMachineExplainer(MODEL.predict, X).shap_values(X[:3], gc_collect=True)
    assert values.shape == (3, 4)


@pytest.mark.parametrize("silent", [True, False])
def test_no_progress_is_printed(silent, capsys):
    KernelMachineExplainer(MODEL.predict, X).shap_values(X[:3], silent=silent)
    assert capsys.readouterr() == ("", "")


# --- attributes ---


def test_features_are_named_by_the_argument_or_the_background():
    names = ["alpha", "beta", "gamma", "delta"]
    given = KernelMachineExplainer(MODEL.predict, X, feature_names=names)
    assert given.data_feature_names == names
    of_frame = KernelMachineExplainer(SVR().fit(FRAME, Y).predict, FRAME)
    assert of_frame.data_feature_names == ["a", "b", "c", "d"]


def test_the_expected_value_is_the_mean_output_over_the_background():
    explainer = KernelMachineExplainer(MODEL.predict, X)
    assert isinstance(explainer.expected_value, float)
    assert explainer.expected_value == pytest.approx(MODEL.predict(X).mean(), abs=1e-12)
    np.testing.assert_array_equal(explainer.fnull, [explainer.expected_value])
    assert (explainer.vector_out, explainer.D) == (False, 1)


def test_the_expected_value_of_several_outputs_is_a_vector():
    explainer = KernelMachineExplainer(OUTPUTS.predict, X)
    expected = OUTPUTS.predict(X).mean(axis=0)
    np.testing.assert_allclose(explainer.expected_value, expected, atol=1e-12)
    np.testing.assert_array_equal(explainer.fnull, explainer.expected_value)
    assert (explainer.vector_out, explainer.D) == (True, 2)


def test_the_background_is_counted():
    rows = RNG.normal(size=(12, 7))
    explainer = KernelMachineExplainer(SVR().fit(rows, rows[:, 0]).predict, rows)
    assert (explainer.N, explainer.P) == (12, 7)


def test_entries_are_told_apart_as_shap_does():
    unequal = KernelMachineExplainer.not_equal
    for a, b, expected in [(0, 0, 0), (0, 1, 1), ("ab", "ab", 0), ("ab", "bc", 1), (1, 1.0, 0)]:
        assert unequal(a, b) == expected
    assert not unequal(np.nan, np.nan)
    assert unequal(None, 1)


# --- values ---


def test_features_that_do_not_vary_are_worth_exactly_nothing():
    explainer = KernelMachineExplainer(MODEL.predict, np.ones((5, 4)))
    np.testing.assert_array_equal(explainer.explain(np.ones((1, 4))), np.zeros(4))
    row = np.ones((1, 4))
    row[0, 0] = 10.0
    values = explainer.explain(row)
    assert values[0] == pytest.approx((MODEL.predict(row) - MODEL.predict(np.ones((1, 4))))[0])
    np.testing.assert_array_equal(values[1:], np.zeros(3))


def test_a_feature_that_is_constant_in_the_background_and_the_row_is_worth_nothing():
    background = X.copy()
    background[:, 2] = 5.0
    row = np.array([[1.0, 2.0, 5.0, 3.0]])
    values = KernelMachineExplainer(MODEL.predict, background).shap_values(row, nsamples=100)
    assert values[0, 2] == 0.0
    assert (values[0, [0, 1, 3]] != 0.0).all()


@pytest.mark.parametrize("n_rows", [1, 30])
def test_values_add_up_to_the_output(n_rows):
    for model in (MODEL.predict, OUTPUTS.predict):
        assert_adds_up(KernelMachineExplainer(model, X[:n_rows], link="identity"), model, X[:5])


def test_values_add_up_to_every_pair_of_classes():
    explainer = KernelMachineExplainer(SVM.decision_function, FLOWERS)
    assert_adds_up(explainer, SVM.decision_function, FLOWERS[:3])


# --- shapes ---


def test_one_row_has_values_without_an_axis_of_rows():
    series = pd.Series(X[0], index=["f0", "f1", "f2", "f3"])
    explainer = KernelMachineExplainer(MODEL.predict, X)
    assert explainer.shap_values(series, silent=True).shape == (4,)
    explainer = KernelMachineExplainer(SVM.decision_function, FLOWERS)
    explanation = explainer(FLOWERS.iloc[0, :])
    assert explanation.values.shape == (4, 3)
    total = explanation.values.sum(axis=0) + explainer.expected_value
    np.testing.assert_allclose(total, SVM.decision_function(FLOWERS[:1])[0], atol=1e-10)


def test_one_row_has_the_shapes_that_shap_gives_it():
    for model in (MODEL.predict, OUTPUTS.predict):
        theirs, ours = (
            explainer(model, X[:3]) for explainer in (shap.KernelExplainer, KernelMachineExplainer)
        )
        for row in (X[7], pd.Series(X[7]), X[7:8]):
            expected = theirs.shap_values(row, silent=True)
            found = ours.shap_values(row, silent=True)
            assert found.shape == expected.shape == ours(row).shape
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
        assert ours.explain(X[7:8]).shape == theirs.explain(X[7:8], silent=True).shape


def test_a_call_returns_an_explanation_with_a_base_value_for_each_row_and_output():
    for model, outputs in ((MODEL.predict, ()), (OUTPUTS.predict, (2,))):
        explainer = KernelMachineExplainer(model, X)
        explanation = explainer(X[:3])
        assert isinstance(explanation, shap.Explanation)
        assert explanation.values.shape == (3, 4, *outputs)
        assert explanation.base_values.shape == (3, *outputs)
        assert explainer.shap_values(X[:3]).shape == (3, 4, *outputs)
        for base in explanation.base_values:
            np.testing.assert_array_equal(base, explainer.expected_value)


def test_what_are_neither_rows_nor_a_row_is_shaps_dimension_error():
    explainer = KernelMachineExplainer(MODEL.predict, X)
    for explain in (explainer, explainer.shap_values, explainer.explain):
        with pytest.raises(DimensionError, match="1 or 2 dimensions"):
            explain(np.ones((2, 3, 4)))
