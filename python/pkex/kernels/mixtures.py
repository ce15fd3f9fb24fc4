"""Functions of a distance that are mixtures of Gaussians.

The Matérn and rational quadratic kernels are f(s) = ∫ exp(−v s) dμ(v) in the squared distance s,
where the rate v is a function of a random number u with a gamma distribution. The trapezoidal rule
in log u is exact up to rounding [1]_, with tens to hundreds of rates; `gaussian_sums` selects few.

For ∏_i f_i(s) = ∫ exp(−v s) dμ(v), the rate v is the sum of independent rates of the f_i. The
product is approximated by a sum of Gaussians as a whole. It needs about as many Gaussians as one
f_i, instead of the product of the numbers for all f_i.

References
----------
.. [1] Trefethen, L. N., Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule.
   SIAM Review 56(3), section 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np

from pkex.execution.blocks import blocks_of
from pkex.kernels.series import convolve
from pkex.typing import Float

# The error of the trapezoidal rule, and the masses beyond its ends.
_ROUNDING = 1e-15
_OMITTED_MASS = 1e-18
# Rates beyond e^690 do not distinguish distances other than 0.
_MAX_LOG = 690.0
# Terms with an exponent v s of this size have decayed.
FLAT = 40.0
_MIN_SQUARE = 1e-290
# Values held in memory at a time.
_CHUNK = 1 << 20
# Steps of the grid of rates per unit of log₂ v.
_STEPS = 4
# The distance of rates from those with mass, in steps: sums of several can replace one between.
_MARGIN = 32


class Mixture(ABC):
    """f(s) = f(0) − ∫ (1 − exp(−v s)) dμ(v) of a squared distance s ≥ 0."""

    @property
    def at_zero(self) -> float:
        """f(0)."""
        return 1.0

    def unit(self, high: float) -> float:
        """Return the scale of relative errors up to the squared distance `high`, here f(0)."""
        return self.at_zero

    @abstractmethod
    def value(self, squares: Float) -> Float:
        """Return f(s), exact up to rounding."""

    @abstractmethod
    def decay(self, squares: Float) -> Float:
        """Return f(0) − f(s) without cancellation."""

    def size(self, squares: Float, high: float) -> Float:
        """Return the absolute decay, which increases with s, for s up to `high`."""
        return np.abs(self.decay(squares))

    @abstractmethod
    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return ascending rates that suffice between two distances, and approximate weights."""


