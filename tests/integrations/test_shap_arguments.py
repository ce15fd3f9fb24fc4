"""What KernelMachineExplainer says to arguments that mean nothing, or that it cannot have."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, SVR

import pkex
from pkex.functions.kernel_sum import KernelSum

shap = pytest.importorskip("shap")

from pkex.integrations.shap import KernelMachineExplainer  # noqa: E402

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, D))
Y = X[:, 0] * X[:, 1] + X[:, 2]
NAMES = ["a", "b", "c", "d", "e"]
ROWS = RNG.normal(size=(4, D))
Z = X[:10]
MODEL = SVR().fit(X, Y)
PAIRS = SVC(decision_function_shape="ovo").fit(X, np.digitize(Y, [-0.5, 0.5]))
TEXT = shap.maskers.Text()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"link": "probit"}, ValueError, "link must be 'identity', 'logit'.*link is the third"),
        ({"link": np.exp}, ValueError, "link must be 'identity'.*transform=..."),
        ({"link": NAMES}, ValueError, "link must be 'identity'.*link is the third"),
        ({"algorithm": "partition"}, ValueError, "algorithm must be one of 'auto', 'exact'"),
        ({"data": Z}, TypeError, "masker and data are two names"),
        ({"masker": Z[0]}, ValueError, r"masker\.reshape\(1, -1\)"),
        ({"masker": shap.maskers.Partition(X)}, NotImplementedError, "clustering.*Owen values"),
        ({"masker": shap.maskers.Impute(X)}, TypeError, "masker must be rows"),
        ({"masker": TEXT}, TypeError, "masker must be rows: .*; got shap's Text"),
        ({"samples": 100}, TypeError, "has no argument 'samples'.*it takes model, masker, link"),
        ({"nsamples": 0}, ValueError, "nsamples has no effect.*at least 1; got 0"),
        ({"keep_index": "no"}, ValueError, "keep_index must be True or False; got 'no'"),
        ({"l1_reg": "lasso"}, ValueError, "l1_reg has no effect.*got 'lasso'"),
        ({"random_state": "abc"}, ValueError, "random_state has no effect.*got 'abc'"),
        ({"seed": "abc"}, ValueError, "seed has no effect.*got 'abc'"),
        ({"linearize_link": 3}, ValueError, "linearize_link must be True or False"),
    ],
)
def test_bad_arguments_are_answered_with_what_is_wrong(options, error, message):
    with pytest.raises(error, match=message):
        KernelMachineExplainer(**{"model": MODEL, "masker": Z} | options)


def test_one_error_names_all_that_is_wrong_with_the_arguments():
    with pytest.raises(TypeError) as caught:
        KernelMachineExplainer(
            lambda rows: rows, Z, foo=1, bar=2, link="probit", nsamples="x", silent=3
        )
    title, *problems = str(caught.value).split("\n- ")
    assert title == "5 problems:"
    for problem, start in zip(
        problems,
        [
            "KernelMachineExplainer() has no arguments 'foo', 'bar'; it takes model, masker, link",
            "link must be 'identity'",
            "nsamples has no effect",
            "silent must be True or False; got 3",
            "<lambda> is a plain function",
        ],
        strict=True,
    ):
        assert problem.startswith(start)


def test_the_error_has_the_type_of_the_first_problem():
    sigmoid = SVR(kernel="sigmoid").fit(X, Y)
    with pytest.raises(ValueError, match=r"(?s)link.*sigmoid.* is not supported") as caught:
        KernelMachineExplainer(sigmoid, Z, "probit")
    assert type(caught.value) is ValueError
    with pytest.raises(TypeError, match=r"(?s)two names.*sigmoid"):
        KernelMachineExplainer(sigmoid, Z, data=Z)
    with pytest.raises(TypeError, match=r"(?s)no argument 'foo'.*required.*argument: 'model'"):
        KernelMachineExplainer(foo=1)


def test_one_error_names_all_that_is_wrong_with_a_call():
    explainer = KernelMachineExplainer(MODEL, Z)
    with pytest.raises(TypeError) as caught:
        explainer(ROWS[None], foo=1, max_evals=0, error_bounds=True, outputs=[0], interactions=5)
    problems = str(caught.value).split("\n- ")[1:]
    words = ("foo", "X must have 1 or 2", "max_evals", "error_bounds", "outputs", "interactions")
    for problem, word in zip(problems, words, strict=True):
        assert word in problem[:60]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {
                "masker": np.full((3, 3), np.nan),
                "n_jobs": 0,
                "value_function": "x",
                "feature_names": ["a"],
                "output_names": ["f", "g"],
                "groups": {"ab": [0, 9]},
            },
            ["value_function", "n_jobs", "feature_names", "masker", "groups", "output_names"],
        ),
        (
            {"masker": X[:, :2], "link": "probit", "nsamples": -1, "value_function": "x"},
            ["link", "nsamples", "value_function", "masker has the wrong number of columns"],
        ),
    ],
)
def test_one_error_names_all_that_is_wrong_with_what_pkex_takes(options, words):
    with pytest.raises(ValueError, match="problems:") as caught:
        KernelMachineExplainer(MODEL, **options)
    problems = str(caught.value).split("\n- ")[1:]
    assert len(problems) == len(words)
    for problem, word in zip(problems, words, strict=True):
        assert problem.startswith(word)


def test_groups_are_compared_with_the_names_of_a_background_of_bad_weights():
    frame = pd.DataFrame(Z, columns=NAMES)
    with pytest.raises(ValueError, match=r"(?s)^2 problems:.*background_weights .*groups: 'g' has"):
        KernelMachineExplainer(MODEL, frame, background_weights=[1.0], groups={"g": ["a", "z"]})


def test_a_refusal_is_not_shown_twice():
    with pytest.raises(ValueError, match="n_jobs") as caught:
        KernelMachineExplainer(MODEL, Z, n_jobs=0)
    assert caught.value.__context__ is None


def test_groups_of_names_that_a_bad_background_would_have_told_are_not_refused():
    gap = pd.DataFrame(np.full((3, D), np.nan), columns=NAMES)
    with pytest.raises(ValueError, match=r"^masker has a missing value"):
        KernelMachineExplainer(MODEL, gap, groups={"ab": ["a", "b"]})


def test_neither_a_refusal_nor_the_question_whether_a_model_fits_prepares_an_explainer(monkeypatch):
    def base(*_, **__):
        raise AssertionError("values of the empty coalition are computed")

    monkeypatch.setattr(KernelSum, "base", base)
    with pytest.raises(ValueError, match="link"):
        KernelMachineExplainer(MODEL, Z, link="probit")
    assert KernelMachineExplainer.supports_model_with_masker(MODEL, Z)
    assert KernelMachineExplainer.supports_model_with_masker(MODEL, None)
    assert not KernelMachineExplainer.supports_model_with_masker(MODEL, Z[:, :2])
    assert not KernelMachineExplainer.supports_model_with_masker(SVR(kernel="sigmoid"), Z)


def test_functions_that_hide_the_model_are_answered_with_what_to_pass():
    with pytest.raises(pkex.UnsupportedModelError, match="Pass the fitted model, or"):
        KernelMachineExplainer(lambda rows: MODEL.predict(rows), Z)
    with pytest.raises(pkex.UnsupportedModelError, match=r"SVC.predict cannot be explained"):
        KernelMachineExplainer(PAIRS.predict, Z)


@pytest.mark.parametrize("l1_reg", ["num_features(1)", "rank(3)", "aic", "bic", 0.1])
def test_a_choice_of_features_by_shap_is_not_made_in_silence(l1_reg):
    explainer = KernelMachineExplainer(MODEL, Z, l1_reg=l1_reg)  # where shap takes no notice of it
    values = explainer.shap_values(ROWS)
    for explain in (explainer, explainer.shap_values):
        with pytest.warns(UserWarning, match="l1_reg=.* has no effect.*exact values of all"):
            found = explain(ROWS, l1_reg=l1_reg)
        np.testing.assert_array_equal(getattr(found, "values", found), values)


def test_the_warning_shows_the_line_that_asked_for_it():
    explainer = KernelMachineExplainer(MODEL, Z)
    for explain in (explainer, explainer.shap_values):
        with pytest.warns(UserWarning, match="l1_reg") as caught:
            explain(ROWS, l1_reg="aic")
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"l1_reg": "junk"}, "l1_reg has no effect.*got 'junk'"),
        ({"l1_reg": True}, "l1_reg has no effect.*got True"),
        ({"l1_reg": -1}, "l1_reg has no effect"),
        ({"silent": "junk"}, "silent must be True or False"),
    ],
)
def test_options_that_mean_nothing_in_shap_are_refused(options, message):
    explainer = KernelMachineExplainer(MODEL, Z)
    for explain in (explainer, explainer.shap_values):
        with pytest.raises(ValueError, match=message):
            explain(ROWS, **options)


def test_options_of_estimates_have_no_effect():
    explainer = KernelMachineExplainer(MODEL, Z)
    values = explainer.shap_values(ROWS)
    for l1_reg in (None, False, 0, "auto", "num_features(10)", "num_features(5)"):
        np.testing.assert_array_equal(explainer.shap_values(ROWS, l1_reg=l1_reg), values)
        np.testing.assert_array_equal(explainer(ROWS, l1_reg=l1_reg).values, values)
    for budget in ("auto", None, 7, np.int64(100)):
        found = explainer.shap_values(ROWS, nsamples=budget, gc_collect=True)
        np.testing.assert_array_equal(found, values)
        np.testing.assert_array_equal(explainer(ROWS, max_evals=budget).values, values)
    for junk in ("junk", 0, 2.5, True):
        with pytest.raises(ValueError, match=r"max_evals has no effect.*at least 1"):
            explainer(ROWS, max_evals=junk)
        with pytest.raises(ValueError, match="batch_size has no effect"):
            explainer(ROWS, batch_size=junk)
        with pytest.raises(ValueError, match="nsamples has no effect"):
            explainer.shap_values(ROWS, nsamples=junk)


def test_what_is_not_available_is_answered_with_what_is():
    explainer = KernelMachineExplainer(MODEL, Z)
    for interactions in (0, 3, 2.5, "k-SII", np.array([1, 2])):
        with pytest.raises(NotImplementedError, match=r"interactions\(X, index=\.\.\., order"):
            explainer(ROWS, interactions=interactions)
    with pytest.raises(NotImplementedError, match="exact"):
        explainer(ROWS, error_bounds=True)
    with pytest.raises(NotImplementedError, match="outputs"):
        explainer(ROWS, outputs=[0])
    with pytest.raises(TypeError, match=r"has no argument 'samples'.*it takes X, nsamples"):
        explainer.shap_values(ROWS, samples=10)
    for explain in (explainer, explainer.shap_values, explainer.shap_interaction_values):
        with pytest.raises(TypeError, match=r"takes 1 argument by position, X(,.*)?; got 2$"):
            explain(ROWS, ROWS)


def test_what_is_wrong_with_the_rows_is_named_beside_the_options():
    explainer = KernelMachineExplainer(MODEL, Z)
    gap = np.full((2, D), np.nan)
    for explain in (explainer, explainer.shap_values, explainer.shap_interaction_values):
        with pytest.raises(TypeError, match=r"(?s)no argument 'foo'.*wrong number of columns"):
            explain(ROWS[:, :3], foo=1)
        with pytest.raises(TypeError, match=r"(?s)no argument 'foo'.*NaN"):
            explain(gap, foo=1)
    with pytest.raises(ValueError, match=r"(?s)nsamples.*wrong number of columns"):
        explainer.explain(ROWS[0, :3], nsamples=0)
    with pytest.raises(TypeError, match=r"it takes X, nsamples, l1_reg, silent, gc_collect$"):
        explainer.shap_values(ROWS, foo=1)
