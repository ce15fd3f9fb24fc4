"""Links from decision values of scikit-learn's classifiers to probabilities of classes.

Each is a function from an array (k, decision values) to an array (k, classes).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit, softmax
from sklearn.utils.multiclass import _ovr_decision_function

from pkex import _core
from pkex.execution.blocks import blocks_of
from pkex.typing import Float


def logistic(values: Float) -> Float:
    """Return the probabilities of two classes, given the log-odds of the second."""
    second = expit(values[:, 0])
    return np.column_stack([1.0 - second, second])


def of_softmax(values: Float) -> Float:
    """Return probabilities proportional to exponentials."""
    return np.asarray(softmax(values, axis=1))


def of_logistics(values: Float) -> Float:
    """Return probabilities proportional to the logistics of one-vs-rest values."""
    return normalize(np.asarray(expit(values)))


def normalize(shares: Float) -> Float:
    """Return shares divided by their sum; equal shares where the sum is 0."""
    sums = shares.sum(axis=1, keepdims=True)
    equal_shares = np.full_like(shares, 1.0 / shares.shape[1])
    normalized: Float = np.divide(shares, sums, out=equal_shares, where=sums > 0.0)
    return normalized


@dataclass(frozen=True, eq=False)
class PairwiseCoupling:
    """Platt's sigmoids of pairs of classes, which libsvm couples to probabilities.

    Parameters
    ----------
    slopes, offsets : ndarray of shape (pairs,)
        A and B: the first class of a pair has the probability 1 / (1 + exp(A f + B)).
    sign : float
        Sign of libsvm's decision value f relative to the decision value of pkex.
    """

    slopes: Float
    offsets: Float
    sign: float

    def __call__(self, values: Float, n_threads: int = 1) -> Float:
        """Return the probabilities of all classes.

        They minimize Σ_{i≠j} (r_ji p_i − r_ij p_j)² for the probabilities r of pairs (Wu, Lin, Weng
        2004, algorithm 2). libsvm's `multiclass_probability` stops when a gradient is below
        0.005 / k, so that the result is only near r for two classes.
        """
        n_classes = round((1.0 + math.sqrt(1.0 + 8.0 * len(self.slopes))) / 2.0)
        probabilities = np.empty((len(values), n_classes))
        for block in blocks_of(len(values), _ROWS):
            probabilities[block] = _core.coupled_probabilities(
                np.ascontiguousarray(values[block]),
                self.sign * self.slopes,
                self.offsets,
                n_threads=n_threads,
            )
        return probabilities


# Rows that are coupled in one call, whose copies stay in a cache.
_ROWS = 1 << 17


@dataclass(frozen=True, eq=False)
class Votes:
    """The one-vs-rest values that scikit-learn computes from the values of pairs of classes."""

    n_classes: int

    def __call__(self, values: Float) -> Float:
        """Return the votes of classes, plus their confidences below ⅓."""
        return np.asarray(_ovr_decision_function(values < 0.0, -values, self.n_classes))


@dataclass(frozen=True, eq=False)
class Member(ABC):
    """A classifier with calibrated decision values.

    Parameters
    ----------
    own : slice
        Its decision values among the decision values of all classifiers.
    votes : Votes, optional
        Turns decision values of pairs into scores of classes.
    rounding : ndarray of shape (decision values,)
        Rounding error of the decision values.
    """

    own: slice
    votes: Votes | None
    rounding: Float

    def probabilities(self, values: Float) -> Float:
        """Return the probabilities of all classes, (k, classes)."""
        values = values[:, self.own]
        return self._score_probabilities(values if self.votes is None else self.votes(values))

    @abstractmethod
    def _score_probabilities(self, scores: Float) -> Float:
        """Return the probabilities (k, classes) for scores of classes, or of the second class."""

    def steps(self, values: Float) -> NDArray[np.bool_]:
        """Return where the rounding of decision values decides a probability, shape (k,)."""
        values = values[:, self.own]
        if self.votes is None:
            return self._score_steps(values, self.rounding)
        vote_rounding = self.votes.n_classes * float(np.max(self.rounding)) + _VOTE_ROUNDING
        scores = self.votes(values)
        is_tie = (np.abs(values) <= self.rounding).any(axis=1)
        is_step = self._score_steps(scores, np.full(scores.shape[1], vote_rounding))
        return np.logical_or(is_tie, is_step)

    def _score_steps(self, scores: Float, rounding: Float) -> NDArray[np.bool_]:
        """Return where the rounding of scores decides a probability, shape (k,)."""
        return np.zeros(len(scores), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Calibration(Member):
    """A classifier with a calibrator for each class.

    Parameters
    ----------
    calibrators : sequence of (int, calibrator)
        Class and calibrator of each score.
    n_classes : int
    """

    calibrators: Sequence[tuple[int, Any]]
    n_classes: int

    def _score_probabilities(self, scores: Float) -> Float:
        shares = self._shares(scores)
        if self.n_classes > 2:
            return normalize(shares)
        return np.column_stack([1.0 - shares[:, 1], shares[:, 1]])

    def _shares(self, scores: Float) -> Float:
        shares = np.zeros((len(scores), self.n_classes))
        for (label, calibrator), score in zip(self.calibrators, scores.T, strict=True):
            shares[:, label] = calibrator.predict(np.ascontiguousarray(score))
        return shares

    def _score_steps(self, scores: Float, rounding: Float) -> NDArray[np.bool_]:
        ends = self._shares(scores - rounding), self._shares(scores + rounding)
        low, high = np.minimum(*ends), np.maximum(*ends)
        is_step: NDArray[np.bool_] = np.any(high - low > _STEP, axis=1)
        if self.n_classes == 2:
            return is_step
        # Shares are divided by their sum, which may be as small as rounding errors.
        low_sums, high_sums = low.sum(axis=1), high.sum(axis=1)
        is_step |= high_sums - low_sums > _STEP * high_sums
        return is_step


@dataclass(frozen=True, eq=False)
class TemperatureScaling(Member):
    """A classifier with the softmax of its scores times an inverse temperature."""

    inverse: float

    def _score_probabilities(self, scores: Float) -> Float:
        if scores.shape[1] == 1:
            # The logits of two classes are −f and f.
            return logistic(2.0 * self.inverse * scores)
        return of_softmax(self.inverse * scores)


# Rounding error of votes, and the smallest change of a probability that counts as a step.
_VOTE_ROUNDING = 1e-14
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class CalibratedMean:
    """The mean of the probabilities of calibrated classifiers."""

    members: Sequence[Member]

    def __call__(self, values: Float) -> Float:
        """Return the probabilities of all classes."""
        total = sum(member.probabilities(values) for member in self.members)
        return np.asarray(total / len(self.members))

    def steps(self, values: Float) -> NDArray[np.bool_]:
        """Return where the rounding of decision values decides a probability, shape (k,)."""
        is_step = np.zeros(len(values), dtype=np.bool_)
        for member in self.members:
            is_step |= member.steps(values)
        return is_step


@dataclass(frozen=True)
class OneVsRestLink:
    """The probabilities of classes, given the probability of each class against the rest.

    Parameters
    ----------
    is_shared : bool
        Whether the probabilities of a row add up to 1; not if a row has several labels.
    """

    is_shared: bool = True

    def __call__(self, values: Float) -> Float:
        """Return the probability of each class, given pairs (rest, class) side by side."""
        positive = values[:, 1::2]
        if positive.shape[1] == 1:
            return np.column_stack([1.0 - positive, positive])
        if not self.is_shared:
            return positive
        sums = positive.sum(axis=1, keepdims=True)
        shares: Float = np.divide(positive, sums, out=positive.copy(), where=sums != 0.0)
        return shares


@dataclass(frozen=True)
class GaussianLogistic:
    """The mean of the logistic function over normal latent values, for machines side by side.

    The logistic is approximated by a combination of error functions, whose mean is known (Williams
    & Barber 1998, appendix A).

    Parameters
    ----------
    n_machines : int
        The values are as many latent means, then as many latent variances.
    """

    n_machines: int

    def __call__(self, values: Float) -> Float:
        """Return the probabilities of two classes for one machine, else one class per machine."""
        means, variances = values[:, : self.n_machines], values[:, self.n_machines :]
        positive = np.full_like(means, 0.5 * sum(_COEFFICIENTS))
        for scale, coefficient in zip(_SCALES, _COEFFICIENTS, strict=True):
            spread = np.sqrt(1.0 + 2.0 * variances * scale**2)
            positive += 0.5 * coefficient * erf(scale * means / spread)
        pairs = np.stack([1.0 - positive, positive], axis=-1).reshape(len(values), -1)
        return OneVsRestLink()(pairs)


# Numbers of scikit-learn, fitted as in Williams & Barber.
_SCALES = (0.41, 0.4, 0.37, 0.44, 0.39)
_COEFFICIENTS = (-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654)
