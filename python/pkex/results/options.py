"""The options of reports and pictures, as all results take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Kind", "PlotOptions", "ReportOptions"]

# The kinds of pictures.
Kind: TypeAlias = Literal["bar", "beeswarm", "heatmap", "scatter", "waterfall"]


@dataclass(frozen=True, eq=False)
class PlotOptions:
    """How a result is drawn; see `Result.plot`."""

    ax: Axes | None
    kind: Kind | None
    output: int | str | None
    max_features: int

    def check_single_output(self, owner: str) -> None:
        """Raise an error if an output is chosen of a result that has no outputs."""
        _check_none(owner, output=self.output)


@dataclass(frozen=True, eq=False)
class ReportOptions:
    """What a report is called, shows and concludes; see `Result.to_html`."""

    name: str | tuple[str, str] | None
    samples: tuple[Any, Any] | None
    alpha: float | None

    def title(self, owner: str, default: str) -> str:
        """Return the name of what a report of one model or sequence is of.

        Raises
        ------
        TypeError, ValueError
            If the name is not a text, or options of comparisons are given.
        """
        _check_none(owner, samples=self.samples, alpha=self.alpha)
        if self.name is not None and not isinstance(self.name, str):
            raise TypeError(f"name of a {owner} is a text, for the title; got {self.name!r}")
        return self.name or default

    def comparison(
        self, owner: str, names: tuple[str, str], alpha: float
    ) -> tuple[tuple[str, str], tuple[Any, Any] | None, float]:
        """Return the names of two compared tables, the tables if they are given, and the level α.

        Parameters
        ----------
        owner : str
            The name of the class of the result.
        names : tuple of str
            What the tables are called by default.
        alpha : float
            The default level.
        """
        if self.name is not None:
            pair: Any = self.name
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(
                    f"name of a {owner} is a pair, what both tables are called, such as "
                    f"name=('May', 'June'); got {self.name!r}"
                )
            names = str(pair[0]), str(pair[1])
        tables: Any = self.samples
        if tables is not None and (not isinstance(tables, tuple | list) or len(tables) != 2):
            raise ValueError("samples are a pair of tables, both that were compared: (X, Y)")
        alpha = alpha if self.alpha is None else self.alpha
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha must be between 0 and 1, such as 0.05; got {alpha!r}")
        return names, None if tables is None else (tables[0], tables[1]), alpha


def _check_none(owner: str, **options: Any) -> None:
    """Raise an error if an option is given that a result does not support."""
    for name, value in options.items():
        if value is not None:
            text = repr(value)
            shown = text if len(text) <= 40 else "..."
            raise ValueError(f"{owner} does not support {name}={shown}. Leave it out")
