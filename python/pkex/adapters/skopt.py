"""Adapters for scikit-optimize: its Gaussian processes, and the searches that they belong to.

pkex explains a search in its own parameters. Its space makes one or several columns of each
parameter, the input of its last model. gp_minimize and similar functions return a result of SciPy's
class, with the same models and space.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import skopt.learning.gaussian_process.kernels as skopt_kernels
from scipy.optimize import OptimizeResult
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import kernels as sklearn_kernels
from skopt import Optimizer
from skopt.learning import GaussianProcessRegressor
from skopt.space import Categorical

from pkex.adapters.adapted_model import AdaptedModel, describe_in_columns
from pkex.adapters.registry import adapt, register, unsupported_model
from pkex.adapters.search_space import Category, Number, Parameter, SearchSpace
from pkex.adapters.sklearn.covariances import READERS, CovarianceReader
from pkex.adapters.sklearn.gaussian_process import adapt_variant
from pkex.errors import UnsupportedModelError
from pkex.kernels.algebra import KernelPolynomial, similarities
from pkex.typing import Float


@register(GaussianProcessRegressor)
def adapt_regressor(model: GaussianProcessRegressor) -> AdaptedModel:
    """Read the mean as for scikit-learn's class; noise enters the training only."""
    if type(model) is not GaussianProcessRegressor:
        raise unsupported_model(f"{type(model).__name__}, a subclass of skopt's regressor,")
    covariance = getattr(model, "kernel_", None)
    if getattr(model, "noise_", None):
        # The kernel itself has lost the noise after fitting.
        covariance += skopt_kernels.WhiteKernel(model.noise_)
    return adapt_variant(model, covariance, getattr(model, "X_train_", None))


def _hamming(reader: CovarianceReader, kernel: Any) -> KernelPolynomial:
    """Read exp(−Σ_j length_scale_j [x_j ≠ y_j])."""
    rates = reader.length_scales(kernel)
    return similarities([math.exp(-rate) for rate in rates], range(len(rates)))


# The others are subclasses of scikit-learn's that add gradients.
READERS[skopt_kernels.HammingKernel] = _hamming
for _name in (
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
):
    READERS[getattr(skopt_kernels, _name)] = READERS[getattr(sklearn_kernels, _name)]


@register(Optimizer)
def adapt_optimizer(optimizer: Optimizer) -> AdaptedModel:
    """Read the last model of an optimizer, in the parameters that are searched."""
    return _adapt_search(optimizer, optimizer.models, optimizer.space, optimizer.Xi)


@register(OptimizeResult)
def adapt_result(result: OptimizeResult) -> AdaptedModel:
    """Read the last model of a search by gp_minimize, in the parameters that are searched."""
    if not {"models", "space", "x_iters"} <= result.keys():
        raise unsupported_model(
            "OptimizeResult", " unless a search of skopt returned it with its models"
        )
    return _adapt_search(result, result.models, result.space, result.x_iters)


def _adapt_search(search: Any, models: Sequence[Any], space: Any, points: Any) -> AdaptedModel:
    name = type(search).__name__
    if not models:
        raise NotFittedError(
            f"{name} has no model yet: it fits its first model after n_initial_points evaluations"
        )
    model = models[-1]
    part = adapt(model)
    columns = SearchSpace([_parameter(dimension) for dimension in space.dimensions])
    if not _is_fitted_on(model, columns(_table(points))):
        raise UnsupportedModelError(
            f"the last model of {name} was fitted on other rows than it has evaluated: tell() was "
            "called with fit=False, or the dimensions were changed. Pass models[-1], which has the "
            "columns of space.transform"
        )
    dimension_names = [dimension.name for dimension in space.dimensions]
    names = None if None in dimension_names else tuple(dimension_names)

    def map_rows(rows: Float) -> Any:
        return space.transform(rows.tolist())

    adapted = describe_in_columns(part, columns, names, map_rows)
    return replace(adapted, method=None, title=f"{part.title} of the last model", stand_in=None)


def _parameter(dimension: Any) -> Parameter:
    # A copy, so that later changes of the dimension do not change the explainer.
    transformer = copy.deepcopy(dimension.transformer)
    if not isinstance(dimension, Categorical):
        return Number(
            partial(_to_column, transformer, dimension.bounds),
            partial(_from_column, transformer, dimension.transformed_bounds),
        )
    try:
        return Category(dimension.categories, transformer.transform(dimension.categories))
    except (TypeError, ValueError):
        raise unsupported_model(
            f"a Categorical dimension with transform={dimension.transform_!r}",
            ": it does not turn its categories into numbers. Use transform='onehot'",
        ) from None


def _to_column(transformer: Any, bounds: tuple[float, float], entries: Float) -> Any:
    try:
        return transformer.transform(entries)
    except ValueError:
        raise ValueError("its dimension goes from {:g} to {:g}".format(*bounds)) from None


def _from_column(transformer: Any, bounds: tuple[float, float], column: Float) -> Any:
    return transformer.inverse_transform(np.clip(column, *bounds))


def _table(rows: Any) -> Any:
    """Return rows of parameters as a table of objects."""
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    table[:] = [[*row] for row in rows]
    return table


def _is_fitted_on(model: Any, rows: Float) -> bool:
    """Return whether a model was fitted on these rows, True if it does not keep its rows."""
    training_rows = getattr(model, "X_train_", rows)
    has_shape = np.shape(training_rows) == rows.shape
    return has_shape and bool(np.allclose(training_rows, rows, rtol=1e-9, atol=1e-12))
