"""How sure an explanation's values are: standard deviations, covariances and draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.results.attribution import STANDARD_DEVIATION, Attribution
from pkex.results.axes import OUTPUT, ROW
from pkex.results.plots import DEVIATIONS
from pkex.results.tables import number
from pkex.results.value_draws import ValueDraws
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
    explanation: _Explained, roots: Float, joint: ValueDraws | None = None
) -> _Explained:
    """Return an explanation with roots of its covariances, and draws of all its rows together.

    Parameters
    ----------
    explanation : Explanation
    roots : ndarray of shape (n, d, outputs, rank)
    joint : ValueDraws, optional
    """
    shape = explanation._values.shape
    places = np.arange(explanation._values.size).reshape(shape)
    own = roots.reshape(*shape, roots.shape[-1])
    changed = {"_roots": own, "_joint": joint, "_places": places}
    return explanation._from_parts(explanation._parts() | changed)


class Uncertain(Attribution):
    """Values that have a joint distribution, which is normal."""

    __slots__ = ()

    # How users get one that has it.
    _made_uncertain_by = "explainer(X, uncertainty=True)"

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

    @with_known_keywords
    def importance(
        self,
        *,
        samples: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.float64]:
        """Return how strongly each feature acts: its mean absolute value over the rows.

        Of neutral values it is the mean absolute deviation from their mean over the rows: what
        varies. For neutral values contain constants, the same for all rows, that depend on the
        amplitude of the model's coefficients rather than on the data; they would hide the rest.
        Once `centered`, values have none, and the mean absolute value is taken.

        Of rows that were explained with ``uncertainty=True`` it has a distribution, of which
        `samples` are drawn: functions from the posterior of the Gaussian process, each explained in
        all rows. Their mean is above the importance of the mean: absolute values of what is not
        known are above 0.

        Of estimates it is above that of exact values, for the same reason, where standard errors
        are not small beside the values. Their `samples` are functions estimated from the same
        coalitions: what spreads is what is not known of the function. Sampling errors, which all
        samples share, are apart from it: see ``standard_errors``.

        Parameters
        ----------
        samples : int, optional
            How often it is drawn.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed, or where random numbers are taken from; without `samples` it does nothing.

        Returns
        -------
        ndarray, shape (d,) or (d, outputs); with `samples` (samples, d) or (samples, d, outputs)
            In the order of `feature_names`, in units of the explained function. A single row gives
            its absolute values, in every game, since with itself nothing varies.

        Raises
        ------
        ValueError
            If there are no rows to average over; with `samples`, if the rows were not explained
            with ``uncertainty=True``, or the explanation was pickled since; or if draws would be
            without more than half of the posterior's variance. They warn if it is more than 1 %.
        UnsupportedModelError
            With `samples`, if there is no background in the columns of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], np.zeros((2, 2)), ["age", "bmi"])
        >>> pkex.Explanation(*parts, value_function="interventional").importance()
        array([2. , 8.5])
        >>> pkex.Explanation(*parts, value_function="neutral").importance()
        array([1. , 0.5])

        Standard deviations and quantiles are those of the samples:

        >>> from sklearn.gaussian_process import GaussianProcessRegressor
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = GaussianProcessRegressor(alpha=0.1).fit(X, X[:, 0])
        >>> explanation = pkex.Explainer(model, X)(X, uncertainty=True)
        >>> drawn = explanation.importance(samples=100, random_state=0)
        >>> drawn.shape, drawn.std(axis=0).shape
        ((100, 2), (2,))
        """
        if samples is None:
            return super().importance()
        if ROW in self._axes.present and len(self) == 0:
            raise ValueError("there are no rows to average over")
        return self._drawn_importance(samples, random_state)

    def _drawn_importance(self, n: object, random_state: Any) -> Float:
        """Return the mean absolute values of draws over the rows, shape (n, ...)."""
        self._check_uncertain("importance(samples=...)")
        if self._joint is None or self._places is None:
            raise ValueError(
                "importance(samples=...) draws functions from the model, which pickles of "
                f"{type(self).__name__.lower()}s are without: explain the rows again"
            )
        count = as_integer("samples", n, "a positive integer, such as 1000", least=1)
        drawn = self._joint.deviations(np.ravel(self._places), count, as_generator(random_state))
        found = []
        for deviations in drawn:
            sizes = np.abs(self._values + deviations.reshape(-1, *np.shape(self._values)))
            found.append(sizes.mean(axis=1) if ROW in self._axes.present else sizes)
        return np.concatenate(found)

    def _spreads(self) -> dict[str, Float]:
        deviations = self.standard_deviations
        return {} if deviations is None else {STANDARD_DEVIATION: deviations}

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
                f"{self._made_uncertain_by}; {reason}"
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
