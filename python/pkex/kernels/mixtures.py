"""Functions of a distance that are mixtures of Gaussians, and the few of these that are enough.

Matérn's and the rational quadratic kernel are f(s) = ∫ exp(−v s) dμ(v) in the squared distance s,
with the rate v made of a random number u of a gamma distribution. Each Gaussian is a product over
columns, and so the kernel is a sum of products as soon as a finite sum stands in for the integral.

The trapezoidal rule in log u is exact to rounding [1]_, with tens to hundreds of rates. Far fewer
are enough between the least and the largest distance that occur: they are chosen by an
orthogonalisation with pivoting, and weighted by least squares.

References
----------
.. [1] Trefethen, L. N., Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule.
   SIAM Review 56(3), section 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["MaternMixture", "Mixture", "RationalQuadraticMixture"]

# Of the trapezoidal rule, and of the masses that its ends leave out.
_ROUNDING = 1e-15
_LEFT_OUT = 1e-18
# Rates beyond e^690 tell apart no distances that differ from 0.
_LARGEST_LOG = 690.0
# Of the exponent v s: decayed.
_FLAT = 40.0
_LEAST_SQUARE = 1e-290
# The numbers of values that are held at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Mixture(ABC):
    """f(s) = ∫ exp(−v s) dμ(v) of a squared distance s ≥ 0, with f(0) = 1.

    Parameters
    ----------
    shape : float
        Of the gamma distribution of u, with the density u^(shape−1) e^(−u) / Γ(shape).
    """

    shape: float

    @abstractmethod
    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""

    @abstractmethod
    def log_u_of(self, rate: float) -> float:
        """Return the log u below which rates are larger than one, infinity if nowhere."""

    def value(self, squares: Float) -> Float:
        """Return f(s), to rounding."""
        rates, weights = _trapezoid(self, 1.0)
        values = np.empty(squares.shape)
        flat, results = squares.ravel(), values.reshape(-1)
        step = max(1, _CHUNK // len(rates))
        for start in range(0, flat.size, step):
            some = flat[start : start + step, None]
            # 1 − Σ w (1 − e^(−vs)): what the ends of the rule leave out is at distance 0.
            results[start : start + step] = 1.0 + np.expm1(-some * rates) @ weights
        return np.maximum(values, 0.0)

    def decay(self, squares: Float) -> Float:
        """Return 1 − f(s) without cancellation."""
        rates, weights = _trapezoid(self, float(squares.min(initial=1.0, where=squares > 0.0)))
        decay: Float = -(np.expm1(-np.multiply.outer(squares, rates)) @ weights)
        return decay

    def gaussians(self, low: float, high: float, error: float) -> tuple[Float, Float]:
        """Return rates v and weights w with f(s) = 1 + Σ w (e^(−vs) − 1) for 0 ≤ s ≤ high.

        Parameters
        ----------
        low, high : float
            A squared distance from which on the decay 1 − f is known to many digits, and the
            largest squared distance.
        error : float
            The error is at most this, and at most 100 times this part of 1 − f(s) where s ≥ low.
            The same rule is returned for all arguments between two powers of 4.

        Returns
        -------
        rates, weights : ndarray of shape (terms,)
            Ascending rates. What the weights lack to 1 is the weight of the rate 0.
        """
        rounded = 4.0 ** math.floor(_log4(low)), 4.0 ** math.ceil(_log4(high))
        return _rule(_Selection(self, *rounded, error))


class MaternMixture(Mixture):
    """Matérn's kernel of smoothness ν, of s = (r/ℓ)²: v = ν / (2u).

    It is (1/Γ(ν)) ∫ u^(ν−1) e^(−u) e^(−z²/(4u)) du with z² = 2ν s (Gradshteyn & Ryzhik, 3.471.9).
    """

    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""
        return math.log(self.shape / 2.0) - log_u

    def log_u_of(self, rate: float) -> float:
        """Return the log u below which rates are larger than one."""
        return math.log(self.shape / 2.0) - math.log(rate)

    def value(self, squares: Float) -> Float:
        """Return f(s), to rounding."""
        # From here on f is 0, and infinity times 0 would be no number.
        z = np.minimum(np.sqrt(2.0 * self.shape * squares), 1000.0)
        polynomials = {0.5: (1.0, 0.0, 0.0), 1.5: (1.0, 1.0, 0.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}
        if self.shape not in polynomials:
            return super().value(squares)
        # Rasmussen & Williams (2006), equation 4.17.
        one, linear, square = polynomials[self.shape]
        values: Float = (one + linear * z + square * z * z) * np.exp(-z)
        return values


class RationalQuadraticMixture(Mixture):
    """The rational quadratic kernel (1 + s/(2α))^(−α), of s = (r/ℓ)²: v = u / (2α)."""

    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""
        return log_u - math.log(2.0 * self.shape)

    def log_u_of(self, rate: float) -> float:
        """Return the log u below which rates are larger than one: for none."""
        return math.inf

    def value(self, squares: Float) -> Float:
        """Return f(s), to rounding."""
        values: Float = np.exp(-self.shape * np.log1p(squares / (2.0 * self.shape)))
        return values


def _log4(number: float) -> float:
    return math.log2(min(max(number, 1e-280), 1e280)) / 2.0


def _trapezoid(mixture: Mixture, finest: float) -> tuple[Float, Float]:
    """Return the rates, ascending, and the weights of the trapezoidal rule in log u.

    Parameters
    ----------
    mixture : Mixture
    finest : float
        The least squared distance s > 0 at which 1 − f(s) is to be known to nearly all digits.
    """
    # The same rule for all between two powers of 2^32.
    octaves = 32 * math.floor(math.log2(max(finest, _LEAST_SQUARE)) / 32.0)
    return _trapezoid_from(mixture, math.ldexp(1.0, octaves))


@lru_cache(maxsize=64)
def _trapezoid_from(mixture: Mixture, finest: float) -> tuple[Float, Float]:
    shape = mixture.shape
    step = math.log(2.0) / _steps_per_octave(shape)
    # The mass below u is at most u^shape / Γ(shape + 1), that above falls off with e^(−u).
    lowest = (math.log(_LEFT_OUT) + math.lgamma(shape + 1.0)) / shape
    lowest = max(min(lowest, mixture.log_u_of(_FLAT / finest)), -_LARGEST_LOG)
    highest = math.log(shape + 45.0 + 9.0 * math.sqrt(shape))
    # The excess x = log(u/shape), whose multiples of the step have no rounding errors.
    middle = math.log(shape)
    x: Float = step * np.arange(
        math.floor((lowest - middle) / step),
        math.ceil((highest - middle) / step) + 1,
        dtype=np.float64,
    )
    # u^shape e^(−u) / Γ(shape), so that large terms do not cancel.
    with np.errstate(under="ignore"):
        weights = step * np.exp(-shape * _exp_less_line(x) - _log_gamma_excess(shape))
    # What the rule has below, where e^(−u) is 1: a geometric series.
    weights[0] /= -math.expm1(-step * shape)
    rates = np.exp(mixture.log_rates(x + middle))
    order = np.argsort(rates)
    return rates[order], weights[order]


def _exp_less_line(x: Float) -> Float:
    """Return e^x − 1 − x, near 0 by its series."""
    coefficients = [1.0 / math.factorial(k) for k in range(16, 1, -1)]
    return np.where(np.abs(x) < 0.5, x * x * np.polyval(coefficients, x), np.expm1(x) - x)


def _log_gamma_excess(shape: float) -> float:
    """Return log Γ(shape) − shape log(shape) + shape, for large ones by Stirling's series."""
    if shape < 50.0:
        return math.lgamma(shape) - shape * math.log(shape) + shape
    series = 1.0 / (12.0 * shape) - 1.0 / (360.0 * shape**3) + 1.0 / (1260.0 * shape**5)
    return 0.5 * math.log(2.0 * math.pi / shape) + series


