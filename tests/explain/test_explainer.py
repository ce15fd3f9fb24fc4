"""Explainer: inputs, names, outputs, attributes and pickles."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import coalitions, product_games, shapley_weights
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.kernels import RBF, Cauchy, Laplacian

NAMES = ["age", "bmi", "bp", "s1"]
CLASSES = np.digitize(Y, [-0.5, 0.5])


@pytest.fixture
def model():
    return SVR().fit(X, Y)


@pytest.fixture
def explainer(model):
    return pkex.Explainer(model)


@pytest.fixture
def values(explainer):
    return explainer.shap_values(ROWS)


# --- kernels of KernelExpansion ---

KERNELS = {
    "RBF": RBF(0.9),
    "RBF per feature": RBF([0.5, 1.0, 2.0, 4.0]),
    "Laplacian": Laplacian(1.5),
    "Laplacian per feature": Laplacian([0.5, 1.0, 2.0, 4.0]),
    "Cauchy": Cauchy(1.1),
    "Cauchy per feature": Cauchy([0.5, 1.0, 2.0, 4.0]),
    "product": 2.0 * RBF() * Cauchy(2.0),
    "on columns": RBF().on([0, 2]) * Laplacian().on([1]),
}


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_values_of_a_product_kernel_equal_brute_force(kernel, method):
    expansion = pkex.KernelExpansion(X, np.column_stack([Y, -(Y**2)]), kernel)
    values = pkex.Explainer(expansion, method=method, value_function="neutral").shap_values(ROWS)
    for row, found in zip(ROWS, values, strict=True):
        factors, amplitude = factors_of_product(kernel, row, X)
        weights = amplitude * expansion.coefficients
        expected = product_games(factors, np.ones_like(factors), weights, shapley_weights(4))
        expected.assert_close(found)


def factors_of_product(kernel, row, points):
    """Factors (n, d) and amplitude of a product kernel, each with the others at distance 0."""
    amplitude = kernel(row[None])[0, 0]
    factors = np.empty(points.shape)
    for j in range(len(row)):
        moved = np.tile(row, (len(points), 1))
        moved[:, j] = points[:, j]
        factors[:, j] = kernel(row[None], moved)[0] / amplitude
    return factors, amplitude


def test_a_sum_of_kernels_is_explained_term_by_term():
    a, b = RBF() * Cauchy().on([1]), 3.0 * Laplacian(2.0)
    parts = [pkex.Explainer(pkex.KernelExpansion(X, Y, k)).shap_values(ROWS) for k in (a, b)]
    whole = pkex.Explainer(pkex.KernelExpansion(X, Y, a + b)).shap_values(ROWS)
    np.testing.assert_allclose(whole, parts[0] + parts[1], rtol=1e-12)


def test_features_that_the_kernel_leaves_out_have_a_value_of_exactly_zero():
    values = pkex.Explainer(pkex.KernelExpansion(X, Y, RBF().on([0, 2]))).shap_values(ROWS)
    assert np.all(values[:, [1, 3]] == 0.0)
    assert np.all(values[:, [0, 2]] != 0.0)


# --- inputs ---


CONTAINERS = {
    "list": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "strided rows": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed columns": lambda a: a[:, ::-1].copy()[:, ::-1],
    "byte order": lambda a: a.astype(">f8"),
    "long double": lambda a: a.astype(np.longdouble),
    "objects": lambda a: a.astype(object),
    "masked array": np.ma.masked_invalid,
    "matrix": np.asmatrix,
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda a: pd.DataFrame(a).convert_dtypes(),
    "pandas, objects": lambda a: pd.DataFrame(a).astype(object),
    "polars": pl.DataFrame,
    "csr matrix": sparse.csr_matrix,
    "csc array": sparse.csc_array,
    "coo matrix": sparse.coo_matrix,
}


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_equal_numbers_in_any_container_give_equal_bits(explainer, values, convert):
    converted = convert(ROWS)
    np.testing.assert_array_equal(explainer.shap_values(converted), values)
    explanation = explainer(converted)
    np.testing.assert_array_equal(explanation.values, values)
    np.testing.assert_array_equal(explanation.data, ROWS)


def test_read_only_rows_are_explained(explainer, values):
    rows = ROWS.copy()
    rows.setflags(write=False)
    np.testing.assert_array_equal(explainer.shap_values(rows), values)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, bool])
def test_other_dtypes_are_explained_as_the_numbers_they_hold(explainer, dtype):
    rows = np.abs(ROWS).astype(dtype)
    np.testing.assert_array_equal(
        explainer.shap_values(rows), explainer.shap_values(rows.astype(np.float64))
    )


def test_mixed_dtypes_of_a_frame_are_explained(explainer):
    columns = {"a": [1, 2], "b": [0.5, 1.5], "c": [True, False], "d": [3.0, 4.0]}
    expected = explainer.shap_values([[1, 0.5, 1, 3], [2, 1.5, 0, 4]])
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
        np.testing.assert_array_equal(explainer.shap_values(frame), expected)


def test_the_rows_are_not_changed_and_changing_them_later_changes_nothing(explainer):
    rows = ROWS.copy()
    explanation = explainer(rows)
    np.testing.assert_array_equal(rows, ROWS)
    rows += 1.0
    np.testing.assert_array_equal(explanation.data, ROWS)


# --- names ---


def test_without_names_features_are_numbered_as_scikit_learn_does(explainer):
    assert explainer(ROWS).feature_names == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_the_names_are_those_that_the_model_was_fitted_with(frame):
    named = frame(dict(zip(NAMES, X.T, strict=True)))
    explainer = pkex.Explainer(SVR().fit(named, Y))
    rows = frame(dict(zip(NAMES, ROWS.T, strict=True)))
    assert explainer(rows).feature_names == NAMES
    assert explainer(ROWS).feature_names == NAMES
    np.testing.assert_array_equal(explainer.shap_values(rows), explainer.shap_values(ROWS))


def test_the_names_of_a_model_fitted_without_are_those_of_the_rows(explainer):
    assert explainer(pd.DataFrame(ROWS, columns=NAMES)).feature_names == NAMES
    assert explainer(pl.DataFrame(ROWS, schema=NAMES)).feature_names == NAMES


def test_given_names_come_first(model):
    given = ["Age", "BMI", "Blood pressure", "Serum 1"]
    named = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    explainer = pkex.Explainer(named, feature_names=given)
    assert explainer(pd.DataFrame(ROWS, columns=NAMES)).feature_names == given
    assert pkex.Explainer(model, feature_names=np.array(given))(ROWS).feature_names == given


@pytest.mark.parametrize(
    ("columns", "labels"),
    [
        (range(4), ["0", "1", "2", "3"]),
        ([3, 1, 2, 7], ["3", "1", "2", "7"]),
        (
            pd.MultiIndex.from_product([["a", "b"], [0, 1]]),
            ["('a', 0)", "('a', 1)", "('b', 0)", "('b', 1)"],
        ),
    ],
    ids=["numbered", "numbers", "levels"],
)
def test_columns_that_are_not_named_by_strings_are_shown_and_not_compared(model, columns, labels):
    rows = pd.DataFrame(ROWS, columns=columns)
    background = pd.DataFrame(X[:3], columns=NAMES)
    assert pkex.Explainer(model)(rows).feature_names == labels
    assert pkex.Explainer(model, rows)(ROWS).feature_names == ["x0", "x1", "x2", "x3"]
    named = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    for explainer in (
        pkex.Explainer(named),
        pkex.Explainer(model, background),
        pkex.Explainer(model, feature_names=NAMES),
    ):
        assert explainer(rows).feature_names == NAMES


def test_columns_named_by_strings_and_others_are_refused_as_scikit_learn_does(explainer):
    rows = pd.DataFrame(ROWS, columns=["age", "bmi", 2, "s1"])
    with pytest.raises(
        TypeError, match=r"X has columns named by strings and by others, such as 2 \(int"
    ):
        explainer(rows)


def test_names_are_plain_strings(model):
    explanation = pkex.Explainer(model, feature_names=np.array(NAMES))(ROWS)
    assert {type(name) for name in explanation.feature_names} == {str}
    explanation = pkex.Explainer(SVC().fit(X, np.array(["a", "b", "c"])[CLASSES]))(ROWS)
    assert {type(name) for name in explanation.output_names} == {str}


# --- outputs ---


@pytest.fixture
def of_pairs():
    return SVC().fit(X, CLASSES)


def test_a_list_of_outputs_keeps_the_axis(of_pairs):
    whole = pkex.Explainer(of_pairs)(ROWS)
    assert whole.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    for outputs in ([2, 0], ["1 vs 2", "0 vs 1"], [np.int64(2), "0 vs 1"]):
        explainer = pkex.Explainer(of_pairs, outputs=outputs)
        explanation = explainer(ROWS)
        assert explanation.output_names == ["1 vs 2", "0 vs 1"]
        np.testing.assert_array_equal(explanation.values, whole.values[..., [2, 0]])
        np.testing.assert_array_equal(explanation.base_values, whole.base_values[:, [2, 0]])
        np.testing.assert_array_equal(explainer.expected_value, whole.base_values[0, [2, 0]])


def test_a_single_output_removes_the_axis(of_pairs):
    whole = pkex.Explainer(of_pairs)(ROWS)
    for outputs in (1, "0 vs 2"):
        explainer = pkex.Explainer(of_pairs, outputs=outputs)
        explanation = explainer(ROWS)
        assert explanation.output_names is None
        np.testing.assert_array_equal(explanation.values, whole.values[..., 1])
        np.testing.assert_array_equal(explanation.base_values, whole.base_values[:, 1])
        np.testing.assert_array_equal(explainer.shap_values(ROWS), whole.values[..., 1])
        assert explainer.expected_value == whole.base_values[0, 1]
        assert type(explainer.expected_value) is float


def test_outputs_can_be_renamed_and_chosen_by_their_new_names(of_pairs):
    explainer = pkex.Explainer(of_pairs, output_names=["a", "b", "c"], outputs=["c"])
    assert explainer(ROWS).output_names == ["c"]


def test_targets_without_names_are_numbered():
    model = KernelRidge(kernel="rbf").fit(X, np.column_stack([Y, Y]))
    assert pkex.Explainer(model)(ROWS).output_names == ["y0", "y1"]


def test_the_output_of_two_classes_says_which_is_the_positive_one():
    labels = np.where(Y > 0.0, "yes", "no")
    explainer = pkex.Explainer(SVC().fit(X, labels))
    explanation = explainer(X)
    assert explainer.output_names is explanation.output_names is None
    assert explainer.output_name == explanation.output_name == "yes vs no"
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert np.all(labels[total > 0.5] == "yes")
    head = "Explanation(40 rows × 4 features, output 'yes vs no', "
    assert repr(explanation).startswith(head)


@pytest.mark.parametrize(
    ("outputs", "hint"),
    [(-1, "did you mean 2"), ("1 vs 0", "did you mean '0 vs 1', whose values have the opposite")],
)
def test_an_output_that_is_nearly_one_is_answered_with_it(of_pairs, outputs, hint):
    for given in (outputs, [outputs]):
        with pytest.raises(ValueError, match=hint):
            pkex.Explainer(of_pairs, outputs=given)


@pytest.mark.parametrize("outputs", [[1, 1], ["0 vs 2", 1]])
def test_an_output_chosen_twice_is_refused(of_pairs, outputs):
    with pytest.raises(ValueError, match="outputs has '0 vs 2' twice"):
        pkex.Explainer(of_pairs, outputs=outputs)


def test_a_number_of_whatever_type_chooses_one_output(of_pairs):
    class Two:
        def __index__(self):
            return 2

    for outputs in (2, np.int8(2), Two()):
        explainer = pkex.Explainer(of_pairs, outputs=outputs)
        assert explainer.output_name == "1 vs 2"
        assert explainer.output_names is None


@pytest.mark.parametrize("outputs", [3, -1, "a vs b", [0, 7], [], True, 1.0, [None]])
def test_unknown_outputs_are_answered_with_the_known_ones(of_pairs, outputs):
    with pytest.raises(ValueError, match="0 vs 1"):
        pkex.Explainer(of_pairs, outputs=outputs)


@pytest.mark.parametrize("argument", [{"outputs": 0}, {"output_names": ["a"]}])
def test_a_single_output_has_nothing_to_choose_or_name(model, argument):
    with pytest.raises(ValueError, match="single output"):
        pkex.Explainer(model, **argument)


# --- base values ---


def test_the_expected_value_is_the_base_of_every_row(explainer):
    explanation = explainer(ROWS)
    assert type(explainer.expected_value) is float
    np.testing.assert_array_equal(explanation.base_values, [explainer.expected_value] * 5)


def test_the_neutral_expected_value_is_the_sum_of_coefficients_and_intercept(model):
    explainer = pkex.Explainer(model, value_function="neutral")
    assert explainer.expected_value == pytest.approx(model.intercept_[0] + model.dual_coef_.sum())


def test_an_empty_coalition_of_0_adds_an_equal_share_of_the_base_to_each_value():
    model = KernelRidge(kernel="rbf", gamma=0.4).fit(X, Y)
    explanation = pkex.Explainer(model, value_function="neutral")(ROWS)
    shifted = explanation.values + explanation.base_values[:, None] / X.shape[1]
    for row, found in zip(ROWS, shifted, strict=True):
        of_coalitions = [
            model.dual_coef_ @ np.exp(-0.4 * ((row - X)[:, members] ** 2).sum(axis=1))
            for members in coalitions(X.shape[1])
        ]
        expected = shapley_weights(X.shape[1]) @ np.array([0.0, *of_coalitions[1:]])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(shifted.sum(axis=1), model.predict(ROWS), rtol=0, atol=1e-10)


def test_the_expected_values_handed_out_are_copies(of_pairs):
    explainer = pkex.Explainer(of_pairs)
    explainer.expected_value[:] = 7.0
    assert not np.any(explainer.expected_value == 7.0)


# --- attributes ---


def test_options_are_attributes(model):
    explainer = pkex.Explainer(
        model,
        X[:3],
        background_weights=[1.0, 0.0, 3.0],
        value_function="marginal",
        groups={"pressure": ["bp", "s1"]},
        feature_names=NAMES,
        method="recursion",
        summation="plain",
        n_jobs=2,
    )
    assert explainer.value_function == "marginal"
    assert (explainer.method, explainer.summation, explainer.n_jobs) == ("recursion", "plain", 2)
    np.testing.assert_array_equal(explainer.background, X[[0, 2]])
    np.testing.assert_array_equal(explainer.background_weights, [0.25, 0.75])
    assert explainer.feature_names == ["age", "bmi", "pressure"]
    assert explainer.output_names is explainer.output_name is None


def test_without_options_attributes_are_the_defaults(explainer, model):
    assert explainer.value_function == "marginal"
    np.testing.assert_array_equal(explainer.background, model.support_vectors_)
    np.testing.assert_array_equal(explainer.background_weights, 1.0 / len(model.support_))
    assert (explainer.method, explainer.summation, explainer.n_jobs) == (
        *("quadrature", "compensated"),
        -1,
    )
    assert explainer.feature_names == ["x0", "x1", "x2", "x3"]


def test_names_of_outputs_are_those_of_the_explanation(of_pairs):
    for outputs in (None, ["1 vs 2", "0 vs 1"], "0 vs 2", 2):
        explainer = pkex.Explainer(of_pairs, outputs=outputs)
        explanation = explainer(ROWS)
        assert explainer.output_names == explanation.output_names
        assert explainer.output_name == explanation.output_name


@pytest.mark.parametrize("name", ["n_job", "n_jobs", "method", "background", "expected_value"])
def test_attributes_cannot_be_set_by_mistake(explainer, name):
    with pytest.raises(AttributeError, match=name):
        setattr(explainer, name, 1)


def test_what_is_handed_out_changes_nothing(explainer):
    explainer.feature_names.append("more")
    assert len(explainer.feature_names) == 4
    against = pkex.Explainer(SVR().fit(X, Y), X)
    for one in (against, pickle.loads(pickle.dumps(against))):
        for array in (one.background, one.background_weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0


# --- copies ---


def test_a_copy_explains_to_equal_bits(explainer, values):
    for again in (copy.copy(explainer), copy.deepcopy(explainer)):
        np.testing.assert_array_equal(again.shap_values(ROWS), values)


# --- options ---


def test_the_default_game_can_be_named(model, values):
    explainer = pkex.Explainer(model, value_function="marginal")
    np.testing.assert_array_equal(explainer.shap_values(ROWS), values)


def test_the_neutral_game_has_no_background(model):
    explainer = pkex.Explainer(model, value_function="neutral")
    assert explainer.background is explainer.background_weights is None


def test_the_repr_says_what_is_explained_and_how(model, of_pairs, explainer):
    assert repr(explainer) == "Explainer(predict of SVR, 4 features, value_function='marginal')"
    assert repr(pkex.Explainer(of_pairs)) == (
        "Explainer(decision_function of SVC, 4 features, 3 outputs, value_function='marginal')"
    )
    assert repr(pkex.Explainer(of_pairs, ROWS, outputs=0, method="recursion", n_jobs=1)) == (
        "Explainer(decision_function of SVC, 4 features, output '0 vs 1', "
        "value_function='interventional', background of 5 rows, method='recursion', n_jobs=1)"
    )
