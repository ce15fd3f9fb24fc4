"""The posterior of preference models, and covariances of the values that explain them.

A preference model is the most probable f under a Gaussian process with the covariance s κ, where κ
is the kernel between pairs, times the kernel of contexts. Given observations with the precisions
R² / s, the posterior covariance of f between two pairs is

    s [κ(p, p') − κ(p, ·) C κ(·, p')],  C = R (1 + R κ R)⁻¹ R = R L⁻ᵀ L⁻¹ R

(Rasmussen and Williams 2006, algorithms 2.1 and 3.2). For the squared loss it is exact, with the
precision 1 / (s alpha). For the logistic loss it is Laplace's approximation at the mode: s is 1 /
(2 alpha), and the precisions are the second derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky
from scipy.special import expit

from pkex.errors import InputError, Option, UnsupportedModelError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.explain.posterior import Posterior
from pkex.functions.gaussian_process.latent import ConditioningMatrix
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels.restrictions import are_products
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.marginal_values import MarginalGames
from pkex.models.preferences.preferential import Preferential, rowwise
from pkex.models.preferences.utility import UtilityDifference
from pkex.results.uncertainty import roots_of
from pkex.typing import Float

# The nodes of means over standard normal variables. By the trapezoidal rule, means of logistic
# functions have errors below 1e-12 for deviations up to 40.
_NODES = np.linspace(-8.5, 8.5, 1201)

# The number of kernel values in memory at a time.
_MAX_NUMBERS = 1 << 22
# The largest number of games between background rows for the covariances of a pair: a minute.
_MAX_GAMES = 1 << 28


@dataclass(frozen=True, eq=False)
class PairPosterior:
    """The posterior covariance of f.

    Parameters
    ----------
    pairs : Preferential
        The training pairs, with all coefficients 1.
    conditioning : ConditioningMatrix
        C, with L and the diagonal of R.
    scale : float
        s.
    shares : ndarray of shape (n,)
        The weights of the training pairs in means over them, with sum 1.
    """

    pairs: Preferential
    conditioning: ConditioningMatrix
    scale: float
    shares: Float

    @classmethod
    def of(cls, f: Preferential, precisions: Float, scale: float, shares: Float) -> PairPosterior:
        """Return the posterior, given the squares of the diagonal of R."""
        roots = np.sqrt(precisions)
        matrix = roots[:, None] * f.gram() * roots
        matrix.flat[:: len(matrix) + 1] += 1.0
        factor: Float = cholesky(matrix, lower=True, overwrite_a=True)
        conditioning = ConditioningMatrix(factor, roots)
        return cls(replace(f, coefficients=np.ones(len(roots))), conditioning, scale, shares)

    def variances(self, left: Float, right: Float, contexts: Float | None) -> Float:
        """Return the posterior variance of f for pairs in contexts, shape (n,)."""
        return self._variances(
            len(left), lambda block: self._of_pairs((left[block], right[block])), contexts
        )

    def utility_variances(self, items: Float, contexts: Float | None) -> Float:
        """Return the posterior variance of the utility of items, shape (n,).

        Parameters
        ----------
        items : ndarray of shape (n, d)
        contexts : ndarray of shape (n, c), optional
            The context of each item; None for the mean over the training contexts.
        """
        f = self.pairs
        if not isinstance(f, UtilityDifference):
            raise TypeError("the model has no utility")
        return self._variances(len(items), lambda block: f.of_items(items[block]), contexts)

    def _variances(
        self,
        n: int,
        kernels_of: Callable[[slice], tuple[Float, Float]],
        contexts: Float | None,
    ) -> Float:
        """Return the posterior variance at n places in contexts, shape (n,).

        Parameters
        ----------
        n : int
        kernels_of : callable
            Returns the kernel of some places with training pairs, and with themselves, without that
            of contexts.
        contexts : ndarray of shape (n, c), optional
            None for the mean over the training contexts.
        """
        variances = np.empty(n)
        for block in blocks_of(n, _MAX_NUMBERS // len(self.pairs.left)):
            cross, prior = kernels_of(block)
            of_contexts, context_prior = self._of_contexts(
                None if contexts is None else contexts[block]
            )
            variances[block] = prior * context_prior - self.conditioning.forms(cross * of_contexts)
        # Negative only by rounding.
        return self.scale * np.maximum(variances, 0.0)

    def _of_contexts(self, contexts: Float | None) -> tuple[Float, Float]:
        """Return the kernel of k contexts with those of training pairs, and with themselves.

        If `contexts` is None, it is that of the mean over the training pairs, so k is 1.

        Returns
        -------
        tuple of ndarray of shape (n, k) and (k,)
        """
        training = self.pairs.contexts
        if training is None:
            return np.ones((len(self.shares), 1)), np.ones(1)
        if contexts is None:
            means: Float = training.kernel(training.rows) @ self.shares
            return means[:, None], np.array([self.shares @ means])
        return self.pairs.in_contexts(contexts), rowwise(training.kernel, contexts, contexts)

    def _of_pairs(self, pairs: tuple[Float, Float] | None) -> tuple[Float, Float]:
        """Return the kernel of k pairs of items with training pairs, and with themselves.

        As `_of_contexts`, without the kernel of contexts.
        """
        if pairs is None:
            means: Float = replace(self.pairs, contexts=None).gram() @ self.shares
            return means[:, None], np.array([self.shares @ means])
        return self.pairs.of_pairs(*pairs), self.pairs.variances(*pairs)

    def item_roots(
        self, duels: Duels, contexts: Float | None, absent: Absent, computation: Computation
    ) -> Float:
        """Return R of the covariances R Rᵀ of the values of items, shape (n, p, 1, p).

        Parameters
        ----------
        duels : Duels
            Coefficients are ignored.
        contexts : ndarray of shape (k, c), optional
            The contexts by the numbers of duels; None for the mean over the training contexts.
        absent : Absent
        computation : Computation

        Raises
        ------
        InputError, UnsupportedModelError
            If the value function has no covariances.
        """
        _check(absent)
        weights, priors = self._of_contexts(contexts)
        covariances = np.zeros((len(duels.left), len(absent.players), len(absent.players)))
        for posterior, mask, part in self._parts(weights, priors, duels.numbers, computation):
            left, right = duels.left[mask], duels.right[mask]
            covariances[mask] = posterior._of_items(left, right, absent, part)
        return roots_of(covariances[..., None])

    def context_roots(
        self,
        pairs: tuple[Float, Float] | None,
        numbers: NDArray[np.intp],
        rows: Float,
        absent: Absent,
        computation: Computation,
    ) -> Float:
        """Return R of the covariances R Rᵀ of the values of contexts, shape (n, p, 1, p).

        Parameters
        ----------
        pairs : tuple of ndarray of shape (k, d), optional
            The explained pairs of items; None for the mean over the training pairs.
        numbers : ndarray of int, shape (n,)
            The number of the pair in each context.
        rows : ndarray of shape (n, c)
            The contexts.
        absent : Absent
        computation : Computation

        Raises
        ------
        InputError, UnsupportedModelError
            If the value function has no covariances.
        """
        contexts = self.pairs.contexts
        if contexts is None:
            raise ValueError("the model has no contexts")
        weights, priors = self._of_pairs(pairs)
        roots = np.zeros((len(rows), len(absent.players), 1, len(absent.players)))
        conditioning = absent.conditioning() if absent.is_conditional else None
        for posterior, mask, part in self._parts(weights, priors, numbers, computation):
            variance = PosteriorVariance(
                contexts.rows,
                posterior.conditioning.factor,
                contexts.kernel,
                scales=posterior.scale,
                roots=posterior.conditioning.roots,
            )
            variance = variance.grouped(absent.players.of_column)
            values = Posterior(variance, conditioning=conditioning)
            roots[mask] = values.roots(rows[mask], absent.game, part)
        return roots

    def _parts(
        self, weights: Float, priors: Float, numbers: NDArray[np.intp], computation: Computation
    ) -> Iterator[tuple[PairPosterior, NDArray[np.bool_], Computation]]:
        """Yield the posterior of each function with a positive prior variance, and its rows.

        The covariances of the function with those of training pairs are κ' times weights, and its
        own are κ' times a prior.
        """
        columns = [column for column in np.unique(numbers).tolist() if priors[column] > 0.0]
        for column, part in computation.over(columns):
            prior = float(priors[column])
            roots = self.conditioning.roots * weights[:, column] / prior**0.5
            conditioning = replace(self.conditioning, roots=roots)
            posterior = replace(self, conditioning=conditioning, scale=self.scale * prior)
            yield posterior, numbers == column, part

    def _of_items(
        self, left: Float, right: Float, absent: Absent, computation: Computation
    ) -> Float:
        """Return the covariances of the values of items in one context, shape (n, p, p)."""
        f, terms = self.pairs, self.pairs.kernel.terms(self.pairs.n_features)
        if f.is_of_both and absent.value_function == "marginal" and are_products(terms):
            games = MarginalGames(f, terms, absent, computation)
            return self._by_points(games, left, right, computation)
        conditioning, players = self.conditioning, absent.players.of_column
        variance = f.one_way_variance(conditioning.factor, conditioning.roots, self.scale, players)
        game = absent.game_of(f)
        if game.background is not None:
            _check_size(len(game.background[0]), len(variance.latent.terms))
        n = len(left)
        first, second = np.arange(n), n + np.arange(n)
        pairs = np.stack([(first, first), (second, second), (first, second)]).transpose(0, 2, 1)
        rows = np.concatenate(f.rows_of(left, right))
        covariances = variance.covariances(rows, pairs.reshape(-1, 2), game, computation)[..., 0]
        of_first, of_second, of_both = np.split(covariances, 3)
        return of_first + of_second - of_both - of_both.transpose(0, 2, 1)

    def _by_points(
        self, games: MarginalGames, left: Float, right: Float, computation: Computation
    ) -> Float:
        """Return the covariances given the values of each training pair's part of f."""
        n = len(left)
        covariances = []
        for row, pair in enumerate(zip(left, right, strict=True)):
            values = games.of_points(games.factors(np.stack(pair)), 0, 1)
            root, _ = self.conditioning.whiten(values)
            covariances.append(games.prior_covariance(*pair) - root.T @ root)
            computation.report(row + 1, n)
        return self.scale * np.array(covariances)


