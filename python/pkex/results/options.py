"""Options of reports and plots, which all results accept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The kinds of plots.
Kind: TypeAlias = Literal["bar", "beeswarm", "heatmap", "scatter", "waterfall"]


@dataclass(frozen=True, eq=False)
class PlotOptions:
    """Options of a plot; see `Result.plot`."""

    ax: Axes | None
    kind: Kind | None
    output: int | str | None
    max_features: int

    def check_single_output(self, owner: str) -> None:
        """Raise ValueError if `output` is given for a result without outputs."""
        _check_none(owner, output=self.output)


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """Options of a report; see `Result.to_html`."""

    name: str | tuple[str, str] | None
    samples: tuple[Any, Any] | None
    alpha: float | None

    def title(self, owner: str, default: str) -> str:
        """Return the name in the title of a report of one model or sequence.

        Raises
        ------
        TypeError, ValueError
            If the name is not a string, or options of comparisons are given.
        """
        _check_none(owner, samples=self.samples, alpha=self.alpha)
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(
                f"name must be a string for the title of a {owner} report; got {self.name!r}"
            )
        return self.name or default

    def comparison(
        self, owner: str, names: tuple[str, str], alpha: float
    ) -> tuple[tuple[str, str], tuple[Any, Any] | None, float]:
        """Return the names of two compared tables, the tables or None, and the level α.

        Parameters
        ----------
        owner : str
            The name of the class of the result.
        names : tuple of str
            The default names of the tables.
        alpha : float
            The default level.
        """
        if self.name is not None:
            pair: Any = self.name
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(
                    f"name must be a pair for a {owner} report, the names of both tables, such as "
                    f"name=('May', 'June'); got {self.name!r}"
                )
            names = str(pair[0]), str(pair[1])
        tables: Any = self.samples
        if tables is not None and (not isinstance(tables, tuple | list) or len(tables) != 2):
            raise ValueError(
                "samples must be a pair, the two tables that were compared: samples=(X, Y); got "
                f"{type(tables).__name__}"
            )
        alpha = alpha if self.alpha is None else self.alpha
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha must be between 0 and 1, such as 0.05; got {alpha!r}")
        return names, None if tables is None else (tables[0], tables[1]), alpha


def _check_none(owner: str, **options: Any) -> None:
    """Raise ValueError if an option is given that a result does not support."""
    for name, value in options.items():
        if value is not None:
            value_repr = repr(value)
            value_text = value_repr if len(value_repr) <= 40 else "..."
            raise ValueError(f"{owner} does not support {name}={value_text}. Leave it out")
