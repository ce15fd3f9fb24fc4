"""Which of a model's functions is explained."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from pkex.adapters.registry import AdaptedModel, Variance
from pkex.errors import UnsupportedModelError
from pkex.inputs.choices import check_choice

__all__ = ["Target", "of_target", "variance_of"]

Target: TypeAlias = Literal["mean", "variance", "predictive_variance"]
_TARGETS: tuple[Target, ...] = get_args(Target)


def of_target(
    adapted: AdaptedModel, target: Target | Literal["std"] | None, name: str
) -> AdaptedModel:
    """Return the description of a model whose function is the target.

    Parameters
    ----------
    adapted : AdaptedModel
        Of the prediction, which is the target None.
    target : {None, "mean", "variance", "predictive_variance"}
    name : str
        What messages call the model.

    Raises
    ------
    TypeError, ValueError
        If there is no such target.
    UnsupportedModelError
        If the model has no variance.
    """
    if target is None:
        return adapted
    if not isinstance(target, str):
        raise TypeError(
            f"target must be one of {', '.join(map(repr, _TARGETS))}: what is explained of a "
            f"Gaussian process; got {type(target).__name__}. The values that a model was fitted "
            "to are not needed"
        )
    if target == "std":
        raise ValueError(
            "target='std' is not supported: values of features add up to a sum, and a standard "
            "deviation is the square root of one; explain its square by target='variance'"
        )
    target = check_choice("target", target, _TARGETS)
    variance = variance_of(adapted)
    if variance is None:
        lacks = "posterior" if target == "mean" else "variance"
        raise UnsupportedModelError(
            f"target={target!r} is for Gaussian processes, alone or at the end of a Pipeline; of "
            f"{name} no {lacks} is known. Leave target out to explain its {adapted.explained}"
        )
    return adapted if target == "mean" else variance.adapt(target == "predictive_variance")


def variance_of(adapted: AdaptedModel) -> Variance | None:
    """Return how the variance of the described function is found; None if none is known."""
    variance = adapted.variance
    return variance if variance is not None and variance.of is adapted.expansion else None
