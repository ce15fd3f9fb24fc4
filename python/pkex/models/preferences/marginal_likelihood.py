"""The marginal likelihood of preference models, and the parameters that maximize it.

f has the prior covariance s K, where K is the kernel between the training pairs. For the squared
loss with weights w, targets have the covariance s A with A = K + alpha diag(1 / w). The marginal
likelihood is maximal for s = yᵀ A⁻¹ y / n, up to a constant:

    −log p(y) = n/2 log(2π s) + ½ log |A| + n/2.

For the logistic loss, s is 1 / (2 alpha), and Laplace's approximation at the mode f = s K a is
(Rasmussen and Williams 2006, section 5.5.1 and algorithm 5.1)

    −log q(y) = ½ aᵀ f − log p(y | f) + ½ log |1 + √W s K √W|.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from pkex.kernels import RBF, Kernel
from pkex.kernels.heuristic import heuristic
from pkex.kernels.scales import Constants
from pkex.models.preferences.preferential import Preferential
from pkex.typing import Float

# Pairs from which parameters are chosen, and the seed of their sample.
_MAX_PAIRS, _SEED = 1000, 0
# The range of length-scales, relative to the median heuristic, and of alpha.
_RANGE, _ALPHA = 30.0, (1e-6, 1e4)
# The starts that are compared: multiples of the length-scales of items, and alpha.
_MULTIPLES, _ALPHAS = (0.5, 1.0, 2.0, 4.0), (0.01, 0.1, 1.0)
# Newton's method stops if the objective changes by less, relative to it.
_TOLERANCE, _MAX_STEPS = 1e-13, 100
# L-BFGS stops if the marginal likelihood changes by less, relative to its logarithm.
_MIN_CHANGE = 1e-9


@dataclass(frozen=True, eq=False)
class Evidence:
    """The negative logarithm of the marginal likelihood, with derivatives.

    Parameters
    ----------
    value : float
    of_matrix : ndarray of shape (n, n)
        Derivatives by the entries of K, symmetric.
    of_alpha : float
        The derivative by the logarithm of alpha.
    """

    value: float
    of_matrix: Float
    of_alpha: float


class Loss(Protocol):
    """A loss of the training pairs."""

    def evidence(self, matrix: Float, alpha: float) -> Evidence:
        """Return the evidence, given the kernel between pairs."""
        ...

    def at(self, numbers: NDArray[np.intp]) -> Loss:
        """Return the loss of some of the pairs."""
        ...


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """The squared loss.

    Parameters
    ----------
    targets, weights : ndarray of shape (n,)
    """

    targets: Float
    weights: Float

    def at(self, numbers: NDArray[np.intp]) -> SquaredLoss:
        """Return the loss of some of the pairs."""
        return SquaredLoss(self.targets[numbers], self.weights[numbers])

    def evidence(self, matrix: Float, alpha: float) -> Evidence:
        """Return the evidence, with the scale of the prior that maximizes it."""
        n = len(matrix)
        covariance = matrix.copy()
        covariance.flat[:: n + 1] += alpha / self.weights
        factor = cholesky(covariance, lower=True), True
        solution = cho_solve(factor, self.targets)
        # If all targets are 0, so is s, and all derivatives by a.
        scale = max(float(self.targets @ solution) / n, np.finfo(np.float64).tiny)
        half_log_determinant = float(np.log(np.diag(factor[0])).sum())
        value = 0.5 * n * (np.log(2.0 * np.pi * scale) + 1.0) + half_log_determinant
        of_matrix = 0.5 * (cho_solve(factor, np.eye(n)) - np.outer(solution, solution) / scale)
        of_noise = float((of_matrix.diagonal() / self.weights).sum())
        return Evidence(value, of_matrix, alpha * of_noise)


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The logistic loss.

    Parameters
    ----------
    signs : ndarray of shape (n,)
        1 if left was preferred, otherwise −1.
    weights : ndarray of shape (n,)
    """

    signs: Float
    weights: Float

    def at(self, numbers: NDArray[np.intp]) -> LogisticLoss:
        """Return the loss of some of the pairs."""
        return LogisticLoss(self.signs[numbers], self.weights[numbers])

    def evidence(self, matrix: Float, alpha: float) -> Evidence:
        """Return Laplace's approximation of the evidence."""
        prior = matrix / (2.0 * alpha)
        mode = self._mode(prior)
        f = prior @ mode
        shares = expit(f)
        curvature = self.weights * shares * (1.0 - shares)
        roots, factor = _factor(prior, curvature)
        value = self._objective(mode, f) + float(np.log(np.diag(factor)).sum())
        # R, and C of the posterior covariance K − Cᵀ C.
        inverse = roots[:, None] * cho_solve((factor, True), np.diag(roots))
        root = solve_triangular(factor, roots[:, None] * prior, lower=True)
        variances = prior.diagonal() - np.square(root).sum(axis=0)
        # Derivatives by the mode, which depends on the prior.
        by_mode = 0.5 * variances * curvature * (1.0 - 2.0 * shares)
        adjoint = by_mode - inverse @ (prior @ by_mode)
        implicit = np.outer(self._slopes(f), adjoint)
        of_prior = 0.5 * (inverse - np.outer(mode, mode) + implicit + implicit.T)
        return Evidence(value, of_prior / (2.0 * alpha), -float((of_prior * prior).sum()))

    def _mode(self, prior: Float) -> Float:
        """Return a with the mode f = K a, by Newton's method with halved steps."""
        mode = np.zeros(len(prior))
        value = self._objective(mode, mode)
        for _ in range(_MAX_STEPS):
            f = prior @ mode
            shares = expit(f)
            curvature = self.weights * shares * (1.0 - shares)
            roots, factor = _factor(prior, curvature)
            target = curvature * f + self._slopes(f)
            solution = cho_solve((factor, True), roots * (prior @ target))
            step, size = target - roots * solution - mode, 1.0
            new_value = self._objective(mode + step, prior @ (mode + step))
            while new_value > value and size > _TOLERANCE:
                size /= 2.0
                candidate = mode + size * step
                new_value = self._objective(candidate, prior @ candidate)
            if value - new_value <= _TOLERANCE * value:
                break
            mode, value = mode + size * step, new_value
        return mode

    def _slopes(self, f: Float) -> Float:
        """Return the derivatives of log p(y | f)."""
        slopes: Float = self.weights * self.signs * expit(-self.signs * f)
        return slopes

    def _objective(self, mode: Float, f: Float) -> float:
        """Return ½ aᵀ f − log p(y | f)."""
        return float(0.5 * mode @ f + self.weights @ np.logaddexp(0.0, -self.signs * f))


