"""Checks of the data of estimators, for all supported versions of scikit-learn."""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.utils import validation

if hasattr(validation, "validate_data"):
    validated, keep_names = validation.validate_data, validation._check_feature_names
    FINITE = "ensure_all_finite"
else:  # before scikit-learn 1.6
    validated, keep_names = BaseEstimator._validate_data, BaseEstimator._check_feature_names
    FINITE = "force_all_finite"
