"""KernelMachineExplainer: shap's arguments in, shap's objects out, exact values in between."""

import io
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

import pkex

shap = pytest.importorskip("shap")
mpl.use("agg")

from pkex.integrations.shap import KernelMachineExplainer  # noqa: E402

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, D))
Y = X[:, 0] * X[:, 1] + X[:, 2]
NAMES = ["a", "b", "c", "d", "e"]
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = RNG.normal(size=(4, D))
Z = X[:10]
MODEL = SVR().fit(X, Y)
THREE = np.digitize(Y, [-0.5, 0.5])
PAIRS = SVC(decision_function_shape="ovo").fit(X, THREE)


def latent_mean(classifier):
    """The latent function of a Gaussian process classifier, from its fitted attributes."""
    fitted = classifier.base_estimator_
    weights = fitted.y_train_ - fitted.pi_
    return lambda rows: fitted.kernel_(rows, fitted.X_train_) @ weights


def density(model):
    return lambda rows: np.exp(model.score_samples(rows))


GP_KERNEL = ConstantKernel(2.0) * RBF([1.0, 2.0, 1.5, 3.0, 1.0]) + WhiteKernel(0.1)
# name: (unfitted model, target, what it says itself)
MODELS = {
    "SVR": (SVR(C=3.0), Y, "predict"),
    "NuSVR": (NuSVR(), Y, "predict"),
    "SVC": (SVC(), Y > 0.0, "decision_function"),
    "SVC of three": (SVC(decision_function_shape="ovo"), THREE, "decision_function"),
    "OneClassSVM": (OneClassSVM(nu=0.3), None, "decision_function"),
    "KernelRidge": (KernelRidge(kernel="laplacian"), np.column_stack([Y, X[:, 1]]), "predict"),
    "GaussianProcessRegressor": (
        GaussianProcessRegressor(GP_KERNEL, optimizer=None, normalize_y=True),
        Y,
        "predict",
    ),
    "GaussianProcessClassifier": (GaussianProcessClassifier(RBF(1.5)), Y > 0.0, latent_mean),
    "KernelPCA": (KernelPCA(2, kernel="rbf"), None, "transform"),
    "KernelDensity": (KernelDensity(bandwidth=1.5), None, density),
    "Nystroem": (make_pipeline(Nystroem(n_components=20, random_state=0), Ridge()), Y, "predict"),
    "Pipeline": (make_pipeline(StandardScaler(), SVR()), Y, "predict"),
    "GridSearchCV": (GridSearchCV(SVR(), {"C": [1.0, 3.0]}, cv=2), Y, "predict"),
    "BaggingRegressor": (BaggingRegressor(SVR(), 3, random_state=0, max_features=3), Y, "predict"),
    "VotingRegressor": (
        VotingRegressor([("a", SVR()), ("b", KernelRidge(kernel="rbf"))]),
        Y,
        "predict",
    ),
    "OneVsRestClassifier": (OneVsRestClassifier(SVC()), THREE, "decision_function"),
    "TransformedTargetRegressor": (
        TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        Y,
        "predict",
    ),
}


def exact_explainer_of(name):
    """Ours of a model, and shap's ExactExplainer of what the model says itself."""
    unfitted, target, own = MODELS[name]
    model = clone(unfitted).fit(X, target)
    output = getattr(model, own) if isinstance(own, str) else own(model)
    masker = shap.maskers.Independent(Z[:6])
    return KernelMachineExplainer(model, masker), shap.ExactExplainer(output, masker)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_shaps_exact_explainer(name):
    ours, theirs = exact_explainer_of(name)
    found, expected = ours(ROWS), theirs(ROWS)
    assert found.values.shape == expected.values.shape
    scale = np.abs(expected.values).max()
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(found.base_values, expected.base_values, rtol=1e-10)


