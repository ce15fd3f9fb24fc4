"""The public surface is what the design says, and importing it loads numpy and nothing else."""

import functools
import importlib
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pkex
import pkex.adapters
import pkex.kernels

# The names that need scikit-learn, which `import *` leaves out where it is missing.
NEED_SCIKIT_LEARN = {"HSICSelector", "models"}
DESIGN = (Path(__file__).parents[1] / "docs" / "api-design.md").read_text(encoding="utf-8")
KERNELS = """
    ANOVA Additive Categorical Cauchy Chi2 Constant Factor Kernel Laplacian Linear Matern
    OrthogonalANOVA Periodic Polynomial ProductMatern RBF RationalQuadratic Tanimoto Term
    median_heuristic
"""


def test_the_public_names_are_those_of_the_design_and_at_most_25():
    rows = re.findall(r"^\| (`.*`) \|", DESIGN, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(names) == sorted(pkex.__all__)
    assert len(names) <= 25


def test_the_names_of_kernels_and_adapters_are_these():
    assert sorted(pkex.kernels.__all__) == sorted(KERNELS.split())
    assert set(pkex.adapters.__all__) == {"AdaptedModel", "Variance", "adapt", "register", "verify"}


def test_tab_completion_shows_the_public_names_only():
    shown = {name for name in dir(pkex) if not name.startswith("_")}
    assert shown == set(pkex.__all__)
    assert all(hasattr(pkex, name) for name in dir(pkex))


def test_the_error_is_called_as_users_import_it_and_can_be_pickled():
    error = pkex.UnsupportedModelError("no")
    assert f"{type(error).__module__}.{type(error).__qualname__}" == "pkex.UnsupportedModelError"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args) == (pkex.UnsupportedModelError, ("no",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_what_is_explained_name_only_what_stays_where_it_is(protocol):
    function = pkex.KernelExpansion([[0.0, 1.0]], [[1.0, 2.0]], pkex.kernels.RBF())
    explainer = pkex.Explainer(function, feature_names=["age", "bmi"])
    for result in (explainer([[2.0, 3.0]]), explainer.interactions([[2.0, 3.0]])):
        pickled = pickle.dumps(result, protocol)
        named = set(re.findall(rb"pkex[\w.]*", pickled))
        assert named == {b"pkex"}
        again = pickle.loads(pickled)
        assert repr(again) == repr(result)
        assert not again.values.flags.writeable


@pytest.mark.parametrize(
    "function",
    [pkex.Explainer, pkex.Explainer.shap_values, pkex.Explanation, pkex.mmd, pkex.product_game],
)
def test_help_shows_annotations_without_quotes(function):
    shown = str(inspect.signature(function))
    assert "'" not in re.sub(r"= '\w+'", "", shown)
    assert "Float" not in shown or function is pkex.product_game


def test_the_integrations_have_one_explainer_each_and_a_game():
    names = {
        "shap": ["KernelMachineExplainer"],
        "shapiq": ["KernelGame", "ProductKernelExplainer"],
    }
    for library, expected in names.items():
        pytest.importorskip(library)
        module = importlib.import_module(f"pkex.integrations.{library}")
        assert module.__all__ == expected
        assert all(inspect.getdoc(getattr(module, name)) for name in expected)


@pytest.mark.parametrize("line", re.findall(r"^pkex\.\w.*\)$", DESIGN, re.MULTILINE))
def test_signatures_and_defaults_are_those_of_the_design(line):
    path, _, arguments = line.partition("(")
    function = functools.reduce(getattr, path.split(".")[1:], pkex)
    found = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    assert str(inspect.Signature(bare)) == f"({arguments}"


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (pkex.kernels.RBF, "(length_scale=1.0)"),
        (pkex.kernels.median_heuristic, "(*samples, standardize=True)"),
        (pkex.kernels.Laplacian, "(length_scale=1.0)"),
        (pkex.kernels.Cauchy, "(length_scale=1.0)"),
        (pkex.kernels.Categorical, "(similarity=0.0)"),
        (pkex.kernels.Kernel.on, "(self, columns)"),
    ],
    ids=lambda argument: getattr(argument, "__qualname__", ""),
)
def test_signatures_of_kernels_are_these(function, signature):
    found = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    assert str(inspect.Signature(bare)) == signature


def test_everything_public_has_a_docstring():
    for module in (pkex, pkex.kernels, pkex.adapters, pkex.models):
        for name in module.__all__:
            assert inspect.getdoc(getattr(module, name)), name


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert pkex.__version__ == version("pkex")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pkex.nothing  # noqa: B018


def loaded_by(code):
    """Top-level packages outside the standard library that a fresh interpreter has after `code`."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    names = {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    return {name for name in names - sys.stdlib_module_names if not name.startswith("_")}


def test_importing_pkex_loads_numpy_and_no_other_library():
    before = loaded_by("import numpy")
    assert loaded_by("import pkex") - before == {"pkex"}


def test_explaining_an_expansion_loads_no_other_library():
    before = loaded_by("import numpy")
    code = (
        "import pkex, numpy as np\n"
        "f = pkex.KernelExpansion(np.ones((3, 2)), np.ones(3), pkex.kernels.RBF())\n"
        "e = pkex.Explainer(f)(np.zeros((1, 2)))\n"
        "try: pkex.Explainer(len)\n"
        "except pkex.UnsupportedModelError: pass\n"
    )
    assert loaded_by(code) - before == {"pkex"}


def test_explaining_a_scikit_learn_model_loads_no_data_frames():
    fit = "from sklearn.svm import SVR\nmodel = SVR().fit([[0.0], [1.0]], [0.0, 1.0])\n"
    explain = "import sklearn.kernel_ridge, pkex\npkex.Explainer(model)([[0.5]])\n"
    assert loaded_by(fit + explain) - loaded_by(fit) == {"pkex"}


def test_others_can_register_their_models():
    class Model:
        def __init__(self, factor):
            self.points, self.coefficients = np.eye(3), np.array([1.0, -2.0, 3.0])
            self.factor = factor

        def evaluate(self, X):
            return self.factor * (pkex.kernels.Cauchy()(X, self.points) @ self.coefficients)

    with pytest.raises(pkex.UnsupportedModelError, match=r"^Model is not supported"):
        pkex.Explainer(Model(1.0))

    @pkex.adapters.register(Model)
    def adapt(model):
        expansion = pkex.KernelExpansion(model.points, model.coefficients, pkex.kernels.Cauchy())
        return pkex.adapters.AdaptedModel(
            expansion,
            method="evaluate",
            predict=model.evaluate,
            feature_names=("a", "b", "c"),
        )

    model = Model(1.0)
    explanation = pkex.Explainer(model.evaluate)(np.zeros((2, 3)))
    assert explanation.feature_names == ["a", "b", "c"]
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.evaluate(np.zeros((2, 3))))

    with pytest.raises(pkex.UnsupportedModelError, match=r"Model.evaluate returns .* fitted attr"):
        pkex.Explainer(Model(1.0 + 1e-6))
    with pytest.raises(pkex.UnsupportedModelError, match=r"Supported: .*Model"):
        pkex.Explainer(object())


@pytest.mark.parametrize("library", ["shap", "shapiq"])
def test_integrations_name_the_extra_that_they_need(library, monkeypatch):
    name = f"pkex.integrations.{library}"
    for module in list(sys.modules):
        if module == name or module.startswith(f"{name}."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"pip install 'pkex\[{library}\]'"):
        importlib.import_module(f"pkex.integrations.{library}")
