"""The result of `pkex.sensitivity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.inputs.wording import counted
from pkex.results.options import PlotOptions, ReportOptions
from pkex.results.plots import DEVIATIONS, draw_indices
from pkex.results.result import Result
from pkex.results.summary import Summary, SummaryTable
from pkex.results.tables import number, numbers, shortened
from pkex.sensitivity.documents import plain_draws, sensitivity_fields
from pkex.sensitivity.variance_shares import TITLES, VarianceShares
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

    from pkex.results.report import PageContent

# The largest number of outputs with a table in a summary.
_MAX_OUTPUTS = 4
_OUTSIDE = (
    "an index is outside its interval, because it describes the posterior mean, which is smoother "
    "than the draws. Trust the interval"
)
_KEYS = {
    "S1": "first_order",
    "ST": "total",
    "S2": "second_order",
    "shapley_effects": "shapley_effects",
    "variance": "variance",
}


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityResult(VarianceShares, Result):
    """The variance of a model's output, divided among its inputs.

    Returned by `pkex.sensitivity`. If there are several outputs, arrays have a last axis of
    outputs, and `variance` is an array.

    Attributes
    ----------
    variance : float or ndarray of shape (outputs,)
        The variance of the output over the inputs, in squared units of the output.
    shapley_effects : ndarray of shape (P,) or (P, outputs)
        The Shapley value of each input for v(S) = Var E[f(X) | X_S], divided by the variance:
        non-negative, with sum 1 (Owen 2014).
    first_order : ndarray of shape (P,) or (P, outputs)
        v({j}) / variance: the share that the input explains if it is known (Sobol 1993).
    total : ndarray of shape (P,) or (P, outputs)
        1 − v(all but j) / variance: the share that remains if only the input is unknown.
    second_order : ndarray of shape (P, P) or (P, P, outputs), or None
        (v({i, j}) − v({i}) − v({j})) / variance, symmetric, with NaN on the diagonal; None unless
        ``order=2``.
    feature_names : list of str
        The inputs: columns or groups.
    draws : SensitivityDraws or None
        The indices of functions drawn from the posterior of a Gaussian process; None unless
        ``uncertainty`` was given. See `credible_interval`.
    output_names : list of str or None
        Names along the axis of outputs; None if there is no such axis.
    notes : tuple of str
        Notes against misreadings.

    Notes
    -----
    `to_dict` uses the names of SALib: ``S1`` and ``ST`` are first-order and total indices, ``S2``
    the indices of pairs with ``order=2``, in a matrix with None except above the diagonal, and
    ``names`` the inputs. It adds ``shapley_effects`` and ``variance``. Posterior draws add
    ``draws``, and ``S1_conf`` and so on as in SALib: 1.96 standard deviations of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> points = [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]]
    >>> f = pkex.KernelExpansion(points, [1.0, -0.5], pkex.kernels.RBF([1.0, 1.0, 9.0]))
    >>> result = pkex.sensitivity(f, np.random.default_rng(0).normal(size=(500, 3)))
    >>> round(float(result.shapley_effects.sum()), 12)
    1.0
    """

    _kinds = ("bar",)

    def _plain(self) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for key, name in _KEYS.items():
            if getattr(self, name) is not None:
                document[key] = _plain(key, getattr(self, name))
        if self.draws is not None:
            for key in tuple(document):
                margins = DEVIATIONS * getattr(self.draws, _KEYS[key]).std(axis=0, ddof=1)
                document[f"{key}_conf"] = _plain(key, margins)
            document["draws"] = plain_draws(self.draws)
        return {
            **document,
            "names": self.feature_names,
            "output_names": self.output_names,
            "explained": self._explained,
            "inputs": self._inputs,
            "notes": list(self.notes),
        }

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls(**sensitivity_fields(document))

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        import pandas as pd

        if errors and self.draws is None:
            raise ValueError(
                "to_frame(errors=True) requires draws from the posterior of a Gaussian process. "
                "Call pkex.sensitivity(model, inputs, uncertainty=100)"
            )
        indices = {}
        for name, title in TITLES.items():
            indices[title] = getattr(self, name)
            if self.draws is not None and errors is not False:
                low, high = self.credible_interval(name)
                indices |= {f"{title} low": low, f"{title} high": high}
        if self._outputs is None:
            frame = pd.DataFrame(indices, index=pd.Index(self._names, name="feature"))
            return frame.sort_values("Shapley effect", ascending=False, kind="stable")
        lines = pd.MultiIndex.from_product(
            [self._outputs, self._names], names=["output", "feature"]
        )
        return pd.DataFrame(
            {title: array.T.ravel() for title, array in indices.items()}, index=lines
        )

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        place = self._place(options.output)
        effects, first, total = (self._of_output(name, place) for name in TITLES)
        intervals = None if self.draws is None else self._interval("shapley_effects", place)
        return draw_indices(
            options.ax,
            options.max_features,
            self._names,
            effects,
            first,
            total,
            self._explained,
            intervals,
        )

    def _report(self, options: ReportOptions) -> PageContent:
        # Imported only if needed.
        from importlib.metadata import version

        from pkex.sensitivity.sensitivity_report import report_sensitivity, variances

        title = options.title(type(self).__name__, self._explained)
        settings = {
            "Explained": self._explained,
            "Inputs": self._inputs,
            "Variance": variances(self),
            "Version": f"pkex {version('pkex')}",
        }
        return report_sensitivity(self, title, settings)

    def _place(self, output: int | str | None) -> tuple[int, ...]:
        """Return the index of an output along the axis of outputs; () without this axis."""
        if self._outputs is None:
            if output is not None:
                raise ValueError(f"output={output!r} was given, but there is a single output")
            return ()
        if isinstance(output, str) and output in self._outputs:
            return (self._outputs.index(output),)
        if isinstance(output, int) and 0 <= output < len(self._outputs):
            return (output,)
        raise ValueError(
            f"output must be one of {list(self._outputs)}, or its number; got {output!r}"
        )

    def _of_output(self, name: str, place: tuple[int, ...]) -> Float:
        """Return an attribute of one output, shape (P,)."""
        values: Float = getattr(self, name)
        return values[:, place[0]] if place else values

    def _interval(self, name: str, place: tuple[int, ...]) -> Float:
        """Return the 95 % interval of an attribute of one output, shape (2, P)."""
        ends = self.credible_interval(name)
        return ends[..., place[0]] if place else ends

    def _summary(self, n_lines: int) -> Summary:
        """Return a table of the largest effects of each output, and the notes."""
        head = f"{type(self).__name__}: {self._explained}, inputs: {self._inputs}"
        if self.draws is not None:
            head += f"\n95 %: credible interval from {len(self.draws)} posterior draws"
        variances = np.ravel(self.variance)
        tables = [self._table(output, n_lines) for output in range(len(variances))[:_MAX_OUTPUTS]]
        left_out = len(variances) - len(tables)
        lines = [f"({counted(left_out, 'more output')} not shown)"] if left_out else []
        notes = [*self.notes, *([_OUTSIDE] if self._leaves_intervals() else [])]
        return Summary(head, tables, [*lines, *(f"note: {note}" for note in notes)])

    def _leaves_intervals(self) -> bool:
        """Whether an index is visibly outside its credible interval."""
        if self.draws is None:
            return False
        # Intervals are printed with three decimals.
        half_digit = 5e-4
        for name in TITLES:
            (low, high), indices = self.credible_interval(name), getattr(self, name)
            if ((indices < low - half_digit) | (indices > high + half_digit)).any():
                return True
        return False

    def _table(self, output: int, n_lines: int) -> SummaryTable:
        place = () if self._outputs is None else (output,)
        of_output = "" if self._outputs is None else f"{shortened(self._outputs[output])}: "
        variance = number(np.ravel(self.variance)[output])
        effects = self._of_output("shapley_effects", place)
        order = np.argsort(-effects, kind="stable")[:n_lines]
        cells = [["feature", *(shortened(self._names[j]) for j in order)]]
        for name, title in TITLES.items():
            cells.append([title, *numbers(self._of_output(name, place)[order])])
            if self.draws is not None:
                ends = self._interval(name, place)[:, order].T
                cells.append(["95 %", *(f"{low:.3f}–{high:.3f}" for low, high in ends)])
        left_out = len(effects) - len(order)
        note = f"({counted(left_out, 'smaller feature')} not shown)" if left_out else ""
        return SummaryTable(cells, effects[order], f"{of_output}variance {variance}", note)


def _plain(key: str, indices: Float | float) -> Any:
    """Return indices as lists; indices of pairs, shape (P, P, ...), only above the diagonal."""
    if key == "S2":
        pairs = np.asarray(indices)
        above = np.triu(np.ones(pairs.shape[:2], dtype=bool), k=1)
        indices = np.where(above.reshape(above.shape + (1,) * (pairs.ndim - 2)), pairs, np.nan)
    return plain_numbers(key, indices)