@pytest.mark.parametrize("interactions", [True, np.True_, 2])
@pytest.mark.parametrize("name", ["SVR", "SVC of three", "KernelRidge", "Pipeline"])
def test_interactions_are_those_of_shaps_exact_explainer(name, interactions):
    ours, theirs = exact_explainer_of(name)
    found = ours(ROWS, interactions=interactions)
    # NumPy's True would be 1 for shap: no interactions.
    expected = theirs(ROWS, interactions=2 if interactions == 2 else True)
    outputs = ours.expected_value.shape if np.ndim(ours.expected_value) else ()
    assert found.values.shape == (4, D, D, *outputs)
    # shap has the last two axes in one.
    own = expected.values.reshape(found.values.shape)
    np.testing.assert_allclose(found.values, own, rtol=0, atol=1e-10 * np.abs(own).max())
    np.testing.assert_allclose(found.base_values, expected.base_values, rtol=1e-10)
    totals, values = found.values.sum(axis=(1, 2)), ours(ROWS, interactions=1).values
    np.testing.assert_allclose(totals, values.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(values, ours(ROWS, interactions=False).values)


def test_interaction_values_are_laid_out_as_those_of_shaps_tree_explainer():
    for model in (MODEL, PAIRS):
        explainer = KernelMachineExplainer(model, Z)
        matrices, values = explainer.shap_interaction_values(ROWS), explainer.shap_values(ROWS)
        assert matrices.shape == (4, D, *values.shape[1:])
        np.testing.assert_allclose(matrices.sum(axis=2), values, atol=1e-13)
        np.testing.assert_array_equal(matrices, matrices.swapaxes(1, 2))
        expected = pkex.Explainer(model, Z).interactions(ROWS, index="SII")
        np.testing.assert_allclose(2 * matrices[:, 1, 3], expected.of(1, 3), atol=1e-14)
        np.testing.assert_array_equal(explainer.shap_interaction_values(ROWS[1]), matrices[1])


def test_interactions_of_a_single_feature_are_its_values():
    model = SVR().fit(X[:, :1], Y)
    explainer = KernelMachineExplainer(model, Z[:, :1])
    values = explainer.shap_values(ROWS[:, :1])
    for matrices in (
        explainer(ROWS[:, :1], interactions=True).values,
        explainer.shap_interaction_values(ROWS[:, :1]),
    ):
        assert matrices.shape == (4, 1, 1)
        np.testing.assert_allclose(matrices[:, 0], values, atol=1e-14)


def test_main_effects_are_what_features_do_alone():
    explanation = KernelMachineExplainer(MODEL, Z)(ROWS, main_effects=True)
    for j in range(D):
        rows = np.repeat(Z[None], len(ROWS), axis=0)
        rows[:, :, j] = ROWS[:, [j]]
        worths = MODEL.predict(rows.reshape(-1, D)).reshape(len(ROWS), -1).mean(axis=1)
        effects = worths - MODEL.predict(Z).mean()
        np.testing.assert_allclose(explanation.main_effects[:, j], effects, atol=1e-13)
    assert KernelMachineExplainer(MODEL, Z)(ROWS).main_effects is None


def test_kernel_explainer_converges_to_the_values():
    rng = np.random.default_rng(3)
    data, d = rng.normal(size=(80, 10)), 10
    model = SVR(gamma=0.2).fit(data, data[:, 0] * data[:, 1] + np.sin(data[:, 2:].sum(axis=1)))
    background, rows = data[:5], rng.normal(size=(6, d))
    exact = KernelMachineExplainer(model.predict, background).shap_values(rows)
    estimate = shap.KernelExplainer(model.predict, background).shap_values
    errors = []
    for nsamples in (60, 250, 700, 2**d - 2):
        np.random.seed(0)  # noqa: NPY002  # what shap draws from
        values = estimate(rows, nsamples=nsamples, l1_reg=False, silent=True)
        errors.append(np.sqrt(np.mean((values - exact) ** 2)))
    assert errors[0] > 1.5 * errors[1] > 1.5**2 * errors[2] > 0.0
    assert errors[0] < np.abs(exact).max()
    assert errors[3] < 1e-9  # all coalitions


def test_it_is_a_shap_explainer_that_returns_shap_explanations():
    explainer = KernelMachineExplainer(MODEL, Z)
    assert isinstance(explainer, shap.Explainer)
    explanation = explainer(ROWS)
    assert type(explanation) is shap.Explanation
    expected = pkex.Explainer(MODEL, Z)(ROWS)
    np.testing.assert_array_equal(explanation.values, expected.values)
    np.testing.assert_array_equal(explanation.base_values, expected.base_values)
    np.testing.assert_array_equal(explanation.data, ROWS)
    np.testing.assert_array_equal(explainer.shap_values(ROWS), expected.values)
    assert explainer.expected_value == expected.base_values[0]


def test_it_takes_the_place_of_a_kernel_explainer():
    arguments = (MODEL.predict, shap.kmeans(X, 8))
    options = {"nsamples": 2**D, "l1_reg": False, "silent": True}
    theirs = shap.KernelExplainer(*arguments)
    ours = KernelMachineExplainer(*arguments)
    for rows in (ROWS, ROWS[0], FRAME[:3].to_numpy()):
        expected = theirs.shap_values(rows, **options)
        found = ours.shap_values(rows, **options)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    assert ours.expected_value == pytest.approx(theirs.expected_value, abs=1e-12)
    assert KernelMachineExplainer(MODEL.predict, data=Z, link="identity")(ROWS).shape == (4, D)


@pytest.mark.parametrize("algorithm", ["auto", "exact"])
def test_it_takes_the_place_of_an_explainer(algorithm):
    arguments = (MODEL.predict, shap.maskers.Independent(Z))
    theirs = shap.Explainer(*arguments, algorithm=algorithm, seed=0)(ROWS)
    ours = KernelMachineExplainer(*arguments, algorithm=algorithm, seed=0)(
        ROWS, max_evals=500, batch_size=10, silent=True
    )
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=1e-12)