def _check(absent: Absent) -> None:
    """Raise UnsupportedModelError if the values of items have no covariances."""
    reasons = {
        "neutral": "v(S) is not an average of f at pairs of items, so functions drawn from the "
        "posterior have no such values",
        "observational": "only values of contexts have covariances",
    }
    reason = reasons.get(absent.value_function)
    if reason is not None:
        raise UnsupportedModelError(
            (
                Option("uncertainty", True),
                " of items is not for ",
                Option("value_function", absent.value_function),
                f": {reason}. Take ",
                Option("value_function", "marginal"),
                " or 'interventional'",
            )
        )


def _check_size(n_rows: int, n_terms: int) -> None:
    """Raise InputError if there are too many games between background rows."""
    if n_rows**2 * n_terms > _MAX_GAMES:
        raise InputError(
            Option("uncertainty", True),
            f"computes {n_rows**2 * n_terms:.0e} games for each pair, because the background has "
            f"{n_rows:,} rows and the kernel {n_terms} terms: pkex goes up to {_MAX_GAMES:.0e}",
            [
                "pass fewer background items",
                ("with an RBF kernel, pass ", Option("value_function", "marginal")),
            ],
        )


def mean_probabilities(means: Float, deviations: Float) -> Float:
    """Return the means of 1 − σ(f) and σ(f) for Gaussian f, shape (n, 2), by quadrature."""
    weights = np.exp(-0.5 * _NODES**2)
    of_left = np.zeros(len(means))
    for node, weight in zip(_NODES, weights / weights.sum(), strict=True):
        of_left += weight * expit(means + node * deviations)
    return np.column_stack([1.0 - of_left, of_left])
