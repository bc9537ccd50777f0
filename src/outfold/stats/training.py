"""The variance of a cross-validated mean: chance in the samples, and chance in the training sets.

A value is what one unit (a sample, or a group of samples) adds to a score, or to the difference of two scores, in one repeat;
the score of the repeat is the mean over its units. Values are (P, R, U), for pairs or configurations, repeats and units. The
page on comparing derives the variance, and says what of it is an assumption.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .intervals import equal_answers, wilson, wilson_by
from .kernels import Array, Floats
from .rank_metrics import placements


class Allowance(NamedTuple):
    """How much variance of training is added: `theta` times its bound; the power `m` of the overlap scales what repeats show."""

    theta: float
    m: int


# Calibrated by simulations (studies/type_one_error.py), not derived.
ZERO_ONE = Allowance(theta=1.0, m=2)
OTHER_LOSS = Allowance(theta=1.5, m=1)  # any other mean over samples, and the area under the ROC curve
# F1, average precision and the like: a shift of the threshold moves the scores of all samples together.
OF_SETS = Allowance(theta=2.5, m=1)
# The score of one configuration by a loss without an upper end: large losses of few samples make it vary more.
UNBOUNDED = Allowance(theta=2.0, m=1)


# Draws of predictions, and the samples of one data set, do not show how models vary with the training set; nor do few samples
# show the long tails of a loss. So many times the variance counts. Calibrated on real data (studies/real_data.py).
TRAINING, TAILS = 1.3, 1.2


class Design(NamedTuple):
    """What the variance needs to know of the splits."""

    test_share: float  # of the units, held out in a split
    overlap: float  # of the training sets of two splits that both hold a unit out: the share they have in common

    @classmethod
    def of_splits(cls, n_units: int, test_share: float) -> Design:
        """Random splits of so many units: another unit is held out too with probability (n_test - 1) / (N - 1)."""
        return cls(test_share, 1 - (test_share * n_units - 1) / max(n_units - 1, 1))


class Parts(NamedTuple):
    """(P,) what the variance of a mean is made of."""

    samples: Floats  # of the units' means over repeats: their variance over the number of units U
    spread: Floats  # s^2 / U, of the units of one repeat
    within: Floats  # V_w / U, of the repeats of one unit; infinite where there is one repeat
    folds: Floats  # of the means of the folds: their variance over their number; with repeats, widened because few folds tell it


def variance_parts(values: Floats, folds: NDArray[np.integer]) -> Parts:
    """The parts of the variance of the mean of (P, R, U) values.

    `folds`, (R, U) or (P, R, U), says in which fold a repeat holds a unit out; -1 where in none. Units that are held out more
    often weigh more.
    """
    n_units, held = values.shape[2], folds >= 0
    kept = np.where(held, values, 0.0)
    times = held.sum(axis=-2)  # (U,) or (P, U)
    total, used = times.sum(axis=-1), np.sum(times > 0, axis=-1)
    means = kept.sum(axis=1) / np.maximum(times, 1)
    mean = (means * times).sum(axis=1) / total
    weights = times / total[..., None]
    samples = ((weights * (means - mean[:, None])) ** 2).sum(axis=1) * used / (used - 1)
    n = held.sum(axis=-1)  # (R,) or (P, R)
    centred = np.where(held, kept - (kept.sum(axis=2) / n)[:, :, None], 0.0)
    spread = ((centred**2).sum(axis=2) / np.maximum(n - 1, 1)).mean(axis=1)
    squares = (np.where(held, kept - means[:, None], 0.0) ** 2).sum(axis=(1, 2))
    again = total - used
    within = np.where(again > 0, squares / np.maximum(again, 1), np.inf)
    return Parts(samples, spread / n_units, within / n_units, _between_folds(kept, folds))


def _between_folds(kept: Floats, folds: NDArray[np.integer]) -> Floats:
    """(P,) variance of the means of all folds, over their number.

    With repeats, it counts (J - 1) / (J - 3) times for J folds, the variance of Student's t, because it is itself uncertain;
    three times for fewer than four. Then the mean over repeats hides what samples of a fold share, and only the folds show it.
    """
    members = (folds[..., None] == np.arange(folds.max() + 1)).astype(np.float64)
    sizes = members.sum(axis=-2)  # (R, K) or (P, R, K)
    sums = (kept[:, :, None] @ members)[:, :, 0]
    there = np.broadcast_to(sizes > 0, sums.shape)
    means = np.where(there, sums / np.maximum(sizes, 1), 0.0)
    n = there.sum(axis=(1, 2))
    apart = np.where(there, means - (means.sum(axis=(1, 2)) / n)[:, None, None], 0.0)
    uncertain = 1 + 2 / np.maximum(n - 3, 1) if folds.shape[-2] > 1 else 1.0
    return np.asarray((apart**2).sum(axis=(1, 2)) / (n - 1) / n * uncertain)


def variance_of_mean(parts: Parts, design: Design, allowance: Allowance) -> Floats:
    """(P,) [var_u(mean_r v) + theta T] / U, where T bounds the variance that training sets add.

    T is s^2 / (1 + 1/K), and not more than V_w / (1 - o^m) where there are repeats. The mean varies at least as much as the
    mean of folds that have nothing in common.
    """
    seen = 1 - design.overlap**allowance.m
    # Splits that hold out one unit always train alike: their repeats show nothing.
    training = np.minimum(parts.spread / (1 + design.test_share), parts.within / seen if seen > 0 else np.inf)
    return np.maximum(parts.samples + allowance.theta * training, parts.folds)


def area_values(scores: Floats, positive: NDArray[np.bool_]) -> Floats:
    """(C, n) values whose mean is the area under the ROC curve: A + (n / n_c) (placement - A), n_c samples of the own class."""
    own, other = placements(scores, positive)
    out = np.empty(scores.shape)
    area, n = own.mean(axis=1, keepdims=True), scores.shape[1]
    out[:, positive] = area + n / own.shape[1] * (own - area)
    out[:, ~positive] = area + n / other.shape[1] * (other - area)
    return out


def jackknife_values(whole: Floats, without: Floats) -> Floats:
    """(C, U) values of units from (C,) scores and (U, C) scores without each unit.

    They vary like the pseudo-values U whole - (U - 1) without; their mean is the score, from which that of pseudo-values differs
    by the jackknife's estimate of bias.
    """
    return np.asarray(whole[:, None] + (len(without) - 1) * (without.mean(axis=0) - without).T)


def group_values(values: Floats, codes: Array) -> Floats:
    """(C, G) what every group adds, of (C, n) values of samples: the mean over groups is that over samples."""
    n_groups, n = int(codes.max()) + 1, values.shape[1]
    mean = values.mean(axis=1, keepdims=True)
    members = np.zeros((n, n_groups))
    members[np.arange(n), codes] = 1.0
    return np.asarray(mean + n_groups / n * ((values - mean) @ members))


def score_interval(
    score: float, variance: float, sizes: tuple[float, float], df: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The ends of an interval of a score with this variance, on a scale that respects the ends of the metric.

    Between two bounds it is Wilson's for as many answers, right or wrong, as vary as much; `sizes` are the samples, and those
    that the metric rests on, which count where hardly anything varies. With one bound it is the exponential of an interval of
    the log of the distance to it.
    """
    from scipy.special import ndtr, stdtrit

    low, high = bounds
    reach = float(stdtrit(df, (1 + level) / 2))
    if np.isfinite(low) and np.isfinite(high):
        share = min(max((score - low) / (high - low), 0.0), 1.0)
        equal = equal_answers(share * (1 - share), variance / (high - low) ** 2, *sizes)
        normal = 1 - 2 * float(ndtr(-reach))
        # The quantile of Student's t with one degree of freedom is so far out that its normal level is 1 to the last digit.
        ends = wilson(share * equal, equal, normal) if normal < 1 else wilson_by(share * equal, equal, reach)
        return low + (high - low) * ends[0], low + (high - low) * ends[1]
    half = reach * float(np.sqrt(variance))
    best = low if np.isfinite(low) else high
    if not np.isfinite(best) or score == best:
        return score - half, score + half
    near, far = (best + (score - best) * float(np.exp(sign * half / abs(score - best))) for sign in (-1, 1))
    return min(near, far), max(near, far)
