"""The adapter for bayes_opt: the posterior mean of an optimizer, in the parameters that it varies.

Its Gaussian process is scikit-learn's. Since version 3 its kernel passes rows through the function
`kernel_transform`, which rounds integers. A choice, with one column per category there, is one
column of categories here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bayes_opt import BayesianOptimization
from sklearn.exceptions import NotFittedError

from pkex.adapters.adapted_model import AdaptedModel, in_columns
from pkex.adapters.registry import register, unsupported
from pkex.adapters.search_space import Category, Number, Parameter, SearchSpace
from pkex.adapters.sklearn.gaussian_process import adapt_variant
from pkex.errors import UnsupportedModelError
from pkex.functions.column_maps import ColumnMap, Selection
from pkex.typing import Float


@register(BayesianOptimization)
def adapt_optimizer(optimizer: BayesianOptimization) -> AdaptedModel:
    """Read the mean of an optimizer's Gaussian process, in units of the target."""
    name, process, space = type(optimizer).__name__, optimizer._gp, optimizer.space
    if not hasattr(process, "X_train_"):
        raise NotFittedError(
            f"the Gaussian process of {name} is not fitted yet. Call its suggest(), or its "
            "predict() for any point"
        )
    rows = process.X_train_
    if not np.array_equal(rows, space.params):
        raise UnsupportedModelError(
            f"{name} has {len(space.params)} registered points, but its Gaussian process was last "
            f"fitted on {len(rows)}. Call its suggest(), or its predict() for any point, to refit "
            "it"
        )
    names = tuple(space.keys)
    parameters = [_parameter(space, key) for key in names]
    covariance, is_wrapped = _unwrapped(process.kernel_)
    part = adapt_variant(process, covariance, space.kernel_transform(rows) if is_wrapped else rows)
    columns: ColumnMap = Selection(len(names), range(len(names)))
    if any(parameter is not _NUMBER for parameter in parameters):
        if not is_wrapped:
            raise unsupported(f"{name} of integers or choices with a kernel that is not wrapped")
        columns = SearchSpace(parameters)

    def given(rows: Float) -> Float:
        points = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        return np.array([space.params_to_array(point) for point in points])

    def made(rows: Float) -> Float:
        return np.asarray(space.kernel_transform(given(rows)) if is_wrapped else given(rows))

    mean = in_columns(part, columns, names, made)
    return replace(
        mean,
        method=None,
        title="posterior mean",
        predict=lambda rows: process.predict(given(rows)),
    )


def _unwrapped(kernel: Any) -> tuple[Any, bool]:
    """Return a kernel without the wrapper of `wrap_kernel`, and whether it had one."""
    kind = type(kernel)
    if kind.__module__ != "bayes_opt.parameter":
        return kernel, False
    return kind.__mro__[1](**kernel.get_params(deep=False)), True


# A number that the kernel uses unchanged.
_NUMBER = Number(np.asarray, np.asarray)


def _parameter(space: Any, key: str) -> Parameter:
    # Before version 3 all parameters are numbers.
    known = getattr(space, "params_config", {}).get(key)
    if known is None or known.is_continuous:
        return _NUMBER
    if not hasattr(known, "categories"):
        return Number(np.round, np.asarray)
    return Category(known.categories, [known.to_float(category) for category in known.categories])
