"""Shapley and Banzhaf values of weighted sums of product games."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from pkex import _core
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.inputs.choices import METHODS, SUMMATIONS, Method, Summation, check_choice
from pkex.inputs.keywords import with_known_keywords
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.typing import Float

# The supported indices, for type checkers and for checks of arguments.
Index: TypeAlias = Literal["SV", "BV"]
INDICES: tuple[Index, ...] = get_args(Index)
# The largest deviation of `difference` from present − absent, relative to the larger factor:
# `difference` may be more accurate than subtraction, but must not describe another game.
_DIFFERENCE_TOLERANCE = 1e-6


@with_known_keywords
def product_game(
    present: ArrayLike,
    absent: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    difference: ArrayLike | None = None,
    index: Index = "SV",
    method: Method = "quadrature",
    summation: Summation = "compensated",
    n_jobs: int | None = -1,
) -> Float:
    """Compute Shapley or Banzhaf values of a weighted sum of product games.

    The game is v(S) = Σ_p w_p ∏_{j∈S} a_pj ∏_{j∉S} b_pj for coalitions S of the players 1..d: each
    present player contributes a factor a, each absent player a factor b.

    Parameters
    ----------
    present : array-like of shape (p, d)
        The factors a.
    absent : array-like of shape (p, d), optional
        The factors b, 1 by default.
    weights : array-like of shape (p,) or (p, outputs), optional
        The weights w, 1 by default.
    difference : array-like of shape (p, d), optional
        a − b, if it is known more accurately than by subtraction. For a = exp(−x) and b = 1, for
        example, it is ``numpy.expm1(-x)``.
    index : {"SV", "BV"}, default "SV"
        Shapley or Banzhaf values.
    method : {"quadrature", "recursion"}, default "quadrature"
        Gauss–Legendre quadrature of the multilinear extension, or the recursion over the sizes of
        coalitions, for Shapley values only. Both are exact up to rounding; the recursion costs
        O(p·d²).
    summation : {"compensated", "plain"}, default "compensated"
        The summation over p: compensated summation or plain addition.
    n_jobs : int, default -1
        The number of threads; -1 for all cores. Results do not depend on it.

    Returns
    -------
    ndarray of shape (d,) or (d, outputs)
        The value of each player.

    Raises
    ------
    ValueError
        If shapes differ, numbers are missing or infinite, or an option is not supported.
    TypeError
        If arrays do not contain real numbers.
    OverflowError
        If a result is too large for a float, or an intermediate product is out of range (see
        Notes).
    MemoryError
        If the result or intermediate sums do not fit into memory.

    Notes
    -----
    Factors may have any size and sign. Products over all players are computed relative to the
    product of the larger of each player's two factors. If a product is smaller by more than 10^250,
    an OverflowError is raised; this requires hundreds of players with factors far from 1 on both
    sides.

    References
    ----------
    G. Owen (1972), Multilinear extensions of games, Management Science 18(5).

    Examples
    --------
    The product of three numbers, compared with the product of three ones:

    >>> import pkex
    >>> values = pkex.product_game([[1.0, 2.0, 3.0]])
    >>> values
    array([0., 2., 3.])
    >>> float(values.sum())  # 1·2·3 − 1·1·1
    5.0
    """
    check_choice("index", index, INDICES)
    check_choice("method", method, METHODS)
    check_choice("summation", summation, SUMMATIONS)
    if index != "SV" and method == "recursion":
        raise ValueError(
            f"method='recursion' does not support index={index!r}, only 'SV'. Pass "
            "method='quadrature'"
        )
    n_jobs = check_n_jobs(n_jobs)
    a = as_matrix(present, "present", allow_no_rows=True)
    b = _factors(absent, "absent", a)
    c = _factors(difference, "difference", a)
    if c is not None:
        _check_difference(a, b, c)
    if weights is None:
        weights = np.ones(len(a))
    w = as_vector_or_matrix(weights, "weights", n_rows=len(a), rows_of="present")
    values = _core.product_game(
        a,
        b,
        c,
        w[:, None] if w.ndim == 1 else w,
        index=index,
        method=method,
        summation=summation,
        n_threads=thread_count(n_jobs),
    )
    return values.reshape(a.shape[1], *w.shape[1:])


def _factors(array: ArrayLike | None, name: str, present: Float) -> Float | None:
    if array is None:
        return None
    factors = as_matrix(array, name, allow_no_rows=True)
    if factors.shape != present.shape:
        raise ValueError(
            f"present and {name} must have the same shape; got {present.shape} and {factors.shape}"
        )
    return factors


def _check_difference(present: Float, absent: Float | None, difference: Float) -> None:
    b = np.float64(1.0) if absent is None else absent
    scale = np.maximum(np.abs(present), np.abs(b))
    with np.errstate(over="ignore"):
        wrong = np.abs(present - b - difference) > _DIFFERENCE_TOLERANCE * scale
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            "difference must equal present − absent (present − 1 without absent); in row "
            f"{row}, column {column} it is {difference[row, column]}, but present − absent is "
            f"{(present - b)[row, column]}"
        )
