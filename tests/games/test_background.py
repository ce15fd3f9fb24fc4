"""Games against background rows: interventional and marginal."""

import functools
import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import interventional, marginal, product_games, shapley_weights
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import pkex
from pkex.kernels import RBF, Categorical, Cauchy, Constant, Laplacian

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, D))
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2]
TWO = Y > 0.0
THREE = np.digitize(Y, [-0.5, 0.5])
TARGETS = np.column_stack([Y, Y**2])
ROWS = RNG.normal(size=(3, D))
Z = RNG.normal(size=(7, D))
WEIGHTS = np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1e-9, 4.0])
NAMES = ["age", "bmi", "bp", "s1", "s2"]

GP_KERNEL = 2.0 * GPRBF([0.5, 1.0, 2.0, 4.0, 8.0]) + ConstantKernel(0.3) + WhiteKernel(0.1)


def method(name):
    return lambda model: getattr(model, name)


def decisions_of_pairs(model):
    return model.set_params(decision_function_shape="ovo").decision_function


def latent_mean(model):
    machine = model.base_estimator_
    return lambda rows: machine.kernel_(rows, machine.X_train_) @ (machine.y_train_ - machine.pi_)


def density(model):
    return lambda rows: np.exp(model.score_samples(rows))


def of_machines(model):
    return lambda rows: -np.stack([m.decision_function(rows) for m in model.estimators_], axis=-1)


def of_classifier(model):
    return model.calibrated_classifiers_[0].estimator.decision_function


PREDICT, DECIDE = method("predict"), method("decision_function")

# name: (unfitted model, target, function that gives its explained function)
MODELS = {
    "SVR": (SVR(), Y, PREDICT),
    "NuSVR": (NuSVR(gamma=1.0), Y, PREDICT),
    "SVC": (SVC(C=5.0), TWO, DECIDE),
    "SVC of three": (SVC(), THREE, decisions_of_pairs),
    "NuSVC": (NuSVC(nu=0.3), TWO, DECIDE),
    "OneClassSVM": (OneClassSVM(nu=0.2), None, DECIDE),
    "KernelRidge": (KernelRidge(kernel="rbf", gamma=0.4), Y, PREDICT),
    "KernelRidge laplacian": (KernelRidge(kernel="laplacian"), TARGETS, PREDICT),
    "GaussianProcessRegressor": (
        GaussianProcessRegressor(GP_KERNEL, normalize_y=True, optimizer=None),
        100.0 * Y + 500.0,
        PREDICT,
    ),
    "GaussianProcessRegressor of two": (
        GaussianProcessRegressor(GP_KERNEL, optimizer=None),
        TARGETS,
        PREDICT,
    ),
    "GaussianProcessClassifier": (
        GaussianProcessClassifier(4.0 * GPRBF(1.5), optimizer=None),
        TWO,
        latent_mean,
    ),
    "KernelPCA": (KernelPCA(3, kernel="rbf", gamma=0.3), None, method("transform")),
    "KernelDensity": (KernelDensity(bandwidth=0.8), None, density),
    "Nystroem": (
        make_pipeline(Nystroem(n_components=20, random_state=0), LogisticRegression()),
        TWO,
        DECIDE,
    ),
    "Pipeline": (
        make_pipeline(StandardScaler(), PowerTransformer(), SelectKBest(k=3), SVC()),
        TWO,
        DECIDE,
    ),
    "ColumnTransformer": (
        make_pipeline(
            make_column_transformer(
                (QuantileTransformer(n_quantiles=9), [3, 0]),
                (StandardScaler(), [1]),
                remainder="passthrough",
            ),
            KernelRidge(kernel="rbf"),
        ),
        Y,
        PREDICT,
    ),
    "GridSearchCV": (GridSearchCV(SVR(), {"C": [1.0, 2.0]}, cv=2), Y, PREDICT),
    "BaggingRegressor": (
        BaggingRegressor(SVR(), n_estimators=3, max_features=0.6, random_state=0),
        Y,
        PREDICT,
    ),
    "VotingRegressor": (
        VotingRegressor(
            [("a", SVR()), ("b", make_pipeline(StandardScaler(), SVR()))], weights=[1.0, 2.0]
        ),
        Y,
        PREDICT,
    ),
    "MultiOutputRegressor": (MultiOutputRegressor(SVR()), TARGETS, PREDICT),
    "OneVsRestClassifier": (OneVsRestClassifier(SVC()), THREE, DECIDE),
    "OneVsOneClassifier": (OneVsOneClassifier(SVC()), THREE, of_machines),
    "TransformedTargetRegressor": (
        TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        100.0 * Y,
        PREDICT,
    ),
    "CalibratedClassifierCV": (CalibratedClassifierCV(SVC(), ensemble=False), TWO, of_classifier),
}