def _steps_per_octave(shape: float) -> int:
    """Return how many steps of log u a factor of 2 takes.

    The rule's error is the characteristic function of log u at the frequency y = 2π/h,
    2 |Γ(shape + iy)| / Γ(shape) (Poisson's summation formula). Where the shape is small most of the
    mass never decays; the error is then that of the slope of f at 0, which has shape + 1.
    """
    shape = shape if shape >= 1.0 else shape + 1.0
    # For large shapes the quotient is exp(−y²/(2 shape)) at least.
    least = math.sqrt(-2.0 * shape * math.log(_ROUNDING)) * math.log(2.0) / (2.0 * math.pi)
    steps = max(1, int(least))
    while True:
        size = _log_gamma_size(shape, 2.0 * math.pi * steps / math.log(2.0)) - math.lgamma(shape)
        if size < math.log(_ROUNDING / 2.0):
            return steps
        steps += 1


def _log_gamma_size(real: float, imaginary: float) -> float:
    """Return log |Γ(z)| by Stirling's formula; |z| is at least 9 here."""
    z = complex(real, imaginary)
    logarithm = complex(math.log(abs(z)), math.atan2(imaginary, real))
    stirling = (z - 0.5) * logarithm - z + 1.0 / (12.0 * z)
    return stirling.real + 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class _Selection:
    """Which of the trapezoidal rule's rates to choose: those for some distances and an error."""

    mixture: Mixture
    low: float
    high: float
    error: float

    def tolerance(self, decay: Float) -> Float:
        """Return what the error may be where the decay is this."""
        (least,) = self.mixture.decay(np.array([self.low]))
        bound: Float = self.error * np.minimum(1.0, 100.0 * np.maximum(decay, least))
        return bound

    def squares(self, per_octave: int, at_the_end: int) -> Float:
        """Return distances from where nothing can be wrong to the largest, dense at the end."""
        lowest = self.low
        (least,) = self.tolerance(np.zeros(1))
        while lowest > 1e-290 and self.mixture.decay(np.array([lowest]))[0] > least / 4.0:
            lowest /= 4.0
        octaves = math.log2(self.high / lowest)
        angles = np.linspace(0.0, math.pi, at_the_end)[1:]
        return np.unique(
            np.concatenate(
                [
                    np.geomspace(lowest, self.high, int(octaves * per_octave) + 2),
                    0.5 * self.high * (1.0 - np.cos(angles)),
                ]
            )
        )


