"""KernelMachineExplainer: shap's arguments in, shap's objects out, exact values in between."""

import io
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

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
PAIRS = SVC().fit(X, np.digitize(Y, [-0.5, 0.5]))


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
    PAIRS.set_params(decision_function_shape="ovo")
    masker = shap.maskers.Independent(Z)
    theirs = shap.Explainer(PAIRS.decision_function, masker, algorithm="exact")(ROWS)
    ours = KernelMachineExplainer(PAIRS.decision_function, masker)(ROWS)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=1e-12)
    assert ours.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    named = KernelMachineExplainer(PAIRS, masker, output_names=["p", "q", "r"])(ROWS)
    np.testing.assert_array_equal(named[:, :, "q"].values, ours.values[..., 1])


def test_all_rows_of_a_background_are_used():
    large = np.random.default_rng(1).normal(size=(300, D))
    explainer = KernelMachineExplainer(MODEL, large)
    assert explainer.expected_value == pytest.approx(MODEL.predict(large).mean(), abs=1e-12)


def test_without_a_background_the_game_is_the_neutral_one():
    values = KernelMachineExplainer(MODEL).shap_values(ROWS)
    np.testing.assert_array_equal(values, pkex.Explainer(MODEL).shap_values(ROWS))


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
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(ROWS), values)


def test_it_says_which_models_it_supports():
    supports = KernelMachineExplainer.supports_model_with_masker
    assert supports(MODEL, Z)
    assert supports(MODEL.predict, shap.maskers.Independent(Z))
    assert not supports(MODEL, Z[:, :2])
    assert not supports(SVR(kernel="sigmoid").fit(X, Y), Z)
    assert not supports(len, Z)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"link": "logit"}, ValueError, "link must be 'identity'"),
        ({"link": shap.links.logit}, ValueError, "link must be 'identity'"),
        ({"link": NAMES}, ValueError, "link must be 'identity'"),
        ({"algorithm": "permutation"}, ValueError, "algorithm must be one of 'auto', 'exact'"),
        ({"data": Z}, TypeError, "masker and data are two names"),
        ({"masker": Z[0]}, ValueError, r"background\.reshape\(1, -1\)"),
        ({"masker": shap.maskers.Partition(X)}, NotImplementedError, "clustering.*Owen values"),
        ({"masker": shap.maskers.Impute(X)}, TypeError, "background must be rows"),
        ({"nsamples": 100}, TypeError, "nsamples"),
    ],
)
def test_bad_arguments_are_answered_with_what_is_wrong(options, error, message):
    with pytest.raises(error, match=message):
        KernelMachineExplainer(**{"model": MODEL, "masker": Z} | options)


def test_functions_that_hide_the_model_are_answered_with_what_to_pass():
    with pytest.raises(pkex.UnsupportedModelError, match="pass the fitted model itself"):
        KernelMachineExplainer(lambda rows: MODEL.predict(rows), Z)
    with pytest.raises(pkex.UnsupportedModelError, match=r"SVC.predict cannot be explained"):
        KernelMachineExplainer(PAIRS.predict, Z)


def test_what_is_not_available_is_answered_with_what_is():
    explainer = KernelMachineExplainer(MODEL, Z)
    for options in ({"interactions": True}, {"interactions": 2}, {"main_effects": True}):
        with pytest.raises(NotImplementedError, match="available today are Shapley values"):
            explainer(ROWS, **options)
    with pytest.raises(NotImplementedError, match="available today are Shapley values"):
        explainer.shap_interaction_values(ROWS)
    with pytest.raises(NotImplementedError, match="exact"):
        explainer(ROWS, error_bounds=True)
    with pytest.raises(NotImplementedError, match="outputs"):
        explainer(ROWS, outputs=[0])
    with pytest.raises(TypeError, match="has no argument 'samples'; it takes X, nsamples"):
        explainer.shap_values(ROWS, samples=10)
