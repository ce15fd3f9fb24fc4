"""The models of other libraries on the page of supported models have adapters."""

import re
from pathlib import Path

import pytest

import pkex

PAGE = (Path(__file__).parents[2] / "docs" / "supported-models.md").read_text(encoding="utf-8")
# Where the classes of each library are.
MODULES = {
    "GPyTorch": ("gpytorch.models",),
    "BoTorch": (
        "botorch.models",
        "botorch.models.fully_bayesian",
        "botorch.models.gpytorch",
    ),
    "GPy": ("GPy.models",),
    "SMT": ("smt.surrogate_models",),
    "scikit-optimize": ("skopt", "skopt.learning"),
    "scikit-survival": ("sksurv.svm", "sksurv.linear_model"),
    "bayes_opt": ("bayes_opt",),
    "SciPy": ("scipy.interpolate",),
    "interpret": ("interpret.glassbox",),
    "lifelines": ("lifelines",),
    "OpenTURNS": ("openturns",),
    "statsmodels": (
        "statsmodels.genmod.generalized_linear_model",
        "statsmodels.regression.linear_model",
        "statsmodels.discrete.discrete_model",
    ),
    "pyGAM": ("pygam",),
    "pkex": ("pkex", "pkex.models"),
}


def models_of(library):
    """Return the names in the first cells of the rows below the bold name of a library."""
    rows = PAGE.partition(f"| **{library}**")[2].partition("\n| **")[0].partition("\n\n")[0]
    cells = [row.split("|")[1] for row in rows.splitlines()[1:]]
    return re.findall(r"`([A-Z]\w+)`", " ".join(cells))


@pytest.mark.parametrize("library", MODULES)
def test_the_models_of_a_library_in_the_table_have_adapters(library):
    modules = [pytest.importorskip(name) for name in MODULES[library]]
    names = models_of(library)
    assert names
    for name in names:
        found = next(getattr(module, name) for module in modules if hasattr(module, name))
        # A class without an adapter is not supported.
        with pytest.raises(pkex.UnsupportedModelError, match=f"^{name} is a class"):
            pkex.Explainer(found)
