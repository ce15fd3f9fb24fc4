"""scikit-learn's scalers that are affine: what undoes them."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler


def affine_inverse(scaler: Any) -> tuple[Any, Any] | None:
    """Return a and b of the inverse z ↦ a z + b of a fitted scaler, None if it is none.

    They are numbers, or arrays with one for each column.
    """
    if isinstance(scaler, StandardScaler):
        return (
            scaler.scale_ if scaler.with_std else 1.0,
            scaler.mean_ if scaler.with_mean else 0.0,
        )
    if isinstance(scaler, RobustScaler):
        return (
            scaler.scale_ if scaler.with_scaling else 1.0,
            scaler.center_ if scaler.with_centering else 0.0,
        )
    if isinstance(scaler, MaxAbsScaler) and not getattr(scaler, "clip", False):
        return scaler.scale_, 0.0
    if isinstance(scaler, MinMaxScaler) and not scaler.clip:
        return 1.0 / scaler.scale_, -scaler.min_ / scaler.scale_
    return None
