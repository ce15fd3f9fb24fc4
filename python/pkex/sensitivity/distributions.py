"""Distributions of single columns, and their quadrature rules."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputTypeError
from pkex.functions.products import Width
from pkex.results.tables import shortened
from pkex.typing import Float

# The number of nodes of a panel, and the tolerance when panels are halved.
_NODES = 10
_NEGLIGIBLE = 2e-16
# The width of panels, relative to the standard deviation, where the density is unreliable.
_NARROW = 1e-5
# The rounding error of a distribution function.
_ROUNDING = 1e-15
# Probabilities of the tails that are cut, in turn until the error of the variance is at most the
# tolerance.
_TAILS = (1e-17, 1e-40, 1e-100, 1e-300)
_ERROR_OF_VARIANCE = 1e-12
# The number of panels of a tail that is integrated to the last of these probabilities.
_TAIL_PANELS = 32
# The largest numbers of halvings, of panels that are halved together, and of panels.
_MAX_HALVINGS, _MAX_HALVED, _MAX_PANELS = 1200, 500, 1 << 13
# The largest number of values of a discrete distribution.
_MAX_ATOMS = 100_000


class Marginal(ABC):
    """The distribution of one column."""

    is_exact: bool
    """Whether the rule at level 0 is exact."""

    @abstractmethod
    def rule(
        self, level: int = 0, kinks: Float | None = None, widths: Sequence[Width] = ()
    ) -> tuple[NDArray[Any], Float]:
        """Return the nodes of a rule and their weights, which add up to 1.

        Parameters
        ----------
        level : int, default 0
            Each level has twice the nodes of the previous one.
        kinks : ndarray of shape (k,), optional
            Values at which integrands are not smooth.
        widths : sequence of Width, optional
            Distances over which integrands change, and their ranges.
        """

    @abstractmethod
    def tails(self) -> tuple[NDArray[Any], Float]:
        """Return the ends of the rule, and the probabilities beyond these."""

    @abstractmethod
    def with_tails(self) -> Marginal:
        """Return the distribution with a rule up to tails of probabilities of 1e-300."""


class Atoms(Marginal):
    """A discrete distribution.

    Parameters
    ----------
    entries : ndarray of shape (m,)
        Distinct values.
    weights : ndarray of shape (m,)
        Their probabilities.
    """

    is_exact = True

    def __init__(self, entries: NDArray[Any], weights: Float) -> None:
        self._rule = entries, weights

    @classmethod
    def of_column(cls, entries: NDArray[Any], weights: Float) -> Atoms:
        """Return the distribution of the values of weighted rows."""
        if entries.dtype == object:
            indices: dict[Any, int] = {}
            places = np.array([indices.setdefault(entry, len(indices)) for entry in entries])
            atoms = np.empty(len(indices), dtype=object)
            atoms[:] = list(indices)
        else:
            atoms, places = np.unique(entries, return_inverse=True)
        shares: Float = np.bincount(places, weights, len(atoms)).astype(np.float64)
        return cls(atoms, shares)

    def rule(
        self, level: int = 0, kinks: Float | None = None, widths: Sequence[Width] = ()
    ) -> tuple[NDArray[Any], Float]:
        return self._rule

    def tails(self) -> tuple[NDArray[Any], Float]:
        entries, _ = self._rule
        return entries[[0, -1]], np.zeros(2)

    def with_tails(self) -> Atoms:
        return self


class Continuous(Marginal):
    """A distribution with a density, such as ``scipy.stats.norm(0.0, 1.0)``.

    The rule is composite Gauss–Legendre on panels, which are halved until mass and second moment of
    each agree with those of its halves to 2e-16. So panels are small near kinks and poles of the
    density. Tails are cut where the error of the variance is 1e-12. The mass of narrow panels, as
    near a pole, is taken from the distribution function if it differs from the density's.

    Parameters
    ----------
    frozen : frozen distribution of scipy.stats
    name : str
        The name of the column in messages.

    Raises
    ------
    ValueError
        If there is no such rule.
    """

    is_exact = False

    def __init__(self, frozen: Any, name: str) -> None:
        self._pdf: Callable[[Float], Float] = frozen.pdf
        self._cdf: Callable[[Float], Float] = frozen.cdf
        self._sf: Callable[[Float], Float] = frozen.sf
        self._frozen = frozen
        self._center, self._scale = float(frozen.median()), float(frozen.std())
        # Values far from 0 are rounded.
        self._rounding = float(np.spacing(abs(self._center)) / self._scale)
        previous_variance = np.nan
        for tail in _TAILS:
            ends = self._ends(tail)
            if not np.isfinite(ends).all():
                continue
            with np.errstate(all="ignore"):
                self._panels = self._refine(np.linspace(*ends, 9))
                entries, weights = self.rule()
                variance = weights @ ((entries - weights @ entries) / self._scale) ** 2
                mass = self._moments(self._panels[:-1], self._panels[1:])[0].sum()
            tolerance = _ERROR_OF_VARIANCE + 4.0 * self._rounding
            # For some distributions, the variance in scipy is less exact than the density.
            if abs(variance - 1.0) <= tolerance or (
                abs(variance - previous_variance) <= tolerance and abs(mass - 1.0) <= tolerance
            ):
                return
            previous_variance = variance
        raise InputError(
            "inputs",
            "has a density that is not smooth, or whose tails pkex cannot integrate to 1e-12",
            "give rows instead, such as a large sample of it",
            column=name,
        )

    def tails(self) -> tuple[Float, Float]:
        ends = self._panels[[0, -1]]
        return ends, np.array([self._cdf(ends[0]), self._sf(ends[1])])

    def with_tails(self) -> Continuous:
        low, high = self._ends(_TAILS[-1])
        first, last = self._panels[[0, -1]]
        tails = [
            np.linspace(start, end, _TAIL_PANELS + 1)
            for start, end in ((low, first), (last, high))
            if np.isfinite([start, end]).all() and start < end
        ]
        result = copy.copy(self)
        result._panels = np.unique(np.concatenate([self._panels, *tails]))
        return result

    def _ends(self, tail: float) -> tuple[float, float]:
        """Return the ends of the support, or quantiles of the probability of a tail."""
        frozen = self._frozen
        low, high = frozen.support()
        ends = frozen.ppf(tail), frozen.isf(tail)
        if ends[1] == np.inf:
            ends = ends[0], self._upper_end(tail)
        return max(low, ends[0]), min(high, ends[1])

    def _upper_end(self, tail: float) -> float:
        """Return an end with less mass above it; some versions of SciPy lack such quantiles."""
        distance = self._scale
        while self._sf(np.asarray(self._center + distance)) > tail and distance < 1e300:
            distance *= 2.0
        return self._center + distance

    def rule(
        self, level: int = 0, kinks: Float | None = None, widths: Sequence[Width] = ()
    ) -> tuple[NDArray[Any], Float]:
        edges = self._panels
        if kinks is not None:
            inner = kinks[(kinks > edges[0]) & (kinks < edges[-1])]
            edges = np.unique(np.concatenate([edges, inner]))
        edges = self._narrow_panels(edges, widths)
        for _ in range(level):
            edges = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2.0]))
        entries, weights = self._nodes(edges[:-1], edges[1:])
        return entries.ravel(), weights.ravel() / weights.sum()

    def _narrow_panels(self, edges: Float, widths: Sequence[Width]) -> Float:
        """Halve panels with mass that are more than twice as wide as integrands require."""
        while len(edges) <= _MAX_PANELS:
            low, high = edges[:-1], edges[1:]
            is_wide = np.zeros(len(low), dtype=bool)
            for scale in widths:
                is_wide |= (high - low > 2.0 * scale.width) & scale.meets(low, high)
            if is_wide.any():
                is_wide[is_wide] &= self._masses(low[is_wide], high[is_wide]) > _NEGLIGIBLE
            if not is_wide.any():
                break
            edges = np.sort(np.concatenate([edges, ((low + high) / 2.0)[is_wide]]))
        return edges

    def _masses(self, low: Float, high: Float) -> Float:
        """Return the probabilities of panels."""
        above = self._sf(low) - self._sf(high)
        below = self._cdf(high) - self._cdf(low)
        return np.where(low >= self._center, above, below)

    def _nodes(self, low: Float, high: Float) -> tuple[Float, Float]:
        """Return nodes and weights of panels, of shape (panels, nodes)."""
        nodes, shares = np.polynomial.legendre.leggauss(_NODES)
        half = (high - low)[:, None] / 2.0
        entries = low[:, None] + half * (nodes + 1.0)
        weights = half * shares * self._pdf(entries)
        is_narrow = high - low <= _NARROW * self._scale
        if is_narrow.any():
            narrow_weights = weights[is_narrow]
            sums = narrow_weights.sum(axis=1, keepdims=True)
            is_known = np.isfinite(sums) & (sums > 0.0)
            masses = self._masses(low[is_narrow], high[is_narrow])[:, None]
            mass_shares = np.where(
                is_known, narrow_weights / np.where(is_known, sums, 1.0), shares / 2.0
            )
            # Differences of the distribution function are rounded as well.
            agrees = is_known & (np.abs(sums - masses) <= _ROUNDING)
            weights[is_narrow] = np.where(agrees, narrow_weights, mass_shares * masses)
        return entries, weights

    def _moments(self, low: Float, high: Float) -> Float:
        """Return mass and second moment of panels, of shape (2, panels)."""
        entries, weights = self._nodes(low, high)
        squares = ((entries - self._center) / self._scale) ** 2
        return np.stack([weights.sum(axis=1), (weights * squares).sum(axis=1)])

    def _refine(self, edges: Float) -> Float:
        """Return the edges of panels after all necessary halvings."""
        final_edges = [edges[[0, -1]]]
        low, high = edges[:-1], edges[1:]
        for _ in range(_MAX_HALVINGS):
            middle = low + (high - low) / 2.0
            halves = self._moments(low, middle) + self._moments(middle, high)
            errors = np.abs(self._moments(low, high) - halves)
            is_narrow = high - low <= _NARROW * self._scale
            tolerances = np.where(is_narrow, 5.0 * _NEGLIGIBLE, _NEGLIGIBLE)
            is_good = (errors <= tolerances + self._rounding * halves).all(axis=0)
            final_edges += [low[is_good], high[is_good]]
            low, middle, high = low[~is_good], middle[~is_good], high[~is_good]
            if not 0 < len(low) <= _MAX_HALVED:
                break
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        return np.unique(np.concatenate([*final_edges, low, high]))


def is_distribution(item: Any) -> bool:
    """Whether an object is a distribution of scipy.stats or another library, frozen or not."""
    return hasattr(item, "ppf") or hasattr(item, "icdf")


def _fix_for(item: Any) -> str:
    """Return the fix for an object that is not a frozen distribution; "" if there is none."""
    if hasattr(item, "ppf"):
        return ", which is not frozen: call it, with its parameters"
    if hasattr(item, "icdf"):
        return ": those of scipy's newer kind are not supported, but scipy.stats.norm(0.0, 1.0) is"
    if not isinstance(item, Sequence) or isinstance(item, str):
        return ""
    if len(item) == 2 and all(isinstance(bound, Real) for bound in item):
        return ": of the interval from lo to hi it is scipy.stats.uniform(lo, hi - lo)"
    return ": pass the values of a column as an array, numpy.array(values)"


def distribution_of(frozen: Any, name: str) -> Marginal:
    """Read a frozen distribution of scipy.stats.

    Raises
    ------
    TypeError
        If it is not a frozen distribution.
    ValueError
        If its variance is infinite, or pkex cannot integrate over it.
    """
    generic = getattr(frozen, "dist", None)
    if generic is None or not all(hasattr(frozen, part) for part in ("ppf", "support", "var")):
        raise InputTypeError(
            "inputs",
            "must be rows, or a frozen distribution of scipy.stats for each column, such as "
            f"scipy.stats.uniform(0.0, 1.0); got {shortened(repr(frozen))} for {name!r}"
            f"{_fix_for(frozen)}",
        )
    is_discrete = hasattr(generic, "pmf")
    # For a single value the variance is 0, or a rounding error.
    with np.errstate(all="ignore"):
        variance = float(frozen.var())
    if not (np.isfinite(variance) if is_discrete else 0.0 < variance < np.inf):
        raise InputError(
            "inputs",
            f"has a distribution with the variance {variance}; its parameters may be out of range",
            "give one whose variance is positive and finite, for instance truncated",
            column=name,
        )
    return _discrete_distribution(frozen, name) if is_discrete else Continuous(frozen, name)


def _discrete_distribution(frozen: Any, name: str) -> Atoms:
    """Return a discrete distribution, with tails of 1e-17 cut if it is unbounded."""
    values = getattr(frozen.dist, "xk", None)
    if values is not None:
        entries = (
            np.unique(np.ravel(values)) + frozen.dist._parse_args(*frozen.args, **frozen.kwds)[1]
        )
    else:
        low, high = frozen.support()
        with np.errstate(all="ignore"):
            last = frozen.isf(_TAILS[0])
        # Some distributions lack this quantile.
        last = last if np.isfinite(last) else frozen.ppf(1.0 - 2.0**-53)
        low, high = max(low, frozen.ppf(_TAILS[0])), min(high, last)
        if high - low >= _MAX_ATOMS:
            raise InputError(
                "inputs",
                f"has a distribution of {high - low + 1:.0f} values; at most {_MAX_ATOMS} are "
                "supported",
                ["give a continuous one", "give rows"],
                column=name,
            )
        entries = np.arange(low, high + 1.0)
    weights = np.asarray(frozen.pmf(entries), dtype=np.float64)
    has_mass = weights > 0.0
    return Atoms(entries[has_mass].astype(np.float64), weights[has_mass] / weights.sum())
