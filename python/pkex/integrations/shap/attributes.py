"""Attributes of `shap.KernelExplainer` that are defined without sampling."""

from __future__ import annotations

import numpy as np
import shap
from numpy.typing import NDArray
from shap.utils._legacy import DenseData

import pkex


class KernelExplainerAttributes:
    """Attributes with their names in `shap.KernelExplainer`."""

    _explainer: pkex.Explainer

    not_equal = staticmethod(shap.KernelExplainer.not_equal)

    @property
    def expected_value(self) -> float | NDArray[np.float64]:
        """The value of the empty coalition: a float, or an array of shape (outputs,)."""
        return self._explainer.expected_value

    @property
    def fnull(self) -> NDArray[np.float64]:
        """The value of the empty coalition, of shape (outputs,) also for a single output."""
        return np.atleast_1d(np.asarray(self.expected_value))

    @property
    def vector_out(self) -> bool:
        """Whether there is an output axis."""
        return not isinstance(self.expected_value, float)

    @property
    def D(self) -> int:
        """The number of outputs."""
        return len(self.fnull)

    @property
    def data(self) -> DenseData | None:
        """The background data, with ``data`` and ``weights``; None without background."""
        rows, weights = self._explainer.background, self._explainer.background_weights
        if rows is None or weights is None:
            return None
        names = self.data_feature_names
        if len(names) < rows.shape[1]:  # of groups
            names = [str(column) for column in range(rows.shape[1])]
        return DenseData(rows, list(names), None, weights.copy())

    @property
    def data_feature_names(self) -> list[str]:
        """Names of the features."""
        return self._explainer.feature_names

    @property
    def N(self) -> int:
        """The number of background rows; 0 without background."""
        return 0 if self._explainer.background is None else len(self._explainer.background)

    @property
    def P(self) -> int:
        """The number of features."""
        return len(self.data_feature_names)
