"""Base class of all results: printing, tables, plots, reports and documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pkex.inputs.choices import check_choice
from pkex.inputs.documents import Document, envelope
from pkex.inputs.integers import as_integer
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.optional import missing_library
from pkex.results.hints import AttributeHints
from pkex.results.options import Kind, PlotOptions, ReportOptions
from pkex.results.plots import checked_count, style_for
from pkex.results.summary import SHOWN_LINES, Summary

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

    from pkex.results.report import PageContent

# Attributes of other libraries' results, and the equivalents here.
RESULT_HINTS = {
    "save": "use pickle, or json.dump(result.to_dict(), file)",
    "to_json": "use json.dumps(result.to_dict())",
    "to_pandas": "use result.to_frame()",
    "to_csv": "use result.to_frame().to_csv(path)",
    "to_excel": "use result.to_frame().to_excel(path)",
}


class Result(AttributeHints):
    """Base class of results."""

    __slots__ = ()

    _hints = RESULT_HINTS
    # How to choose a part of the result, for errors of arguments that do not exist.
    _choice: ClassVar[str] = ""
    # The kinds of plots that the result supports, the default first.
    _kinds: ClassVar[tuple[Kind, ...]]
    # The largest number of lines in a table that is printed or shown in a notebook.
    _shown_lines: ClassVar[int] = SHOWN_LINES

    def __repr__(self) -> str:
        """Return the summary as text."""
        return self._summary(self._shown_lines).text()

    def _repr_html_(self) -> str:
        """Return the summary as HTML with bars, for notebooks."""
        return self._summary(self._shown_lines).html()

    def to_text(self, max_lines: int | None = None) -> str:
        """Return the text that `print` shows, with a table of up to `max_lines` lines.

        Parameters
        ----------
        max_lines : int, optional
            The largest number of lines of the table. Lines are features or coalitions, sorted by
            absolute value, or batches of a `DriftTimeline`. The default is 8, or 20 for batches.

        Returns
        -------
        str

        Raises
        ------
        TypeError, ValueError
            If `max_lines` is not a positive integer.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> print(explanation.to_text(max_lines=1))
        Explanation(1 row × 2 features, base value 0.5)
        feature  value  data
        age          3     7
        (1 smaller feature not shown)
        """
        if max_lines is None:
            return repr(self)
        count = as_integer("max_lines", max_lines, "a positive integer", least=1)
        return self._summary(count).text()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data for JSON, with the names of its attributes as keys.

        ``json.dump(result.to_dict(), file)`` writes the result to a file, and `from_dict` restores
        it bit for bit. The document contains neither the rows of samples nor attributes that are
        computed from them later: `pair_dependence`, and `r2` and `alone_r2` unless they were
        computed before. It does not contain the model, which ``importance(samples=...)`` requires.

        Returns
        -------
        dict
            With the additional keys "type", "format" and "pkex" (the version that has written it).
            Arrays are lists, with None for NaN. Documents of `SensitivityResult` and `DriftResult`
            also use the keys of SALib and alibi-detect.

        Raises
        ------
        TypeError
            If data or row labels contain objects other than numbers, strings or dates.
        ValueError
            If a value is infinite.
        """
        return {**envelope(type(self).__name__), **self._plain()}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` has written.

        Loading runs no code: a document is plain data, and every field is checked.

        Parameters
        ----------
        document : dict
            As returned by `to_dict`, or by ``json.load(file)`` for a JSON file.

        Returns
        -------
        Result
            Its `to_dict` equals the document.

        Raises
        ------
        ValueError
            If the document contains another kind of result, was written by a newer version of pkex,
            or a field is missing or wrong. The message names the field.
        TypeError
            If `document` is not a dict.

        Examples
        --------
        >>> import json
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> text = json.dumps(explanation.to_dict())
        >>> pkex.Explanation.from_dict(json.loads(text)).values
        array([[ 3., -1.]])
        """
        return cls._of_document(Document(document, cls.__name__))

    @with_known_keywords
    def to_frame(self, *, errors: bool | None = None) -> pd.DataFrame:
        """Return the result as a pandas DataFrame.

        Parameters
        ----------
        errors : bool, optional
            Whether the table has standard errors, posterior standard deviations or intervals. By
            default, tables with a line per feature have them if they are known; tables with a line
            per row do not. With ``errors=True``, the columns of the latter have a first level with
            "value", "standard error" and "standard deviation": ``frame["standard error"]`` has the
            shape of ``frame["value"]``. ``frame.stack("feature")`` has a line for each row and
            feature, with the value and its standard error or deviation as columns.

        Returns
        -------
        pandas.DataFrame
            For explanations and interactions, a line per row, with the index of the explained
            DataFrame, and a column per feature or coalition. With several outputs the columns have
            two levels: ``frame["a vs b"]`` is the table of one output. For comparisons of samples
            and sensitivity, a line per feature, the largest value first (per output and feature if
            there are several outputs). For timelines, a line per batch.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If ``errors=True`` and there are none.

        Examples
        --------
        >>> import pkex
        >>> pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"]).to_frame()
        feature  age  bmi
        0        3.0 -1.0
        """
        try:
            # `_frame` of each class imports pandas again; the error is raised here, once for all.
            import pandas as pd  # noqa: F401
        except ImportError as error:
            raise missing_library(f"{type(self).__name__}.to_frame", "pandas") from error
        return self._frame(errors)

    @with_known_keywords
    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        name: str | tuple[str, str] | None = None,
        samples: tuple[Any, Any] | None = None,
        alpha: float | None = None,
    ) -> str:
        """Return a report as a self-contained HTML page, and write it to a path if one is given.

        The report shows figures and tables with paragraphs on how to read them. The command line
        writes the same report with ``--format html``.

        Parameters
        ----------
        path : str or path, optional
            The path of the file, which is written atomically.
        name : str, or tuple of two str, optional
            The name of the model or data, for the title. For comparisons of two tables, a pair of
            names; by default X and Y, X and y, or reference and batch.
        samples : tuple of two tables, optional
            The compared tables, ``(X, Y)`` for `pkex.mmd` and ``(X, y)`` for `pkex.hsic`, to show
            the distributions of the leading features. A `DriftResult` does not need them.
        alpha : float, optional
            The level of the conclusion of a test; by default 0.05, or the detector's level.

        Returns
        -------
        str
            The HTML page.

        Raises
        ------
        ValueError
            If there are no rows, `alpha` is not between 0 and 1, a sample has fewer rows than were
            compared, or the result does not support `samples` or `alpha`.
        TypeError
            If the samples are not tables in memory, or `name` is a pair where one name is expected,
            or one name where a pair is.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> explanation.to_html(name="my model")[:15]
        '<!DOCTYPE html>'
        >>> X, Y = [[0.0, 1.0], [1.0, 2.0], [0.5, 0.5]], [[4.0, 1.5], [5.0, 1.0], [4.5, 0.5]]
        >>> page = pkex.mmd(X, Y).to_html(name=("May", "June"), samples=(X, Y))
        """
        # Imported only if needed.
        from pkex.results.page import write_page

        return write_page(self._report(ReportOptions(name, samples, alpha)), path)

    @with_known_keywords
    def plot(
        self,
        ax: matplotlib.axes.Axes | None = None,
        *,
        kind: Kind | None = None,
        output: int | str | None = None,
        max_features: int = 15,
    ) -> matplotlib.axes.Axes:
        """Draw the result with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.
        kind : {"beeswarm", "bar", "waterfall", "scatter", "heatmap"}, optional
            Explanations of several rows support "beeswarm" (default), a point for each row over
            gray bars of the `importance`, and "bar", the importance only. Points are blue for low
            and red for high feature values, gray for missing values and texts. Explanations of one
            row support "bar" (default), bars of the values from 0, and "waterfall", bars that lead
            from the base value to the output. "scatter" draws the values of one feature, selected
            by ``explanation[:, name]``, against its data.

            Interactions support "heatmap" (default for three features or more), a matrix of the
            pairs among the strongest features, and "bar", the strongest coalitions. Timelines
            support "heatmap", features by batches; all other results "bar", a bar per feature.
        output : int or str, optional
            The output to draw if there are several, by number or name.
        max_features : int, default 15
            The largest number of features or coalitions: the strongest are drawn.

        Returns
        -------
        matplotlib Axes
            Neutral values of several rows are shown as deviations from their mean over the rows,
            unless they are `centered`. Values are pale if their 95 % interval contains 0, and bars
            have error bars for the intervals. For `pkex.mmd` and `pkex.hsic`, error bars show one
            standard error to both sides; circles are univariate values, filled if their family-wise
            adjusted p-value is at most 0.05; gray bands contain 95 % of the permuted values. For
            `pkex.sensitivity`, circles are first-order and total indices, and lines below the bars
            are 95 % intervals from draws of the posterior.

        Raises
        ------
        ValueError
            If the result does not support this kind of plot, there are several outputs and `output`
            is not given, or there is nothing to draw.
        ImportError
            If matplotlib is not installed.
        TypeError
            If `ax` is not an Axes, or `max_features` is not an integer.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")  # for scripts without a display
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> explanation.plot(kind="waterfall").get_xlabel()
        'base value + Shapley values'
        """
        count = checked_count(max_features)
        if kind is not None:
            kind = check_choice("kind", kind, self._kinds)
        with style_for(ax):
            return self._draw(PlotOptions(ax, kind, output, count))

    def _summary(self, n_lines: int) -> Summary:
        """Return the summary of the result, with at most `n_lines` lines in each table."""
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        raise NotImplementedError

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        """Return the result that a document contains."""
        raise NotImplementedError

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        """Return the result as a DataFrame; pandas is installed."""
        raise NotImplementedError

    def _report(self, options: ReportOptions) -> PageContent:
        """Return the content of the report."""
        raise NotImplementedError

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        """Draw the result as a kind of plot that it supports."""
        raise NotImplementedError
