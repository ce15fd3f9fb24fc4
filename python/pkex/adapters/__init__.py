"""Adapters: from a fitted model of some library to the `KernelExpansion` that it predicts with.

An adapter is a function from a model to an `AdaptedModel`, registered for the model's class. Those
for a library are imported when the first model of that library arrives, never before.

Examples
--------
A model class of one's own, and its adapter:

>>> import numpy as np
>>> import pkex
>>> class NadarayaNumerator:
...     def __init__(self, X, y):
...         self.X, self.y = np.asarray(X), np.asarray(y)
...     def predict(self, X):
...         return pkex.kernels.RBF()(X, self.X) @ self.y
>>> @pkex.adapters.register(NadarayaNumerator)
... def _(model):
...     expansion = pkex.KernelExpansion(model.X, model.y, pkex.kernels.RBF())
...     return pkex.adapters.AdaptedModel(expansion, method="predict", predict=model.predict)
>>> pkex.Explainer(NadarayaNumerator([[0.0], [1.0]], [1.0, 2.0])).shap_values([[0.5]])
array([[0.23769472]])
"""

from __future__ import annotations

from pkex.adapters.adapted_model import AdaptedModel, Variance
from pkex.adapters.registry import adapt, register
from pkex.adapters.verification import verify

__all__ = ["AdaptedModel", "Variance", "adapt", "register", "verify"]
