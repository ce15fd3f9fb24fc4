"""Adapters of scikit-learn: importing a module registers its adapters.

Those of densities and ensembles are imported only for such models, because sklearn.neighbors and
sklearn.ensemble take long to import.
"""

from __future__ import annotations

from pkex.adapters.sklearn import (
    gaussian_process,
    kernel_models,
    linear,
    meta_estimators,
    multioutput,
    naive_bayes,
    pipeline,
    probabilities,
    svm,
)

__all__ = [
    "gaussian_process",
    "kernel_models",
    "linear",
    "meta_estimators",
    "multioutput",
    "naive_bayes",
    "pipeline",
    "probabilities",
    "svm",
]
