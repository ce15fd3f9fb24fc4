"""The adapter for bayes_opt: the posterior mean of an optimizer, in the parameters that it varies.

Its Gaussian process is scikit-learn's. Since version 3 its kernel passes rows through the function
`kernel_transform`, which rounds integers. A choice, with one column per category there, is one
column of categories here.

The optimizer fits its process before each suggestion, so after ``maximize`` the process has not
seen the last points. A copy of it is then fitted to all registered points, as ``suggest`` and
``predict`` of the optimizer fit the process itself.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from bayes_opt import BayesianOptimization
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor

from pkex.adapters.adapted_model import AdaptedModel, in_columns
from pkex.adapters.registry import register, unsupported
from pkex.adapters.search_space import Category, Number, Parameter, SearchSpace
from pkex.adapters.sklearn.gaussian_process import adapt_variant
from pkex.functions.column_maps import ColumnMap, Selection
from pkex.typing import Float


@register(BayesianOptimization)
def adapt_optimizer(optimizer: BayesianOptimization) -> AdaptedModel:
    """Read the mean of an optimizer's Gaussian process, in units of the target."""
    name, process, space = type(optimizer).__name__, _fitted(optimizer), optimizer.space
    rows = process.X_train_
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


def _fitted(optimizer: BayesianOptimization) -> GaussianProcessRegressor:
    """Return the process fitted to all registered points: the optimizer's own, or a copy.

    The copy is equal to what the optimizer's next ``suggest`` or ``predict`` fits. The process and
    the random state of the optimizer remain unchanged.
    """
    process, space = optimizer._gp, optimizer.space
    if not len(space):
        raise NotFittedError(
            f"{type(optimizer).__name__} has no registered points to fit its Gaussian process to. "
            "Call its maximize() or register() first"
        )
    if np.array_equal(getattr(process, "X_train_", ()), space.params):
        return process
    fitted = copy.copy(process)
    fitted.set_params(random_state=copy.deepcopy(process.random_state))
    with warnings.catch_warnings():
        # As the optimizer, whose data lead to hyperparameters at their bounds.
        warnings.simplefilter("ignore")
        fitted.fit(space.params, space.target)
    return fitted


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
