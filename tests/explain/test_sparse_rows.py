"""Sparse rows, background data and models: the same results as of dense ones."""

import json
import pickle
from functools import cache, partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sparse_documents import documents

import pkex
from pkex.errors import InputError, InputTypeError
from pkex.functions.linear import LinearFunction
from pkex.functions.sparse_kernel_sum import SparseKernelSum

N, D = 60, 14
RNG = np.random.default_rng(0)


X, ROWS, BACKGROUND = documents(RNG, N, D), documents(RNG, 5, D, 0.7), documents(RNG, 4, D)
Y = RNG.normal(size=N)
TARGETS = np.column_stack([Y, Y**2])
THREE = RNG.choice(["a", "b", "c"], N)
GROUPS = {"first": [0, 1, 2], "second": [3, 4, 5, 6], "third": list(range(7, D))}

# name: model, targets
KERNEL_MODELS = {
    "SVC": (SVC(gamma=1.0), THREE),
    "SVC of two": (SVC(gamma=1.0), THREE == "a"),
    "NuSVC": (NuSVC(kernel="poly", coef0=0.5, nu=0.3), THREE),
    "SVR": (SVR(gamma=1.0), Y),
    "NuSVR": (NuSVR(gamma=2.0), Y),
    "OneClassSVM": (OneClassSVM(gamma=1.0), Y),
    "SVR with a function": (SVR(kernel=laplacian_kernel), Y),
    "SVC with another function": (SVC(kernel=partial(rbf_kernel, gamma=0.5)), THREE),
    "KernelRidge": (KernelRidge(kernel="laplacian"), TARGETS),
    "KernelRidge of powers": (KernelRidge(kernel="polynomial", degree=2), Y),
}
LINEAR_MODELS = {
    "SVC, linear": (SVC(kernel="linear"), THREE),
    "SVR, linear": (SVR(kernel="linear", C=50.0), Y),
    "KernelRidge, linear": (KernelRidge(kernel="linear"), TARGETS),
    "LinearSVC": (LinearSVC(), THREE),
    "LogisticRegression": (LogisticRegression(), THREE),
    "SGDClassifier": (SGDClassifier(random_state=0), THREE),
    "Ridge": (Ridge(), TARGETS),
}
GAMES = {
    "neutral": {"value_function": "neutral"},
    "interventional": {"background": BACKGROUND, "background_weights": [1.0, 2.0, 0.0, 3.0]},
    "marginal": {"background": BACKGROUND, "value_function": "marginal"},
    "marginal of points": {},
}


@cache
def fitted(name):
    model, target = (KERNEL_MODELS | LINEAR_MODELS)[name]
    return model.fit(X, target)


@cache
def explainer(name, game, **others):
    return pkex.Explainer(fitted(name), **GAMES[game], **others)


def dense(game):
    options = dict(GAMES[game])
    if "background" in options:
        options["background"] = options["background"].toarray()
    return options


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def own_output(name, rows):
    """The model's own output at sparse rows, in the order of pkex's outputs."""
    model = fitted(name)
    if not hasattr(model, "decision_function"):
        return model.predict(rows)
    if getattr(model, "decision_function_shape", None) == "ovr" and len(model.classes_) > 2:
        return pickle.loads(pickle.dumps(model)).set_params(
            decision_function_shape="ovo"
        ).decision_function(rows)  # fmt: skip
    return model.decision_function(rows)


@pytest.mark.parametrize("game", ["neutral", "interventional"])
@pytest.mark.parametrize("name", KERNEL_MODELS | LINEAR_MODELS)
def test_values_and_base_values_add_up_to_the_models_own_output(name, game):
    found = explainer(name, game)
    explanation = found(ROWS)
    expected = LinearFunction if name in LINEAR_MODELS else SparseKernelSum
    assert type(found._problem.function) is expected
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert_same(total, own_output(name, ROWS))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", KERNEL_MODELS)
def test_values_equal_those_of_the_expansion_of_dense_points(name, game):
    function = explainer(name, game)._problem.function
    expansion = pkex.KernelExpansion(
        function.points.toarray(), function.coefficients, function.kernel, function.intercept
    )
    expected = pkex.Explainer(expansion, **dense(game))(ROWS.toarray())
    found = explainer(name, game)(ROWS)
    assert_same(found.values, expected.values)
    assert_same(found.base_values, expected.base_values)
    np.testing.assert_array_equal(found.data, ROWS.toarray())