def test_several_outputs_are_in_shaps_layout():
    masker = shap.maskers.Independent(Z)
    theirs = shap.Explainer(PAIRS.decision_function, masker, algorithm="exact")(ROWS)
    ours = KernelMachineExplainer(PAIRS.decision_function, masker)(ROWS)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=1e-12)
    assert ours.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    named = KernelMachineExplainer(PAIRS, masker, output_names=["p", "q", "r"])(ROWS)
    np.testing.assert_array_equal(named[:, :, "q"].values, ours.values[..., 1])


def test_all_rows_of_a_background_are_used():
    large = np.random.default_rng(1).normal(size=(130, D))  # shap would take 100
    of_one_row = [KernelMachineExplainer(MODEL, row[None]) for row in large]
    explainer = KernelMachineExplainer(MODEL, large)
    mean = np.mean([alone.shap_values(ROWS) for alone in of_one_row], axis=0)
    np.testing.assert_allclose(explainer.shap_values(ROWS), mean, rtol=0, atol=1e-14)
    assert explainer.expected_value == pytest.approx(MODEL.predict(large).mean(), abs=1e-12)


def test_votes_of_pairs_are_not_taken_for_their_values():
    votes = SVC().fit(X, THREE)
    message = (
        r"votes and ranks.*Pass the model.*one output for each pair of classes, named 'a vs b'"
    )
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        KernelMachineExplainer(votes.decision_function, Z)
    values = KernelMachineExplainer(votes, Z).shap_values(ROWS)
    expected = KernelMachineExplainer(PAIRS.decision_function, Z).shap_values(ROWS)
    np.testing.assert_array_equal(values, expected)
    explanation = KernelMachineExplainer(votes, Z)(ROWS)
    last = " vs ".join(map(str, votes.classes_[1:]))  # where shap has the last class
    np.testing.assert_array_equal(explanation[:, :, last].values, values[..., 2])


def test_it_says_what_it_explains():
    assert repr(KernelMachineExplainer(MODEL, Z)) == (
        f"KernelMachineExplainer(predict of {type(MODEL).__name__}, {X.shape[1]} features, "
        f"value_function='interventional', background of {len(Z)} rows)"
    )