@dataclass(frozen=True)
class GammaMixture(Mixture):
    """A mixture ∫ exp(−v s) dμ(v), where v is a function of u with a gamma distribution.

    Parameters
    ----------
    shape : float
        The shape of the distribution, with density u^(shape−1) e^(−u) / Γ(shape).
    """

    shape: float

    @abstractmethod
    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""

    @abstractmethod
    def log_u_of(self, rate: float) -> float:
        """Return the log u below which rates exceed `rate`; infinity if rates increase with u."""

    def value(self, squares: Float) -> Float:
        """Return f(s), exact up to rounding."""
        rates, weights = _trapezoid(self, 1.0)
        values = np.empty(squares.shape)
        flat, results = squares.ravel(), values.reshape(-1)
        for block in blocks_of(flat.size, _CHUNK // len(rates)):
            # 1 − Σ w (1 − e^(−vs)): the mass beyond the ends of the rule is at distance 0.
            decays = np.einsum("ij,j->i", np.expm1(-flat[block, None] * rates), weights)
            results[block] = 1.0 + decays
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
    """The Matérn kernel of smoothness ν, for s = (r/ℓ)²: v = ν / (2u).

    It is (1/Γ(ν)) ∫ u^(ν−1) e^(−u) e^(−z²/(4u)) du with z² = 2ν s (Gradshteyn & Ryzhik, 3.471.9).
    """

    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""
        return math.log(self.shape / 2.0) - log_u

    def log_u_of(self, rate: float) -> float:
        """Return the log u below which rates exceed `rate`."""
        return math.log(self.shape / 2.0) - math.log(rate)

    def value(self, squares: Float) -> Float:
        """Return f(s), exact up to rounding."""
        # f is 0 for larger z, where infinity times 0 would be NaN.
        z = np.minimum(np.sqrt(2.0 * self.shape * squares), 1000.0)
        polynomials = {0.5: (1.0, 0.0, 0.0), 1.5: (1.0, 1.0, 0.0), 2.5: (1.0, 1.0, 1.0 / 3.0)}
        if self.shape not in polynomials:
            return super().value(squares)
        # Rasmussen & Williams (2006), equation 4.17.
        values: Float = np.exp(-z)
        constant, linear, square = polynomials[self.shape]
        if linear:
            values *= constant + linear * z + square * z * z
        return values


class RationalQuadraticMixture(GammaMixture):
    """The rational quadratic kernel (1 + s/(2α))^(−α), for s = (r/ℓ)²: v = u / (2α)."""

    def log_rates(self, log_u: Float) -> Float:
        """Return log v, for log u."""
        return log_u - math.log(2.0 * self.shape)

    def log_u_of(self, rate: float) -> float:
        """Return infinity: rates increase with u."""
        return math.inf

    def value(self, squares: Float) -> Float:
        """Return f(s), exact up to rounding."""
        values: Float = np.exp(-self.shape * np.log1p(squares / (2.0 * self.shape)))
        return values


def _trapezoid(mixture: GammaMixture, finest: float) -> tuple[Float, Float]:
    """Return the rates, ascending, and the weights of the trapezoidal rule in log u.

    Parameters
    ----------
    mixture : Mixture
    finest : float
        The smallest squared distance s > 0 at which 1 − f(s) must have nearly all digits.
    """
    # The rule is the same between two powers of 2^32.
    octaves = 32 * math.floor(math.log2(max(finest, _MIN_SQUARE)) / 32.0)
    return _trapezoid_from(mixture, math.ldexp(1.0, octaves))


@lru_cache(maxsize=64)
def _trapezoid_from(mixture: GammaMixture, finest: float) -> tuple[Float, Float]:
    shape = mixture.shape
    step = math.log(2.0) / _steps_per_octave(shape)
    # The mass below u is at most u^shape / Γ(shape + 1); the mass above decays as e^(−u).
    lowest = (math.log(_OMITTED_MASS) + math.lgamma(shape + 1.0)) / shape
    lowest = max(min(lowest, mixture.log_u_of(FLAT / finest)), -_MAX_LOG)
    highest = math.log(shape + 45.0 + 9.0 * math.sqrt(shape))
    # x = log(u/shape) is a multiple of the step, without rounding errors.
    middle = math.log(shape)
    x: Float = step * np.arange(
        math.floor((lowest - middle) / step),
        math.ceil((highest - middle) / step) + 1,
        dtype=np.float64,
    )
    # u^shape e^(−u) / Γ(shape), so that large terms do not cancel.
    with np.errstate(under="ignore"):
        weights = step * np.exp(-shape * _exp_less_line(x) - _log_gamma_excess(shape))
    # The terms below, where e^(−u) is 1, are a geometric series.
    weights[0] /= -math.expm1(-step * shape)
    rates = np.exp(mixture.log_rates(x + middle))
    order = np.argsort(rates)
    return rates[order], weights[order]


def _exp_less_line(x: Float) -> Float:
    """Return e^x − 1 − x, by its series near 0."""
    coefficients = [1.0 / math.factorial(k) for k in range(16, 1, -1)]
    return np.where(np.abs(x) < 0.5, x * x * np.polyval(coefficients, x), np.expm1(x) - x)


def _log_gamma_excess(shape: float) -> float:
    """Return log Γ(shape) − shape log(shape) + shape, by Stirling's series for large shapes."""
    if shape < 50.0:
        return math.lgamma(shape) - shape * math.log(shape) + shape
    series = 1.0 / (12.0 * shape) - 1.0 / (360.0 * shape**3) + 1.0 / (1260.0 * shape**5)
    return 0.5 * math.log(2.0 * math.pi / shape) + series


def _steps_per_octave(shape: float) -> int:
    """Return the number of steps of log u per factor of 2.

    The rule's error is the characteristic function of log u at the frequency y = 2π/h,
    2 |Γ(shape + iy)| / Γ(shape) (Poisson's summation formula). For small shapes, most of the mass
    never decays; the error is then that of the slope of f at 0, whose shape is larger by 1.
    """
    shape = shape if shape >= 1.0 else shape + 1.0
    # For large shapes, the quotient is at least exp(−y²/(2 shape)).
    lower_bound = math.sqrt(-2.0 * shape * math.log(_ROUNDING)) * math.log(2.0) / (2.0 * math.pi)
    steps = max(1, int(lower_bound))
    while True:
        size = _log_gamma_size(shape, 2.0 * math.pi * steps / math.log(2.0)) - math.lgamma(shape)
        if size < math.log(_ROUNDING / 2.0):
            return steps
        steps += 1


def _log_gamma_size(real: float, imaginary: float) -> float:
    """Return log |Γ(z)| by Stirling's formula, for |z| of at least 9."""
    z = complex(real, imaginary)
    logarithm = complex(math.log(abs(z)), math.atan2(imaginary, real))
    stirling = (z - 0.5) * logarithm - z + 1.0 / (12.0 * z)
    return stirling.real + 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True)
