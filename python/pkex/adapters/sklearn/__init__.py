"""Adapters for scikit-learn: importing a module registers its adapters."""

from __future__ import annotations

from pkex.adapters.sklearn import (
    averages,
    chains,
    gaussian_process,
    kernel_density,
    kernel_pca,
    kernel_ridge,
    linear,
    pipeline,
    probabilities,
    stacking,
    svm,
    wrappers,
)

__all__ = [
    "averages",
    "chains",
    "gaussian_process",
    "kernel_density",
    "kernel_pca",
    "kernel_ridge",
    "linear",
    "pipeline",
    "probabilities",
    "stacking",
    "svm",
    "wrappers",
]
