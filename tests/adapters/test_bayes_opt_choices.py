"""bayes_opt since version 3: optimizers of integers and choices as well, by brute force."""

import pickle

import numpy as np
import pytest
from brute_force import assert_explained, interventional
from sklearn.gaussian_process.kernels import RBF

import pkex

pytest.importorskip("bayes_opt.parameter")
optimizers = pytest.importorskip("bayes_opt_optimizers")

pytestmark = pytest.mark.filterwarnings("ignore:Non-float parameters are experimental:UserWarning")
BOUNDS = {
    **optimizers.NUMBERS,
    "steps": (1, 12, int),
    "activation": ("relu", "tanh", "identity"),
}


def posterior_mean(optimizer):
    """The process itself, of rows of parameters."""

    def mean(rows):
        points = [dict(zip(BOUNDS, row, strict=True)) for row in rows]
        return optimizer._gp.predict(np.array(list(map(optimizer.space.params_to_array, points))))

    return mean


def test_values_equal_brute_force_in_the_parameters():
    optimizer = optimizers.fitted(BOUNDS)
    frame = optimizers.table(optimizer)
    explainer = pkex.Explainer(optimizer, frame.iloc[:4])
    assert explainer.feature_names == list(BOUNDS)
    assert_explained(explainer, posterior_mean(optimizer), frame.iloc[4:7], frame.iloc[:4])


def test_a_suggestion_is_one_row():
    optimizer = optimizers.told(BOUNDS)
    suggestion = optimizer.suggest()
    explanation = pkex.Explainer(optimizer)(suggestion)
    assert dict(zip(explanation.feature_names, explanation.data[0], strict=True)) == suggestion
    total = explanation.values.sum() + explanation.base_values[0]
    assert total == pytest.approx(posterior_mean(optimizer)(explanation.data)[0], rel=1e-10)


def test_variances_equal_brute_force_in_the_parameters():
    optimizer = optimizers.fitted(BOUNDS)
    frame = optimizers.table(optimizer)
    explainer = pkex.Explainer(optimizer, frame.iloc[:4], target="variance")
    objects = frame.to_numpy(dtype=object)

    def variance(rows):
        points = [dict(zip(BOUNDS, row, strict=True)) for row in rows]
        arrays = np.array(list(map(optimizer.space.params_to_array, points)))
        return optimizer._gp.predict(arrays, return_std=True)[1] ** 2

    reference, _ = interventional(variance, objects[5], objects[:4])
    reference.assert_close(explainer.shap_values(frame.iloc[[5]])[0], 1e-9)


def test_integers_are_rounded_as_the_kernel_rounds_them():
    optimizer = optimizers.fitted({**optimizers.NUMBERS, "steps": (1, 12, int)})
    explainer = pkex.Explainer(optimizer)
    rows = optimizer.space.params[:3]
    nearly = np.add(rows, [0.0, 0.0, 0.0, 0.3])
    np.testing.assert_array_equal(explainer.shap_values(nearly), explainer.shap_values(rows))
    total = explainer.shap_values(nearly).sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, optimizer._gp.predict(nearly), rtol=1e-11)


def test_the_process_alone_is_refused_with_a_word_on_the_optimizer():
    process = optimizers.fitted(BOUNDS)._gp
    with pytest.raises(pkex.UnsupportedModelError, match="Pass the BayesianOptimization that it"):
        pkex.Explainer(process)


def test_an_explainer_is_pickled():
    optimizer = optimizers.fitted(BOUNDS)
    explainer = pkex.Explainer(optimizer)
    values = explainer.shap_values(optimizers.table(optimizer))
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(optimizers.table(optimizer)), values)


def test_an_unknown_choice_is_refused():
    explainer = pkex.Explainer(optimizers.fitted(BOUNDS))
    with pytest.raises(ValueError, match=r"column 'activation': it is not one of the cat"):
        explainer(np.array([[1.0, 0.0, 2.0, 3, "selu"]], dtype=object))


def test_a_kernel_that_takes_integers_and_choices_as_they_are_is_refused():
    optimizer = optimizers.fitted(BOUNDS)
    optimizer._gp.set_params(kernel=RBF(2.0))
    optimizer._gp.fit(optimizer.space.params, optimizer.space.target)
    with pytest.raises(pkex.UnsupportedModelError, match="with a kernel that is not wrapped"):
        pkex.Explainer(optimizer)
