"""The interval of the selected configuration: what varies with the samples, and what with the selection, squared and added.

The draws of BBC score on the 37 percent of the samples that they leave out, so their quantiles are too far apart; and where
the winner makes hardly an error, they do not vary at all. So their variance is split into sampling, which is scaled to all
samples, and selection. The two are joined around the estimate by square-and-add (MOVER: Newcombe 1998; Zou and Donner 2008) on
a scale that respects the ends of the metric.

The estimate is a mean over the configurations that draws select, so it varies less with the samples than the score of one of
them. What it has in common with them varies with the variance of the mean, `together`. How far the winner is from the mean is
known only as well as differences between configurations can be told from noise. For a normal truth and normal noise, the
variance of a truth given its score is the share that is not noise times the noise; so of the rest of the variance, `alone`
minus `together`, that share counts too.

A score such as average precision or R² is too high or too low on few samples, and draws score fewer than there are. What this
makes the estimate too high or too low is squared and added on that side.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics._scoring import Scoring
from ..results import Interval
from ..stats.intervals import equal_answers, wilson
from ..stats.pvalues import normal_quantile
from ..stats.resampling import Corrected, block_size, blocks, noise_share
from ..stats.training import TAILS, TRAINING

Floats = NDArray[np.float64]

# Of the configurations that draws select, this many of the most frequent ones tell how much scores vary with the samples.
_MOST = 32
# This share of the draws tells noise from differences between configurations; all candidates are scored twice on each.
_PART_FOR_NOISE, _LEAST_FOR_NOISE = 1 / 16, 8
# A mean over configurations counts for no more than this many times the samples, however many configurations there are.
_MOST_GAINED = 2.0
# Values that are held as floats at once.
_LARGE = 1 << 22
# Differences below this part of a number are those of rounding.
ROUNDING = 1e-12
_BRIER = ("brier", "neg_brier_score")
_OF_POSITIVES = ("average_precision", "precision", "recall")
_F_SCORE = re.compile(r"(f[\d.]+|jaccard)$")


@dataclass(frozen=True)
class Scale:
    """A score as a number of which more is better: a share from 0 to 1, minus the log of a loss, or the score itself."""

    low: float
    high: float
    sign: int
    plain: bool = False  # the score itself, although an end is known: a loss of 0 has no log

    @property
    def bounded(self) -> bool:
        """Whether it is a share."""
        return bool(np.isfinite([self.low, self.high]).all())

    @property
    def of_loss(self) -> bool:
        """Whether it is the log of a loss: one end of the score, the best, is known."""
        return not self.plain and bool(np.isfinite(self.high if self.sign > 0 else self.low))

    def of(self, scores: NDArray[np.float64] | float) -> Floats:
        """Scores on this scale; infinite for a loss of 0."""
        best, worst = (self.high, self.low) if self.sign > 0 else (self.low, self.high)
        if self.bounded:
            return np.asarray((scores - worst) / (best - worst))
        if self.of_loss:
            loss = np.asarray(self.sign * (best - scores))
            with np.errstate(divide="ignore"):
                return np.asarray(-np.log(np.where(loss > ROUNDING * abs(best), loss, 0.0)))
        return np.asarray(self.sign * scores)

    def back(self, low: float, high: float) -> Interval:
        """The interval in units of the metric."""
        best, worst = (self.high, self.low) if self.sign > 0 else (self.low, self.high)
        if self.bounded:
            ends = [worst + (best - worst) * min(max(end, 0.0), 1.0) for end in (low, high)]
        elif self.of_loss:
            with np.errstate(over="ignore"):  # two samples may say nothing at all
                ends = [best - self.sign * float(np.exp(-end)) for end in (low, high)]
        else:
            ends = [min(max(self.sign * end, self.low), self.high) for end in (low, high)]
        return Interval(min(ends), max(ends))


@dataclass(frozen=True)
class Spread:
    """Why the estimate of the selected configuration is uncertain; variances on the scale."""

    scale: Scale
    estimate: float
    sampling: float  # of the estimate, as a score on all samples
    below: float  # of the selection, where the truth is worse than the estimate
    above: float  # the same, where it is better
    n: float  # so many answers, right or wrong, vary as much as `sampling` says
    df: int
    alone: tuple[float, float]  # `sampling` and `n` of the score of one configuration
    leans: float = 0.0  # how much too high the estimate is, because draws score fewer samples
    leans_by: float = 0.0  # the same in units of the metric

    @property
    def off(self) -> bool:
        """Whether the estimate is off by more than half of its standard error."""
        return self.leans**2 > self.sampling / 4

    @property
    def perfect(self) -> bool:
        """Whether the estimate is the best score there is."""
        return self.scale.bounded and float(self.scale.of(self.estimate)) == 1.0

    def of_one_choice(self, value: float) -> Spread:
        """The spread of an estimate that does not average over what else might have been selected, such as nested CV."""
        sampling, n = self.alone
        selection = self.below + self.above
        return replace(self, estimate=value, sampling=sampling, n=n, below=selection, above=selection, leans=0.0)

    def interval(self, level: float) -> Interval:
        """The interval at this level."""
        from scipy.special import stdtrit

        tail, centre = (1 - level) / 2, float(self.scale.of(self.estimate))
        if self.scale.bounded:
            centre = min(centre, 1.0)  # `balanced` may add a little too much
            reach = -normal_quantile(tail)
            low, high = wilson(centre * self.n, self.n, level)
        else:
            reach = -float(stdtrit(self.df, tail))
            half = reach * np.sqrt(self.sampling)
            low, high = centre - half, centre + half
        down = np.hypot(centre - low, reach * np.sqrt(self.below + max(self.leans, 0.0) ** 2))
        up = np.hypot(high - centre, reach * np.sqrt(self.above + min(self.leans, 0.0) ** 2))
        return self.scale.back(centre - float(down), centre + float(up))


def spread_of(
    scoring: Scoring, selected: str, result: Corrected, weightings: Iterable[NDArray[Any]], value: float
) -> Spread | None:
    """The spread of an estimate made of these draws, the `weightings`; None where nothing varies and no ends are known."""
    own, winner = scoring.scores()[0], scoring.names.index(selected)
    scale = _scale(scoring, own[[winner, *result.chosen]], result.scores)
    drawn, full = scale.of(result.scores), scale.of(own)
    chosen, shares = _most_frequent(result.chosen)
    some, draws = scoring.only(chosen), iter(weightings)
    first = next(draws)
    known = _Known(scoring, chosen)
    alone, together = _variances(some, scale, shares, chain([first], draws), known)
    # Of the first block, however many blocks come together.
    few = min(max(int(len(result.scores) * _PART_FOR_NOISE), _LEAST_FOR_NOISE), block_size(first.shape[1]))
    noise = noise_share(scoring, first[:few], scoring.metric.sign, known.of_all(first, few))
    told_apart = 1.0 if np.isnan(noise) else 1.0 - noise
    unseen = (1.0 if scoring.one_test_set else TRAINING) * (1.0 if scale.bounded else TAILS)
    sampling = unseen * max(together + told_apart * (alone - together), alone / _MOST_GAINED)
    size = 1.0 if scale.of_loss else abs(value)
    if not scale.bounded and not sampling > (ROUNDING * size) ** 2:
        return None
    units = int(scoring.units().max()) + 1
    # If nothing is selected, the variance of the draws is U E[1 / n_b] - 1 times that of a score on all samples.
    kappa = (math.e - 1) * (1 + 2 / units)
    picked = full[result.chosen]
    lost = max(float(full[winner] - picked.mean()), 0.0)
    above = max(float(drawn.var()) - kappa * alone, 0.0) + lost**2
    n = n_alone = np.nan
    if scale.bounded:
        binomial = float(shares @ (full[chosen] * (1 - full[chosen])))
        of_mean = sampling / alone if alone > 0 else unseen
        n, n_alone = (_size(some, scale, binomial, alone, times) for times in (of_mean, unseen))
    of_one = unseen * alone, n_alone
    mean = float(shares @ own[chosen])
    leans_by = _bias(some, shares, [first[: block_size(first.shape[1])]], mean)
    leans = float(scale.of(mean + leans_by) - scale.of(mean))
    found = Spread(scale, value, sampling, float(picked.var()), above, n, max(units - 1, 1), of_one)
    return replace(found, leans=leans, leans_by=leans_by) if np.isfinite(leans) else found


def _scale(scoring: Scoring, *scores: Floats) -> Scale:
    """The scale of the metric; the score itself where a loss of 0 has no log."""
    low, high = bounds_of(scoring)
    if scoring.metric.name in _BRIER and scoring.oof.target.task == "binary":
        low, high = low / 2, high / 2  # 2 is the worst of several classes
    scale = Scale(low, high, scoring.metric.sign)
    if all(np.isfinite(scale.of(values)).all() for values in scores):
        return scale
    return replace(scale, plain=True)


class _Known(NamedTuple):
    """Scores under draws that the selection has computed already.

    Shares of pairs are ratios of whole numbers, the same bits whoever is scored together; other scores are computed again.
    """

    scoring: Scoring
    chosen: NDArray[np.intp]

    def of_all(self, weights: NDArray[Any], n: int) -> Floats | None:
        """Those of all candidates under the first n draws."""
        found = None if self.scoring.metric.within is None else self.scoring.known(weights)
        return None if found is None else found[:n]

    def of_chosen(self, some: Scoring, weights: NDArray[Any]) -> Floats:
        """Those of the chosen candidates, which `some` scores where they are not known."""
        found = self.of_all(weights, len(weights))
        # In rows, as a kernel gives them: sums over draws are taken in the order of the memory.
        return some.scores(weights) if found is None else np.take(found, self.chosen, axis=1)


def _variances(
    some: Scoring, scale: Scale, shares: Floats, weightings: Iterable[NDArray[Any]], known: _Known
) -> tuple[float, float]:
    """Variance of the scores of these candidates on the scale, and of their mean; those of means need no draws."""
    values, n = some.values(), len(some.rows)
    if values is not None and scale.bounded and some.group_codes() is None and all(own.shape[1] == n for own in values):
        return _variances_of_means(values, scale, shares)
    drawn = np.concatenate([scale.of(known.of_chosen(some, weights)) for weights in weightings])
    drawn = np.where(np.isfinite(drawn), drawn, np.nan)
    whole = drawn[~np.isnan(drawn).any(axis=1)]
    alone = float(shares @ np.nanvar(drawn, axis=0))
    return alone, float(np.var(whole @ shares)) if len(whole) > 1 else alone


def _variances_of_means(values: list[NDArray[Any]], scale: Scale, shares: Floats) -> tuple[float, float]:
    """The same from the (C, n) values of each repeat, in parts so that large ones are not held as floats."""
    c, n = values[0].shape

    def single(part: tuple[slice, slice]) -> Floats:
        return scale.of(np.mean([own[part] for own in values], axis=0))

    whole = slice(None)
    alone = np.concatenate([np.var(single((part, whole)), axis=1) for part in blocks(c, max(_LARGE // n, 1))])
    mean = np.concatenate([shares @ single((whole, part)) for part in blocks(n, max(_LARGE // c, 1))])
    return float(shares @ alone) / n, float(np.var(mean)) / n


def _most_frequent(chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
    """The configurations that draws select most often, and the share of each."""
    found, times = np.unique(chosen, return_counts=True)
    frequent = np.argsort(-times, kind="stable")[:_MOST]
    return found[frequent], times[frequent] / times[frequent].sum()


def bias_of_few(scoring: Scoring, chosen: NDArray[np.intp], weightings: Iterable[NDArray[Any]]) -> float:
    """How much too high the mean of draws is that select these, because they score few samples; by all of the draws."""
    frequent, shares = _most_frequent(chosen)
    return _bias(scoring.only(frequent), shares, weightings, float(shares @ scoring.scores()[0][frequent]))


def _bias(some: Scoring, shares: Floats, weightings: Iterable[NDArray[Any]], mean: float) -> float:
    """How much too high scores on what draws leave out are; means and shares of pairs (AUC) are right for any number of samples.

    A bias that falls with the number of samples is e times as large on 1/e of them. So it is e / (e - 1) times the difference
    between what draws leave out and all samples.
    """
    if some.metric.values is not None or some.metric.within is not None:
        return 0.0
    left = np.concatenate([some.scores((weights == 0).view(np.uint8)) for weights in weightings])
    left = left[np.isfinite(left).all(axis=1)]
    return float(math.e / (math.e - 1) * ((left @ shares).mean() - mean)) if len(left) else 0.0


def _size(some: Scoring, scale: Scale, binomial: float, alone: float, times: float) -> float:
    """As many answers, right or wrong, as vary `times` as much; where hardly anything varies, as many as the metric rests on."""
    n, codes, values = len(some.rows), some.group_codes(), some.values()
    width = 1.0  # of the range that the values of single samples have
    if values is not None:
        if codes is None and len(values) == 1 and _right_or_wrong(values[0]):
            return n / times
        width = max(float(np.ptp(scale.of(own))) for own in values) or 1.0
    least = min(rests_on(some), n if codes is None else int(codes.max()) + 1)
    return equal_answers(binomial, times * alone, n, least, width)


def bounds_of(scoring: Scoring) -> tuple[float, float]:
    """The range of the metric; 0 to 1 for values that the user gave and that lie there."""
    given = scoring.metric.needs == "pointwise" and scoring.within(0.0, 1.0)
    return (0.0, 1.0) if given else scoring.metric.bounds


def _right_or_wrong(values: NDArray[Any]) -> bool:
    return bool(np.all((values == 0) | (values == 1)))


def rests_on(scoring: Scoring) -> float:
    """The samples that a metric rests on: fewer than all if a class is rare."""
    target, name = scoring.oof.target.take(scoring.rows), scoring.metric.name
    if target.event is not None:
        return max(float(target.event.sum()), 1.0)
    if target.classes is None or scoring.metric.values is not None:
        return float(len(target))
    counts = np.bincount(target.y, minlength=len(target.classes))
    if name in _OF_POSITIVES:
        return max(float(counts[1]), 1.0)
    if name == "specificity":
        return max(float(counts[0]), 1.0)
    if _F_SCORE.match(name):
        return max(min(2.0 * float(counts[1]), float(len(target))), 1.0)
    # The variance of a mean over classes is that of so many samples.
    present = counts[counts > 0]
    return float(len(present) ** 2 / np.sum(1 / present))
