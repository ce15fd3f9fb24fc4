"""Rows that are alike have values that are alike, within the bounds of RKHS-SHAP.

Theorem 5.3.5 of the thesis that has it (Chau 2023), with the factor 2 that its proof drops: of f in
the space of a Gaussian kernel, rows whose entries are at most √δ apart have values whose squared
difference is at most 8 ‖f‖² (1 − exp(−d δ / 2ℓ²)); in the observational game as many times 2 M_Γ,
where M_Γ bounds the squared norms of conditional mean operators.
"""

import numpy as np
import pytest
from brute_force import coalitions

import pkex

D, N, LENGTH = 4, 30, 1.5
RANDOM = np.random.default_rng(4)
POINTS = RANDOM.normal(size=(N, D))
POINTS[:, 1] = POINTS[:, 0] + 0.3 * POINTS[:, 1]
F = pkex.KernelExpansion(POINTS, RANDOM.normal(size=N), pkex.kernels.RBF(LENGTH))
NORM = F.coefficients @ F.kernel(POINTS) @ F.coefficients
ETA = 0.01
GAME = pkex.Observational(pkex.kernels.RBF(LENGTH), regularization=ETA)
DISTANCES = [1e-4, 1e-2, 0.1, 1.0]


def gaussian(columns):
    differences = (POINTS[:, None] - POINTS)[..., columns] / LENGTH
    return np.exp(-0.5 * np.square(differences).sum(axis=-1))


def largest_squared_norm():
    """M_Γ: of the operators from ψ(x_S) to means of ψ(z_{S^c}), and of these means."""
    found = [1.0]
    for members in coalitions(D)[1:-1]:
        rest = [j for j in range(D) if j not in members]
        known, others = gaussian(members), gaussian(rest)
        # Weights are C A⁻¹ k + 1/n, where C takes off the mean, so that they add up to 1.
        centring = np.eye(N) - 1.0 / N
        maps = centring @ np.linalg.inv(known + N * ETA * np.eye(N))
        inner = maps.T @ others @ maps @ known
        slope = np.sqrt(np.linalg.eigvals(inner).real.max())
        mean = np.sqrt(others.mean())
        found.append((slope + mean) ** 2)
    return max(found)


def squared_differences(explainer, distance):
    """Of rows, and others whose entries are that far away, which are no rows of the background."""
    rows = RANDOM.normal(size=(20, D))
    others = rows + distance * RANDOM.choice([-1.0, 1.0], size=rows.shape)
    return np.square(explainer.shap_values(rows) - explainer.shap_values(others))


def bound(distance):
    return 8.0 * NORM * -np.expm1(-D * distance**2 / (2.0 * LENGTH**2))


@pytest.mark.parametrize("distance", DISTANCES)
def test_interventional_values_change_no_more_than_the_bound(distance):
    changes = squared_differences(pkex.Explainer(F, POINTS), distance)
    assert changes.max() <= bound(distance)
    # Nor is it far above what occurs.
    assert changes.max() > 1e-4 * bound(distance)


@pytest.mark.parametrize("distance", DISTANCES)
def test_observational_values_change_no_more_than_the_bound(distance):
    explainer = pkex.Explainer(F, POINTS, value_function=GAME)
    changes = squared_differences(explainer, distance)
    assert changes.max() <= 2.0 * largest_squared_norm() * bound(distance)
    assert changes.max() > 1e-5 * largest_squared_norm() * bound(distance)


def test_rows_that_are_left_out_of_the_background_differ_from_their_neighbours():
    game = pkex.Observational(GAME.kernel, ETA, leave_one_out=True)
    explainer = pkex.Explainer(F, POINTS, value_function=game)
    apart = explainer.shap_values(POINTS) - explainer.shap_values(POINTS + 1e-9)
    assert np.abs(apart).max() > 1e-3
