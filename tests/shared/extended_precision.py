"""Shapley values of product games far beyond double precision, for thousands of players.

Nothing here is a quadrature or knows of a node: a Shapley value is the mean, over the sizes
q = 0..d−1, of the mean marginal contribution to coalitions of q other players. In a product game
that is φⱼ = cⱼ Ωⱼ, where Ωⱼ is the mean over q of h_q, the mean product over coalitions of size q.
The h_q follow by letting the players join one by one: player k, of factors a and b, makes them

  ((k−q)/k) b h_q + (q/k) a h_{q−1}.

A game is a list of players (a, b, c = a − b) in mpmath's numbers. The means are formed either in
Python's integers, at any precision, or in long doubles, which is much faster.
"""

from dataclasses import dataclass

import numpy as np
from mpmath import mp

DIGITS = 50


def game(present=None, absent=None, difference=None):
    """The players of one game, exactly those of the doubles: without `present`, a = b + c."""
    given = difference if present is None else present
    absent = [1.0] * len(given) if absent is None else absent
    players = []
    with mp.workdps(DIGITS):
        for first, second in zip(given, absent, strict=True):
            number, b = mp.mpf(float(first)), mp.mpf(float(second))
            players.append((b + number, b, number) if present is None else (number, b, number - b))
    return players


def kernel_game(family, row, point, length_scales):
    """The players of the neutral game between a row and an expansion point."""
    players = []
    with mp.workdps(DIGITS):
        for x, y, scale in zip(row, point, length_scales, strict=True):
            a, c = FACTORS[family]((mp.mpf(float(x)) - float(y)) / float(scale))
            players.append((a, mp.one, c))
    return players


# k(z) and k(z) − 1 at a distance of z length-scales.
FACTORS = {
    "rbf": lambda z: (mp.exp(-(z**2) / 2), mp.expm1(-(z**2) / 2)),
    "laplacian": lambda z: (mp.exp(-abs(z)), mp.expm1(-abs(z))),
    "cauchy": lambda z: (1 / (1 + z**2), -(z**2) / (1 + z**2)),
}


class Integers:
    """Means as integers, in units of 2^−bits."""

    def __init__(self, bits=192):
        self.bits = bits
        self.nobody = [1 << bits]

    def join(self, means, players):
        for a, b, _ in players:
            k = len(means)
            a, b = (int(mp.nint(mp.ldexp(factor, self.bits))) for factor in (a, b))
            pairs = zip([*means, 0], [0, *means], strict=True)
            means = [
                ((k - q) * b * same + q * a * smaller) // k >> self.bits
                for q, (same, smaller) in enumerate(pairs)
            ]
        return means

    def mean(self, means):
        return mp.ldexp(mp.mpf(sum(means)) / len(means), -self.bits)


class LongDoubles:
    """Means as long doubles, where these have 64 bits: on x86."""

    available = np.finfo(np.longdouble).nmant >= 63
    nobody = np.ones(1, dtype=np.longdouble)

    def join(self, means, players):
        size = len(means) - 1
        numbers = np.arange(size + len(players) + 1, dtype=np.longdouble)
        grown = np.zeros_like(numbers)
        grown[: size + 1] = means
        room = np.empty_like(numbers)
        for k, (a, b, _) in enumerate(players, size + 1):
            h, larger = grown[:k], room[:k]
            np.multiply(h, numbers[1 : k + 1], out=larger)
            larger *= _long_double(a) / k
            h *= numbers[k:0:-1]
            h *= _long_double(b) / k
            grown[1 : k + 1] += larger
        return grown

    def mean(self, means):
        mean = means.mean()
        high = float(mean)
        return mp.mpf(high) + float(mean - high)


def _long_double(number):
    high = float(number)
    return np.longdouble(high) + np.longdouble(float(number - high))


@dataclass(frozen=True)
class Extended:
    """Values in mpmath's numbers, and the scale Σ_p |w_p c_pj Ω_pj| that errors are measured on."""

    values: list
    scale: list

    def error(self, found):
        """The largest error on the scale."""
        with mp.workdps(DIGITS):
            triples = zip(found, self.values, self.scale, strict=True)
            return max(_relative(abs(float(x) - value), scale) for x, value, scale in triples)


def _relative(error, scale):
    return float(error / scale) if scale else (float("inf") if error else 0.0)


def shapley_values(games, weights, players, arithmetic):
    """The values that some of the players have in the game Σ_p w_p v_p."""
    with mp.workdps(DIGITS):
        terms = [
            [
                float(weight) * one[j][2] * omega
                for j, omega in zip(players, omegas(one, players, arithmetic), strict=True)
            ]
            for one, weight in zip(games, weights, strict=True)
        ]
        columns = list(zip(*terms, strict=True))
        return Extended(list(map(mp.fsum, columns)), [mp.fsum(c, absolute=True) for c in columns])


def omegas(one, players, arithmetic):
    """Ω_j of some of the players of one game."""
    rest = [player for j, player in enumerate(one) if j not in players]
    with mp.workdps(DIGITS):
        common = arithmetic.join(arithmetic.nobody, rest)
        others = [[one[other] for other in players if other != j] for j in players]
        return [arithmetic.mean(arithmetic.join(common, joining)) for joining in others]
