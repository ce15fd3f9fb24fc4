"""Fits with inducing pairs: f is a sum over m centers, a sample of the n training pairs.

For f = Σ_c a_c k_E(·, c) with the kernel K_mm = L Lᵀ between centers and g = Lᵀ a, the squared norm
of f is gᵀ g and its values at the training pairs are R g with R = K_nm L⁻ᵀ. A squared loss with
weights W leads to (Rᵀ W R + alpha I) g = Rᵀ W y, which conjugate gradients solve with products of R
in blocks of rows. The preconditioner is the matrix of a sample of the training pairs, instead of
the centers as in FALKON (Rudi, Carratino and Rosasco 2017, FALKON: an optimal large scale kernel
method, NeurIPS). The logistic loss is minimized by Newton's method, whose steps are solved
approximately in this way, for decreasing penalties (Marteau-Ferey, Bach and Rudi 2019, Globally
convergent Newton methods for ill-conditioned generalized self-concordant losses, NeurIPS).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk
from scipy.special import expit

from pkex.games.landmarks import Features
from pkex.models.conjugate_gradients import Iterate, conjugate_gradients
from pkex.models.losses import Minimum, decreasing_step
from pkex.models.preferences.pair_kernel import NumberedPairs, PairKernel
from pkex.models.preferences.preferential import Preferential
from pkex.models.span import check_finite, hidden_penalty, not_semidefinite
from pkex.typing import Float

# The size of the preconditioner's sample, relative to the number of centers. With 40,000 pairs and
# 2,000 centers, the iterations are 1/2 to 1/5 of those with the centers as the sample.
_SAMPLE = 4
# A Newton step is solved until the residual is smaller by this factor.
_FORCING = 0.1
# The largest number of iterations of conjugate gradients for a Newton step.
_MAX_ITERATIONS = 100
# The rounding error of an objective, relative to its value at 0.
_ROUNDING = float(np.finfo(np.float64).eps)
# The first penalty, relative to the sum of weights, and the factor of the next one.
_FIRST, _DECREASE = 1e-3, 0.1


@dataclass(frozen=True, eq=False)
class InducingPairs:
    """The functions of a kernel at centers, with the losses of weighted training pairs.

    Parameters
    ----------
    centers : Preferential
        The centers, with coefficients 0.
    kernel : PairKernel
        K_nm.
    features : Features
        L, of centers that are not linearly dependent on others.
    weights : ndarray of shape (n,)
        The weights of training pairs.
    sample : ndarray of int, shape (s,)
        The training pairs of the preconditioner.
    alpha : float
        The penalty.
    """

    centers: Preferential
    kernel: PairKernel
    features: Features
    weights: Float
    sample: NDArray[np.intp]
    alpha: float

    @classmethod
    def draw(
        cls,
        pairs: Preferential,
        weights: Float,
        alpha: float,
        number: int,
        random: np.random.Generator,
    ) -> InducingPairs:
        """Return the functions of random centers among the distinct pairs.

        Raises
        ------
        ValueError
            If the kernel is not positive semidefinite on the centers, or overflows.
        """
        training = NumberedPairs.of(pairs)
        centers = pairs.at(np.sort(random.permutation(training.distinct())[:number]))
        gram = centers.gram()
        check_finite(gram, centers.kernels, "left and right")
        try:
            features = Features(gram)
        except np.linalg.LinAlgError as error:
            raise not_semidefinite(centers.kernels, "left and right", str(error)) from None
        sample = random.permutation(len(weights))[: _SAMPLE * len(gram)]
        kernel = PairKernel.of(training, centers)
        return cls(centers, kernel, features, weights, np.sort(sample), alpha)

    @property
    def rank(self) -> int:
        """The number of coordinates r."""
        return len(self._project(np.zeros(self.kernel.n_centers)))

    def function(self, coordinates: Float) -> Preferential:
        """Return f with a = L⁻ᵀ g, without centers that are linearly dependent on others."""
        coefficients = self._coefficients(coordinates)
        f = replace(self.centers, coefficients=coefficients)
        return f.at(np.flatnonzero(coefficients))

    def least_squares(self, y: Float, tol: float, max_iter: int) -> Minimum:
        """Minimize Σ_i w_i (y_i − (R g)_i)² + alpha gᵀ g by conjugate gradients.

        They stop if the predicted relative decrease of the objective is at most `tol`.
        """
        right, total = self._transpose_times(self.weights * y), float(self.weights @ y**2)

        def is_enough(iterate: Iterate) -> bool:
            objective = total - float(iterate.solution @ (right + iterate.residual))
            return iterate.energy <= tol * max(objective, _ROUNDING * total)

        iterate, has_converged = conjugate_gradients(
            lambda g: self._normal(self.weights, g) + self.alpha * g,
            right,
            self._preconditioner(self.weights, self.alpha),
            is_enough,
            max_iter,
        )
        return Minimum(iterate.solution, 0.0, iterate.n_iter, has_converged)

    def least_logistic(self, is_left: NDArray[np.bool_], tol: float, max_iter: int) -> Minimum:
        """Minimize Σ_i w_i log(1 + exp(−s_i (R g)_i)) + alpha gᵀ g, where s_i is 1 or −1.

        Newton's method stops after a step whose predicted relative decrease of the objective is at
        most `tol`.
        """
        signs, rank = np.where(is_left, 1.0, -1.0), self.rank
        penalty = max(self.alpha, float(self.weights.sum()) * _FIRST)

        def objective(point: Float) -> float:
            losses = np.logaddexp(0.0, -signs * point[rank:])
            return float(self.weights @ losses + penalty * point[:rank] @ point[:rank])

        # Coordinates, and values at the training pairs.
        point = np.zeros(rank + len(signs))
        for n_steps in range(1, max_iter + 1):
            is_last = penalty == self.alpha
            g, values = np.split(point, [rank])
            residuals = expit(-signs * values)
            descent = self._transpose_times(self.weights * signs * residuals) - 2.0 * penalty * g
            direction = self._newton_direction(residuals * (1.0 - residuals), descent, penalty)
            decrease = 0.5 * float(descent @ direction)
            change = np.concatenate([direction, self._values(direction)])
            if is_last and decrease <= tol * objective(point):
                return Minimum(g + direction, 0.0, n_steps)
            step = decreasing_step(objective, point, change, decrease)
            if step == 0.0:
                break
            point = point + step * change
            penalty = max(self.alpha, _DECREASE * penalty)
        return Minimum(point[:rank], 0.0, n_steps, has_converged=False)

    def _newton_direction(self, slopes: Float, descent: Float, penalty: float) -> Float:
        """Return p with (Rᵀ D R + 2 penalty I) p ≈ −∇, where D are weights times slopes."""
        curvature = self.weights * slopes
        precondition = self._preconditioner(curvature, 2.0 * penalty)
        threshold = _FORCING**2 * float(descent @ precondition(descent))
        iterate, _ = conjugate_gradients(
            lambda p: self._normal(curvature, p) + 2.0 * penalty * p,
            descent,
            precondition,
            lambda iterate: iterate.energy <= threshold,
            _MAX_ITERATIONS,
        )
        return iterate.solution

    def _coefficients(self, coordinates: Float) -> Float:
        """Return a = L⁻ᵀ g, shape (m,)."""
        coefficients: Float = self.features.from_values(coordinates[None])[0]
        return coefficients

    def _values(self, coordinates: Float) -> Float:
        """Return R g, shape (n,)."""
        coefficients = self._coefficients(coordinates)
        return np.concatenate([block @ coefficients for _, block in self.kernel.blocks()])

    def _transpose_times(self, values: Float) -> Float:
        """Return Rᵀ v, shape (r,)."""
        total = np.zeros(self.kernel.n_centers)
        for pairs, block in self.kernel.blocks():
            total += values[pairs] @ block
        return self._project(total)

    def _normal(self, weights: Float, coordinates: Float) -> Float:
        """Return Rᵀ W R g, shape (r,)."""
        coefficients, total = self._coefficients(coordinates), np.zeros(self.kernel.n_centers)
        for pairs, block in self.kernel.blocks():
            total += (weights[pairs] * (block @ coefficients)) @ block
        return self._project(total)

    def _project(self, values: Float) -> Float:
        """Return L⁻¹ v for v of shape (m,), a sum over the training pairs."""
        with np.errstate(over="ignore"):
            check_finite(np.square(values), self.centers.kernels, "left and right")
        coordinates: Float = self.features.of(values[:, None])[:, 0]
        return coordinates

    def _preconditioner(self, weights: Float, penalty: float) -> Callable[[Float], Float]:
        """Return the inverse of an estimate of Rᵀ W R + penalty I by a sample of training pairs."""
        sample_weights = weights * (len(weights) / len(self.sample))
        matrix = np.zeros((self.rank, self.rank), order="F")
        for pairs, block in self.kernel.blocks(self.sample):
            rows = self.features.of(block.T) * np.sqrt(sample_weights[pairs])
            matrix = dsyrk(1.0, rows, beta=1.0, c=matrix, lower=1, overwrite_c=1)
        check_finite(matrix.diagonal(), self.centers.kernels, "left and right")
        rounding = float(_ROUNDING * matrix.diagonal().sum())
        np.einsum("ii->i", matrix)[:] += penalty
        try:
            factor = cho_factor(matrix, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise hidden_penalty(self.alpha, rounding) from None
        return lambda residual: cho_solve(factor, residual)
