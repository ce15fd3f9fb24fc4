"""What results of explaining rows have alike: values and names, read, drawn and converted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.arrays import read_only
from pkex.inputs.choices import as_names, check_choice
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.wording import counted, shown
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes, check_shapes
from pkex.results.centering import check_rows_of_reference, check_same_base, mean_size
from pkex.results.conversions import frame, frames, importance_frame, shap_explanation
from pkex.results.explanation_plots import draw_row, draw_rows
from pkex.results.plots import checked_count, literal
from pkex.results.sliced import Sliced
from pkex.results.summary import Summary, SummaryTable, table_of_largest
from pkex.results.tables import MOST_VALUES, number
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd
    import shap

__all__ = ["STANDARD_DEVIATION", "STANDARD_ERROR", "Attribution", "floats", "spread_label"]

# What says how sure values are: of the draws that they are estimated from, and of the model.
STANDARD_ERROR, STANDARD_DEVIATION = "standard error", "standard deviation"
_SHORT = {STANDARD_ERROR: "std err", STANDARD_DEVIATION: "std dev"}


class Attribution(Sliced):
    """Values of features in some rows, exact or estimated, and what is needed to read them."""

    __slots__ = ()

    @with_known_keywords
    def __init__(
        self,
        values: ArrayLike,
        base_values: ArrayLike,
        data: ArrayLike,
        feature_names: Sequence[str],
        output_names: Sequence[str] | None = None,
        *,
        output_name: str | None = None,
        row_index: pd.Index | None = None,
        value_function: ValueFunction | None = None,
    ) -> None:
        if output_names is not None and output_name is not None:
            raise ValueError(
                "output_name is of an explanation without an output axis, and so "
                "without output_names; give one of them"
            )
        features = as_names("feature_names", feature_names)
        outputs = None if output_names is None else as_names("output_names", output_names)
        self._values = read_only(floats("values", values))
        self._base_values = read_only(floats("base_values", base_values))
        self._data = read_only(np.asarray(data))
        self._value_function = (
            None
            if value_function is None
            else check_choice("value_function", value_function, get_args(ValueFunction))
        )
        self._is_centered, self._roots, self._errors = False, None, None
        self._joint, self._places = None, None
        rows = () if self._data.ndim == 1 else (ROW,)
        present = (*rows, FEATURE, *(() if outputs is None else (OUTPUT,)))
        self._axes = Axes(features, outputs, row_index, present)
        check_shapes(self._values, self._base_values, self._data, self._axes)
        if output_name is not None:
            self._axes = replace(self._axes, outputs=as_names("output_name", [output_name]))

    def _summary(self, n_lines: int) -> Summary:
        """Return sizes, names of singled-out axes, the value function, and a small table.

        The table has the largest values and the data of one row, or the largest `importance` of
        several rows. There is none if there are more than ten million values.
        """
        parts = [*self._description()]
        if OUTPUT not in self._axes.present and (base := np.unique(self._base_values)).size == 1:
            parts.append(f"base value {number(base[0])}")
        head = f"{type(self).__name__}({', '.join(parts)})"
        has_table = 0 < self._values.size <= MOST_VALUES
        return Summary(head, [self._table(n_lines)] if has_table else [])

    def _description(self) -> Iterator[str]:
        sizes = [
            counted(size, axis) for axis, size in zip(self._axes.present, self.shape, strict=True)
        ]
        if sizes:
            yield " × ".join(sizes)
        if FEATURE not in self._axes.present:
            yield f"feature {self._axes.features[0]!r}"
        if self.output_name is not None:
            yield f"output {self.output_name!r}"
        if self._value_function is not None:
            yield self._value_function
        if self._is_centered:
            yield "centered"

    def _table(self, n_lines: int) -> SummaryTable:
        values, _, data = self._with_every_axis()
        is_row = len(values) == 1
        sizes = np.reshape(self.importance(), values.shape[1:])
        spreads = {
            spread_label(name, is_row=is_row): np.reshape(spread, values.shape).mean(axis=0)
            for name, spread in self._spreads().items()
        }
        return table_of_largest(
            self._axes.features.__getitem__,
            values[0] if is_row else sizes,
            thing=FEATURE,
            label="value" if is_row else self._importance_label,
            output_names=self.output_names,
            data=data[0] if is_row else None,
            spreads=spreads,
            most=n_lines,
        )

    def importance(self) -> NDArray[np.float64]:
        """Return how strongly each feature acts: its mean absolute value over the rows.

        Of neutral values it is the mean absolute deviation from their mean over the rows: what
        varies. For neutral values contain constants, the same for all rows, that depend on the
        amplitude of the model's coefficients rather than on the data; they would hide the rest.
        Once `centered`, values have none, and the mean absolute value is taken.

        Returns
        -------
        ndarray, shape (d,) or (d, outputs)
            In the order of `feature_names`, in units of the explained function. A single row gives
            its absolute values, in every game, since with itself nothing varies.

        Raises
        ------
        ValueError
            If there are no rows to average over.

        Examples
        --------
        >>> import numpy as np
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], np.zeros((2, 2)), ["age", "bmi"])
        >>> pkex.Explanation(*parts, value_function="interventional").importance()
        array([2. , 8.5])
        >>> pkex.Explanation(*parts, value_function="neutral").importance()
        array([1. , 0.5])
        """
        values = self._values
        if ROW not in self._axes.present:
            return np.abs(values)
        if len(self) == 0:
            raise ValueError("there are no rows to average over")
        return mean_size(values, self._value_function if self._has_offsets else None)

    def importance_frame(self) -> pd.DataFrame:
        """Return the `importance` of each feature by name, the largest first.

        Returns
        -------
        pandas.DataFrame
            A line per feature, with the column "importance". With an output axis there is a column
            per output, and the largest importance in any output decides the order.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If there are no rows to average over.

        Examples
        --------
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], [[7, 5], [6, 4]], ["age", "bmi"])
        >>> frame = pkex.Explanation(*parts).importance_frame()
        >>> frame
                 importance
        feature
        bmi             8.5
        age             2.0
        >>> frame.head(1).index.tolist()
        ['bmi']
        """
        return importance_frame(self.importance(), self._axes.features, self._axes, FEATURE)

    @property
    def _importance_label(self) -> str:
        """What `importance` is of several rows, in a few characters: for tables and pictures."""
        return "mean |value − its mean|" if self._has_offsets else "mean |value|"

    @property
    def _has_offsets(self) -> bool:
        """Whether values contain constants that say nothing about the data: neutral ones do."""
        return self._value_function == "neutral" and not self._is_centered

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
        reference = self if reference is None else reference
        self._check_reference(reference)
        mean = reference.values.mean(axis=0)
        shift = mean.sum(axis=0) if FEATURE in self._axes.present else mean
        return self._from_parts(
            self._parts()
            | {
                "_values": self._values - mean,
                "_base_values": self._base_values + shift,
                "_is_centered": True,
                # Those of the mean over rows are not known.
                "_roots": None,
                "_errors": None,
                "_joint": None,
                "_places": None,
            }
        )

    def _check_reference(self, reference: object) -> None:
        """Refuse what values cannot be centred by; see `centered`."""
        if not isinstance(reference, type(self)):
            kind, own = type(reference).__name__, type(self).__name__
            raise TypeError(f"reference must be an {own}, as {self._made_by} is; got {kind}")
        is_itself = reference is self
        n_rows = len(reference) if ROW in reference._axes.present else 1
        check_rows_of_reference(reference._axes, n_rows, is_itself=is_itself)
        self._axes.check_same(reference._axes)
        if reference.value_function != self.value_function:
            raise ValueError(
                f"the reference's values are of another game, {reference.value_function!r} instead "
                f"of {self.value_function!r}"
            )
        if not is_itself:
            mine = np.asarray(self._base_values)
            by_row = mine if ROW in self._axes.present else mine[None]
            check_same_base(by_row, reference.base_values, reference.values)

    @with_known_keywords
    def plot(
        self, ax: matplotlib.axes.Axes | None = None, *, max_features: int = 15
    ) -> matplotlib.axes.Axes:
        """Draw one row as bars, or many rows as points beside bars of the importance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; in a new figure if not given.
        max_features : int, default 15
            Of more features, the strongest are drawn.

        Returns
        -------
        matplotlib Axes
            Of one row, bars with the features' values and data. Of many, a point for each row, from
            blue where the feature is low to red where it is high, grey where it is missing or a
            text, over grey bars of the `importance`; neutral values are shown as deviations from
            their mean over the rows, unless they are `centered` already. Explained with
            ``uncertainty=True``, values that cannot be told from 0 are pale: those whose interval,
            of 95 % of the posterior, contains 0; bars have lines for the intervals.

        Raises
        ------
        ValueError
            If there are several outputs (choose one: ``explanation[..., name].plot()``), or nothing
            to draw.
        ImportError
            If matplotlib is not installed.
        TypeError
            If `ax` is no Axes, or `max_features` no integer.
        """
        count = checked_count(max_features)
        if self.output_names is not None:
            raise ValueError(
                "a picture shows one output: choose it by explanation[..., name].plot(), among "
                f"{shown(self.output_names)}"
            )
        if self._values.size == 0:
            raise ValueError(f"there is nothing to draw: values has shape {self.shape}")
        names = self._axes.features
        values, data = (np.reshape(a, (-1, len(names))) for a in (self._values, self._data))
        if len(values) == 1:
            base = np.ravel(self._base_values)[0]
            roots = self._changes()
            ax = draw_row(ax, count, names, values[0], data[0], base, roots)
        else:
            points = values - values.mean(axis=0) if self._has_offsets else values
            sizes = np.ravel(self.importance())
            margins = self._margins()
            is_pale = None if margins is None else np.abs(values) <= margins.reshape(values.shape)
            label = self._importance_label
            ax = draw_rows(ax, count, names, sizes, points, data, label=label, is_pale=is_pale)
        ax.set_xlabel(self._label_of_values(is_row=len(values) == 1))
        return ax

    # How users get such a result.
    _made_by = "explainer(X)"

    def _margins(self) -> Float | None:
        """Return how far from each value its bounds of 95 % are; None if it is sure."""
        return None

    def _spreads(self) -> dict[str, Float]:
        """Return how sure the values are, in their shape, by what it is called; {} if they are."""
        return {}

    def _changes(self) -> Float | None:
        """Return R of the covariances R Rᵀ of a single row's values, (d, k); None if it is sure."""
        return None

    def _label_of_values(self, *, is_row: bool) -> str:
        """Return what a picture shows, in words: the values, their game and the output."""
        what = "Shapley value − its mean" if self._has_offsets and not is_row else "Shapley value"
        notes = [self._value_function, "centered" if self._is_centered else None]
        game = ", ".join(note for note in notes if note)
        label = f"{what} ({game})" if game else what
        output = self.output_name
        return label if output is None else f"{label}\nof '{literal(output, 50)}'"

    @with_known_keywords
    def to_frame(self, *, errors: bool = False) -> pd.DataFrame:
        """Return the values as a pandas DataFrame, a line per row and a column per feature.

        Parameters
        ----------
        errors : bool, default False
            Whether standard errors and standard deviations, whichever there are, stand beside the
            values: then the columns have a first level, "value", "standard error" and "standard
            deviation", so that ``frame["standard error"]`` is a table as that of the values is.

        Returns
        -------
        pandas.DataFrame
            With the index of the DataFrame that was explained. With an output axis the columns have
            two levels, output and feature, so that ``frame["a vs b"]`` is the table of one output.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If there are no `errors`: values are exact, and nothing says how sure the model is.

        Examples
        --------
        >>> import pkex
        >>> pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"]).to_frame()
        feature  age  bmi
        0        3.0 -1.0
        """
        values, _, _ = self._with_every_axis()
        if not errors:
            return frame(values, self._axes)
        spreads = self._spreads()
        if not spreads:
            raise ValueError(
                "to_frame(errors=True) is of estimates, and of rows that were explained with "
                "uncertainty=True; these values have neither standard errors nor deviations"
            )
        tables = {"value": values} | spreads
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
        values, base_values, data = self._with_every_axis()
        margins = self._margins()
        margins = None if margins is None else np.reshape(margins, values.shape)
        whole = shap_explanation(values, base_values, data, self._axes, margins)
        axes = (ROW, FEATURE, OUTPUT)[: values.ndim]
        index = tuple(slice(None) if axis in self._axes.present else 0 for axis in axes)
        return whole if len(self._axes.present) == values.ndim else whole[index]


def spread_label(name: str, *, is_row: bool) -> str:
    """Return the head of a column that says how sure values are, or of its means over rows."""
    return f"{'±' if is_row else 'mean'} {_SHORT[name]}"


def floats(argument: str, numbers: ArrayLike) -> NDArray[np.float64]:
    """Return numbers as float64, or refuse complex ones."""
    if np.iscomplexobj(numbers):
        raise TypeError(f"{argument} must be real numbers; got complex ones")
    return np.asarray(numbers, dtype=np.float64)
