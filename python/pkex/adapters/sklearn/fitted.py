"""Whether a model is fitted, and computes by scikit-learn's own methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pkex.adapters.registry import unsupported
from pkex.errors import UnsupportedModelError

try:
    from sklearn.frozen import FrozenEstimator as FrozenEstimator
except ImportError:  # scikit-learn < 1.6

    class FrozenEstimator:  # type: ignore[no-redef]
        """Has no instances."""


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError, or refuse a model that computes by methods of its own.

    A subclass that clips predictions, say, could agree with its parent on every row of the check
    that follows.
    """
    check_is_fitted(model)
    check_own(model)


def check_own(model: Any) -> None:
    """Refuse a model that replaces a method of scikit-learn's, but for those that fit or describe.

    What scikit-learn leaves to subclasses, its abstract methods, is theirs to define.
    """
    owners = (model, *type(model).__mro__)
    for place, owner in enumerate(owners[:-1]):
        if owner is not model and _is_of_scikit_learn(owner):
            continue
        for name, item in vars(owner).items():
            is_method = callable(item) or (owner is not model and hasattr(item, "__get__"))
            if is_method and not _HARMLESS.fullmatch(name) and _is_replaced(name, owners[place:]):
                raise UnsupportedModelError(
                    f"{type(model).__name__} replaces scikit-learn's {name} by its own, and is not "
                    "supported; register an adapter with pkex.adapters.register, or describe its "
                    "function as a pkex.KernelExpansion"
                )


def inside(frozen: Any) -> Any:
    """Return the estimator that is frozen; a subclass could answer before it is asked."""
    if type(frozen) is not FrozenEstimator:
        raise unsupported(f"{type(frozen).__name__}, a subclass of FrozenEstimator,")
    return frozen.estimator


# Methods that fit, describe or judge a model, and what scikit-learn itself adds to each subclass.
_HARMLESS = re.compile(
    r"__\w+__|fit(_\w+)?|partial_fit|score|[gs]et_params|set_\w+_request|get_metadata_routing|"
    r"_more_tags|_get_tags|_run_search|_check_refit_for_multimetric"
)


def _is_of_scikit_learn(owner: type) -> bool:
    return owner.__module__.partition(".")[0] == "sklearn"


def _is_replaced(name: str, owners: Sequence[Any]) -> bool:
    """Whether scikit-learn defines a method that the first of the owners would come before."""
    later = (owner for owner in owners[1:] if _is_of_scikit_learn(owner) and name in vars(owner))
    theirs = next(later, None)
    return theirs is not None and not getattr(vars(theirs)[name], "__isabstractmethod__", False)
