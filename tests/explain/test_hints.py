"""What users of other explainers try first is answered with how it is done here."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import pkex


@pytest.fixture
def model() -> pkex.KernelExpansion:
    return pkex.KernelExpansion(np.eye(3), np.ones(3), pkex.kernels.RBF())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("explain", r"call the explainer: explanation = explainer\(X\)"),
        ("plot", r"explainer\(X\)\.plot\(\)"),
        ("values", r"explainer\(X\)\.values"),
        ("importance", r"explainer\(X\)\.importance\(\)"),
        ("fit", r"takes a fitted model, and no target"),
        ("shap_interaction_values", r"explainer\.interactions\(X\)\.to_shap\(\)\.values"),
    ],
)
def test_an_attribute_of_other_explainers_is_answered_with_what_to_write(model, name, hint):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{hint}$"):
        getattr(pkex.Explainer(model), name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("expected_value", r"use explainer\.expected_value, or base_values for each row"),
        ("shap_values", r"use explanation\.values"),
        ("interactions", r"explainer\.interactions\(X\)"),
        ("save", r"json\.dump\(result\.to_dict\(\), file\)"),
        ("to_csv", r"result\.to_frame\(\)\.to_csv\(path\)"),
        ("nonsense", ""),
    ],
)
def test_an_attribute_of_other_explanations_is_answered_with_what_to_write(model, name, hint):
    with pytest.raises(
        AttributeError, match=f"no attribute '{name}'{'; .*' if hint else ''}{hint}$"
    ):
        getattr(pkex.Explainer(model)(np.eye(3)), name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("expected_value", r"interactions\.base_values, one for each row"),
        ("centered", r"explainer\(X\)\.centered\(\)"),
        ("to_pandas", r"result\.to_frame\(\)"),
        ("nonsense", ""),
    ],
)
def test_an_attribute_that_interactions_have_not_is_answered_with_what_to_write(model, name, hint):
    with pytest.raises(
        AttributeError, match=f"no attribute '{name}'{'; .*' if hint else ''}{hint}$"
    ):
        getattr(pkex.Explainer(model).interactions(np.eye(3)), name)


def test_what_the_hints_say_works(model):
    pytest.importorskip("shap")
    explainer, X = pkex.Explainer(model), np.eye(3)
    np.testing.assert_array_equal(explainer(X).base_values, explainer.expected_value)
    assert explainer(X).values.shape == (3, 3)
    assert explainer(X).importance().shape == (3,)
    assert explainer.interactions(X).to_shap().values.shape == (3, 3, 3)


def test_an_unknown_attribute_is_an_error_without_a_hint(model):
    with pytest.raises(AttributeError, match=r"'Explainer' object has no attribute 'nonsense'$"):
        _ = pkex.Explainer(model).nonsense


def test_copies_and_pickles_do_not_stumble_over_hints(model):
    explainer = pkex.Explainer(model)
    for again in (copy.copy(explainer), copy.deepcopy(explainer)):
        assert repr(again) == repr(explainer)
    assert repr(pickle.loads(pickle.dumps(explainer))) == repr(explainer)


@pytest.mark.parametrize(
    "keyword", ["data", "masker", "background_data", "X_background", "bckground"]
)
def test_a_background_by_another_name_is_pointed_to_its_name(model, keyword):
    with pytest.raises(
        TypeError, match=rf"no argument '{keyword}' \(did you mean 'background'\?\)"
    ):
        pkex.Explainer(model, **{keyword: np.eye(3)})


@pytest.mark.parametrize(
    ("value_function", "message"),
    [
        ("conditional", "Did you mean 'observational'"),
        ("Marginal", "Did you mean 'marginal'"),
        (pkex.Observational, r"Or pass the settings of .* pkex\.Observational\(\)"),
    ],
)
def test_an_unknown_value_function_is_answered_with_the_nearest(model, value_function, message):
    with pytest.raises(ValueError, match=message):
        pkex.Explainer(model, np.eye(3), value_function=value_function)


def test_an_index_in_other_letters_is_answered_with_its_name(model):
    with pytest.raises(ValueError, match="Did you mean 'SII'"):
        pkex.Explainer(model).interactions(np.eye(3), index="sii")


def test_too_many_arguments_by_position_are_answered_with_the_list(model):
    X, y = np.eye(3), np.ones(3)
    explainer = pkex.Explainer(model)
    with pytest.raises(
        TypeError, match=r"^a call of Explainer takes 1 argument by position, X, and by "
    ):
        explainer(X, y)
    with pytest.raises(TypeError, match=r"^Explainer\(\) takes 2 arguments .*n_jobs; got 3$"):
        pkex.Explainer(model, X, y)


def test_a_keyword_that_resembles_none_is_answered_with_the_list(model):
    with pytest.raises(TypeError, match="no argument 'qqq'; it takes model, background, "):
        pkex.Explainer(model, qqq=1)


def test_an_option_of_the_explainer_in_a_call_is_answered_with_its_place(model):
    with pytest.raises(TypeError, match=r"no argument 'n_jobs'; .*Explainer\(\.\.\., n_jobs="):
        pkex.Explainer(model)(np.eye(3), n_jobs=2)


def test_a_feature_of_a_plot_is_answered_with_how_to_choose_it(model):
    explainer, X = pkex.Explainer(model), np.eye(3)
    with pytest.raises(TypeError, match=r"^Explanation\.plot\(\) has .*explanation\[:, 'age'\]$"):
        explainer(X).plot(feature="x0")
    with pytest.raises(TypeError, match=r"^Interactions\.plot\(\) has .*\.of\('age', 'bmi'\)$"):
        explainer.interactions(X).plot(feature="x0")
    with pytest.raises(TypeError, match=r"'feature'; it takes ax, kind, output, max_features$"):
        pkex.mmd(X, X + 1.0).plot(feature="x0")
