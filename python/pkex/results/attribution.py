"""A model's outputs in some rows, divided among features: exact values, and estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pkex.inputs.documents import Document
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.randomness import as_generator
from pkex.results.attribution_plots import KINDS, draw_rows
from pkex.results.attribution_summary import summary_of
from pkex.results.axes import FEATURE, OUTPUT, ROW
from pkex.results.centering import centered
from pkex.results.conversions import frame, frames, shap_explanation
from pkex.results.importance_draws import drawn_importance
from pkex.results.options import PlotOptions, ReportOptions
from pkex.results.row_result import RowResult
from pkex.results.row_values import RowValues
from pkex.results.summary import Summary
from pkex.results.uncertainty import Uncertainty
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd
    import shap

    from pkex.results.report import PageContent

__all__ = ["Attribution"]


class Attribution(RowResult[RowValues]):
    """Values of features in some rows, which never change: arrays, axes and their uncertainty."""

    __slots__ = ()

    _kinds = KINDS
    # How users get such a result, and one with uncertainty.
    _made_by: ClassVar[str] = "explainer(X)"
    _made_uncertain_by: ClassVar[str] = "explainer(X, uncertainty=True)"

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self._rows = RowValues.of_parts(parts)

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls._of(RowValues.of_document(document))

    @property
    def values(self) -> NDArray[np.float64]:
        """Shapley values, shape (n, d) or (n, d, outputs) as far as slicing has left the axes."""
        return self._rows.values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Values of the empty coalition, shape (n,) or (n, outputs)."""
        return self._rows.base_values

    @property
    def is_centered(self) -> bool:
        """Whether the mean over some rows has been subtracted, by `centered`."""
        return self._rows.is_centered

    @property
    def standard_deviations(self) -> NDArray[np.float64] | None:
        """The standard deviation of each value under the posterior, in the shape of `values`.

        None unless the rows were explained with ``uncertainty=True``; and of `centered` values.
        """
        uncertainty = self._rows.uncertainty
        return None if uncertainty is None else uncertainty.standard_deviations

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values, for NumPy: ``np.abs(explanation)`` is that of its `values`."""
        array = np.asarray(self.values, dtype=dtype)
        if copy is False and array is not self.values:
            raise ValueError("the values cannot be had as they are, without a copy")
        return array.copy() if copy else array

    def __len__(self) -> int:
        """Return the length of the first axis: the number of rows, if there is a row axis."""
        if not self._axes.present:
            raise TypeError("an explanation of one feature of one row has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the first axis: over rows, if there is a row axis."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        """Return the part at ``[rows, features, outputs]``, by number or by name."""
        return self._of(self._rows.picked(key))

    def _summary(self, n_lines: int) -> Summary:
        return summary_of(type(self).__name__, self._rows, n_lines)

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
            return self._rows.importance()
        is_row = ROW not in self._axes.present
        if not is_row and len(self) == 0:
            raise ValueError("there are no rows to average over")
        _, uncertainty = self._posterior("importance(samples=...)")
        kind = type(self).__name__.lower()
        return drawn_importance(
            self.values, uncertainty, samples, random_state, is_row=is_row, kind=kind
        )

    def _named(self) -> tuple[str, Sequence[str]]:
        return FEATURE, self._axes.features

    def centered(self, reference: Self | None = None) -> Self:
        """Return values minus their mean over some rows, so that they start from the mean output.

        The base value grows by the sum of these means, so that values and base still add up to the
        output. A centred value says by how much the feature moves this row's output further than
        it does on average; in every game.

        Parameters
        ----------
        reference : Explanation, optional
            The rows to average over: an explanation by the same explainer, of the same features and
            outputs. By default the explanation's own rows.

        Returns
        -------
        Explanation, or Estimate of such
            Of the same shape. Its mean over the reference's rows is 0, and its base values, if they
            were the same for all rows, are the mean output over these.

        Raises
        ------
        ValueError
            If the reference has no rows, other features or outputs, another game or other base
            values; or if there is none for a single row.
        TypeError
            If the reference is another kind of result.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation(
        ...     [[3.0, -9.0], [1.0, -8.0]], [10.0, 10.0], [[7.0, 5.0], [6.0, 4.0]], ["age", "bmi"]
        ... )
        >>> centred = explanation.centered()
        >>> centred.values
        array([[ 1. , -0.5],
               [-1. ,  0.5]])
        >>> centred.base_values
        array([3.5, 3.5])
        """
        if reference is None:
            return self._of(centered(self._rows, self._rows))
        if not isinstance(reference, type(self)):
            kind, own = type(reference).__name__, type(self).__name__
            raise TypeError(f"reference must be an {own}, as {self._made_by} is; got {kind}")
        return self._of(centered(self._rows, reference._rows))

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
        self._posterior("covariance")
        part = self
        if ROW in self._axes.present:
            if row is None:
                raise ValueError("covariance takes the number of a row, from 0")
            part = self[as_integer("row", row, "the number of a row")]
        elif row is not None:
            raise ValueError("the explanation is of a single row: covariance() takes no number")
        roots = part._posterior("covariance")[0][0]
        covariances: Float = np.einsum("ior,jor->ijo", roots, roots)
        return covariances if OUTPUT in self._axes.present else covariances[..., 0]

    def sample(
        self,
        n: int,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.float64]:
        """Return values of functions drawn from the posterior.

        The values of a row are drawn together, as they depend on each other; each row is drawn on
        its own.

        Parameters
        ----------
        n : int
            How often.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed, or where random numbers are taken from.

        Returns
        -------
        ndarray of shape (n, ...), the rest as the values

        Raises
        ------
        ValueError
            If the rows were not explained with ``uncertainty=True``, or `n` is not positive.
        """
        roots, _ = self._posterior("sample")
        n = as_integer("n", n, "a positive integer", least=1)
        rows, _, outputs, rank = roots.shape
        normal = as_generator(random_state).standard_normal((n, rows, outputs, rank))
        changes = np.einsum("ndor,snor->sndo", roots, normal)
        drawn: Float = self.values + changes.reshape(n, *np.shape(self.values))
        return drawn

    def _posterior(self, what: str) -> tuple[Float, Uncertainty]:
        """Return the roots of covariances, (n, d, outputs, rank), and what they belong to."""
        uncertainty = self._rows.uncertainty
        if uncertainty is None or uncertainty.roots is None:
            reason = "centered values have none" if self.is_centered else "this has none"
            raise ValueError(
                f"{what} is of rows that were explained with their uncertainty, by "
                f"{self._made_uncertain_by}; {reason}"
            )
        rows = len(self) if ROW in self._axes.present else 1
        outputs = self.output_names
        shape = (rows, len(self._axes.features), 1 if outputs is None else len(outputs))
        roots = uncertainty.roots
        return np.reshape(roots, (*shape, roots.shape[-1])), uncertainty

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        values, _, _ = self._rows.with_every_axis()
        if not errors:
            return frame(values, self._axes)
        if not self._rows.spreads:
            raise ValueError(
                "to_frame(errors=True) is of estimates, and of rows that were explained with "
                "uncertainty=True; these values have neither standard errors nor deviations"
            )
        tables = {"value": values} | self._rows.spreads
        shaped = {name: np.reshape(table, values.shape) for name, table in tables.items()}
        return frames(shaped, self._axes)

    def to_shap(self) -> shap.Explanation:
        """Return a copy as a `shap.Explanation`, for shap's plots.

        Returns
        -------
        shap.Explanation
            Of the same shape, with the same names. Of several outputs, choose one before plotting,
            here or there: ``explanation[..., "a vs b"].to_shap()`` is the same as
            ``explanation.to_shap()[:, :, "a vs b"]``. Explained with ``uncertainty=True``, values
            have ``lower_bounds`` and ``upper_bounds`` that hold 95 % of the posterior, which
            shap's waterfall plot draws.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        # shap guesses from the sizes which axis a list of names belongs to. With every axis in
        # place it cannot go wrong; then its own indexing removes those that we have not.
        values, base_values, data = self._rows.with_every_axis()
        uncertainty = self._rows.uncertainty
        margins = None if uncertainty is None else uncertainty.margins
        margins = None if margins is None else np.reshape(margins, values.shape)
        whole = shap_explanation(values, base_values, data, self._axes, margins)
        axes = (ROW, FEATURE, OUTPUT)[: values.ndim]
        index = tuple(slice(None) if axis in self._axes.present else 0 for axis in axes)
        return whole if len(self._axes.present) == values.ndim else whole[index]

    def _report(self, options: ReportOptions) -> PageContent:
        from pkex.results.attribution_report import report_attribution

        title = options.title(type(self).__name__, "the model's output")
        rows = self._rows.in_rows()
        return report_attribution(rows, title, {"Rows": str(len(rows)), **self._settings()})

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        output = self._checked_output(options, "explanation[..., name].plot()")
        rows = self._rows if output is None else self._rows.picked((..., output))
        return draw_rows(rows, options.ax, options.kind, options.max_features)
