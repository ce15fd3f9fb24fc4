"""MMD² and HSIC of coalitions by their definitions, as matrices: independent of pkex."""

from dataclasses import dataclass

import numpy as np
from brute_force import coalitions, shapley_weights

PROFILES = {
    "rbf": lambda r, length_scale: np.exp(-0.5 * (r / length_scale) ** 2),
    "laplacian": lambda r, length_scale: np.exp(-abs(r) / length_scale),
    "cauchy": lambda r, length_scale: 1.0 / (1.0 + (r / length_scale) ** 2),
    "delta": lambda r, similarity: np.where(r == 0.0, 1.0, similarity),
}


@dataclass(frozen=True)
class SumOfProducts:
    """Σ_t coefficient_t ∏ profile(x_j − y_j, parameter) over the (j, profile, parameter) of t."""

    terms: tuple

    def factors(self, rows, players):
        """For each term its coefficient and the players' factors (P, n, n)."""
        for coefficient, parts in self.terms:
            found = np.ones((max(players) + 1, len(rows), len(rows)))
            for column, profile, parameter in parts:
                difference = rows[:, None, column] - rows[None, :, column]
                found[players[column]] *= PROFILES[profile](difference, parameter)
            yield coefficient, found

    def __call__(self, rows):
        """The kernel matrix of all columns."""
        together = [0] * rows.shape[1]
        return sum(c * factors[0] for c, factors in self.factors(rows, together))


@dataclass(frozen=True)
class CenteredProduct:
    """∏_j (1 + k̃_j/√d): the default kernel by its definition, each k̃_j centered as a matrix.

    Numbers are compared by Gaussians of twice their median distance, labels by 1/p or 0, where p
    counts at least five rows. Of a detector, means are over the first n rows, the reference, and
    those of one of these over the others.
    """

    numbers: tuple
    labels: tuple
    n_reference: int | None = None

    def factors(self, rows, players):
        """The coefficient 1, and the players' factors (P, n, n)."""
        found = np.ones((max(players) + 1, len(rows), len(rows)))
        share = 1.0 / np.sqrt(len(self.numbers) + len(self.labels))
        for j in (*self.numbers, *self.labels):
            found[players[j]] *= 1.0 + share * self.centered(rows[:, j], j in self.labels)
        yield 1.0, found

    def centered(self, column, is_label):
        """k̃ of a column."""
        n = self.n_reference or len(column)
        differ = column[:, None] - column
        if is_label:
            p = np.maximum((differ[:n] == 0.0).mean(axis=0), 5 / n)
            kernel = (differ == 0.0) / p
        else:
            distances = abs(differ)[:n, :n][np.triu_indices(n, 1)]
            median = np.median(distances) or np.median(distances[distances > 0.0])
            kernel = np.exp(-0.5 * (differ / (2.0 * median)) ** 2)
        if self.n_reference is not None:
            others = kernel[:, :n].copy()
            np.fill_diagonal(others, np.nan)
            means = np.nanmean(others, axis=1)
            kernel = kernel - means[:, None] - means + means[:n].mean()
            return kernel / np.diag(kernel)[:n].mean()
        kernel = kernel - kernel.mean(axis=0)
        kernel = kernel - kernel.mean(axis=1)[:, None]
        return kernel / np.diag(kernel).mean()

    def __call__(self, rows):
        """The kernel matrix of all columns."""
        return next(self.factors(rows, [0] * rows.shape[1]))[1][0]


def coalition_matrices(kernel, rows, players, *, marginal=False):
    """The kernel matrix (n, n) of each coalition of players.

    Absent factors are 1, or means over the pairs of rows: of all, or those of a slice.
    """
    off_diagonal = ~np.eye(len(rows), dtype=bool)
    among = marginal if isinstance(marginal, slice) else slice(None)
    matrices = [0.0] * 2 ** (max(players) + 1)
    for weights, factors in kernel.factors(rows, players):
        if np.ndim(weights) == 0:  # no power series, but numbers
            weights, factors = [weights], factors[:, None]
        absent = [
            [float(f[among, among][off_diagonal[among, among]].mean()) for f in coefficients]
            if marginal
            else [1.0, *[0.0] * (len(weights) - 1)]
            for coefficients in factors
        ]
        for number, members in enumerate(coalitions(len(factors))):
            product = [np.ones(off_diagonal.shape), *[0.0] * (len(weights) - 1)]
            for player, factor in enumerate(factors):
                product = series_product(product, factor if player in members else absent[player])
            of_term = sum(w * coefficient for w, coefficient in zip(weights, product, strict=True))
            matrices[number] = matrices[number] + of_term
    return matrices


def series_product(left, right):
    """The product of two power series, given by as many coefficients, without higher orders."""
    return [sum(left[r] * right[q - r] for r in range(q + 1)) for q in range(len(left))]


def attributed(statistic, kernel, rows, players, *, marginal=False):
    """Shapley values, what each player is worth alone, and the statistic itself."""
    matrices = coalition_matrices(kernel, rows, players, marginal=marginal)
    games = np.array([statistic(matrix) for matrix in matrices])
    d = max(players) + 1
    return shapley_weights(d) @ games, games[[2**j for j in range(d)]], games[-1]


def mmd_statistic(n, estimator="unbiased", weights=None):
    """MMD² as a function of the pooled kernel matrix, the first n rows being one sample."""

    def statistic(matrix):
        w = np.ones(len(matrix)) if weights is None else np.concatenate(weights)
        v, w = w[:n] / w[:n].sum(), w[n:] / w[n:].sum()
        first, second, cross = matrix[:n, :n], matrix[n:, n:], matrix[:n, n:]
        if estimator == "biased":
            return v @ first @ v + w @ second @ w - 2.0 * v @ cross @ w
        own = [s @ np.diag(np.diag(block)) @ s for s, block in ((v, first), (w, second))]
        return (
            (v @ first @ v - own[0]) / (1.0 - v @ v)
            + (w @ second @ w - own[1]) / (1.0 - w @ w)
            - 2.0 * v @ cross @ w
        )

    return statistic


def hsic_statistic(target_matrix, estimator="biased"):
    """HSIC as a function of the kernel matrix of X."""
    n = len(target_matrix)
    centring = np.eye(n) - 1.0 / n

    def biased(matrix):
        return np.trace(matrix @ centring @ target_matrix @ centring) / (n - 1.0) ** 2

    def unbiased(matrix):
        # Song et al. (2012), equation 5.
        k, l = (m - np.diag(np.diag(m)) for m in (matrix, target_matrix))  # noqa: E741
        one = np.ones(n)
        return (
            np.trace(k @ l)
            + (one @ k @ one) * (one @ l @ one) / ((n - 1.0) * (n - 2.0))
            - 2.0 * (one @ k @ l @ one) / (n - 2.0)
        ) / (n * (n - 3.0))

    return {"biased": biased, "unbiased": unbiased}[estimator]
