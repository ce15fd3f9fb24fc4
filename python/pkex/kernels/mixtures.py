"""Functions of a distance that are mixtures of Gaussians.

Matérn's and the rational quadratic kernel are f(s) = ∫ exp(−v s) dμ(v) in the squared distance s,
with the rate v made of a random number u of a gamma distribution. The trapezoidal rule in log u is
exact to rounding [1]_, with tens to hundreds of rates; `gaussian_sums` chooses few of these.

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

from pkex.typing import Float

__all__ = ["FLAT", "GammaMixture", "MaternMixture", "Mixture", "RationalQuadraticMixture"]

# Of the trapezoidal rule, and of the masses that its ends leave out.
_ROUNDING = 1e-15
_LEFT_OUT = 1e-18
# Rates beyond e^690 tell apart no distances that differ from 0.
_LARGEST_LOG = 690.0
# Of the exponent v s: decayed.
FLAT = 40.0
_LEAST_SQUARE = 1e-290
# The numbers of values that are held at a time.
_CHUNK = 1 << 20


class Mixture(ABC):
    """f(s) = f(0) − ∫ (1 − exp(−v s)) dμ(v) of a squared distance s ≥ 0."""

    @property
    def at_zero(self) -> float:
        """f(0)."""
        return 1.0

    def unit(self, high: float) -> float:
        """Return what errors up to the squared distance `high` are relative to: here f(0)."""
        return self.at_zero

    @abstractmethod
    def value(self, squares: Float) -> Float:
        """Return f(s), to rounding."""

    @abstractmethod
    def decay(self, squares: Float) -> Float:
        """Return f(0) − f(s) without cancellation."""

    def size(self, squares: Float, high: float) -> Float:
        """Return the size of the decay, which grows with s, where s is at most `high`."""
        return np.abs(self.decay(squares))

    @abstractmethod
    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return rates, ascending, which are enough between two distances, and rough weights."""


@dataclass(frozen=True)
class GammaMixture(Mixture):
    """A mixture ∫ exp(−v s) dμ(v) with v a function of a number u of a gamma distribution.

    Parameters
    ----------
    shape : float
        Of that distribution, with the density u^(shape−1) e^(−u) / Γ(shape).
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
            decays = np.einsum("ij,j->i", np.expm1(-some * rates), weights)
            results[start : start + step] = 1.0 + decays
        return np.maximum(values, 0.0)

    def decay(self, squares: Float) -> Float:
        """Return 1 − f(s) without cancellation."""
        rates, weights = _trapezoid(self, float(squares.min(initial=1.0, where=squares > 0.0)))
        exponents = np.multiply.outer(squares, rates)
        decay: Float = -np.einsum("...j,j->...", np.expm1(-exponents), weights)
        return decay

    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return the rates and weights of the trapezoidal rule."""
        return _trapezoid(self, low)


class MaternMixture(GammaMixture):
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


class RationalQuadraticMixture(GammaMixture):
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


def _trapezoid(mixture: GammaMixture, finest: float) -> tuple[Float, Float]:
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
def _trapezoid_from(mixture: GammaMixture, finest: float) -> tuple[Float, Float]:
    shape = mixture.shape
    step = math.log(2.0) / _steps_per_octave(shape)
    # The mass below u is at most u^shape / Γ(shape + 1), that above falls off with e^(−u).
    lowest = (math.log(_LEFT_OUT) + math.lgamma(shape + 1.0)) / shape
    lowest = max(min(lowest, mixture.log_u_of(FLAT / finest)), -_LARGEST_LOG)
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
