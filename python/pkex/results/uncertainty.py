"""Uncertainty of values: standard errors of estimates, and Gaussian process posteriors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.functions.row_pairs import matrix_of_pairs
from pkex.inputs.arrays import owned
from pkex.inputs.documents import Document
from pkex.inputs.integers import as_integer
from pkex.inputs.plain_data import plain_numbers
from pkex.inputs.randomness import as_generator
from pkex.results.indexing import AxisIndex, pick
from pkex.results.plots import DEVIATIONS
from pkex.typing import Float

# Names of the two kinds of uncertainty: sampling errors of estimates, and the model's posterior.
STANDARD_ERROR, STANDARD_DEVIATION = "standard error", "standard deviation"
# Drawn values held in memory at a time.
_MAX_NUMBERS = 1 << 22
_SHORT = {STANDARD_ERROR: "std err", STANDARD_DEVIATION: "std dev"}


class ValueDraws(Protocol):
    """Draws of functions from a model's posterior, explained in all rows."""

    def deviations(
        self, places: NDArray[np.int64], n: int, random: np.random.Generator
    ) -> Iterator[Float]:
        """Yield deviations of drawn values from the posterior mean, in blocks of shape (draws, k).

        Parameters
        ----------
        places : ndarray of shape (k,)
            The places of the values in the flattened array of all rows, features and outputs.
        n : int
            The number of draws.
        random : numpy.random.Generator
        """
        ...


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Uncertainty of the values of an attribution.

    Slicing that removes every axis of the values replaces arrays by numbers.

    Parameters
    ----------
    standard_errors : ndarray, in the shape of the values, optional
        Sampling errors of estimates; None for exact values.
    roots : ndarray, in the shape of the values with one axis more, optional
        The root R of the posterior covariance R Rᵀ of a row's values; None without a posterior.
    joint : str, optional
        If R Rᵀ' is the covariance between rows and outputs with the roots R and R', a name for the
        rows that were explained together. It is a digest of their roots, so that it remains the
        same in files.
    draws : ValueDraws, optional
        Draws for all rows that were explained together.
    places : ndarray of int64, in the shape of the values, optional
        The places of the values among the values of `draws`.
    """

    standard_errors: Float | None = None
    roots: Float | None = None
    draws: ValueDraws | None = None
    places: NDArray[np.int64] | None = None
    joint: str | None = None

    def __post_init__(self) -> None:
        for array in (self.standard_errors, self.roots, self.places):
            owned(array)

    @classmethod
    def of_posterior(
        cls,
        roots: Float,
        values: Float,
        draws: ValueDraws | None = None,
        standard_errors: Float | None = None,
    ) -> Uncertainty:
        """Return the uncertainty of values that were computed together.

        Parameters
        ----------
        roots : ndarray of shape (n, d, outputs, rank)
        values : ndarray of shape (n, d) or (n, d, outputs)
        draws : ValueDraws, optional
        standard_errors : ndarray, in the shape of the values, optional
        """
        roots = roots.reshape(*values.shape, roots.shape[-1])
        return cls(standard_errors, roots, draws, np.arange(values.size).reshape(values.shape))

    @classmethod
    def of_all_rows(cls, roots: Float, values: Float) -> Uncertainty:
        """Return the joint uncertainty of the values of rows, with roots as `joint_roots_of`.

        Parameters
        ----------
        roots : ndarray of shape (n, d, outputs, rank)
        values : ndarray of shape (n, d) or (n, d, outputs)
        """
        roots = np.ascontiguousarray(roots).reshape(*values.shape, roots.shape[-1])
        return cls(roots=roots, joint=hashlib.sha256(roots.tobytes()).hexdigest())

    @property
    def standard_deviations(self) -> Float | None:
        """The posterior standard deviation of each value; None without a posterior."""
        if self.roots is None:
            return None
        deviations: Float = np.sqrt(np.square(self.roots).sum(axis=-1))
        return deviations

    @property
    def spreads(self) -> dict[str, Float]:
        """Standard errors and posterior standard deviations that are known, by their name."""
        spreads = {
            STANDARD_ERROR: self.standard_errors,
            STANDARD_DEVIATION: self.standard_deviations,
        }
        return {name: spread for name, spread in spreads.items() if spread is not None}

    @property
    def margins(self) -> Float | None:
        """Half the length of each value's 95 % interval, from both kinds of uncertainty."""
        spreads = list(self.spreads.values())
        if not spreads:
            return None
        return DEVIATIONS * (spreads[0] if len(spreads) == 1 else np.hypot(*spreads))

    def changes(self, n_features: int) -> Float | None:
        """Return the root R, shape (d, k), of a row's covariance R Rᵀ from both uncertainties."""
        roots = None if self.roots is None else self.roots.reshape(n_features, -1)
        if self.standard_errors is None:
            return roots
        errors = np.diag(np.ravel(self.standard_errors))
        return errors if roots is None else np.concatenate([errors, roots], axis=1)

    def select(self, axes: Sequence[str], indices: Mapping[str, AxisIndex]) -> Uncertainty:
        """Return the uncertainty of the values selected by an index for each axis."""

        def part(array: Any) -> Any:
            return None if array is None else pick(array, axes, indices)

        return replace(
            self,
            standard_errors=part(self.standard_errors),
            roots=part(self.roots),
            places=part(self.places),
        )

    def centered(self, reference: Uncertainty | None) -> Uncertainty | None:
        """Return the uncertainty of values minus their mean over the rows of a reference.

        None unless both are from rows that were explained together, with covariances between rows.
        The arrays of the reference have an axis of rows.
        """
        if reference is None or self.joint is None or self.joint != reference.joint:
            return None
        return replace(self, roots=self.roots - np.asarray(reference.roots).mean(axis=0))

    def joint_deviations(self, n: int, random: np.random.Generator) -> Iterator[Float]:
        """Yield deviations of values from their mean, drawn jointly over rows, in blocks of draws.

        Yields
        ------
        ndarray of shape (draws, k)
            In the order of the flattened values.
        """
        roots = np.asarray(self.roots)
        roots = roots.reshape(-1, roots.shape[-1])
        for block in blocks_of(n, _MAX_NUMBERS // max(1, len(roots))):
            normal = random.standard_normal((block.stop - block.start, roots.shape[-1]))
            yield normal @ roots.T

    def reshape(self, shape: tuple[int, ...]) -> Uncertainty:
        """Return the uncertainty with arrays of another shape, without draws."""
        errors, roots = self.standard_errors, self.roots
        return Uncertainty(
            None if errors is None else np.reshape(errors, shape),
            None if roots is None else np.reshape(roots, (*shape, roots.shape[-1])),
            joint=self.joint,
        )

    def drawn_importance(
        self, values: Float, samples: object, random_state: Any, *, is_row: bool, kind: str
    ) -> Float:
        """Return the mean absolute values of draws over the rows, shape (samples, ...).

        Parameters
        ----------
        values : ndarray
        samples : int
            The number of draws.
        random_state : int, Generator, RandomState or None
        is_row : bool
            Whether the values are from one row, without an axis of rows.
        kind : str
            The name of the result in messages.

        Raises
        ------
        ValueError
            If the model's posterior is not available.
        """
        n = as_integer("samples", samples, "a positive integer, such as 1000", least=1)
        random = as_generator(random_state)
        if self.joint is not None:
            draws = self.joint_deviations(n, random)
        elif self.draws is not None and self.places is not None:
            draws = self.draws.deviations(np.ravel(self.places), n, random)
        else:
            raise ValueError(
                "importance(samples=...) draws functions from the model, which a pickled "
                f"{kind} does not contain. Explain the rows again, by "
                'explainer(X, uncertainty="joint") for samples from pickles'
            )
        blocks = []
        for deviations in draws:
            sizes = np.abs(values + deviations.reshape(-1, *np.shape(values)))
            blocks.append(sizes if is_row else sizes.mean(axis=1))
        return np.concatenate(blocks)

    def plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        return {
            name: None if array is None else plain_numbers(name, array)
            for name, array in (
                ("standard_errors", self.standard_errors),
                ("covariance_roots", self.roots),
            )
        } | ({} if self.joint is None else {"joint_rows": self.joint})

    @classmethod
    def of_document(cls, document: Document, axes: Sequence[str]) -> Uncertainty | None:
        """Return the uncertainty that `plain` has written; None if the document has none."""
        errors, roots = "standard_errors", "covariance_roots"
        if not document.has(errors) and not document.has(roots):
            return None
        return cls(
            document.numbers(errors, *axes)[()] if document.has(errors) else None,
            document.numbers(roots, *axes, "rank") if document.has(roots) else None,
            joint=document.text("joint_rows") if document.has("joint_rows") else None,
        )


def roots_of(covariances: Float) -> Float:
    """Return R with C = R Rᵀ for each row and output, with features before outputs.

    Parameters
    ----------
    covariances : ndarray of shape (n, d, d, outputs)

    Returns
    -------
    ndarray of shape (n, d, outputs, d)
    """
    values, vectors = np.linalg.eigh(covariances.transpose(0, 3, 1, 2))
    # Eigenvalues are negative only by rounding.
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    # A value with variance 0 has exactly 0 in its roots, without rounding errors.
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    roots[variances <= 0.0] = 0.0
    result: Float = roots.transpose(0, 2, 1, 3)
    return result


def joint_roots_of(covariances: Float, n_rows: int) -> Float:
    """Return R with C = R Rᵀ for the values of all rows and outputs, features before outputs.

    Parameters
    ----------
    covariances : ndarray of shape (pairs, d, d, outputs)
        Of `pkex.functions.row_pairs.all_pairs`.
    n_rows : int

    Returns
    -------
    ndarray of shape (n, d, outputs, rank)
        The rank excludes eigenvalues that are rounding errors. Outputs are independent, so each has
        columns of its own.
    """
    _, d, _, n_outputs = covariances.shape
    by_output = []
    for output in range(n_outputs):
        matrix = matrix_of_pairs(covariances[..., output], n_rows)
        flat = matrix.reshape(n_rows * d, n_rows * d)
        values, vectors = np.linalg.eigh(flat)
        mask = values > np.finfo(np.float64).eps * values.max(initial=0.0)
        roots = vectors[:, mask] * np.sqrt(values[mask])
        # A value with variance 0 has exactly 0 in its roots, without rounding errors.
        roots[np.diag(flat) <= 0.0] = 0.0
        by_output.append(roots.reshape(n_rows, d, -1))
    joint = np.zeros((n_rows, d, n_outputs, sum(roots.shape[-1] for roots in by_output)))
    start = 0
    for output, roots in enumerate(by_output):
        joint[:, :, output, start : start + roots.shape[-1]] = roots
        start += roots.shape[-1]
    return joint


def spread_label(name: str, *, is_row: bool) -> str:
    """Return the title of a column of errors of one row's values, or of their means over rows."""
    return f"{'±' if is_row else 'mean'} {_SHORT[name]}"
