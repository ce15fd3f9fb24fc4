"""Adapters of scikit-learn: importing a module registers its adapters."""

from __future__ import annotations

from pkex.adapters.sklearn import (
    ensembles,
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
    "ensembles",
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
