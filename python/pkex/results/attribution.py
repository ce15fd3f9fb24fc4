"""Base class of results that attribute a model's output in each row to its features."""

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
from pkex.results.centering import center_values
from pkex.results.conversions import frame, frames, shap_explanation, shap_tokens
from pkex.results.document_tokens import document_tokens
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


class Attribution(RowResult[RowValues]):
    """Read-only attributions of rows: values, base values and data with axes and uncertainty."""

    __slots__ = ()

    _kinds = KINDS
    # Calls that return such a result, without and with uncertainty.
    _choice = "choose rows, features and outputs by index, such as explanation[:, 'age']"
    _call: ClassVar[str] = "explainer(X)"
    _uncertain_call: ClassVar[str] = "explainer(X, uncertainty=True)"
    # The call that returns covariances between rows; "" if there is none.
    _joint_call: ClassVar[str] = 'explainer(X, uncertainty="joint")'

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self._rows = RowValues.of_parts(parts)

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls._of(RowValues.of_document(document))

    @property
    def values(self) -> NDArray[np.float64]:
        """Shapley values, shape (n, d) or (n, d, outputs), without the axes removed by slicing."""
        return self._rows.values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """Values of the empty coalition, shape (n,) or (n, outputs)."""
        return self._rows.base_values

    @property
    def is_centered(self) -> bool:
        """Whether `centered` has subtracted the mean over the rows of a reference."""
        return self._rows.is_centered

    @property
    def standard_deviations(self) -> NDArray[np.float64] | None:
        """Posterior standard deviation of each value, in the shape of `values`.

        None unless the rows were explained with ``uncertainty=True`` or "joint". For `centered`
        values, None unless the rows and the reference were explained in one call with "joint".
        """
        uncertainty = self._rows.uncertainty
        return None if uncertainty is None else uncertainty.standard_deviations

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values: ``np.abs(explanation)`` equals ``np.abs(explanation.values)``."""
        array = np.asarray(self.values, dtype=dtype)
        if copy is False and array is not self.values:
            raise ValueError(
                f"copy=False is not possible with dtype {array.dtype}: the values must be "
                "converted. Pass copy=None"
            )
        return array.copy() if copy else array

    def __len__(self) -> int:
        """Return the length of the first axis: the number of rows, if there is a row axis."""
        if not self._axes.present:
            raise TypeError(
                "an explanation of one feature of one row has no length: it has no axes. Read its "
                "number from explanation.values"
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Self]:
        """Iterate over the first axis: over rows, if there is a row axis."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Self:
        """Return the part at ``[rows, features, outputs]``, by number or by name."""
        return self._of(self._rows.select(key))

    def _summary(self, n_lines: int) -> Summary:
        return summary_of(type(self).__name__, self._rows, n_lines)

    @with_known_keywords
    def importance(
        self,
        *,
        samples: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.float64]:
        """Return the importance of each feature: its mean absolute value over the rows.

        For neutral values, it is the mean absolute deviation from their mean over the rows. Neutral
        values contain constants, equal in all rows, that depend on the amplitude of the model's
        coefficients rather than on the data. `centered` values have no such constants, so their
        mean absolute value is returned.

        With ``uncertainty=True``, `samples` draws functions from the posterior of the Gaussian
        process and explains each in all rows. With ``uncertainty="joint"``, it draws values of all
        rows from their covariances, exactly. The mean of the draws exceeds the importance of the
        posterior mean, because absolute values of uncertain numbers are above 0.

        For the same reason the importance of estimates exceeds that of exact values where standard
        errors are not small compared with the values. Their `samples` show the model's uncertainty
        only: all samples share the same coalitions, hence the same sampling errors (see
        ``standard_errors``).

        Parameters
        ----------
        samples : int, optional
            The number of draws.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed or a generator of random numbers; ignored without `samples`.

        Returns
        -------
        ndarray, shape (d,) or (d, outputs); with `samples` (samples, d) or (samples, d, outputs)
            In the order of `feature_names`, in units of the explained function. For a single row,
            its absolute values, for every value function.

        Raises
        ------
        ValueError
            If there are no rows to average over. With `samples`, if the rows were not explained
            with their uncertainty. With ``uncertainty=True``, if the explanation was pickled
            since, or if the draws would lack more than half of the posterior's variance (a warning
            is issued above 1 %).
        UnsupportedModelError
            With `samples`, if no background data is known in the columns of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], np.zeros((2, 2)), ["age", "bmi"])
        >>> pkex.Explanation(*parts, value_function="interventional").importance()
        array([2. , 8.5])
        >>> pkex.Explanation(*parts, value_function="neutral").importance()
        array([1. , 0.5])

        Standard deviations and quantiles are computed from the samples:

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
            raise ValueError("there are no rows to average over. Explain at least one row")
        _, uncertainty = self._posterior("importance(samples=...)")
        kind = type(self).__name__.lower()
        return uncertainty.drawn_importance(
            self.values, samples, random_state, is_row=is_row, kind=kind
        )

    def _kind_and_names(self) -> tuple[str, Sequence[str]]:
        return FEATURE, self._axes.features

    def centered(self, reference: Self | None = None) -> Self:
        """Return values minus their mean over the rows of a reference.

        The base value grows by the sum of these means, so that values and base value still add up
        to the output. A centered value is how much more the feature moves this row's output than it
        does on average over the reference.

        Parameters
        ----------
        reference : Explanation, optional
            The rows to average over: an explanation by the same explainer, of the same features and
            outputs. By default the rows of this explanation.

        Returns
        -------
        Explanation or Estimate
            In the same shape. Its mean over the reference's rows is 0. Its base values are the mean
            output over these rows, if they were equal for all rows before. The posterior
            uncertainty of the values includes that of their mean, if the rows and the reference
            were explained in one call with ``uncertainty="joint"``. Otherwise they have none.

        Raises
        ------
        ValueError
            If the reference has no rows, or has different features, outputs, base values or value
            function; or if a single row is centered without a reference.
        TypeError
            If the reference is another kind of result.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation(
        ...     [[3.0, -9.0], [1.0, -8.0]], [10.0, 10.0], [[7.0, 5.0], [6.0, 4.0]], ["age", "bmi"]
        ... )
        >>> centered = explanation.centered()
        >>> centered.values
        array([[ 1. , -0.5],
               [-1. ,  0.5]])
        >>> centered.base_values
        array([3.5, 3.5])
        """
        if reference is None:
            return self._of(center_values(self._rows, self._rows))
        if not isinstance(reference, type(self)):
            kind, expected = type(reference).__name__, type(self).__name__
            raise TypeError(f"reference must be an {expected}, as {self._call} returns; got {kind}")
        return self._of(center_values(self._rows, reference._rows))

    def covariance(self, row: int | None = None, other: int | None = None) -> NDArray[np.float64]:
        """Return the posterior covariance matrix of the values of one row, or between two rows.

        Parameters
        ----------
        row : int, optional
            The number of the row; required unless slicing has removed the axis of rows.
        other : int, optional
            The number of a second row, by default the first. Rows that were explained with
            ``uncertainty="joint"`` have covariances between them.

        Returns
        -------
        ndarray of shape (d, d), or (d, d, outputs)
            One matrix per output; outputs are independent of each other. Its rows are the features
            of `row`, its columns those of `other`.

        Raises
        ------
        ValueError
            If the rows were not explained with their uncertainty, or `row` is missing, or the
            covariances between rows are not known.
        IndexError
            If `row` or `other` is out of range.

        Examples
        --------
        The values of two similar rows are almost equal, and so are their errors:

        >>> import numpy as np
        >>> import pkex
        >>> from sklearn.gaussian_process import GaussianProcessRegressor
        >>> X = np.random.default_rng(0).normal(size=(30, 2))
        >>> model = GaussianProcessRegressor(alpha=0.1).fit(X, X[:, 0])
        >>> explainer = pkex.Explainer(model, X[:10])
        >>> explanation = explainer([[1.0, 2.0], [1.0, 2.1]], uncertainty="joint")
        >>> between = explanation.covariance(0, 1).diagonal()
        >>> bool((between > 0.95 * explanation.standard_deviations.prod(axis=0)).all())
        True
        """
        self._posterior("covariance")
        first = self._one_row("row", row)
        second = first if other is None else self._one_row("other", other)
        if other is not None and other != row and self._joint() is None:
            raise ValueError(
                f"covariance({row}, {other}) requires covariances between rows, and these values "
                "have only those of each row. Explain the rows by "
                'explainer(X, uncertainty="joint")'
            )
        left, right = (part._posterior("covariance")[0][0] for part in (first, second))
        covariances: Float = np.einsum("ior,jor->ijo", left, right)
        return covariances if OUTPUT in self._axes.present else covariances[..., 0]

    def _one_row(self, name: str, number: int | None) -> Self:
        """Return the explanation of one row, by its number unless it is of a single row."""
        if ROW in self._axes.present:
            if number is None:
                raise ValueError(
                    "covariance requires the number of a row, from 0, such as covariance(0)"
                )
            return self[as_integer(name, number, "the number of a row")]
        if number is not None:
            raise ValueError(
                f"{name}={number!r} was given, but the explanation is of a single row. Call "
                "covariance() without a number"
            )
        return self

    def _joint(self) -> str | None:
        """Return the name of the rows between which covariances are known."""
        return None if self._rows.uncertainty is None else self._rows.uncertainty.joint

    def sample(
        self,
        n: int,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> NDArray[np.float64]:
        """Draw Shapley values from their posterior distribution.

        The values of a row are drawn jointly, with their covariance. Rows are drawn independently,
        unless they were explained with ``uncertainty="joint"``: then each draw is of one function,
        explained in all rows.

        Parameters
        ----------
        n : int
            The number of draws.
        random_state : int, numpy.random.Generator or RandomState, optional
            A seed or a generator of random numbers.

        Returns
        -------
        ndarray of shape (n, ...), where ``...`` is the shape of `values`

        Raises
        ------
        ValueError
            If the rows were not explained with their uncertainty, or `n` is not positive.
        """
        roots, uncertainty = self._posterior("sample")
        n = as_integer("n", n, "a positive integer", least=1)
        random = as_generator(random_state)
        if uncertainty.joint is not None:
            changes = np.concatenate(list(uncertainty.joint_deviations(n, random)))
        else:
            rows, _, outputs, rank = roots.shape
            normal = random.standard_normal((n, rows, outputs, rank))
            changes = np.einsum("ndor,snor->sndo", roots, normal)
        samples: Float = self.values + changes.reshape(n, *np.shape(self.values))
        return samples

    def _posterior(self, what: str) -> tuple[Float, Uncertainty]:
        """Return the roots of covariances, (n, d, outputs, rank), and the uncertainty."""
        uncertainty = self._rows.uncertainty
        if uncertainty is None or uncertainty.roots is None:
            reason, call = "these values have none", self._uncertain_call
            if self.is_centered:
                reason = "centered values have none without covariances between rows"
                call = self._joint_call or call
            raise ValueError(
                f"{what} requires values with their posterior uncertainty; {reason}. Explain the "
                f"rows by {call}"
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
                "to_frame(errors=True) requires estimates, or rows that were explained with "
                "uncertainty=True; these values have neither standard errors nor posterior "
                "standard deviations"
            )
        tables = {"value": values} | self._rows.spreads
        arrays = {name: np.reshape(table, values.shape) for name, table in tables.items()}
        return frames(arrays, self._axes)

    @with_known_keywords
    def to_shap(self, *, tokens: bool = False) -> shap.Explanation:
        """Return a copy as a `shap.Explanation`, for shap's plots.

        Parameters
        ----------
        tokens : bool, default False
            For explained texts, return values of the parts of each text in order, which
            ``shap.plots.text`` requires, instead of values of features. The value of a word that
            occurs several times is divided among its places. Two last parts in brackets have the
            sums of the words that are not found in the text, so that values and base value still
            add up to the output. The words of a group divide its value, which includes its absent
            words.

        Returns
        -------
        shap.Explanation
            In the same shape, with the same names. If there are several outputs, choose one before
            plotting: ``explanation[..., "a vs b"].to_shap()`` equals
            ``explanation.to_shap()[:, :, "a vs b"]``. With ``uncertainty=True``, values have
            ``lower_bounds`` and ``upper_bounds``, the limits of 95 % intervals, which shap's
            waterfall plot draws.

        Raises
        ------
        ImportError
            If shap is not installed.
        ValueError
            If ``tokens=True`` and the explained data are not texts.
        """
        if tokens:
            rows = iter(self) if ROW in self._axes.present else [self]
            tables = [document_tokens(row._rows) for row in rows]
            return shap_tokens(tables, self.base_values, self._axes)
        # shap infers from the sizes which axis a list of names belongs to. With all axes present
        # it cannot go wrong; then shap's own indexing removes the axes that slicing has removed.
        values, base_values, data = self._rows.with_every_axis()
        uncertainty = self._rows.uncertainty
        margins = None if uncertainty is None else uncertainty.margins
        margins = None if margins is None else np.reshape(margins, values.shape)
        explanation = shap_explanation(values, base_values, data, self._axes, margins)
        axes = (ROW, FEATURE, OUTPUT)[: values.ndim]
        index = tuple(slice(None) if axis in self._axes.present else 0 for axis in axes)
        return explanation if len(self._axes.present) == values.ndim else explanation[index]

    def _report(self, options: ReportOptions) -> PageContent:
        from pkex.results.attribution_report import report_attribution

        documents, loss = self._rows.documents, self._rows.loss
        output = "" if self.output_name is None else f" {self.output_name}"
        subject = f"the model's output{output}" if documents is None else documents.title
        title = options.title(
            type(self).__name__, subject if loss is None else f"the model's {loss}"
        )
        rows = self._rows.in_rows()
        settings = {"Rows": str(len(rows))} if rows.has_data else {}
        return report_attribution(rows, title, settings | self._settings())

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        output = self._checked_output(options, "explanation[..., name].plot()")
        rows = self._rows if output is None else self._rows.select((..., output))
        return draw_rows(rows, options.ax, options.kind, options.max_features)
