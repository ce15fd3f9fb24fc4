"""All that a user can hold in hands is pickled by every protocol, and is the same afterwards."""

import pickle

import numpy as np
import pandas as pd
import pytest
import skops.io as skops
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex import kernels
from pkex.integrations.shap import KernelMachineExplainer
from pkex.integrations.shapiq import ProductKernelExplainer

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, 0] + np.sin(X[:, 1])
THREE = np.digitize(Y, [-0.5, 0.5])
MACHINE = SVR().fit(X, Y)

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
EXPLAINERS = {
    "a machine": lambda: pkex.Explainer(MACHINE),
    "a pipeline": lambda: pkex.Explainer(make_pipeline(StandardScaler(), SVC()).fit(X, THREE)),
    "groups, against a background": lambda: pkex.Explainer(MACHINE, X[:5], groups={"a": [0, 2]}),
    "a Gaussian process": lambda: pkex.Explainer(
        GaussianProcessRegressor(RBF() + WhiteKernel(), optimizer=None).fit(X, Y)
    ),
    "an expansion": lambda: pkex.Explainer(pkex.KernelExpansion(X, Y, kernels.Cauchy())),
    "shap's": lambda: KernelMachineExplainer(MACHINE, X[:5]),
    "shapiq's": lambda: ProductKernelExplainer(MACHINE),
}
KERNELS = {
    "product": 2.0 * kernels.RBF([1.0, 2.0]).on([0, 1]) * kernels.Categorical(0.5).on([2]),
    "sum": kernels.Laplacian() + 3.0 * kernels.Constant() + kernels.Cauchy(2.0),
}
RESULTS = {
    "explanation": lambda: pkex.Explainer(MACHINE)(X[:3]),
    "interactions": lambda: pkex.Explainer(MACHINE).interactions(X[:3]),
    "mmd": lambda: pkex.mmd(X, X + 1.0, n_permutations=5, random_state=0),
    "hsic": lambda: pkex.hsic(X, Y, n_permutations=5, random_state=0),
    "sensitivity": lambda: pkex.sensitivity(MACHINE, X, order=2),
    "drift": lambda: pkex.MMDDrift(X).predict(X + 1.0),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", EXPLAINERS)
def test_explainers_explain_to_equal_bits(name, protocol):
    explainer = EXPLAINERS[name]()
    again = pickle.loads(pickle.dumps(explainer, protocol))
    assert type(again) is type(explainer)
    if name == "shapiq's":
        np.testing.assert_array_equal(again.explain(X[0]).values, explainer.explain(X[0]).values)
    else:
        np.testing.assert_array_equal(again.shap_values(X), explainer.shap_values(X))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_and_expansions_are_equal(name, protocol):
    kernel = KERNELS[name]
    again = pickle.loads(pickle.dumps(kernel, protocol))
    assert again == kernel
    assert repr(again) == repr(kernel)
    expansion = pkex.KernelExpansion(X, Y, kernel, 1.0)
    again = pickle.loads(pickle.dumps(expansion, protocol))
    np.testing.assert_array_equal(again.predict(X), expansion.predict(X))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_equal(name, protocol):
    result = RESULTS[name]()
    again = pickle.loads(pickle.dumps(result, protocol))
    assert repr(again) == repr(result)
    for attribute in ("values", "pvalue", "feature_pvalues", "base_values"):
        if hasattr(result, attribute):
            np.testing.assert_array_equal(getattr(again, attribute), getattr(result, attribute))


FRAME = pd.DataFrame(X, columns=list("abcd"))
PROCESS = GaussianProcessRegressor(RBF(5.0), alpha=0.1, optimizer=None).fit(X, Y)
SAVED_BY_SKOPS = RESULTS | {
    "three outputs": lambda: pkex.Explainer(SVC().fit(X, THREE))(X[:3]),
    "a row": lambda: pkex.Explainer(MACHINE)(X[:3])[0],
    "uncertainty": lambda: pkex.Explainer(PROCESS)(X[:3], uncertainty=True),
    "estimate": lambda: pkex.Explainer(MACHINE, X).estimate(
        X[:3], n_permutations=20, random_state=0
    ),
    "mmd of frames": lambda: pkex.mmd(FRAME, FRAME + 1.0),
    "timeline": lambda: pkex.MMDDrift(X, n_permutations=39, random_state=0).timeline([X, X + 1.0]),
    "detector": lambda: pkex.MMDDrift(FRAME),
    "draws of sensitivity": lambda: pkex.sensitivity(PROCESS, X, uncertainty=20, random_state=0),
    "expansion": lambda: pkex.KernelExpansion(X, Y, KERNELS["sum"], 1.0),
    "terms": lambda: pkex.TermExpansion([(0, np.sin), (1, [0.0], [1.0, 2.0])], 2),
    "products": lambda: pkex.ProductExpansion([{0: np.sin, 1: ([0.0], [1.0, 2.0])}], [3.0]),
    "settings": lambda: pkex.Observational(n_landmarks=5),
}


def _parts(item):
    """Return the state of an object as arrays and plain values."""
    if isinstance(item, np.ndarray):
        return item.dtype.str, item.shape, repr(item.tolist())
    if isinstance(item, dict):
        return {key: _parts(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_parts(value) for value in item]
    if type(item).__module__.partition(".")[0] == "pkex":
        return type(item), _parts(item.__getstate__())
    return repr(item)


@pytest.mark.parametrize("name", SAVED_BY_SKOPS)
def test_what_skops_saves_is_equal_when_it_is_loaded(name):
    item = SAVED_BY_SKOPS[name]()
    saved = skops.dumps(item)
    again = skops.loads(saved, trusted=skops.get_untrusted_types(data=saved))
    assert repr(again) == repr(item)
    assert _parts(again) == _parts(item)
    if isinstance(again, pkex.Explanation | pkex.Interactions):
        with pytest.raises(ValueError, match="read-only"):
            again.values[...] = 0.0


@pytest.mark.parametrize("name", EXPLAINERS)
def test_skops_does_not_save_explainers(name):
    with pytest.raises(TypeError, match=r"skops does not save .*Pickle it, or save the model"):
        skops.dumps(EXPLAINERS[name]())


def test_skops_does_not_save_what_it_could_not_load():
    machine = pkex.Explainer(SVR().fit(FRAME, Y))
    for result in (machine(FRAME[:2]), machine.interactions(FRAME[:2])):
        message = r"skops does not save .* with the index of a data frame.*to_dict.*X.to_numpy"
        with pytest.raises(TypeError, match=message):
            skops.dumps(result)
    with pytest.raises(TypeError, match=r"imported by its name, such as terms\[0\]. Define"):
        skops.dumps(pkex.TermExpansion([(0, lambda x: x)], 2))