@functools.cache
def fitted(name):
    model, target, explained = MODELS[name]
    model = model.fit(X) if target is None else model.fit(X, target)
    return model, explained(model)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_interventional_values_equal_brute_force_through_the_models_own_output(name, weights):
    model, output = fitted(name)
    explainer = pkex.Explainer(model, background=Z, background_weights=weights)
    shares = None if weights is None else weights / weights.sum()
    for row, found in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        expected, base = interventional(output, row, Z, shares)
        expected.assert_close(found)
        np.testing.assert_allclose(
            explainer.expected_value, base, rtol=0, atol=1e-10 * expected.scale.max()
        )


@pytest.mark.parametrize("name", MODELS)
def test_marginal_values_equal_brute_force_through_the_models_own_output(name):
    model, output = fitted(name)
    few, shares = Z[:3], np.array([0.5, 0.125, 0.375])
    explainer = pkex.Explainer(
        model, background=few, background_weights=8.0 * shares, value_function="marginal"
    )
    for row, found in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        expected, base = marginal(output, row, few, shares)
        expected.assert_close(found)
        np.testing.assert_allclose(
            explainer.expected_value, base, rtol=0, atol=1e-10 * expected.scale.max()
        )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_base_and_values_add_up_to_the_models_output(name, value_function):
    model, output = fitted(name)
    explanation = pkex.Explainer(model, Z, value_function=value_function)(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    own = output(ROWS)
    np.testing.assert_allclose(total, own, rtol=0, atol=1e-11 * np.abs(own).max())


KERNELS = {
    "RBF": RBF([0.3, 1.0, 2.0, 4.0, 1e4]),
    "Laplacian": Laplacian(1.5),
    "Cauchy": Cauchy(0.7),
    "Categorical": RBF().on([0, 1, 2]) * Categorical(0.25).on([3, 4]),
    "on columns": 3.0 * RBF().on([4, 0]) * Laplacian().on([0, 2]),
}


def factors(kernel, row, points):
    """Factors (n, d) of a product kernel of amplitude 1, others at distance 0."""
    columns = [np.tile(row, (len(points), 1)) for _ in row]
    for j, moved in enumerate(columns):
        moved[:, j] = points[:, j]
    return np.column_stack([kernel(row[None], moved)[0] for moved in columns])


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_each_products_games_are_exact_on_their_own_scale(kernel, method):
    points, rows, background = (np.round(2.0 * array) for array in (X[:20], ROWS, Z))
    amplitude = kernel(rows[:1])[0, 0]
    alphas, shares = Y[:20], WEIGHTS / WEIGHTS.sum()
    options = {"background_weights": WEIGHTS, "method": method}
    expansion = pkex.KernelExpansion(points, alphas, kernel, 3.0)
    absent = np.stack([factors(kernel, z, points) for z in background]) / amplitude
    for row in rows:
        present = factors(kernel, row, points) / amplitude
        expected = product_games(
            np.tile(present, (len(background), 1)),
            np.concatenate(absent),
            amplitude * np.outer(shares, alphas).ravel(),
            shapley_weights(D),
        )
        explainer = pkex.Explainer(expansion, background, **options)
        expected.assert_close(explainer.shap_values(row[None])[0])
        means = np.tensordot(shares, absent, axes=1)
        expected = product_games(present, means, amplitude * alphas, shapley_weights(D))
        explainer = pkex.Explainer(expansion, background, value_function="marginal", **options)
        expected.assert_close(explainer.shap_values(row[None])[0])


def test_sums_of_kernels_are_explained_term_by_term():
    parts = [RBF() * Cauchy().on([1]), 3.0 * Laplacian(2.0), 2.0 * Constant()]
    for value_function in ("interventional", "marginal"):
        explainers = [
            pkex.Explainer(pkex.KernelExpansion(X, Y, k), Z, value_function=value_function)
            for k in (*parts, parts[0] + parts[1] + parts[2])
        ]
        *single, whole = (explainer.shap_values(ROWS) for explainer in explainers)
        np.testing.assert_allclose(whole, sum(single), rtol=0, atol=1e-12)
        *bases, base = (explainer.expected_value for explainer in explainers)
        assert base == pytest.approx(sum(bases), abs=1e-12)


def test_interventional_values_are_means_over_games_of_one_reference_row():
    model, _ = fitted("SVC of three")
    whole = pkex.Explainer(model, background=Z, background_weights=WEIGHTS)
    games = [pkex.Explainer(model, background=z[None]) for z in Z]
    shares = WEIGHTS / WEIGHTS.sum()
    values = np.tensordot(shares, [game.shap_values(ROWS) for game in games], axes=1)
    np.testing.assert_allclose(whole.shap_values(ROWS), values, rtol=0, atol=1e-13)
    bases = np.tensordot(shares, [game.expected_value for game in games], axes=1)
    np.testing.assert_allclose(whole.expected_value, bases, rtol=0, atol=1e-13)


def test_with_one_background_row_features_are_independent_anyway():
    model, _ = fitted("SVR")
    values = [
        pkex.Explainer(model, Z[:1], value_function=name).shap_values(ROWS)
        for name in ("interventional", "marginal")
    ]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-14)


