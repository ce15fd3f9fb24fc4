"""Kernels of single columns, centered on a sample: k̃(x, y) has mean 0 over the rows.

With the rows u of the sample, r(x) = mean_u k(x, u) and g = mean_u r(u),

    k̃(x, y) = (k(x, y) − r(x) − r(y) + g) / τ,    τ = mean_u k(u, u) − g,

so the mean of k̃(u, u) is 1. If the rows of the sample are compared with new rows, as in drift
detection, both must be centered in the same way: then r(u) of a row of the sample, and g, are means
over the other rows. For the engine, a factor 1 + λ k̃ is 1 + w k(x, y) − s(x) − s(y) with the weight
w = λ/τ; the offsets s are an additional column next to the values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from pkex import _core
from pkex.kernels.family import Factor, Family, add_family
from pkex.typing import Float

# The number of sorted values between which the median distance is computed, if there are more.
_QUANTILES = 1000
# The length-scale of numbers, in median distances between their values: in experiments, changes of
# means and of spreads are then detected about equally often.
_MEDIANS = 2.0
# The fewest rows that categories are weighted by; else one row could outweigh all others.
_MIN_ROWS = 5


def _needs_offsets(*_: object) -> Float:
    raise TypeError(
        "OrthogonalANOVA compares rows with the sample that it was fitted to, which this "
        "computation does not support; use RBF or another kernel of pkex.kernels"
    )


_NUMBER = add_family(Family("centered_rbf", _needs_offsets, is_of_distance=False))
_CATEGORIES = add_family(
    Family("centered_categorical", _needs_offsets, is_of_distance=False, compares_labels=True)
)


class CenteredColumn(ABC):
    """A kernel of one column, centered on a sample."""

    n_columns: int
    """The number of columns of the engine's rows: the values, and additional columns."""

    @abstractmethod
    def engine_columns(self, entries: Float, share: float, *, are_own: bool = False) -> list[Float]:
        """Return the values and the additional columns for the factor 1 + share · k̃.

        Set `are_own` if these are the values of the sample, which are compared with other rows.
        """

    @abstractmethod
    def factor(self, column: int, share: float) -> Factor:
        """Return the factor 1 + share · k̃ for the engine, for rows with the values in `column`."""

    @abstractmethod
    def evaluate(self, left: Float, right: Float) -> Float:
        """Return k̃ between all values (n,) and (m,), of shape (n, m)."""

    @abstractmethod
    def diagonal(self, entries: Float) -> Float:
        """Return k̃ of each value with itself, of shape (n,)."""


