"""What all results share: they are printed, tabulated, drawn, reported and kept as documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

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

__all__ = ["Result"]

_KINDS: tuple[Kind, ...] = get_args(Kind)


class Result(AttributeHints):
    """A result, of a model, two samples, or the inputs of a model."""

    __slots__ = ()

    # The pictures that there are of it, the default one first.
    _kinds: ClassVar[tuple[Kind, ...]]
    # Lines of a table that is printed or shown in a notebook.
    _shown_lines: ClassVar[int] = SHOWN_LINES

    def __repr__(self) -> str:
        """Return the summary as text."""
        return self._summary(self._shown_lines).text()

    def _repr_html_(self) -> str:
        """Return the summary as HTML with bars, for notebooks."""
        return self._summary(self._shown_lines).html()

    def to_text(self, max_lines: int | None = None) -> str:
        """Return what `print` shows, with a table of as many lines as asked for.

        Parameters
        ----------
        max_lines : int, optional
            The largest number of lines of the table: features, the largest values in size first;
            coalitions of `Interactions`; batches of a `DriftTimeline`. The default is 8, and 20
            batches.

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
        """Return the result as plain data for JSON, by the names of its attributes.

        ``json.dump(result.to_dict(), file)`` writes a file that lasts, and `from_dict` reads it,
        with equal bits. The document does not have rows of samples and what is computed from them
        later: `pair_dependence`, and `r2` and `alone_r2` unless they were computed before. It does
        not have the model either, which ``importance(samples=...)`` draws functions from.

        Returns
        -------
        dict
            Also with the keys "type", "format" and "pkex" (the version that has written it). Arrays
            are lists, with None for NaN. Documents of `SensitivityResult` and `DriftResult` use the
            keys of SALib and alibi-detect, too, as their documentation says.

        Raises
        ------
        TypeError
            If data or labels of rows hold objects that are not numbers, texts or dates.
        ValueError
            If a value is infinite.
        """
        return {**envelope(type(self).__name__), **self._plain()}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` has written: `to_dict` of both is equal.

        No code is run: a document is plain data, and every field of it is checked.

        Parameters
        ----------
        document : dict
            As `to_dict` returns it; of a JSON file, ``json.load(file)``.

        Raises
        ------
        ValueError
            If the document holds another kind of result, was written by a newer version of pkex, or
            a field is missing or wrong. The message names the field.
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
            default tables with a line per feature have those that are known, and tables with a line
            per row have none. With ``errors=True`` the columns of the latter have a first level,
            "value", "standard error" and "standard deviation": ``frame["standard error"]`` has the
            shape of ``frame["value"]``.

        Returns
        -------
        pandas.DataFrame
            Explanations and interactions have a line per row, with the index of the DataFrame that
            was explained, and a column per feature or coalition; with an output axis the columns
            have two levels, so that ``frame["a vs b"]`` is the table of one output. Results of
            samples and of sensitivity have a line per feature, the largest value first (per output
            and feature if there are several outputs); timelines a line per batch.

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
            # `_frame` of each class imports it again: where it is missing, all say so alike.
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
        """Return a report as one HTML page that needs nothing else; write it if a path is given.

        It shows the result in pictures and numbers, and says how to read them: which features move
        a model's output and how their values depend on their data, the strongest interactions,
        which features differ between two samples or carry a dependence, in which batches, or where
        the variance of an output comes from. The command line writes the same with
        ``--format html``.

        Parameters
        ----------
        path : str or path, optional
            Of the file, which is written whole or not at all.
        name : str, or tuple of two str, optional
            What was explained or analyzed, for the title. A pair names the two tables of a
            comparison, by default X and Y, X and y, or reference and batch.
        samples : tuple of two tables, optional
            The compared tables, ``(X, Y)`` for `pkex.mmd` and ``(X, y)`` for `pkex.hsic`, to show
            the distributions of the leading features; a `DriftResult` knows them.
        alpha : float, optional
            The level of the conclusion of a test: 0.05, or that of the detector.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there are no rows, `alpha` is not between 0 and 1, a sample has fewer rows than were
            compared, or `samples` or `alpha` are given to a result that has no use for them.
        TypeError
            If the samples are not tables in memory, or `name` is a pair where one name is meant, or
            one name where a pair is.
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
        # Not before a report is asked for.
        from pkex.results.page import written

        return written(self._report(ReportOptions(name, samples, alpha)), path)

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
            Where to draw; in a new figure if not given.
        kind : {"beeswarm", "bar", "waterfall", "scatter", "heatmap"}, optional
            Explanations of several rows have "beeswarm" (the default), a point for each row, from
            blue where the feature is low to red where it is high, grey where it is missing or a
            text, over grey bars of the `importance`; and "bar", the importance alone. Explanations
            of one row have "bar" (the default), the values as bars from 0 with the features' data,
            and "waterfall", the values one after another from the base value to the output.
            "scatter" draws the values of one feature, chosen by ``explanation[:, name]``, against
            its data.

            Interactions have "heatmap" (the default from three features on), a matrix of the pairs
            among the strongest features, and "bar", the strongest coalitions. Timelines have a
            "heatmap" of features by batches, and all other results a "bar" for each feature.
        output : int or str, optional
            Which of several outputs, by number or name.
        max_features : int, default 15
            The largest number of features or coalitions: the strongest are drawn.

        Returns
        -------
        matplotlib Axes
            Neutral values of several rows are shown as deviations from their mean over the rows,
            unless they are `centered` already. Values with uncertainty are pale where their
            interval of 95 % contains 0, and bars have lines for the intervals. Bars of `pkex.mmd`
            and `pkex.hsic` have lines of one standard error to both sides; circles are univariate
            values, filled if their family-wise p-value is at most 0.05, and grey bands hold 95 % of
            the permuted values. Circles of `pkex.sensitivity` are first-order and total indices,
            and lines below its bars 95 % intervals by draws of the posterior.

        Raises
        ------
        ValueError
            If the result does not have this kind of picture, there are several outputs and none is
            chosen, or there is nothing to draw.
        ImportError
            If matplotlib is not installed.
        TypeError
            If `ax` is not an Axes, or `max_features` not an integer.
        """
        count = checked_count(max_features)
        if kind is not None and check_choice("kind", kind, _KINDS) not in self._kinds:
            valid = " or ".join(f"kind={own!r}" for own in self._kinds)
            raise ValueError(f"{type(self).__name__}.plot draws {valid}; got kind={kind!r}")
        with style_for(ax):
            return self._draw(PlotOptions(ax, kind, output, count))

    def _summary(self, n_lines: int) -> Summary:
        """Return the summary of the result, with at most so many lines in each table."""
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        raise NotImplementedError

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        """Return the result that a document holds."""
        raise NotImplementedError

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        """Return the result as a table; pandas is installed."""
        raise NotImplementedError

    def _report(self, options: ReportOptions) -> PageContent:
        """Return what a page shows."""
        raise NotImplementedError

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        """Draw a picture of a kind that there is, with at most so many features."""
        raise NotImplementedError