@lru_cache(maxsize=256)
def _rule(selection: _Selection) -> tuple[Float, Float]:
    """Add rates until the errors at many distances are below the tolerance."""
    squares, checked = selection.squares(4, 97), selection.squares(7, 401)
    rates, weights = _trapezoid(selection.mixture, float(squares[0]))
    # Others are flat, or have decayed, at all distances.
    kept = (rates * selection.high > 1e-6 * selection.error) & (rates * squares[0] < 2.0 * _FLAT)
    rates, weights = rates[kept], weights[kept]
    decay, of_checked = (selection.mixture.decay(some) for some in (squares, checked))
    unit, allowed = selection.tolerance(decay), selection.tolerance(of_checked)
    basis, of_basis = (-np.expm1(-np.outer(some, rates)) for some in (squares, checked))
    order = _pivots(basis * weights / unit[:, None], decay / unit)
    count = order.enough
    while True:
        chosen = np.sort(order.columns[:count])
        found = _least_squares(basis[:, chosen] / unit[:, None], decay / unit)
        wrong = np.abs(of_basis[:, chosen] @ found - of_checked) > allowed
        if not wrong.any() or count == len(order.columns):
            break
        count = min(count + max(1, count // 16), len(order.columns))
    if wrong.any():
        # Rounding is in the way: the whole rule then.
        return rates, weights
    return rates[chosen], found


@dataclass(frozen=True, eq=False)
class _Order:
    """Columns, those first that span the others best, and how many of them span a target."""

    columns: NDArray[np.intp]
    enough: int


def _pivots(matrix: Float, target: Float) -> _Order:
    """Orthogonalise the largest column of what is left, again and again (pivoted Gram–Schmidt)."""
    left, missing = matrix.copy(), target.copy()
    directions = np.empty((min(matrix.shape), len(matrix)))
    columns: list[int] = []
    enough = len(directions)
    while len(columns) < len(directions):
        sizes = np.einsum("ij,ij->j", left, left)
        sizes[columns] = -1.0
        largest = int(sizes.argmax())
        before = directions[: len(columns)]
        direction = left[:, largest] - before.T @ (before @ left[:, largest])
        length = math.sqrt(direction @ direction)
        if not length > 0.0:
            break
        direction /= length
        directions[len(columns)] = direction
        columns.append(largest)
        left -= np.outer(direction, direction @ left)
        missing -= direction * (direction @ missing)
        if enough == len(directions) and np.abs(missing).max() < 1.0:
            enough = len(columns)
    return _Order(np.array(columns), min(enough, len(columns)))


def _least_squares(matrix: Float, target: Float) -> Float:
    """Return the coefficients of columns, which are brought to the same length first."""
    lengths = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    found: Float = np.linalg.lstsq(matrix / lengths, target, rcond=1e-15)[0] / lengths
    return found