@dataclass(frozen=True)
class CenteredNumber(CenteredColumn):
    """A Gaussian kernel, centered.

    Parameters
    ----------
    length_scale : float
        ℓ of exp(−(r/ℓ)²/2).
    mean : float
        g.
    centers, moments : tuple of float
        The function r in the engine's form.
    """

    length_scale: float
    mean: float
    centers: tuple[float, ...] = field(repr=False)
    moments: tuple[float, ...] = field(repr=False)

    n_columns = 2

    def __post_init__(self) -> None:
        _check(0.0 < self.length_scale < math.inf, "length_scale", self.length_scale)
        _check(0.0 <= self.mean < 1.0, "mean", self.mean)
        self._means(np.zeros(1))

    @classmethod
    def of(cls, column: Float, *, looks_ahead: bool = False) -> CenteredNumber:
        """Center the kernel of twice the median distance between the values of a column."""
        length_scale = float(
            np.clip(_MEDIANS * _typical_distance(column), _MIN_LENGTH, _MAX_LENGTH)
        )
        entries = np.ascontiguousarray(column)
        centers, moments = _core.gauss_mean(entries, length_scale)
        means = _core.gauss_mean_at(entries, length_scale, centers, moments)
        if looks_ahead:
            means = _leave_one_out_means(means, 1.0)
        mean = max(0.0, math.fsum(means.tolist()) / len(column))
        return cls(length_scale, mean, tuple(centers.tolist()), tuple(moments.tolist()))

    def engine_columns(self, entries: Float, share: float, *, are_own: bool = False) -> list[Float]:
        """Return the values, and s = w (r − g/2)."""
        weight, means = share / (1.0 - self.mean), self._means(entries)
        if are_own:
            means = _leave_one_out_means(means, 1.0)
        return [entries, weight * (means - self.mean / 2.0)]

    def factor(self, column: int, share: float) -> Factor:
        """Return the engine's factor, with the length-scale and w."""
        parameters = np.array([[self.length_scale, share / (1.0 - self.mean)]])
        return Factor(_NUMBER, np.array([column], dtype=np.int64), parameters)

    def evaluate(self, left: Float, right: Float) -> Float:
        """Return k̃ between all values."""
        with np.errstate(over="ignore"):
            kernel = np.exp(-0.5 * ((left[:, None] - right) / self.length_scale) ** 2)
        differences = kernel - self._means(left)[:, None] - self._means(right) + self.mean
        values: Float = differences / (1.0 - self.mean)
        return values

    def diagonal(self, entries: Float) -> Float:
        """Return (1 − 2r + g)/τ."""
        values: Float = (1.0 - 2.0 * self._means(entries) + self.mean) / (1.0 - self.mean)
        return values

    def _means(self, entries: Float) -> Float:
        return _core.gauss_mean_at(
            np.ascontiguousarray(entries),
            self.length_scale,
            np.array(self.centers),
            np.array(self.moments),
        )


@dataclass(frozen=True)
class CenteredCategories(CenteredColumn):
    """The centered kernel of categories: 1/p if two are equal, else 0.

    p is the share of the category among the rows of the sample, and at least `least`. The MMD of
    this kernel is the statistic of a χ² test.

    Parameters
    ----------
    codes, shares : tuple of float
        The categories as ascending numbers, and their shares among the rows. For a single
        category, k̃ is 0 between it and any other.
    least : float
    n_rows : int or None
        The number of rows, if the sample is compared with other rows; None if with all rows.
    """

    codes: tuple[float, ...] = field(repr=False)
    shares: tuple[float, ...] = field(repr=False)
    least: float = field(repr=False)
    n_rows: int | None = field(default=None, repr=False)

    n_columns = 3

    def __post_init__(self) -> None:
        _check(0.0 < self.least <= 1.0, "least", self.least)
        is_count = self.n_rows is None or (type(self.n_rows) is int and self.n_rows >= 2)
        _check(is_count, "n_rows", self.n_rows)
        is_valid = all(0.0 < share <= 1.0 for share in self.shares)
        _check(len(self.shares) == len(self.codes) > 0 and is_valid, "shares", self.shares)
        _check(all(map(math.isfinite, self.codes)), "codes", self.codes)
        _check(list(self.codes) == sorted(set(self.codes)), "codes", self.codes)
        _check(self._scale > 0.0, "shares", self.shares)

    @classmethod
    def of(cls, column: Float, *, looks_ahead: bool = False) -> CenteredCategories:
        """Center the kernel on the values of a column."""
        codes, counts = np.unique(column, return_counts=True)
        shares = counts / len(column)
        least = min(1.0, _MIN_ROWS / (len(column) + (len(codes) == 1)))
        n_rows = len(column) if looks_ahead else None
        return cls(tuple(codes.tolist()), tuple(shares.tolist()), least, n_rows)

    @property
    def _amplitudes(self) -> Float:
        return 1.0 / np.maximum(self.shares, self.least)

    @property
    def _mean(self) -> float:
        """The mean g = Σ p r with r = p q and the amplitudes q."""
        shares, amplitudes = np.array(self.shares), self._amplitudes
        return math.fsum((shares * self._means(shares, amplitudes, self.n_rows)).tolist())

    @property
    def _scale(self) -> float:
        """τ = Σ p q − g: the number of categories minus 1 if none is rare; 1 for a single one."""
        if len(self.codes) == 1:
            return 1.0
        return math.fsum((np.array(self.shares) * self._amplitudes).tolist()) - self._mean

    def engine_columns(self, entries: Float, share: float, *, are_own: bool = False) -> list[Float]:
        """Return the values, s = w (r − g/2), and q."""
        shares, amplitudes = self._shares_and_amplitudes(entries)
        means = self._means(shares, amplitudes, self.n_rows if are_own else None)
        return [entries, share / self._scale * (means - self._mean / 2.0), amplitudes]

    @staticmethod
    def _means(shares: Float, amplitudes: Float, n_rows: int | None) -> Float:
        """Return r = p q, over the other rows if a number of rows is given."""
        means = shares * amplitudes
        return means if n_rows is None else _leave_one_out_means(means, amplitudes, n_rows)

    def factor(self, column: int, share: float) -> Factor:
        """Return the engine's factor, with w."""
        parameters = np.array([[share / self._scale]])
        return Factor(_CATEGORIES, np.array([column], dtype=np.int64), parameters)

    def evaluate(self, left: Float, right: Float) -> Float:
        """Return k̃ between all values."""
        p, q = self._shares_and_amplitudes(left)
        other_p, other_q = self._shares_and_amplitudes(right)
        kernel = np.where(left[:, None] == right, q[:, None], 0.0)
        differences = kernel - (p * q)[:, None] - other_p * other_q + self._mean
        values: Float = differences / self._scale
        return values

    def diagonal(self, entries: Float) -> Float:
        """Return (q − 2r + g)/τ."""
        shares, amplitudes = self._shares_and_amplitudes(entries)
        values: Float = (amplitudes * (1.0 - 2.0 * shares) + self._mean) / self._scale
        return values

    def _shares_and_amplitudes(self, entries: Float) -> tuple[Float, Float]:
        """Return the shares of values in the sample, 0 for unknown ones, and q."""
        codes = np.array(self.codes)
        places = np.minimum(np.searchsorted(codes, entries), len(codes) - 1)
        shares = np.where(codes[places] == entries, np.array(self.shares)[places], 0.0)
        return shares, 1.0 / np.maximum(shares, self.least)


