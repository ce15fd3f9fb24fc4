"""Models that pkex fits and explains: estimators in the API of scikit-learn, which they require."""

from __future__ import annotations

from pkex.inputs.optional import missing_library

try:
    from pkex.models.downscaling.estimators import DeconditionalRegressor
    from pkex.models.interventions.estimators import InterventionalRegressor
    from pkex.models.penalties.estimators import (
        ShapleyRegularizedClassifier,
        ShapleyRegularizedRidge,
    )
    from pkex.models.preferences.estimators import PreferenceLogistic, PreferenceRidge
    from pkex.models.shapley_process import ShapleyProcess
    from pkex.models.weightings.estimators import RWReLU, RWSign, RWStumps
except ModuleNotFoundError as error:
    if str(error.name).partition(".")[0] != "sklearn":
        raise
    raise missing_library("pkex.models", "scikit-learn") from error

from pkex.models import readers as readers

__all__ = [
    "DeconditionalRegressor",
    "InterventionalRegressor",
    "PreferenceLogistic",
    "PreferenceRidge",
    "RWReLU",
    "RWSign",
    "RWStumps",
    "ShapleyProcess",
    "ShapleyRegularizedClassifier",
    "ShapleyRegularizedRidge",
]

# The module that users import the classes from, for tracebacks and pickles.
for _name in __all__:
    globals()[_name].__module__ = __name__
del _name
