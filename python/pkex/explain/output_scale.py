"""The scale of explained outputs: predictions, or probabilities, log-odds and decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from pkex.adapters import AdaptedModel
from pkex.adapters.targets import Target

_Kind: TypeAlias = Literal["prediction", "probability", "log-odds", "odds", "decision value"]


@dataclass(frozen=True)
class OutputScale:
    """The scale of a model's outputs.

    Parameters
    ----------
    kind : {"prediction", "probability", "log-odds", "odds", "decision value"}
        "prediction" for models that are not classifiers, and after a transform.
    classes : tuple
        The class labels, in the order of the model.
    """

    kind: _Kind
    classes: tuple[Any, ...]

    @classmethod
    def of(
        cls, adapted_model: AdaptedModel, model: Any, target: Target | None, *, is_transformed: bool
    ) -> OutputScale:
        """Return the scale of the outputs of a model."""
        classes = getattr(model, "classes_", None)
        if is_transformed or not isinstance(classes, np.ndarray) or classes.ndim != 1:
            return cls("prediction", ())
        kind: _Kind = "decision value"
        if adapted_model.method == "predict_proba":
            kind = "probability"
        elif adapted_model.is_log_odds:
            kind = "log-odds"
        elif target == "odds":
            kind = "odds"
        return cls(kind, tuple(classes.tolist()))
