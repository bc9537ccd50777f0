"""Areas under ROC curves on the same samples: DeLong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.predictions import Predictions
from ..exceptions import InputError, NeedError
from ..metrics import MetricLike
from ..results import Alternative, Comparison, Outcome
from ..stats import roc_curves as kernels
from ..stats.pvalues import Tails, normal_quantile, normal_tails
from ..stats.resampling import blocks
from ._contest import Contest, Source
from ._design import Answer, PairTest, Question, compare_pair
from ._one_set import notes_on_pooling, notes_without_variance, pvalues, standardised

# Pairs times samples whose differences of placements are held at once.
_AT_ONCE = 1 << 22
# A variance below this share of the squared scale of placements is what rounding leaves of none.
_NONE = 1e-30


def _delong(contest: Contest, pairs: NDArray[np.intp], question: Question) -> Answer:
    oof = contest.predictions("delong")
    if contest.metric_name != "roc_auc":
        raise InputError(
            f"delong compares roc_auc of two classes; got {contest.metric_name}. Use bootstrap or permutation."
        )
    rows = _rows(oof)
    positive = oof.target.y[rows] == 1
    placements = _mean_placements(oof, rows, positive)
    areas = placements[0].mean(axis=1)
    variances, wins = _of_pairs(placements, pairs, _codes(oof, rows, positive))
    difference = areas[pairs[:, 0]] - areas[pairs[:, 1]]
    difference[np.abs(difference) < 1e-15] = 0.0
    error = np.sqrt(np.where(variances < _NONE, 0.0, variances))
    z = np.divide(difference, error, out=np.where(difference == 0, 0.0, np.nan), where=error > 0)
    half = -normal_quantile((1 - question.confidence_level) / 2) * error
    interval = np.stack([difference - half, difference + half], axis=1)
    interval[np.isnan(z)] = np.nan
    outcome = Outcome(
        difference=difference,
        statistic=z,
        pvalue=pvalues(question, _tails(z, error)),
        interval=interval,
        standardised=standardised(difference, error * np.sqrt(len(rows))),
        wins=wins,
        unit="sample",
        notes=notes_without_variance(difference, error),
    )
    return Answer(outcome, areas, notes_on_pooling(contest, ranked=True), description=_description(oof))


def _tails(z: NDArray[np.float64], error: NDArray[np.float64]) -> Tails:
    """Normal tails; 1 where two models are the same, whichever the question."""
    greater, less = normal_tails(z)
    same = (error == 0) & (z == 0)
    return Tails(np.where(same, 1.0, greater), np.where(same, 1.0, less))


def _description(oof: Predictions) -> str:
    words = "DeLong's test of two areas under the ROC curve"
    if oof.n_repeats > 1:
        words += f", placements averaged over {oof.n_repeats} repeats"
    return words if oof.groups is None else f"{words}, samples clustered in groups [Obuchowski 1997]"


def same_rows(oof: Predictions) -> NDArray[np.intp] | None:
    """The samples held out, where every repeat holds out the same ones; else None."""
    held = oof.folds >= 0
    return np.flatnonzero(held[:, 0]) if np.all(held == held[:, :1]) else None


def two_of_each(oof: Predictions, rows: NDArray[np.intp]) -> bool:
    """Whether there are two samples of each class at least, which a variance of placements needs."""
    return int(np.bincount(oof.target.y[rows].astype(np.intp), minlength=2).min()) >= 2


def _rows(oof: Predictions) -> NDArray[np.intp]:
    rows = same_rows(oof)
    if rows is None:
        raise NeedError(
            f"delong needs a prediction of the same samples in every repeat; these predictions are {oof.plan}. Use bootstrap."
        )
    if not two_of_each(oof, rows):
        raise NeedError(
            "delong needs two samples of each class at least; one class has fewer among those held out. Use permutation."
        )
    return rows


def _mean_placements(
    oof: Predictions, rows: NDArray[np.intp], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    scores = oof.respond("score")
    parts = [kernels.placements(scores[r][:, rows].astype(np.float64), positive) for r in range(oof.n_repeats)]
    if len(parts) == 1:
        return parts[0]
    return np.mean([p for p, _ in parts], axis=0), np.mean([n for _, n in parts], axis=0)


def _codes(
    oof: Predictions, rows: NDArray[np.intp], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    if oof.group_codes is None:
        return None
    # Groups that are not held out must not count.
    codes = np.unique(oof.group_codes[rows], return_inverse=True)[1].astype(np.intp)
    if min(len(np.unique(codes[positive])), len(np.unique(codes[~positive]))) < 2:
        raise NeedError("delong needs two groups with each class at least. Use permutation, or more groups.")
    return codes[positive], codes[~positive]


def _of_pairs(
    placements: tuple[NDArray[np.float64], NDArray[np.float64]],
    pairs: NDArray[np.intp],
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Variances of the differences, and samples on which the first is better, equal, worse.

    From the differences of placements, pair by pair: a covariance matrix would cancel to noise for models nearly the same.
    """
    of_positives, of_negatives = placements
    n = of_positives.shape[1] + of_negatives.shape[1]
    variances, wins = np.empty(len(pairs)), np.empty((len(pairs), 3), dtype=np.int64)
    for part in blocks(len(pairs), max(1, _AT_ONCE // n)):
        first, second = pairs[part].T
        p, q = of_positives[first] - of_positives[second], of_negatives[first] - of_negatives[second]
        variances[part] = kernels.area_variances(p, q) if codes is None else kernels.clustered_variances(p, q, codes)
        better = np.sum(p > 0, axis=1) + np.sum(q > 0, axis=1)
        worse = np.sum(p < 0, axis=1) + np.sum(q < 0, axis=1)
        wins[part] = np.stack([better, n - better - worse, worse], axis=1)
    return variances, wins


DELONG = PairTest(
    name="delong",
    description="DeLong's test of two areas under the ROC curve",
    reference="DeLong et al. 1988; Sun and Xu 2014",
    statistic_name="z",
    needs="scores of two classes, of the same samples in every repeat",
    compute=_delong,
    metric="roc_auc",
)


def delong(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike = "roc_auc",
    *,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of the areas under two ROC curves on the same samples (DeLong, DeLong and Clarke-Pearson 1988).

    The placement of a positive is the share of negatives it scores above, that of a negative the share of positives above it,
    ties one half; the area is their mean, and the variance of a difference of areas that of the differences of placements.

    Parameters
    ----------
    source
        Predictions; on several folds they are taken as one test set (OF308), and their scores are ranked together. With repeats
        the placements are averaged over them, which must hold out the same samples. Groups are clusters (Obuchowski 1997).
    a, b
        The configurations.
    metric
        ``roc_auc``; other areas are for `bootstrap`.
    alternative, confidence_level, rope
        As for `mcnemar`.
    """
    return compare_pair(DELONG, source, a, b, metric, Question(alternative, confidence_level, rope))