def test_a_row_that_is_the_reference_has_values_of_exactly_zero():
    model, _ = fitted("SVR")
    assert not pkex.Explainer(model, background=ROWS[:1]).shap_values(ROWS[:1]).any()


def test_weights_count_relatively_and_rows_of_weight_zero_not_at_all():
    model, _ = fitted("SVR")
    values = pkex.Explainer(model, Z, background_weights=WEIGHTS).shap_values(ROWS)
    kept = WEIGHTS > 0.0
    for rows, weights in [
        (Z, 2.0**900 * WEIGHTS),
        (Z, 2.0**-900 * WEIGHTS),
        (Z, WEIGHTS.tolist()),
        (Z, pd.Series(WEIGHTS)),
        (Z[kept], WEIGHTS[kept]),
    ]:
        explainer = pkex.Explainer(model, rows, background_weights=weights)
        np.testing.assert_array_equal(explainer.shap_values(ROWS), values)
    twice = pkex.Explainer(model, np.concatenate([Z, Z[:2]]))
    counted = pkex.Explainer(model, Z, background_weights=[2, 2, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(
        twice.shap_values(ROWS), counted.shap_values(ROWS), rtol=0, atol=1e-14
    )


# --- what a background may be ---

CONTAINERS = {
    "list": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "pandas": lambda a: pd.DataFrame(a, columns=NAMES),
    "polars": lambda a: pl.DataFrame(a, schema=NAMES),
    "sparse": sparse.csr_array,
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
}


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
def test_equal_backgrounds_in_any_container_give_equal_bits(convert):
    model, _ = fitted("SVR")
    expected = pkex.Explainer(model, Z)
    found = pkex.Explainer(model, convert(Z))
    np.testing.assert_array_equal(found.shap_values(ROWS), expected.shap_values(ROWS))
    assert found.expected_value == expected.expected_value


def test_summaries_and_maskers_of_shap_are_backgrounds():
    shap = pytest.importorskip("shap")
    model, _ = fitted("SVR")
    summary = shap.kmeans(X, 6)
    expected = pkex.Explainer(model, summary.data, background_weights=summary.weights)
    np.testing.assert_array_equal(
        pkex.Explainer(model, summary).shap_values(ROWS), expected.shap_values(ROWS)
    )
    expected = pkex.Explainer(model, X).shap_values(ROWS)
    for masker in (shap.maskers.Independent(X), shap.maskers.Partition(X)):
        np.testing.assert_array_equal(pkex.Explainer(model, masker).shap_values(ROWS), expected)
    with pytest.raises(TypeError, match=r"background must be rows.*got shap's Impute"):
        pkex.Explainer(model, shap.maskers.Impute(X))
    with pytest.raises(ValueError, match="background has weights of its own"):
        pkex.Explainer(model, summary, background_weights=np.ones(6))
    named = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    other = pd.DataFrame(X, columns=NAMES[::-1])
    for background in (shap.kmeans(other, 4), shap.maskers.Independent(other)):
        with pytest.raises(ValueError, match="columns of background are in another order"):
            pkex.Explainer(named, background)


def test_the_background_may_have_gaps_that_a_step_fills():
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVR()).fit(X, Y)
    gaps = Z.copy()
    gaps[0, 1] = gaps[3, 2] = np.nan
    values = pkex.Explainer(model, gaps).shap_values(ROWS)
    expected, _ = interventional(model.predict, ROWS[0], gaps)
    expected.assert_close(values[0])


def test_the_background_names_columns_that_the_model_does_not():
    frame = pd.DataFrame(Z, columns=NAMES)
    model, _ = fitted("SVR")
    explainer = pkex.Explainer(model, frame)
    assert explainer(ROWS).feature_names == NAMES
    with pytest.raises(ValueError, match="another order than those of the background"):
        explainer(pd.DataFrame(ROWS, columns=NAMES[::-1]))


def test_changing_the_background_later_changes_nothing():
    model, _ = fitted("SVR")
    rows = Z.copy()
    explainer = pkex.Explainer(model, rows)
    before = explainer.shap_values(ROWS)
    rows += 1.0
    np.testing.assert_array_equal(explainer.shap_values(ROWS), before)


def test_a_large_background_is_used_as_a_whole():
    model, output = fitted("SVR")
    large = np.random.default_rng(1).normal(size=(3000, D))
    explainer = pkex.Explainer(model, large)
    assert explainer.expected_value == pytest.approx(output(large).mean(), rel=1e-12)
    assert "background of 3000 rows" in repr(explainer)


# --- threads, pieces, pickles ---


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_threads_pieces_and_pickles_give_equal_bits(value_function):
    model, _ = fitted("VotingRegressor")
    explainer = pkex.Explainer(model, Z, value_function=value_function, n_jobs=1)
    values = explainer.shap_values(X)
    for n_jobs in (2, 3, -1):
        other = pkex.Explainer(model, Z, value_function=value_function, n_jobs=n_jobs)
        np.testing.assert_array_equal(other.shap_values(X), values)
        assert other.expected_value == explainer.expected_value
    pieces = [explainer.shap_values(X[:7]), explainer.shap_values(X[7:])]
    np.testing.assert_array_equal(np.concatenate(pieces), values)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(X), values)
    assert again.expected_value == explainer.expected_value
    assert repr(again) == repr(explainer)


