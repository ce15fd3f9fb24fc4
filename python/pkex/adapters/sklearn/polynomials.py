"""PolynomialFeatures before a linear model, as a sum of monomials of few columns each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures

from pkex.adapters.sklearn.estimators import FrozenEstimator, check_fitted, frozen_estimator
from pkex.adapters.sklearn.step_maps import (
    Chain,
    SideBySide,
    branches,
    chain_maps,
    check_width,
    column_map,
    identity_map,
)
from pkex.adapters.sklearn.steps import affine_inverse, check_step, unsupported_step
from pkex.functions.base import Function
from pkex.functions.column_maps import ColumnMap
from pkex.functions.composite import Composite
from pkex.functions.linear import LinearFunction
from pkex.functions.polynomials import polynomial
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Monomials:
    """The columns scale_c · ∏_j u_j^powers_cj + offset_c of columns u that a map makes.

    Parameters
    ----------
    columns : ColumnMap
        Makes u.
    powers : ndarray of shape (c, d)
    scale, offset : ndarray of shape (c,)
    """

    columns: ColumnMap
    powers: NDArray[np.int64]
    scale: Float
    offset: Float

    @classmethod
    def bare(cls, columns: ColumnMap, powers: NDArray[np.int64]) -> Monomials:
        """Return monomials with scale 1 and offset 0."""
        return cls(columns, powers, np.ones(len(powers)), np.zeros(len(powers)))

    def of(self, function: Function) -> Function:
        """Return a function that `is_linear` in the monomials as a function of the columns u."""
        if isinstance(function, Composite):
            return function.with_parts(map(self.of, function.parts))
        assert isinstance(function, LinearFunction), "is_linear allows no other functions"
        weights = function.coefficients
        # Sums over rows are the same on every machine.
        offset_sum = (self.offset * weights.T).T.sum(axis=0)
        return polynomial(self.powers, (self.scale * weights.T).T, function.intercept + offset_sum)

    def then(self, step: Any) -> Monomials:
        """Return the monomials after a scaler or selector.

        Raises
        ------
        UnsupportedModelError
            If the step is neither.
        """
        if isinstance(step, SelectorMixin):
            columns = step.get_support(indices=True)
            return Monomials(
                self.columns, self.powers[columns], self.scale[columns], self.offset[columns]
            )
        affine = affine_inverse(step)
        if affine is None:
            raise unsupported_step(
                f"{type(step).__name__} after PolynomialFeatures",
                "only an affine step returns monomials again",
                "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler or a feature selector",
            )
        scale, offset = affine
        return replace(self, scale=self.scale / scale, offset=(self.offset - offset) / scale)


def multiplies(step: Any) -> bool:
    """Return whether a step is or contains PolynomialFeatures."""
    if isinstance(step, FrozenEstimator):
        return multiplies(frozen_estimator(step))
    if isinstance(step, Pipeline):
        return any(multiplies(inner) for _, inner in step.steps)
    if isinstance(step, ColumnTransformer):
        transformers = getattr(step, "transformers_", step.transformers)
        return any(multiplies(inner) for _, inner, _ in transformers)
    return isinstance(step, PolynomialFeatures)


def is_linear(function: Function) -> bool:
    """Return whether a function is linear in its columns."""
    if isinstance(function, Composite):
        return all(map(is_linear, function.parts))
    return isinstance(function, LinearFunction)


def monomials_of(steps: Sequence[Any]) -> Monomials:
    """Return the monomials that steps make, one of which `multiplies` columns.

    Raises
    ------
    UnsupportedModelError, sklearn.exceptions.NotFittedError
    """
    flat_steps = list(_flatten_steps(steps))
    place = next(place for place, step in enumerate(flat_steps) if multiplies(step))
    monomials = _step_monomials(flat_steps[place])
    map_ = chain_maps(flat_steps[:place])
    if map_ is not None:
        n_fitted = monomials.columns.n_columns
        check_width(flat_steps[place - 1], len(map_.sources), flat_steps[place], n_fitted)
        monomials = replace(monomials, columns=Chain([map_, monomials.columns]))
    for step, successor in itertools.pairwise(flat_steps[place:]):
        check_step(successor)
        check_width(step, len(monomials.powers), successor, int(successor.n_features_in_))
        monomials = monomials.then(successor)
    return monomials


def _flatten_steps(steps: Sequence[Any]) -> Iterator[Any]:
    """Yield the steps that change columns, also those inside Pipelines."""
    for step in steps:
        if isinstance(step, FrozenEstimator):
            yield from _flatten_steps([frozen_estimator(step)])
        elif isinstance(step, Pipeline):
            check_fitted(step)
            yield from _flatten_steps([inner for _, inner in step.steps])
        elif multiplies(step) or isinstance(step, SelectorMixin) or column_map(step) is not None:
            yield step


def _step_monomials(step: Any) -> Monomials:
    """Return the monomials of a step that multiplies columns."""
    if isinstance(step, ColumnTransformer):
        return _transformer_monomials(step)
    check_step(step)
    return Monomials.bare(identity_map(int(step.n_features_in_)), np.asarray(step.powers_))


def _transformer_monomials(step: ColumnTransformer) -> Monomials:
    parts = []
    for columns, transformer in branches(step):
        if multiplies(transformer):
            parts.append((columns, monomials_of([transformer])))
            continue
        map_ = column_map(transformer) or identity_map(len(columns))
        powers = np.eye(len(map_.sources), dtype=np.int64)
        parts.append((columns, Monomials.bare(map_, powers)))
    maps = [(columns, monomials.columns) for columns, monomials in parts]
    return Monomials(
        SideBySide(int(step.n_features_in_), maps),
        _block_diagonal([monomials.powers for _, monomials in parts]),
        np.concatenate([monomials.scale for _, monomials in parts]),
        np.concatenate([monomials.offset for _, monomials in parts]),
    )


def _block_diagonal(blocks: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    shapes = np.array([block.shape for block in blocks])
    result = np.zeros(shapes.sum(axis=0), dtype=np.int64)
    for (row, column), block in zip(np.cumsum(shapes, axis=0) - shapes, blocks, strict=True):
        result[row : row + block.shape[0], column : column + block.shape[1]] = block
    return result
