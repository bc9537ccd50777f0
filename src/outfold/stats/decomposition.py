"""What an error is made of: bias and variance of predictions, and the variance components of balanced m x 2 scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels import Floats

# Scores that differ by less, relative to their size, differ by rounding.
_ROUNDING = 1e-12

# -- bias and variance of predictions -------------------------------------------------------------------


class ErrorParts(NamedTuple):
    """(C,) the mean loss and its parts: loss = bias + adds - saves; `variance` is how often, or how far, predictions stray."""

    loss: Floats
    bias: Floats
    variance: Floats
    adds: Floats
    saves: Floats


def squared_error_parts(y: Floats, predicted: Floats) -> ErrorParts:
    """Parts of the squared error of (R, C, N) predictions, NaN where there is none; samples have two predictions or more.

    Both parts are unbiased: the variance of n predictions of a sample divides by n - 1, and what it adds to the square of their
    mean error, variance / n, is taken from the bias. They add up to the loss exactly. Noise of the labels is part of the bias.
    """
    n = np.sum(~np.isnan(predicted), axis=0)
    mean = np.nansum(predicted, axis=0) / n
    variance = np.nansum((predicted - mean) ** 2, axis=0) / (n - 1)
    bias = (mean - y) ** 2 - variance / n
    mean_bias, mean_variance = bias.mean(axis=1), variance.mean(axis=1)
    return ErrorParts(mean_bias + mean_variance, mean_bias, mean_variance, mean_variance, np.zeros(len(mean_bias)))


def zero_one_parts(y: NDArray[np.intp], predicted: NDArray[Any], n_classes: int) -> ErrorParts:
    """Parts of the 0-1 loss of (R, C, N) classes, -1 where there is none (Domingos 2000).

    The main prediction of a sample is its most frequent class, the first of those tied. Bias is the share of samples whose main
    prediction is wrong, variance the share of predictions that are not the main one. Variance adds to the loss where the main
    prediction is right, and saves where it is wrong and another prediction is right.
    """
    votes = np.stack([np.sum(predicted == k, axis=0) for k in range(n_classes)], axis=-1)
    shares = votes / votes.sum(axis=-1, keepdims=True)
    main = np.argmax(votes, axis=-1)
    strays = 1 - np.take_along_axis(shares, main[..., None], axis=-1)[..., 0]
    right = np.take_along_axis(shares, np.broadcast_to(y, main.shape)[..., None], axis=-1)[..., 0]
    wrong = main != y
    adds, saves = np.where(wrong, 0.0, strays).mean(axis=1), np.where(wrong, right, 0.0).mean(axis=1)
    return ErrorParts((1 - right).mean(axis=1), wrong.mean(axis=1), strays.mean(axis=1), adds, saves)


# -- balanced m x 2 cross-validation --------------------------------------------------------------------


class Correlations(NamedTuple):
    """Definition 1 of Wang et al. (2014): variance of the score of a half, correlations within and between repeats."""

    variance: float
    rho1: float
    rho2: float

    def of_mean(self, m: int) -> float:
        """Variance of the mean over m repeats of two halves: eq. 3.2, for any m."""
        return self.variance * (1 + self.rho1 + 2 * (m - 1) * self.rho2) / (2 * m)

    def expected(self, m: int, weight: float) -> float:
        """Expectation of the variance estimate sum_i s_i^2 / (2m) + weight S_between^2 (sect. 4 of the paper, for any m)."""
        between = (1 + self.rho1) / 2 - self.rho2
        return self.variance * ((1 - self.rho1) / 2 + weight * between)


def correlations(scores: Floats) -> Correlations:
    """Variance and correlations of (E, m, 2) scores of E independent data sets; each moment is a mean over equal positions."""
    n, m, _ = scores.shape
    centred = (scores - scores.mean(axis=0)).reshape(n, -1)
    covariance = (centred.T @ centred / (n - 1)).reshape(m, 2, m, 2)
    repeats, halves = np.arange(m), np.arange(2)
    variance = float(covariance[repeats[:, None], halves, repeats[:, None], halves].mean())
    within = float(covariance[repeats, 0, repeats, 1].mean())
    others = ~np.eye(m, dtype=bool)
    between = float(covariance.transpose(0, 2, 1, 3)[others].mean())
    if variance <= (_ROUNDING * np.abs(scores).max()) ** 2:
        return Correlations(0.0, 0.0, 0.0)
    return Correlations(variance, within / variance, between / variance)