@pytest.mark.parametrize(
    ("name", "game"),
    [
        (name, game)
        for name, (model, _) in LINEAR_MODELS.items()
        for game in GAMES
        if game != "marginal of points" or hasattr(model, "kernel")
    ],
)
def test_values_of_linear_models_are_their_terms(name, game):
    function = explainer(name, game)._problem.function
    reference = np.zeros(D)
    if game == "marginal of points":
        reference = function.stored_points().toarray().mean(axis=0)
    elif game != "neutral":
        weights = GAMES[game].get("background_weights", np.ones(4))
        reference = np.average(BACKGROUND.toarray(), axis=0, weights=weights)
    weights = function.coefficients.reshape(D, -1)
    terms = (ROWS.toarray() - reference)[..., None] * weights
    found = explainer(name, game).shap_values(ROWS)
    assert_same(found, terms.reshape(found.shape))


@pytest.mark.parametrize("form", [sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix,
                                  sparse.bsr_array, sparse.dok_array, sparse.dia_matrix,
                                  np.array, lambda rows: rows.tolist()])  # fmt: skip
def test_all_forms_of_the_same_rows_have_the_same_values(form):
    found = explainer("SVR", "interventional")
    expected = found.shap_values(ROWS)
    np.testing.assert_array_equal(found.shap_values(form(ROWS.toarray())), expected)
    options = GAMES["interventional"] | {"background": form(BACKGROUND.toarray())}
    again = pkex.Explainer(fitted("SVR"), **options)
    np.testing.assert_array_equal(again.shap_values(ROWS), expected)


@pytest.mark.parametrize("game", ["interventional", "marginal"])
@pytest.mark.parametrize("has_points", [True, False], ids=["kernel", "linear"])
def test_probabilities_of_sparse_rows_equal_those_of_dense_rows(has_points, game):
    model = (
        CalibratedClassifierCV(SVC(gamma=1.0), ensemble=False) if has_points
        else LogisticRegression()
    ).fit(X, THREE)  # fmt: skip
    options = {"target": "probability", "groups": GROUPS}
    found = pkex.Explainer(model, **GAMES[game], **options)(ROWS)
    assert_same(found.values.sum(axis=1) + found.base_values, model.predict_proba(ROWS))
    assert_same(
        found.values, pkex.Explainer(model, **dense(game), **options)(ROWS.toarray()).values
    )
    assert found.data[0, 1] == ", ".join(f"{x:g}" for x in ROWS.toarray()[0, 3:7])


def test_log_odds_of_sparse_rows_are_exact():
    two = THREE == "a"
    model = CalibratedClassifierCV(SVC(gamma=1.0), ensemble=False).fit(X, two)
    found = pkex.Explainer(model, BACKGROUND, target="log-odds")(ROWS)
    probabilities = model.predict_proba(ROWS)[:, 1]
    log_odds = np.log(probabilities / (1.0 - probabilities))
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, log_odds, atol=1e-10)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", ["SVC", "SVR", "KernelRidge of powers", "SVC, linear"])
def test_sparse_values_are_those_that_are_not_zero(name, game, monkeypatch):
    # Two rows a block.
    monkeypatch.setattr("pkex.explain.exact_values._MAX_DENSE", 2 * D * 3)
    found = explainer(name, game)
    expected = found.shap_values(ROWS)
    values = found.shap_values(ROWS, sparse=True)
    if expected.ndim == 2:
        values, expected = [values], expected[..., None]
    assert [type(of_output) for of_output in values] == [sparse.csr_array] * expected.shape[2]
    for output, of_output in enumerate(values):
        assert of_output.nnz == np.count_nonzero(expected[..., output])
        np.testing.assert_array_equal(of_output.toarray(), expected[..., output])


def test_sparse_values_of_a_chosen_output_are_one_array():
    expected = explainer("SVC", "interventional").shap_values(ROWS)
    for outputs, is_list in (("a vs c", False), (["a vs c"], True)):
        one = pkex.Explainer(fitted("SVC"), **GAMES["interventional"], outputs=outputs)
        values = one.shap_values(ROWS, sparse=True)
        assert isinstance(values, list) is is_list
        values = values[0] if is_list else values
        np.testing.assert_array_equal(values.toarray(), expected[..., 1])


