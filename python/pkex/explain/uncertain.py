"""How sure an explanation's values are: standard deviations, covariances and draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.display.plots import DEVIATIONS
from pkex.display.tables import number
from pkex.explain.attribution import Attribution
from pkex.explain.axes import OUTPUT, ROW
from pkex.explain.joint_draws import JointDraws
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.typing import Float

__all__ = ["Uncertain", "roots_of", "with_uncertainty"]


def roots_of(covariances: Float) -> Float:
    """Return R with C = R Rᵀ of each row and output, features before outputs.

    Parameters
    ----------
    covariances : ndarray of shape (n, d, d, outputs)

    Returns
    -------
    ndarray of shape (n, d, outputs, d)
    """
    values, vectors = np.linalg.eigh(covariances.transpose(0, 3, 1, 2))
    # Rounding alone makes them negative.
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
    # A feature that is sure to have its value has it exactly.
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    roots[variances <= 0.0] = 0.0
    ordered: Float = roots.transpose(0, 2, 1, 3)
    return ordered


_Explained = TypeVar("_Explained", bound=Attribution)


def with_uncertainty(
    explanation: _Explained, roots: Float, joint: JointDraws | None = None
) -> _Explained:
    """Return an explanation with roots of its covariances, and draws of all its rows together.

    Parameters
    ----------
    explanation : Explanation
    roots : ndarray of shape (n, d, outputs, rank)
    joint : JointDraws, optional
    """
    shape = explanation._values.shape
    places = np.arange(explanation._values.size).reshape(shape)
    own = roots.reshape(*shape, roots.shape[-1])
    changed = {"_roots": own, "_joint": joint, "_places": places}
    return explanation._from_parts(explanation._parts() | changed)


class Uncertain(Attribution):
    """Values that have a joint distribution, which is normal."""

    __slots__ = ()

    @property
    def standard_deviations(self) -> NDArray[np.float64] | None:
        """The standard deviation of each value under the posterior, in the shape of `values`.

        None unless the rows were explained with ``uncertainty=True``; and of `centered` values.
        """
        if self._roots is None:
            return None
        deviations: Float = np.sqrt(np.square(self._roots).sum(axis=-1))
        return deviations

    def _description(self) -> Iterator[str]:
        yield from super()._description()
        deviations = self.standard_deviations
        if deviations is not None and np.size(deviations):
            yield f"standard deviations up to {number(np.max(deviations))}"

    def covariance(self, row: int | None = None) -> NDArray[np.float64]:
        """Return the covariances of the values of a row under the posterior.

        Parameters
        ----------
        row : int, optional
            Its number; None only if there is a single row, without an axis.

        Returns
        -------
        ndarray of shape (d, d), or (d, d, outputs)
            Outputs are independent of each other.

        Raises
        ------
        ValueError
            If the rows were not explained with ``uncertainty=True``, or `row` is missing.
        IndexError
            If there is no such row.
        """
        self._check_uncertain("covariance")
        part = self
        if ROW in self._axes.present:
            if row is None:
                raise ValueError("covariance takes the number of a row, from 0")
            part = self[as_integer("row", row, "the number of a row")]
        elif row is not None:
            raise ValueError("the explanation is of a single row: covariance() takes no number")
        roots = part._roots_with_every_axis()[0]
        covariances: Float = np.einsum("ior,jor->ijo", roots, roots)
        return covariances if OUTPUT in self._axes.present else covariances[..., 0]

    def sample(
        self, n: int, random_state: int | np.random.Generator | None = None
    ) -> NDArray[np.float64]:
        """Return values of functions drawn from the posterior.

        The values of a row are drawn together, as they depend on each other; each row is drawn on
        its own.

        Parameters
        ----------
        n : int
            How often.
        random_state : int or numpy.random.Generator, optional
            A seed, or where random numbers are taken from.

        Returns
        -------
        ndarray of shape (n, ...), the rest as the values

        Raises
        ------
        ValueError
            If the rows were not explained with ``uncertainty=True``, or `n` is not positive.
        """
        self._check_uncertain("sample")
        n = as_integer("n", n, "a positive integer", least=1)
        roots = self._roots_with_every_axis()
        rows, _, outputs, rank = roots.shape
        normal = np.random.default_rng(random_state).standard_normal((n, rows, outputs, rank))
        changes = np.einsum("ndor,snor->sndo", roots, normal)
        drawn: Float = self._values + changes.reshape(n, *np.shape(self._values))
        return drawn

    def _drawn_importance(self, n: object, random_state: Any) -> Float:
        """Return the mean absolute values of draws over the rows, shape (n, ...)."""
        self._check_uncertain("importance(samples=...)")
        if self._joint is None or self._places is None:
            raise ValueError(
                "importance(samples=...) draws functions from the model, which pickles of "
                "explanations are without: explain the rows again"
            )
        count = as_integer("samples", n, "a positive integer, such as 1000", least=1)
        drawn = self._joint.deviations(np.ravel(self._places), count, as_generator(random_state))
        found = []
        for deviations in drawn:
            sizes = np.abs(self._values + deviations.reshape(-1, *np.shape(self._values)))
            found.append(sizes.mean(axis=1) if ROW in self._axes.present else sizes)
        return np.concatenate(found)

    def _margins(self) -> Float | None:
        """Return how far from each value the bounds are that hold 95 % of draws."""
        deviations = self.standard_deviations
        return None if deviations is None else DEVIATIONS * deviations

    def _changes(self) -> Float | None:
        """Return the roots of a single row, shape (d, k)."""
        roots = self._roots
        return None if roots is None else roots.reshape(len(self._axes.features), -1)

    def _check_uncertain(self, what: str) -> None:
        if self._roots is None:
            reason = "centered values have none" if self._is_centered else "this has none"
            raise ValueError(
                f"{what} is of rows that were explained with their uncertainty, by "
                f"explainer(X, uncertainty=True); {reason}"
            )

    def _roots_with_every_axis(self) -> Float:
        """Return the roots, shape (n, d, outputs, rank)."""
        roots: Any = self._roots
        rows = len(roots) if ROW in self._axes.present else 1
        outputs = self._axes.output_names
        n_outputs = 1 if outputs is None else len(outputs)
        whole: Float = np.reshape(
            roots, (rows, len(self._axes.features), n_outputs, roots.shape[-1])
        )
        return whole
