"""Time that Python adds to the engine: a call, an explainer, the import, the first row."""

import subprocess
import sys

import numpy as np
import pytest
from comparison import Task, difference
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sklearn.svm import SVR

import pkex

CALLS = 20


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["explainer.shap_values(row)", "explainer(row)"])
def test_call(compare, rng, name):
    d, n = 20, 1000
    expansion = pkex.KernelExpansion(
        rng.standard_normal((n, d)), rng.standard_normal(n), pkex.kernels.RBF(d**0.5)
    )
    explainer = pkex.Explainer(expansion, n_jobs=1)
    call = explainer if name == "explainer(row)" else explainer.shap_values
    row = rng.standard_normal((1, d))
    options = {
        "game": "neutral",
        "method": "quadrature",
        "summation": "compensated",
        "n_threads": 1,
    }

    def repeat(function):
        for _ in range(CALLS):
            function()

    engine = Task(lambda: repeat(lambda: expansion.packed.explain(row, **options)), CALLS)
    ours = Task(lambda: repeat(lambda: call(row)), CALLS)
    what = f"`{name}`, d = {d}, over the engine's own time"
    compare(what, engine, ours, goal="< +100 µs", show=difference, seconds=2.0)


def test_explainer(compare, rng):
    X = rng.standard_normal((1000, 20))
    model = SVR(epsilon=1e-4).fit(X, X[:, 0])
    what = "making an explainer of 1000 support vectors, d = 20: shapiq"
    shapiq = Task(lambda: drop(ProductKernelExplainer(model)))
    compare(what, shapiq, Task(lambda: drop(pkex.Explainer(model))), seconds=1.0)


def test_import(compare):
    def importing(module):
        return Task(lambda: drop(subprocess.run([sys.executable, "-c", f"import {module}"])))

    what = "`import pkex` over `import numpy`, in a new process"
    compare(what, importing("numpy"), importing("pkex"), goal="< +90 ms", show=difference)


FIT = """
import numpy, pandas
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
X = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(300, 8)), columns=list("abcdefgh"))
model = make_pipeline(StandardScaler(), SVR()).fit(X, X["a"] * X["b"])
"""
EXPLAIN = "import pkex; pkex.Explainer(model, X[:50])(X[:1])"


def test_first_row(compare):
    def running(code):
        return Task(lambda: drop(subprocess.run([sys.executable, "-c", code], check=True)))

    what = "first explained row of a pipeline, in a new process, over fitting it"
    compare(what, running(FIT), running(FIT + EXPLAIN), goal="< +300 ms", show=difference)


def drop(_):
    """Return nothing: there are no values to compare."""