def test_words_in_neither_document_have_no_interventional_value():
    values = explainer("SVR", "interventional").shap_values(ROWS, sparse=True)
    counted = GAMES["interventional"]["background_weights"]
    present = ROWS.toarray()[0] + BACKGROUND.toarray()[np.array(counted) > 0].sum(axis=0)
    assert set(values[[0]].indices) <= set(np.flatnonzero(present))


def test_sparse_values_name_the_row_that_overflows(monkeypatch):
    monkeypatch.setattr("pkex.explain.exact_values._MAX_DENSE", 2 * D)
    expansion = pkex.KernelExpansion(X, np.full(N, 1e300), pkex.kernels.Polynomial(3))
    rows = sparse.csr_array(ROWS.toarray() * np.array([0.0, 0.0, 0.0, 1e4, 0.0])[:, None])
    found = pkex.Explainer(expansion, value_function="neutral")
    with pytest.raises(OverflowError, match="row 3"):
        found.shap_values(rows, sparse=True)
    with pytest.raises(OverflowError, match="row 3"):
        found(rows)


def test_sparse_values_of_dask_collections_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(InputError, match="sparse=True is for rows in memory"):
        explainer("SVR", "neutral").shap_values(da.from_array(ROWS.toarray()), sparse=True)


# --- results, workers and pickles ---


@pytest.mark.parametrize("options", [{}, {"groups": GROUPS}])
@pytest.mark.parametrize("game", [{"value_function": "neutral"}, {"background": BACKGROUND}])
def test_polynomials_of_many_columns_are_explained_in_those_of_a_row(game, options, monkeypatch):
    model = KernelRidge(kernel="polynomial", degree=8, gamma=0.3, coef0=0.5).fit(X, TARGETS)
    expected = pkex.Explainer(model, **game, **options)(ROWS)
    # As if there were many columns: then dense points are those of a row's own columns.
    monkeypatch.setattr("pkex.functions.sparse_kernel_sum._MAX_DENSE", 0)
    monkeypatch.setattr(SparseKernelSum, "_at_dense_points", None)
    found = pkex.Explainer(model, **game, **options)(ROWS)
    scale = np.abs(expected.values).max()
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.base_values, expected.base_values, rtol=1e-12)


def test_results_show_and_save_dense_data(tmp_path):
    explanation = explainer("SVR", "interventional")(ROWS)
    assert isinstance(explanation.data, np.ndarray)
    assert explanation[2, "x3"].data == 0.5
    assert explanation.to_shap().data.shape == (5, D)
    again = pkex.Explanation.from_dict(json.loads(json.dumps(explanation.to_dict())))
    np.testing.assert_array_equal(again.data, ROWS.toarray())
    assert "x3" in explanation[2].to_html()


def test_workers_and_pickles_have_equal_bits():
    found = explainer("SVC", "interventional")
    expected = found.shap_values(ROWS)
    with joblib.parallel_backend("threading", n_jobs=2):
        np.testing.assert_array_equal(found.shap_values(ROWS), expected)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.shap_values(ROWS), expected)
    assert sparse.issparse(again.background)


def test_rows_of_the_user_are_not_changed_and_may_change():
    rows = sparse.csr_matrix(ROWS.toarray()[:, ::-1])[:, ::-1]
    assert not rows.has_sorted_indices
    before = rows.copy()
    background = BACKGROUND.copy()
    found = pkex.Explainer(fitted("SVR"), background)
    values = found.shap_values(rows)
    np.testing.assert_array_equal(rows.indices, before.indices)
    background.data[:] = 7.0
    np.testing.assert_array_equal(found.shap_values(rows), values)


def test_interactions_of_sparse_rows_equal_those_of_dense_rows():
    found = explainer("SVR", "interventional").interactions(ROWS, index="STII")
    expected = explainer("SVR", "interventional").interactions(ROWS.toarray(), index="STII")
    assert_same(found.values, expected.values)
    total = found.values.sum(axis=1) + found.base_values
    assert_same(total, fitted("SVR").predict(ROWS))


def test_estimates_of_sparse_rows_equal_those_of_dense_rows():
    model = LogisticRegression().fit(X, THREE)
    found = pkex.Explainer(model, BACKGROUND, target="probability")
    draws = {"n_permutations": 20, "random_state": 0}
    expected = found.estimate(ROWS.toarray(), **draws)
    np.testing.assert_array_equal(found.estimate(ROWS, **draws).values, expected.values)