def test_a_single_output_may_have_a_name():
    explainer = KernelMachineExplainer(MODEL, Z, output_names=["price"])
    explanation = explainer(ROWS)
    assert explainer.output_names == ["price"]
    assert explanation.output_names == explanation[0].output_names == "price"
    binary = KernelMachineExplainer(SVC().fit(X, Y > 0.0), Z, output_names=["good"])
    assert binary(ROWS).output_names == "good"
    assert binary(ROWS, interactions=True).output_names == "good"
    with pytest.raises(ValueError, match="output_names must have 1 names"):
        KernelMachineExplainer(MODEL, Z, output_names=["p", "q"])


def test_values_of_rows_of_dask_are_an_array_of_dask():
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(20, 3))
    explainer = KernelMachineExplainer(SVR().fit(X, X.sum(axis=1)), X[:5])
    found = explainer.shap_values(da.from_array(X, chunks=(5, 3)))
    assert isinstance(found, da.Array)
    assert found.numblocks == (4, 1)
    np.testing.assert_array_equal(found.compute(), explainer.shap_values(X))


def test_a_row_may_be_a_series_whose_names_are_checked():
    model = SVR().fit(FRAME, Y)
    explainer = KernelMachineExplainer(model.predict, FRAME[:9])
    values = explainer.shap_values(FRAME)
    for same in (FRAME.iloc[1], FRAME.iloc[1].astype(object), pd.Series(X[1]), list(X[1])):
        np.testing.assert_array_equal(explainer.shap_values(same), values[1])
    for explain in (explainer.shap_values, explainer.shap_interaction_values):
        with pytest.raises(ValueError, match="X has its columns in another order"):
            explain(FRAME.iloc[1][::-1])


@pytest.mark.parametrize("name", ["SVR", "SVC of three"])
def test_one_row_is_explained_by_every_method(name):
    ours, _ = exact_explainer_of(name)
    whole = ours(ROWS, main_effects=True)
    for row in (ROWS[1], list(ROWS[1]), pd.Series(ROWS[1], index=NAMES)):
        one = ours(row, main_effects=True)
        assert type(one) is shap.Explanation
        for attribute in ("values", "base_values", "main_effects", "data"):
            found, expected = getattr(one, attribute), getattr(whole, attribute)[1]
            np.testing.assert_array_equal(found, expected)
            assert np.shape(found) == np.shape(expected)
        np.testing.assert_array_equal(ours.shap_values(row), whole.values[1])
        np.testing.assert_array_equal(ours.explain(row), whole.values[1])
        np.testing.assert_array_equal(ours.explain_row(row)["values"], whole.values[1])
        matrices = ours(ROWS, interactions=True).values
        np.testing.assert_array_equal(ours(row, interactions=True).values, matrices[1])
    for table in (ROWS[1:2], FRAME[1:2]):
        assert ours.explain(table).shape == whole.values[1].shape
    with pytest.raises(ValueError, match=r"row must be one row.*\(4, 5\).*shap_values"):
        ours.explain(ROWS)


def test_one_row_is_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    shap.plots.waterfall(KernelMachineExplainer(MODEL, Z)(FRAME.iloc[0]), show=False)
    plt.close("all")


def test_a_background_may_be_a_series():
    row = FRAME.iloc[3]
    theirs, ours = shap.KernelExplainer(MODEL.predict, row), KernelMachineExplainer(MODEL, row)
    assert ours.feature_names == NAMES
    assert ours.expected_value == pytest.approx(theirs.expected_value, abs=1e-12)
    expected = theirs.shap_values(ROWS, silent=True)
    np.testing.assert_allclose(ours.shap_values(ROWS), expected, rtol=0, atol=1e-8)


def test_one_row_is_explained_as_shaps_own_call_asks_for_it():
    ours, theirs = exact_explainer_of("SVC of three")
    options = {"max_evals": 100, "main_effects": False, "error_bounds": False, "silent": True}
    options |= {"batch_size": "auto", "outputs": None, "interactions": 1}
    found, expected = (explain.explain_row(ROWS[0], **options) for explain in (ours, theirs))
    assert set(found) == set(expected)
    assert found["mask_shapes"] == expected["mask_shapes"]
    for key in ("values", "expected_values"):
        np.testing.assert_allclose(found[key], expected[key], atol=1e-12)
    assert ours.explain_row(ROWS[0], main_effects=True)["main_effects"].shape == (D, 3)


