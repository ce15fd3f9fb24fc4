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

from pkex.adapters.adapted_model import AdaptedModel, describe_in_columns
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.search_space import Category, Number, Parameter, SearchSpace
from pkex.adapters.sklearn.gaussian_process import adapt_variant
from pkex.functions.column_maps import ColumnMap, Selection
from pkex.typing import Float


@register(BayesianOptimization)
def adapt_optimizer(optimizer: BayesianOptimization) -> AdaptedModel:
    """Read the mean of an optimizer's Gaussian process, in units of the target."""
    name, process, space = type(optimizer).__name__, _fit_process(optimizer), optimizer.space
    rows = process.X_train_
    names = tuple(space.keys)
    parameters = [_parameter(space, key) for key in names]
    covariance, is_wrapped = _unwrap_kernel(process.kernel_)
    part = adapt_variant(process, covariance, space.kernel_transform(rows) if is_wrapped else rows)
    columns: ColumnMap = Selection(len(names), range(len(names)))
    if any(parameter is not _NUMBER for parameter in parameters):
        if not is_wrapped:
            raise unsupported_model(
                f"{name} of integers or choices with a kernel that is not wrapped"
            )
        columns = SearchSpace(parameters)

    def to_points(rows: Float) -> Float:
        settings = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
        return np.array([space.params_to_array(setting) for setting in settings])

    def map_rows(rows: Float) -> Float:
        points = to_points(rows)
        return np.asarray(space.kernel_transform(points) if is_wrapped else points)

    mean = describe_in_columns(part, columns, names, map_rows)
    return replace(
        mean,
        method=None,
        title="posterior mean",
        predict=lambda rows: process.predict(to_points(rows)),
    )


def _fit_process(optimizer: BayesianOptimization) -> GaussianProcessRegressor:
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
    process_copy = copy.copy(process)
    process_copy.set_params(random_state=copy.deepcopy(process.random_state))
    with warnings.catch_warnings():
        # As the optimizer, whose data lead to hyperparameters at their bounds.
        warnings.simplefilter("ignore")
        process_copy.fit(space.params, space.target)
    return process_copy


def _unwrap_kernel(kernel: Any) -> tuple[Any, bool]:
    """Return a kernel without the wrapper of `wrap_kernel`, and whether it had one."""
    kernel_class = type(kernel)
    if kernel_class.__module__ != "bayes_opt.parameter":
        return kernel, False
    return kernel_class.__mro__[1](**kernel.get_params(deep=False)), True


# A number that the kernel uses unchanged.
_NUMBER = Number(np.asarray, np.asarray)


def _parameter(space: Any, key: str) -> Parameter:
    # Before version 3 all parameters are numbers.
    config = getattr(space, "params_config", {}).get(key)
    if config is None or config.is_continuous:
        return _NUMBER
    if not hasattr(config, "categories"):
        return Number(np.round, np.asarray)
    categories = config.categories
    return Category(categories, [config.to_float(category) for category in categories])