def _factor(prior: Float, curvature: Float) -> tuple[Float, Float]:
    """Return √W, and the lower Cholesky factor of 1 + √W K √W."""
    roots = np.sqrt(curvature)
    matrix = roots[:, None] * prior * roots
    matrix.flat[:: len(matrix) + 1] += 1.0
    factor: Float = cholesky(matrix, lower=True, overwrite_a=True)
    return roots, factor


class LengthScales:
    """Gaussian kernels of rows; the parameters are logarithms of length-scales.

    They start at the median heuristic. Constant columns have no length-scale.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    argument : str
    """

    def __init__(self, rows: Float, argument: str) -> None:
        constant = Constants.of(rows).columns
        self._columns = [j for j in range(rows.shape[1]) if j not in constant]
        self._n_columns, self._middle = rows.shape[1], np.median(rows, axis=0)
        distinct = np.unique(rows[:, self._columns], axis=0)
        median = heuristic(distinct, "the training rows", argument).kernel
        scales = np.broadcast_to(median.length_scale, len(self._columns))
        self.starts: Float = np.log(scales)

    def kernel(self, parameters: Float) -> Kernel:
        """Return the kernel."""
        kernel = RBF(np.exp(parameters))
        return kernel if len(self._columns) == self._n_columns else kernel.on(self._columns)

    def gradient(self, parameters: Float, weights: Float, left: Float, right: Float) -> Float:
        """Return Σ_ij w_ij (x_i − y_j)² / l² of each column, given derivatives by logarithms."""
        # Σ_ij w_ij (x_i − y_j)² = Σ_i x_i² w_i· + Σ_j y_j² w_·j − 2 xᵀ w y.
        x, y = ((rows - self._middle)[:, self._columns] for rows in (left, right))
        squares = weights.sum(axis=1) @ x**2 + weights.sum(axis=0) @ y**2
        distances = squares - 2.0 * (x * (weights @ y)).sum(axis=0)
        gradient: Float = np.exp(-2.0 * parameters) * distances
        return gradient