def test_a_marginal_background_is_prepared_once_however_often_rows_are_explained():
    # Here of a Pipeline, which maps the background in every call.
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(400, 20)), rng.normal(size=(5000, 20))
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")).fit(rows, rows[:, 0])
    start = time.perf_counter()
    explainer = pkex.Explainer(model, background, value_function="marginal")
    prepared = time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        explainer.shap_values(rows[:1])
        times.append(time.perf_counter() - start)
    assert min(times) < prepared / 5


def test_outputs_can_be_chosen():
    model, _ = fitted("SVC of three")
    whole = pkex.Explainer(model, Z)(ROWS)
    one = pkex.Explainer(model, Z, outputs=1)(ROWS)
    np.testing.assert_array_equal(one.values, whole.values[..., 1])
    np.testing.assert_array_equal(one.base_values, whole.base_values[..., 1])


# --- bad input ---


def with_entry(value):
    rows = Z.copy()
    rows[2, 3] = value
    return rows


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"value_function": "interventional"}, ValueError, "give these as background=Z"),
        ({"background_weights": [1.0]}, ValueError, "but no background"),
        (
            {"background": Z, "value_function": "neutral"},
            ValueError,
            "'neutral' uses no background.*leave out background",
        ),
        ({"background": Z, "value_function": "mean"}, ValueError, "must be one of 'neutral'"),
        ({"background": Z[0]}, ValueError, r"background must be two-dim.*background\.reshape"),
        ({"background": Z[:, :2]}, ValueError, "background has the wrong number of columns.*5"),
        ({"background": Z[:0]}, ValueError, r"background is empty: got shape \(0, 5\)"),
        ({"background": "train"}, TypeError, "background must hold real numbers"),
        (
            {"background": with_entry(np.nan)},
            ValueError,
            "background has a missing entry .* in row 2, column 3",
        ),
        (
            {"background": with_entry(np.inf)},
            ValueError,
            "background has an infinite entry .* in row 2, column 3",
        ),
        (
            {"background": Z, "background_weights": [1.0, 2.0]},
            ValueError,
            r"background_weights must have shape \(7,\)",
        ),
        (
            {"background": Z, "background_weights": np.ones((7, 1))},
            ValueError,
            r"background_weights must have shape \(7,\).*got shape \(7, 1\)",
        ),
        (
            {"background": Z, "background_weights": -WEIGHTS},
            ValueError,
            "must not be negative; it is -1.0 for row 0",
        ),
        (
            {"background": Z, "background_weights": 0.0 * WEIGHTS},
            ValueError,
            "background_weights must not all be 0",
        ),
        (
            {"background": Z, "background_weights": np.where(WEIGHTS == 4.0, np.nan, 1.0)},
            ValueError,
            "background_weights has a missing entry .* in row 6",
        ),
        ({"background": Z, "background_weights": ["a"] * 7}, TypeError, "background_weights must"),
    ],
)
def test_a_bad_background_is_answered_with_what_is_wrong(options, error, message):
    model, _ = fitted("SVR")
    with pytest.raises(error, match=message):
        pkex.Explainer(model, **options)


