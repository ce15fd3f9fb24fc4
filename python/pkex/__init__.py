"""Exact Shapley values for kernel methods.

Give a fitted support vector machine or kernel ridge regression to `Explainer`, and rows to the
explainer; `KernelExpansion` and `kernels` describe models of other libraries, `adapters.register`
teaches `Explainer` to read them, and `product_game` is the engine itself. `mmd` says which features
make two samples differ, `hsic` which carry a dependence, `sensitivity` which ones the variance of a
model's output comes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pkex import adapters, kernels
from pkex.errors import UnsupportedModelError
from pkex.explain.estimate import Estimate
from pkex.explain.explainer import Explainer
from pkex.explain.explanation import Explanation
from pkex.explain.interactions import Interactions
from pkex.functions.expansion import KernelExpansion
from pkex.games.product_game import product_game
from pkex.sensitivity import SensitivityDraws, SensitivityResult, sensitivity
from pkex.statistics import (
    DriftResult,
    DriftTimeline,
    HSICResult,
    MMDDrift,
    MMDResult,
    hsic,
    mmd,
    witness,
)

if TYPE_CHECKING:
    from pkex.statistics.selector import HSICSelector as HSICSelector

__all__ = [
    "DriftResult",
    "DriftTimeline",
    "Estimate",
    "Explainer",
    "Explanation",
    "HSICResult",
    "Interactions",
    "KernelExpansion",
    "MMDDrift",
    "MMDResult",
    "SensitivityDraws",
    "SensitivityResult",
    "UnsupportedModelError",
    "adapters",
    "hsic",
    "kernels",
    "mmd",
    "product_game",
    "sensitivity",
    "witness",
]

# They are said to be where users find them, in tracebacks and in pickles, which so survive that
# their files move.
for _name in __all__:
    if isinstance(_public := globals()[_name], type):
        _public.__module__ = __name__
del _name, _public


# What is loaded when it is first asked for, as it needs scikit-learn. `import *` leaves it out.
_ON_DEMAND = ("HSICSelector",)


def __getattr__(name: str) -> Any:
    if name in _ON_DEMAND:
        from pkex.inputs.optional import missing_library

        try:
            from pkex.statistics.selector import HSICSelector
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] != "sklearn":
                raise
            raise missing_library(f"pkex.{name}", "scikit-learn") from error
        return HSICSelector
    if name == "__version__":
        # Reading the installed metadata costs more than the rest of the import.
        from importlib.metadata import version

        return version("pkex")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ON_DEMAND, "__doc__", "__file__", "__name__", "__path__", "__version__"]