class ProductMixture(Mixture):
    """∏_i f_i(ρ_i s) for mixtures f_i with f_i(0) = 1.

    Parameters
    ----------
    parts : tuple of (Mixture, float)
        All f_i, which are not products, with ρ_i.
    """

    parts: tuple[tuple[Mixture, float], ...]

    def value(self, squares: Float) -> Float:
        """Return the product at s, exact up to rounding."""
        product = np.ones(squares.shape)
        for mixture, ratio in self.parts:
            product *= mixture.value(ratio * squares)
        return product

    def decay(self, squares: Float) -> Float:
        """Return 1 − the product without cancellation: 1 − f g = (1 − f) + f (1 − g)."""
        total = np.zeros(squares.shape)
        for mixture, ratio in self.parts:
            total += (1.0 - total) * mixture.decay(ratio * squares)
        return total

    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return a geometric grid of rates, and the approximate measure near each rate."""
        grids = (
            _Grid.of(ratio * rates, weights)
            for mixture, ratio in self.parts
            for rates, weights in [mixture.candidates(ratio * low, ratio * high)]
        )
        return reduce(_Grid.plus, grids).widen()


def product_of(left: Mixture, right: Mixture, ratio: float) -> Mixture:
    """Return the function f(s) g(ρ s) of s."""
    parts = [*_parts_of(left, 1.0), *_parts_of(right, ratio)]
    return ProductMixture(tuple(sorted(parts, key=repr)))


def _parts_of(mixture: Mixture, ratio: float) -> Iterator[tuple[Mixture, float]]:
    parts = mixture.parts if isinstance(mixture, ProductMixture) else ((mixture, 1.0),)
    return ((part, ratio * part_ratio) for part, part_ratio in parts)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Masses of random rates, with rounded logarithms.

    Parameters
    ----------
    first : int
        The logarithm of the first rate, in steps.
    masses : ndarray of shape (k,)
        The masses of the rates from the first one on.
    """

    first: int
    masses: Float

    @classmethod
    def of(cls, rates: Float, masses: Float) -> _Grid:
        """Return the grid of rates with rounded logarithms."""
        places = np.rint(_STEPS * np.log2(rates)).astype(np.int64)
        first = int(places.min())
        total = np.zeros(int(places.max()) - first + 1)
        np.add.at(total, places - first, masses)
        return cls(first, total)

    @property
    def rates(self) -> Float:
        """The rates of the grid."""
        exponents = self.first + np.arange(len(self.masses))
        rates: Float = np.exp2(exponents / _STEPS)
        return rates

    def plus(self, other: _Grid) -> _Grid:
        """Return the masses of sums of two independent rates."""
        sums = np.add.outer(self.rates, other.rates)
        return _Grid.of(sums.ravel(), np.multiply.outer(self.masses, other.masses).ravel())

    def widen(self) -> tuple[Float, Float]:
        """Return rates and masses, with decreasing masses on both sides of each rate."""
        shares = np.exp2(-np.abs(np.arange(-_MARGIN, _MARGIN + 1.0)))
        grid = _Grid(self.first - _MARGIN, convolve(shares, self.masses))
        return grid.rates, grid.masses