def test_it_has_the_attributes_of_a_kernel_explainer():
    summary = shap.kmeans(X, 8)
    theirs = shap.KernelExplainer(MODEL.predict, summary)
    ours = KernelMachineExplainer(MODEL.predict, summary, feature_names=NAMES)
    np.testing.assert_array_equal(ours.data.data, theirs.data.data)
    np.testing.assert_allclose(ours.data.weights, theirs.data.weights, rtol=1e-15)
    assert ours.data.group_names == ours.feature_names == NAMES
    assert KernelMachineExplainer(MODEL, Z, groups={"p": [0, 3]}).data.data.shape == (10, D)


def test_without_a_background_features_are_drawn_from_the_models_own_points():
    explainer = KernelMachineExplainer(MODEL)
    points = MODEL.support_vectors_
    expected = KernelMachineExplainer(MODEL, points, value_function="marginal")
    np.testing.assert_allclose(explainer.shap_values(ROWS), expected.shap_values(ROWS), atol=1e-13)
    assert explainer.expected_value == pytest.approx(expected.expected_value, abs=1e-13)
    np.testing.assert_array_equal(explainer.data.data, points)
    assert len(points) == explainer.N
    assert explainer.masker is None
    neutral = KernelMachineExplainer(MODEL, value_function="neutral")
    values = pkex.Explainer(MODEL, value_function="neutral").shap_values(ROWS)
    np.testing.assert_array_equal(neutral.shap_values(ROWS), values)
    assert neutral.data is None
    assert neutral.N == 0


def test_the_observational_game_is_taken_with_its_settings():
    options = {"value_function": pkex.Observational(leave_one_out=True)}
    values = KernelMachineExplainer(MODEL, Z, **options).shap_values(Z)
    np.testing.assert_array_equal(values, pkex.Explainer(MODEL, Z, **options).shap_values(Z))


def test_methods_and_shaps_wrapped_models_are_unwrapped():
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(FRAME, Y)
    expected = pkex.Explainer(pipeline, FRAME[:9])(FRAME)
    for model in (pipeline, pipeline.predict, shap.models.Model(pipeline.predict)):
        explanation = KernelMachineExplainer(model, FRAME[:9])(FRAME)
        np.testing.assert_array_equal(explanation.values, expected.values)
        assert explanation.feature_names == NAMES


def test_the_arguments_of_pkex_are_taken_too():
    options = {"groups": {"p": [0, 3]}, "value_function": "marginal", "feature_names": NAMES}
    weights = np.arange(1.0, 11.0)
    ours = KernelMachineExplainer(MODEL, Z, background_weights=weights, n_jobs=1, **options)(ROWS)
    expected = pkex.Explainer(MODEL, Z, background_weights=weights, **options)(ROWS)
    np.testing.assert_array_equal(ours.values, expected.values)
    assert ours.feature_names == ["p", "b", "c", "e"]


def test_its_explanations_are_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    explanation = KernelMachineExplainer(MODEL, Z)(X)
    shap.plots.beeswarm(explanation, show=False)
    plt.close("all")
    shap.plots.waterfall(explanation[0], show=False)
    plt.close("all")


def test_an_explainer_can_be_saved_loaded_and_pickled(capsys):
    options = {"feature_names": NAMES, "groups": {"p": [0, 3]}, "n_jobs": 1}
    explainer = KernelMachineExplainer(MODEL.predict, shap.kmeans(X, 5), **options)
    values = explainer.shap_values(ROWS)
    for loader in (KernelMachineExplainer, shap.Explainer):
        file = io.BytesIO()
        explainer.save(file)
        file.seek(0)
        again = loader.load(file)
        assert type(again) is KernelMachineExplainer
        np.testing.assert_array_equal(again.shap_values(ROWS), values)
        assert again(ROWS).feature_names == ["p", "b", "c", "e"]
    assert capsys.readouterr().out == ""
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(ROWS), values)