def test_a_background_of_other_columns_is_answered_with_their_names():
    model = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    with pytest.raises(ValueError, match=r"columns of background .*missing \['s2'\].*\['s9'\]"):
        pkex.Explainer(model, pd.DataFrame(Z, columns=[*NAMES[:4], "s9"]))


def test_a_gap_that_no_step_fills_is_answered_with_its_place():
    model = make_pipeline(StandardScaler(), SVR()).fit(X, Y)
    with pytest.raises(ValueError, match=r"background has a missing .* row 2, column 3"):
        pkex.Explainer(model, with_entry(np.nan))


# --- beside shap ---


@pytest.fixture(scope="module")
def of_eight():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(80, 8))
    model = SVC(C=3.0).fit(inputs, inputs[:, 0] * inputs[:, 1] + inputs[:, 2] > 0.0)
    return model, inputs[:10], rng.normal(size=(4, 8))


def test_values_are_those_of_shaps_exact_explainer(of_eight):
    shap = pytest.importorskip("shap")
    model, background, rows = of_eight
    ours = pkex.Explainer(model, background)(rows)
    masker = shap.maskers.Independent(background)
    theirs = shap.ExactExplainer(model.decision_function, masker)(rows)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=1e-12)


def test_shaps_kernel_explainer_comes_close_to_the_values(of_eight):
    shap = pytest.importorskip("shap")
    model, background, rows = of_eight
    ours = pkex.Explainer(model, background)
    kernel_explainer = shap.KernelExplainer(model.decision_function, background)
    # All coalitions: it then solves a regression, regularised a little.
    theirs = kernel_explainer.shap_values(rows, nsamples=2**8, l1_reg=False, silent=True)
    np.testing.assert_allclose(ours.shap_values(rows), theirs, rtol=0, atol=1e-8)
    assert ours.expected_value == pytest.approx(kernel_explainer.expected_value, abs=1e-12)
