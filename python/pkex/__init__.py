"""Exact Shapley values for kernel methods.

Give a fitted support vector machine or kernel ridge regression to `Explainer`, and rows to the
explainer; `KernelExpansion` and `kernels` describe models of other libraries, `adapters.register`
teaches `Explainer` to read them, and `product_game` is the engine itself. `mmd` says which features
make two samples differ, `hsic` which carry a dependence, `sensitivity` which ones the variance of a
model's output comes from.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pkex import adapters, kernels
from pkex.errors import UnsupportedModelError
from pkex.explain.explainer import Explainer
from pkex.functions.descriptions import KernelExpansion, ProductExpansion, TermExpansion
from pkex.games.observational import Observational
from pkex.games.product_game import product_game
from pkex.results.estimate import Estimate
from pkex.results.explanation import Explanation
from pkex.results.interactions import Interactions
from pkex.sensitivity import SensitivityDraws, SensitivityResult, sensitivity

if TYPE_CHECKING:
    from pkex import models
    from pkex.compare.drift.mmd_drift import MMDDrift
    from pkex.compare.drift.result import DriftResult
    from pkex.compare.drift.timeline import DriftTimeline
    from pkex.compare.hsic import hsic
    from pkex.compare.mmd import mmd
    from pkex.compare.results.hsic import HSICResult
    from pkex.compare.results.mmd import MMDResult
    from pkex.compare.selector import HSICSelector
    from pkex.compare.witness import witness

__all__ = [
    "DriftResult",
    "DriftTimeline",
    "Estimate",
    "Explainer",
    "Explanation",
    "HSICResult",
    "HSICSelector",
    "Interactions",
    "KernelExpansion",
    "MMDDrift",
    "MMDResult",
    "Observational",
    "ProductExpansion",
    "SensitivityDraws",
    "SensitivityResult",
    "TermExpansion",
    "UnsupportedModelError",
    "adapters",
    "hsic",
    "kernels",
    "mmd",
    "models",
    "product_game",
    "sensitivity",
    "witness",
]

# Without scikit-learn, `import *` leaves out the names that require it.
if find_spec("sklearn") is None:
    __all__.remove("HSICSelector")
    __all__.remove("models")

# Names that are imported on first access, and their modules: explanations do not require the
# statistics.
_ON_DEMAND = {
    "DriftResult": "compare",
    "DriftTimeline": "compare",
    "HSICResult": "compare",
    "HSICSelector": "compare.selector",
    "MMDDrift": "compare",
    "MMDResult": "compare",
    "hsic": "compare",
    "mmd": "compare",
    "models": "models",
    "witness": "compare",
}


def _publish(public: object) -> object:
    """Set the module of a class to `pkex`, for tracebacks and pickles."""
    if isinstance(public, type):
        public.__module__ = __name__
    return public


for _name in __all__:
    if _name not in _ON_DEMAND:
        _publish(globals()[_name])
del _name


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        return globals().setdefault(name, _publish(_load(name)))
    if name == "__version__":
        # Reading the installed metadata costs more than the rest of the import.
        from importlib.metadata import version

        return version("pkex")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _load(name: str) -> object:
    home = _ON_DEMAND[name]
    try:
        module = import_module(f"pkex.{home}")
        return module if name == home else getattr(module, name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "sklearn":
            raise
        from pkex.inputs.optional import missing_library

        raise missing_library(f"pkex.{name}", "scikit-learn") from error


def __dir__() -> list[str]:
    return sorted(
        {*__all__, *_ON_DEMAND, "__doc__", "__file__", "__name__", "__path__", "__version__"}
    )
