"""The mean and covariance of ⟨f, μ_x⟩, for a function f of mediators and the embedding μ_x.

For a treatment x, e(x) are the kernel values between the rows of the first data set and the causes
under do(x), and E_x = e(x)ᵀ (K_Ω + λ 1)⁻¹. All methods have moments of one form:

    mean E_x c,  covariance E_x A E_x'ᵀ + b F_xx' − d G_xx',

where F_xx' is the prior inner product of causes under do(x) and do(x'), and G_xx' = E_x e(x').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from pkex.kernels import Kernel
from pkex.models.interventions.nuclear_kernel import NuclearKernel, inverse_root
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Moments:
    """The coefficients of the mean and the covariance.

    Parameters
    ----------
    mean : ndarray of shape (N,)
        c.
    within : ndarray of shape (N, N)
        A, the covariance due to f.
    prior, reduction : float
        b and d, the covariance due to the embedding.
    """

    mean: Float
    within: Float
    prior: float = 0.0
    reduction: float = 0.0


@dataclass(frozen=True, eq=False)
class MediatorData:
    """The mediators of both data sets, and the process f of targets.

    Parameters
    ----------
    mediators : ndarray of shape (N, p)
        y of the first data set.
    target_mediators : ndarray of shape (M, p)
        ỹ of the second one.
    targets : ndarray of shape (M,)
        t minus its mean.
    kernel : Kernel
        k.
    amplitude, ratio : float
        The prior variance of f relative to its kernel; the variance of the noise divided by it.
    landmarks : ndarray of shape (n, p)
        Mediators at which the features k(y, ·) of the first data set are observed.
    """

    mediators: Float
    target_mediators: Float
    targets: Float
    kernel: Kernel
    amplitude: float
    ratio: float
    landmarks: Float

    def with_fixed_embedding(self) -> Moments:
        """Return the moments for a process f with covariance k (IMP, proposition 4.3.1)."""
        cross = self.kernel(self.mediators, self.target_mediators)
        factor = self._factor(self.kernel(self.target_mediators))
        reduction = cross @ cho_solve(factor, cross.T)
        within = self.amplitude * (self.kernel(self.mediators) - reduction)
        return Moments(cross @ cho_solve(factor, self.targets), (within + within.T) / 2.0)

    def with_fixed_function(self, nuclear: NuclearKernel, scale: float) -> Moments:
        """Return the moments for ridge regression f (BayesIME, proposition 4.3.3).

        Parameters
        ----------
        nuclear : NuclearKernel
            r.
        scale : float
            The prior covariance of the embedding is scale · k_Ω · r.
        """
        dual = cho_solve(self._factor(self.kernel(self.target_mediators)), self.targets)
        features, root = self._features(nuclear)
        coefficients = root.T @ (nuclear(self.landmarks, self.target_mediators) @ dual)
        return Moments(
            features @ coefficients,
            np.zeros((len(self.mediators), len(self.mediators))),
            scale * float(dual @ nuclear(self.target_mediators) @ dual),
            scale * float(coefficients @ coefficients),
        )

    def with_processes(self, nuclear: NuclearKernel, scale: float) -> Moments:
        """Return the moments for processes f and μ with covariance r (BayesIMP, 4.3.4).

        Both are approximated by kernel expansions at all mediators ŷ: with K_ŷŷ⁻¹ = V Vᵀ, their
        inner product is (Vᵀ f(ŷ))ᵀ (Vᵀ μ_x(ŷ)), a product of independent Gaussian vectors. The mean
        is that of its derivation: equation 4.16 has K_yŷ in place of K_yy R_yy⁻¹ R_yŷ.
        """
        all_mediators = np.concatenate([self.mediators, self.target_mediators])
        basis = inverse_root(self.kernel(all_mediators))
        prior = basis.T @ nuclear(all_mediators) @ basis
        cross = basis.T @ nuclear(all_mediators, self.target_mediators)
        factor = self._factor(nuclear(self.target_mediators))
        f = cross @ cho_solve(factor, self.targets)
        f_covariance = self.amplitude * (prior - cross @ cho_solve(factor, cross.T))

        features, root = self._features(nuclear)
        coefficients = basis.T @ (nuclear(all_mediators, self.landmarks) @ root)
        means = features @ coefficients.T
        second_moment = np.outer(f, f) + f_covariance
        within = means @ f_covariance @ means.T
        return Moments(
            means @ f,
            (within + within.T) / 2.0,
            scale * float((second_moment * prior).sum()),
            scale * float((second_moment * (coefficients @ coefficients.T)).sum()),
        )

    def embedding_amplitude(self, nuclear: NuclearKernel, factor: Float) -> float:
        """Return the amplitude of the embedding that maximizes its likelihood (equation 4.13).

        Columns of the features have the covariance amplitude · (K_Ω + λ 1), whose Cholesky factor
        is `factor`.
        """
        whitened_features = solve_triangular(factor, self._features(nuclear)[0], lower=True)
        return float(np.mean(np.square(whitened_features)))

    def _features(self, nuclear: NuclearKernel) -> tuple[Float, Float]:
        """Return the features K W of landmarks l, and W with R_ll⁻¹ = W Wᵀ."""
        root = inverse_root(nuclear(self.landmarks))
        return self.kernel(self.mediators, self.landmarks) @ root, root

    def _factor(self, gram: Float) -> tuple[Float, bool]:
        factor: tuple[Float, bool] = cho_factor(gram + self.ratio * np.eye(len(gram)), lower=True)
        return factor