def test_observational_values_have_dense_rows():
    options = {"value_function": "observational", "groups": GROUPS}
    few = sparse.csr_array(X[:, :][10:40])
    found = pkex.Explainer(fitted("SVR"), few, **options).shap_values(ROWS)
    expected = pkex.Explainer(fitted("SVR"), few.toarray(), **options).shap_values(ROWS.toarray())
    assert_same(found, expected)


# --- bad input ---


def with_entry(value, dtype=np.float64):
    rows = ROWS.toarray().astype(dtype)
    rows[3, 4] = value
    return sparse.csr_matrix(rows)


def duplicated():
    rows = sparse.coo_matrix(([0.5, 0.25, 0.25], ([0, 0, 0], [3, 8, 8])), shape=(1, D))
    return rows, sparse.csr_matrix(([0.5, 0.5], ([0, 0], [3, 8])), shape=(1, D))


def of_objects():
    rows = sparse.csr_matrix(ROWS)
    # SciPy's constructors refuse objects since 1.15, and change them before.
    rows.data = rows.data.astype(object)
    return rows


def malformed():
    rows = sparse.csr_matrix(ROWS.toarray())
    rows.indices = rows.indices.copy()
    rows.indices[-1] = D + 3
    return rows


BAD = {
    "NaN": (with_entry(np.nan), InputError, r"missing value \(NaN\) in row 3, column 4"),
    "infinite": (with_entry(-np.inf), InputError, r"infinite value \(-inf\) in row 3, column 4"),
    "complex": (with_entry(1j, complex), InputTypeError, "csr_matrix of complex numbers"),
    "objects": (of_objects(), InputTypeError, "of objects .*astype"),
    "columns": (X[:, :3], InputError, f"expected {D}, got 3"),
    "indices": (malformed(), InputError, "not a valid sparse matrix"),
    "no rows": (X[:0], InputError, "is empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["SVR", "LinearSVC"])
@pytest.mark.parametrize(("data", "error", "message"), BAD.values(), ids=BAD)
def test_bad_sparse_rows_are_refused(data, error, message, name):
    model = fitted(name)
    with pytest.raises(error, match=message) as raised:
        pkex.Explainer(model, value_function="neutral")(data)
    assert raised.value.argument == "X"
    with pytest.raises(error) as raised:
        pkex.Explainer(model, data)
    assert raised.value.argument == "background"


def test_booleans_are_numbers_and_duplicates_are_added():
    found = explainer("SVR", "neutral")
    bits = ROWS.toarray() > 0
    np.testing.assert_array_equal(
        found.shap_values(sparse.csr_array(bits)), found.shap_values(bits.astype(float))
    )
    twice, once = duplicated()
    np.testing.assert_array_equal(found.shap_values(twice), found.shap_values(once))


def test_explicit_zeros_are_zeros():
    found = explainer("SVR", "interventional")
    rows = ROWS.copy()
    rows.data[0] = 0.0
    np.testing.assert_array_equal(found.shap_values(rows), found.shap_values(rows.toarray()))


def test_large_sparse_rows_of_other_models_tell_their_dense_size():
    expansion = pkex.KernelExpansion(np.ones((1, 200_000)), [1.0], pkex.kernels.Matern())
    found = pkex.Explainer(expansion, value_function="neutral")
    with pytest.raises(InputError, match=r"X is a sparse matrix .* 1\.6 GB .*TruncatedSVD"):
        found.shap_values(sparse.csr_array((1_000, 200_000)))


def test_large_sparse_rows_have_sparse_values():
    points = sparse.csr_array(([1.0, 0.5], ([0, 1], [7, 9])), shape=(2, 200_000))
    expansion = pkex.KernelExpansion(points, [1.0, 2.0], pkex.kernels.RBF())
    found = pkex.Explainer(expansion, points)
    rows = sparse.csr_array(([1.0, 1.0], ([3, 500], [7, 9])), shape=(1_000, 200_000))
    with pytest.raises(InputError, match=r"takes 1\.6 GB .* fewer rows .*sparse=True"):
        found(rows)
    values = found.shap_values(rows[[3, 500]], sparse=True)
    expected = pkex.KernelExpansion(points[:, [7, 9]].toarray(), [1.0, 2.0], pkex.kernels.RBF())
    few = pkex.Explainer(expected, points[:, [7, 9]].toarray())
    assert_same(values[:, [7, 9]].toarray(), few.shap_values(np.eye(2)))