@pytest.mark.parametrize("name", ["SVR", "Pipeline", "GridSearchCV"])
def test_an_explainer_of_a_method_can_be_saved_and_loaded(name):
    # cloudpickle copies the methods that scikit-learn offers under a condition.
    models = {
        "SVR": SVR(),
        "Pipeline": make_pipeline(StandardScaler(), SVR()),
        "GridSearchCV": GridSearchCV(SVR(), {"C": [1.0]}, cv=2),
    }
    explainer = KernelMachineExplainer(models[name].fit(X, Y).predict, Z)
    file = io.BytesIO()
    explainer.save(file)
    file.seek(0)
    again = shap.Explainer.load(file)
    np.testing.assert_array_equal(again.shap_values(ROWS), explainer.shap_values(ROWS))


def test_a_model_and_its_background_can_be_saved_in_a_way_of_ones_own():
    explainer = KernelMachineExplainer(MODEL, Z, feature_names=NAMES)

    def save_rows(rows, file):
        file.write(rows.astype("<f8").tobytes())

    def load_rows(file):
        return np.frombuffer(file.read(Z.nbytes), "<f8").reshape(Z.shape)

    for loader in (KernelMachineExplainer, shap.Explainer):
        file = io.BytesIO()
        explainer.save(file, pickle.dump, save_rows)
        file.seek(0)
        again = loader.load(file, pickle.load, load_rows)
        np.testing.assert_array_equal(again.shap_values(ROWS), explainer.shap_values(ROWS))
        assert again.feature_names == NAMES
    file.seek(0)
    with pytest.raises(
        ValueError, match=r"the model was saved by a model_saver\. Pass its model_l"
    ):
        KernelMachineExplainer.load(file)
    with pytest.raises(ValueError, match=r"model_saver must be a function or '\.save'; got None"):
        explainer.save(file, None)


TEXT = shap.maskers.Text()


def test_it_says_which_models_it_supports():
    supports = KernelMachineExplainer.supports_model_with_masker
    assert supports(MODEL, Z)
    assert supports(MODEL, None)
    assert supports(MODEL.predict, shap.maskers.Independent(Z))
    for model, masker in [
        (MODEL, Z[:, :2]),
        (MODEL, np.full_like(Z, np.nan)),
        (MODEL, shap.maskers.Partition(X)),
        (MODEL, shap.maskers.Impute(X)),
        (MODEL, TEXT),
        (MODEL, shap.maskers.Composite(shap.maskers.Independent(Z))),
        (SVR(), Z),
        (SVR(kernel="sigmoid").fit(X, Y), Z),
        (PAIRS.predict, Z),
        (len, Z),
        (None, Z),
    ]:
        assert not supports(model, masker), (model, masker)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # probability=True is on its way out
@pytest.mark.parametrize("link", ["logit", "identity"])
def test_probabilities_have_the_values_that_shap_converges_to(link):
    svm = SVC(probability=True, random_state=0).fit(X[:, :4], np.digitize(Y, [-0.5, 0.5]))
    few, rows = X[:3, :4], X[5:6, :4]
    ours = KernelMachineExplainer(svm.predict_proba, few, link=getattr(shap.links, link))
    # Of four features shap's samples are all coalitions.
    theirs = shap.KernelExplainer(svm.predict_proba, few, link=link)
    expected = theirs.shap_values(rows, silent=True, l1_reg=False)
    np.testing.assert_allclose(ours.shap_values(rows), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.expected_value, theirs.expected_value, rtol=0, atol=1e-12)
    masker, own = shap.maskers.Independent(few), getattr(shap.links, link)
    exact = shap.ExactExplainer(svm.predict_proba, masker, link=own, linearize_link=False)
    np.testing.assert_allclose(ours(rows).values, exact(rows).values, rtol=0, atol=1e-9)
