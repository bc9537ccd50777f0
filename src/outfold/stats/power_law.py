"""Inverse power laws a - b n^-c: how scores grow with the number of training samples, and how many a score needs."""

from __future__ import annotations

import numpy as np

from .kernels import Floats

# Rates c that are tried. Below, a curve is a straight line in log n; above, it is flat but for its first point.
_RATES = (0.05, 3.0)
# The rates are tried on a grid, then on finer ones around the best, each a tenth as wide.
_COARSE, _FINE, _ROUNDS = 40, 21, 8
_CURVES_STREAM = 0x1EA3


def fit_power_law(sizes: Floats, scores: Floats, best: float) -> Floats:
    """(R, 3) a, b, c of the least squares fit of a - b n^-c to each row of (R, S) scores; greater scores are better.

    b is not negative, since more samples do no harm, and a is not above the best score there is. For a given c the rest is
    linear, so that only c is searched.
    """
    scale = float(np.exp(np.log(sizes).mean()))  # near 1, so that powers keep their digits
    n, rows = sizes / scale, np.arange(len(scores))
    rates = np.broadcast_to(np.geomspace(*_RATES, _COARSE), (len(scores), _COARSE))
    steps = np.linspace(0.0, 1.0, _FINE)
    for _ in range(_ROUNDS):
        a, b, error = _linear(n, scores, rates, best)
        at = np.argmin(error, axis=1)
        low, high = rates[rows, np.maximum(at - 1, 0)], rates[rows, np.minimum(at + 1, rates.shape[1] - 1)]
        found = np.stack([a[rows, at], b[rows, at], rates[rows, at]], axis=1)
        rates = low[:, None] * (high / low)[:, None] ** steps
    found[:, 1] *= scale ** found[:, 2]
    return found


def drawn_deviations(scores: Floats, ratio: float, n_resamples: int, seed: int) -> Floats:
    """(B, S) how far the means of (S, J) scores over J splits may lie from their true values, for a whole curve at a time.

    Each mean has the variance s^2 (1/J + n_test/n_train) of lemma 1 of Nadeau and Bengio (2003). Its second part comes from the
    samples that splits share. The sizes of a curve share the same samples, so this part moves all points together: the
    covariance of the means is S/J + (n_test/n_train) s s', with S the covariance of the scores over splits and s their standard
    deviations. S is estimated, so the draws are those of a multivariate t distribution with J - 1 degrees of freedom.
    """
    n_splits = scores.shape[1]
    df = max(n_splits - 1, 1)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_CURVES_STREAM,)))
    own = (scores - scores.mean(axis=1, keepdims=True)).T / np.sqrt(n_splits * df)
    together = np.sqrt(ratio) * scores.std(axis=1, ddof=min(1, n_splits - 1))
    drawn = rng.standard_normal((n_resamples, n_splits)) @ own + rng.standard_normal((n_resamples, 1)) * together
    return np.asarray(drawn / np.sqrt(rng.chisquare(df, (n_resamples, 1)) / df))


def _linear(n: Floats, scores: Floats, rates: Floats, best: float) -> tuple[Floats, Floats, Floats]:
    """(R, G) a and b for each rate, and the sum of squared errors."""
    x, y = n ** -rates[..., None], scores[:, None, :]
    mean_x, mean_y = x.mean(axis=-1), y.mean(axis=-1)
    slope = np.sum((x - mean_x[..., None]) * (y - mean_y[..., None]), axis=-1) / np.sum(
        (x - mean_x[..., None]) ** 2, axis=-1
    )
    b = np.maximum(-slope, 0.0)
    a = mean_y + b * mean_x
    if np.isfinite(best):
        capped = np.maximum(np.sum((best - y) * x, axis=-1) / np.sum(x**2, axis=-1), 0.0)
        a, b = np.minimum(a, best), np.where(a > best, capped, b)
    return a, b, np.sum((a[..., None] - b[..., None] * x - y) ** 2, axis=-1)


def power_law(found: Floats, n: float) -> Floats:
    """(...) the score at n samples, of (..., 3) parameters."""
    return np.asarray(found[..., 0] - found[..., 1] * n ** -found[..., 2])


def samples_for(found: Floats, score: float) -> Floats:
    """(...) samples at which the law reaches the score: infinite where it never does, 1 where it is there from the start."""
    a, b, c = np.moveaxis(found, -1, 0)
    room = a - score
    with np.errstate(over="ignore"):
        n = np.where(b > 0, b / np.where(room > 0, room, 1.0), 1.0) ** (1 / c)
    return np.asarray(np.where(room > 0, np.maximum(n, 1.0), np.where((room == 0) & (b == 0), 1.0, np.inf)))
