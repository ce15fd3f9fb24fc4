"""The number of permutations: its checks, and the warning if few permutations are distinct."""

from __future__ import annotations

from fractions import Fraction

from pkex.errors import warn
from pkex.inputs.integers import as_integer

# Largest number of permuted values in a result: 800 MB. The test holds as many univariate values.
_MAX_VALUES = 10**8


def check_n_permutations(number: object) -> int:
    """Return the number of permutations, or raise an error."""
    return as_integer("n_permutations", number, "an integer, 0 (no test) or positive", least=0)


def check_fits(n_permutations: int, n_players: int) -> None:
    """Raise an error if the permuted values need too much memory."""
    if n_permutations * n_players > _MAX_VALUES:
        raise ValueError(
            f"n_permutations={n_permutations} is too large: the result holds the permuted values "
            f"of {n_players} features. Pass at most {_MAX_VALUES // n_players}, or fewer groups"
        )


def warn_of_few_permutations(n_permutations: int, unchanged_share: Fraction) -> None:
    """Warn if few permutations are distinct, so that p-values cannot be small.

    Parameters
    ----------
    n_permutations : int
    unchanged_share : Fraction
        A lower bound of the share of permutations that give the observed statistic for any kernel.
    """
    if unchanged_share * (n_permutations + 1) > 1:
        warn(
            f"n_permutations={n_permutations}, but so few permutations of the rows are distinct "
            f"that p-values below {float(unchanged_share):.3g} are not expected, however many are "
            "drawn"
        )