def centered_column(
    column: Float, *, is_label: bool, looks_ahead: bool = False
) -> CenteredNumber | CenteredCategories | None:
    """Center the kernel of a column on its values; None if it is constant.

    Parameters
    ----------
    column : ndarray of shape (n,)
    is_label : bool
        Whether values are categories.
    looks_ahead : bool
        Whether these rows are compared with new ones. Then means exclude pairs of a row with
        itself, and new values in a constant column are distinguished.
    """
    if (column == column[0]).all():
        return CenteredCategories.of(column, looks_ahead=True) if looks_ahead else None
    kind = CenteredCategories if is_label else CenteredNumber
    return kind.of(column, looks_ahead=looks_ahead)


def _leave_one_out_means(means: Float, diagonal: Float | float, n_rows: int | None = None) -> Float:
    """Return means over the other rows, given means over all rows and each row's own value."""
    n = len(means) if n_rows is None else n_rows
    result: Float = (n * means - diagonal) / (n - 1.0)
    return result


def _typical_distance(column: Float) -> float:
    """Return the median distance between values, or between distinct values if it is 0.

    For more than 1000 values, those at evenly spaced ranks are used, so the result does not depend
    on the order of rows.
    """
    entries = np.sort(column)
    if len(entries) > _QUANTILES:
        ranks = np.linspace(0, len(entries) - 1, _QUANTILES).round().astype(np.intp)
        # Distinct values must not all fall between the ranks.
        entries = entries[ranks]
        entries[0], entries[-1] = column.min(), column.max()
    return _core.median_distance(entries)


def _check(is_valid: bool, name: str, value: object) -> None:
    if not is_valid:
        raise ValueError(f"{name} of a centered kernel is out of range: {value!r}")


# Length-scales must have finite reciprocals.
_MIN_LENGTH, _MAX_LENGTH = 1e-307, 1e308