def maximize_likelihood(
    pairs: Preferential, loss: Loss, *, chooses_kernel: bool, chooses_context_kernel: bool
) -> tuple[Preferential, float]:
    """Return the training pairs with the kernels that maximize the marginal likelihood, and alpha.

    Parameters
    ----------
    pairs : Preferential
        The training pairs, with the kernels that are not chosen.
    loss : Loss
    chooses_kernel, chooses_context_kernel : bool
    """
    items = contexts = None
    if chooses_kernel:
        items = LengthScales(np.concatenate([pairs.left, pairs.right]), "kernel")
    if chooses_context_kernel and pairs.contexts is not None:
        contexts = LengthScales(pairs.contexts.rows, "context_kernel")
    n, sample = len(pairs.left), pairs
    if n > _MAX_PAIRS:
        numbers = np.random.default_rng(_SEED).choice(n, _MAX_PAIRS, replace=False)
        sample, loss = pairs.at(numbers), loss.at(numbers)
    likelihood = MarginalLikelihood(sample, loss, items, contexts)
    parameters = likelihood.maximum()
    return likelihood.with_kernels(pairs, parameters), float(np.exp(parameters[-1]))


class MarginalLikelihood:
    """The negative logarithm of the marginal likelihood, as a function of logarithms.

    Its parameters are the length-scales of items and of contexts, if they are chosen, and alpha.

    Parameters
    ----------
    pairs : Preferential
        The training pairs.
    loss : Loss
    items, contexts : LengthScales, optional
        The kernels that are chosen.
    """

    def __init__(
        self,
        pairs: Preferential,
        loss: Loss,
        items: LengthScales | None,
        contexts: LengthScales | None,
    ) -> None:
        self._pairs, self._loss, self._items, self._contexts = pairs, loss, items, contexts
        starts = [np.zeros(0) if one is None else one.starts for one in (items, contexts)]
        self._n_items, self._starts = len(starts[0]), np.concatenate(starts)

    def maximum(self) -> Float:
        """Return the best parameters: L-BFGS from the best of several starts."""
        candidates = []
        for multiple in _MULTIPLES if self._n_items else (1.0,):
            for alpha in _ALPHAS:
                start = np.append(self._starts, np.log(alpha))
                start[: self._n_items] += np.log(multiple)
                candidates.append((self(start)[0], start))
        best = min(candidates, key=lambda one: one[0])[1]
        log_range = np.log(_RANGE)
        bounds = [(start - log_range, start + log_range) for start in self._starts.tolist()]
        bounds.append((np.log(_ALPHA[0]), np.log(_ALPHA[1])))
        options = {"ftol": _MIN_CHANGE}
        result = minimize(self, best, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        parameters: Float = result.x
        return parameters

    def with_kernels(self, pairs: Preferential, parameters: Float) -> Preferential:
        """Return pairs with the kernels of some parameters."""
        if self._items is not None:
            pairs = replace(pairs, kernel=self._items.kernel(parameters[: self._n_items]))
        if self._contexts is not None and pairs.contexts is not None:
            kernel = self._contexts.kernel(parameters[self._n_items : -1])
            pairs = replace(pairs, contexts=replace(pairs.contexts, kernel=kernel))
        return pairs

    def __call__(self, parameters: Float) -> tuple[float, Float]:
        """Return the negative logarithm of the marginal likelihood, and its gradient."""
        pairs = self.with_kernels(self._pairs, parameters)
        left, right, contexts = pairs.left, pairs.right, pairs.contexts
        cross = pairs.kernel(left, right)
        blocks = pairs.kernel(left), pairs.kernel(right), cross, cross.T
        of_contexts = 1.0 if contexts is None else contexts.kernel(contexts.rows)
        matrix = pairs.combine_kernels(*blocks) * of_contexts
        evidence = self._loss.evidence(matrix, float(np.exp(parameters[-1])))
        gradient = np.zeros(len(parameters))
        if self._items is not None:
            weights = evidence.of_matrix * of_contexts
            of_left, of_right, of_cross, _ = pairs.derivatives(*blocks)
            log_scales = parameters[: self._n_items]
            # The fourth block is the transpose of the third.
            for times, block, rows, other_rows in (
                (1.0, of_left, left, left),
                (1.0, of_right, right, right),
                (2.0, of_cross, left, right),
            ):
                gradient[: self._n_items] += times * self._items.gradient(
                    log_scales, weights * block, rows, other_rows
                )
        if self._contexts is not None and contexts is not None:
            log_scales = parameters[self._n_items : -1]
            weights = evidence.of_matrix * matrix
            gradient[self._n_items : -1] = self._contexts.gradient(
                log_scales, weights, contexts.rows, contexts.rows
            )
        gradient[-1] = evidence.of_alpha
        return evidence.value, gradient
