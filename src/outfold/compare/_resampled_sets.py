"""Any metric on the same samples: the paired bootstrap, and swapping the two models sample by sample."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike, as_seed, check_choice, check_count
from ..data.notes import Note
from ..exceptions import InputError, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, group_notes, jackknife_scores, sample_bootstrap
from ..requirements import MEAN_OVER_SAMPLES, PREDICTIONS
from ..results import Comparison, PairArrays
from ..stats import intervals, paired
from ..stats.kernels import RELATIVE_TIE, Kernel
from ..stats.pvalues import Tails
from ..stats.resampling import block_size, blocks
from ._common_scale import swappable
from ._compared import ComparedConfigs, Source
from ._one_set import FEW
from ._pair_test import (
    AlternativeLike,
    Findings,
    Hypothesis,
    compare_pair,
    notes_without_variance,
    pair_test,
    pvalues,
    standardised,
)

# Fewer draws than this say little about a tail.
_LEAST = 100
# Pairs times draws held at once.
_AT_ONCE = 1 << 22

BootstrapMethod = Literal["bca", "percentile"]


def _bootstrap(
    compared: ComparedConfigs,
    pairs: NDArray[np.intp],
    hypothesis: Hypothesis,
    *,
    n_resamples: int,
    method: str,
    stratify: bool,
    rng: RngLike,
) -> Findings:
    check_choice(method, get_args(BootstrapMethod), "method")
    n_resamples, seed = check_count(n_resamples, "n_resamples", _LEAST), as_seed(rng)
    level = hypothesis.confidence_level
    if (n_resamples + 1) * (1 - level) / 2 < 1:
        least = int(2 / (1 - level)) + 1
        raise invalid("n_resamples", f"must be at least {least:,} for an interval at {level:g}", f"got {n_resamples}")
    scoring = compared.scoring
    observed = defined_scores(scoring)
    draws = np.concatenate([scoring.scores(w) for w in sample_bootstrap(scoring, stratify, seed).blocks(n_resamples)])
    kept = draws[~np.isnan(draws).any(axis=1)]
    if len(kept) < _LEAST:
        needed = f"{scoring.metric.name} is undefined on nearly all draws of these samples"
        raise InputError(needed=needed, remedy="Use `stratify=True`, which draws within classes.")
    jackknife = jackknife_scores(scoring) if method == "bca" else None
    difference = observed_differences(observed, pairs)
    null = hypothesis.null
    tails, interval, spread = _inverted(compared.sign, kept, jackknife, difference, pairs, level, null)
    at_null = np.abs(difference - null) <= RELATIVE_TIE * np.abs(observed).max()
    p = np.where((spread == 0) & ~at_null, np.nan, pvalues(hypothesis, tails))
    interval[(spread == 0) & (difference != 0)] = np.nan
    arrays = PairArrays(
        difference=difference,
        pvalue=p,
        interval=interval,
        standardised=standardised(difference, spread * np.sqrt(int(scoring.units().max()) + 1)),
        notes=notes_without_variance(difference, spread, at_null),
        **sample_wins(compared, pairs),
    )
    words = "BCa" if method == "bca" else "percentile"
    detail = f", {words} interval and its dual p, {n_resamples:,} draws of {unit_name(scoring)}s"
    notes = (*group_notes(scoring), *_pooled(compared))
    if lost := len(draws) - len(kept):
        which = f"{lost:,} draws ({lost / len(draws):.1%})"
        text = f"{which} could not be scored and were left out: a class was missing."
        notes = (Note("OF201", text), *notes)
    return Findings(arrays, observed, notes, detail)


def _inverted(
    sign: int,
    draws: NDArray[np.float64],
    jackknife: NDArray[np.float64] | None,
    difference: NDArray[np.float64],
    pairs: NDArray[np.intp],
    level: float,
    null: float,
) -> tuple[Tails, NDArray[np.float64], NDArray[np.float64]]:
    """Tails of "the first is better" than the null says, intervals and standard deviations of the draws, some pairs at a time."""
    n, scale = len(pairs), float(np.abs(draws).max())
    greater, less, spread, interval = np.empty(n), np.empty(n), np.empty(n), np.empty((n, 2))
    for part in blocks(n, max(1, _AT_ONCE // len(draws))):
        z0 = a = np.zeros(part.stop - part.start)
        values = _differences(draws, pairs[part])
        values[np.abs(values) <= RELATIVE_TIE * scale] = 0.0
        if jackknife is not None:
            z0 = intervals.bias_of(values, difference[part])
            a = intervals.acceleration_of(_differences(jackknife, pairs[part]))
        values.sort(axis=0)
        same = values[-1] - values[0] <= RELATIVE_TIE * scale
        spread[part] = np.where(same, 0.0, values.std(axis=0, ddof=1))
        interval[part], tails = intervals.interval_and_tails(values, level, z0, a, null)
        up, down = tails if sign > 0 else tails[::-1]
        # Without any variance there is nothing to tell: 1, or undefined where the difference is not the null.
        greater[part], less[part] = np.where(same, 1.0, up), np.where(same, 1.0, down)
    return Tails(greater, less), interval, spread


def _differences(scores: NDArray[np.float64], pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    return scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]]


def observed_differences(scores: NDArray[np.float64], pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    """(P,) differences, 0 where only rounding is left."""
    out: NDArray[np.float64] = _differences(scores[None], pairs)[0]
    out[np.abs(out) <= RELATIVE_TIE * np.abs(scores).max()] = 0.0
    return out


@pair_test("paired bootstrap", "Efron 1987", "", (PREDICTIONS,), _bootstrap)
def bootstrap(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    n_resamples: int = 10_000,
    method: BootstrapMethod = "bca",
    stratify: bool = False,
    rng: RngLike = 0,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    null: float = 0.0,
) -> Comparison:
    """Difference of any metric of two models on the same samples, by drawing samples with replacement.

    A drawn sample brings the predictions of both models and of all repeats; groups are drawn whole. The p value is the
    smallest alpha at which the interval leaves out the null, so that the two never disagree. It cannot fall below what the
    number of draws can tell.

    Parameters: {predictions, metric, pair, n_resamples}
    method : {"bca", "percentile"}
        ``bca`` corrects the interval for bias and acceleration [1]_.
    stratify : bool
        Whether to draw within classes, so that every draw has all of them.
    {rng, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {efron1987}

    Examples: {outfold, errors}
    >>> of.compare.bootstrap(oof, "mean", "a", "b", n_resamples=1000)
    <Comparison bootstrap a - b: mean -0.1250, p = 0.0181>
    """
    options = {"n_resamples": n_resamples, "method": method, "stratify": stratify, "rng": rng}
    return compare_pair(
        bootstrap, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), **options
    )


def _permutation(
    compared: ComparedConfigs, pairs: NDArray[np.intp], hypothesis: Hypothesis, *, n_resamples: int, rng: RngLike
) -> Findings:
    n_resamples, seed = check_count(n_resamples, "n_resamples", _LEAST), as_seed(rng)
    scoring = compared.scoring
    observed = defined_scores(scoring)
    difference = observed_differences(observed, pairs)
    notes: dict[int, tuple[Note, ...]] = {}
    undefined = np.zeros(len(pairs), dtype=bool)
    if scoring.metric.pointwise:
        tails, interval, exact = _flipped_means(compared, pairs, n_resamples, seed, hypothesis)
        how = "interval of the shifts not rejected"
        if hypothesis.null:
            undefined, notes = hardly_differing(compared, pairs, difference, hypothesis.null)
            how = f"differences taken for symmetric about the null; {how}"
    else:
        tails, exact = _swapped(scoring, pairs, difference, n_resamples, seed)
        interval = _percentile_interval(scoring, pairs, n_resamples, seed, hypothesis.confidence_level)
        how = "percentile bootstrap interval"
        how = f"their ranks are swapped [Venkatraman & Begg 1996]; {how}" if scoring.metric.ranks_only else how
    p = pvalues(hypothesis, tails if compared.sign > 0 else Tails(tails.less, tails.greater))
    arrays = PairArrays(
        difference=difference,
        pvalue=np.where(undefined, np.nan, p),
        interval=interval,
        notes=notes,
        details={"exact": exact},
        **sample_effects(compared, pairs),
    )
    drawn = "all swaps" if exact.all() else f"{n_resamples:,} random swaps, all of them where there are fewer"
    detail = f" by {unit_name(scoring)}, {drawn}; {how}"
    return Findings(arrays, observed, (*group_notes(scoring), *_pooled(compared)), detail)


def _percentile_interval(
    scoring: Scoring, pairs: NDArray[np.intp], n_resamples: int, seed: int, level: float
) -> NDArray[np.float64]:
    draws = np.concatenate([scoring.scores(w) for w in sample_bootstrap(scoring, False, seed).blocks(n_resamples)])
    draws = draws[~np.isnan(draws).any(axis=1)]
    if len(draws) < _LEAST:
        return np.full((len(pairs), 2), np.nan)
    ordered, zeros = np.sort(_differences(draws, pairs), axis=0), np.zeros(len(pairs))
    return intervals.interval_and_tails(ordered, level, zeros, zeros)[0]


def _flipped_means(
    compared: ComparedConfigs, pairs: NDArray[np.intp], n_resamples: int, seed: int, hypothesis: Hypothesis
) -> tuple[Tails, NDArray[np.float64], NDArray[np.bool_]]:
    parts, shares = contributions(compared)
    n = len(pairs)
    greater, less, interval, exact = np.empty(n), np.empty(n), np.empty((n, 2)), np.empty(n, dtype=bool)
    for part in blocks(n, max(1, _AT_ONCE // max(n_resamples, parts.shape[1]))):
        first, second = pairs[part].T
        means = paired.SwappedMeans(parts[first] - parts[second], shares, n_resamples, seed)
        (greater[part], less[part]), interval[part] = means.test(hypothesis.confidence_level, hypothesis.null)
        exact[part] = means.exact(hypothesis.null)
    return Tails(greater, less), interval, exact


def hardly_differing(
    compared: ComparedConfigs, pairs: NDArray[np.intp], difference: NDArray[np.float64], null: float
) -> tuple[NDArray[np.bool_], dict[int, tuple[Note, ...]]]:
    """Which pairs have no variance to test a shift by, and caveats for them and for those that differ on few units.

    Shifted, units on which the two agree differ all in one direction. Where hardly any other is seen, flips find too much.
    """
    parts, shares = contributions(compared)
    own = parts / shares
    slack = RELATIVE_TIE * max(float(np.abs(own).max()), abs(null))
    at_null, flat = np.abs(difference - null) <= slack, np.zeros(len(pairs), dtype=bool)
    few: dict[int, tuple[Note, ...]] = {}
    for i, (first, second) in enumerate(pairs):
        of_units = own[first] - own[second]
        flat[i] = np.ptp(of_units) <= slack
        n_told = int(np.sum(np.abs(of_units) > slack))
        if not flat[i] and n_told < min(FEW, len(of_units)):
            few[i] = (Note("OF303", f"the two differ on only {n_told} of the {unit_name(compared.scoring)}s."),)
    return flat & ~at_null, few | notes_without_variance(difference, np.where(flat, 0.0, 1.0), at_null)


def contributions(compared: ComparedConfigs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(C, U) what every unit adds to a mean metric, and (U,) the share of the predictions a unit has."""
    values, counts = _sample_values(compared)
    units = compared.scoring.units()
    n_units = int(units.max()) + 1
    if n_units == len(units):
        return values, counts
    by_unit = [np.bincount(units, row, n_units) for row in values]
    return np.array(by_unit, dtype=np.float64), np.asarray(np.bincount(units, counts, n_units), dtype=np.float64)


def _sample_values(compared: ComparedConfigs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(C, N) what every sample adds to a mean metric, and (N,) its share, averaged over repeats."""
    oof, held_out = compared.predictions, compared.scoring.rows
    total, shares = np.zeros((oof.n_configs, oof.n_samples)), np.zeros(oof.n_samples)
    for rows, values in compared.values_by_repeat():
        n = len(rows) * oof.n_repeats
        total[:, rows] += values / n
        shares[rows] += 1 / n
    return total[:, held_out], shares[held_out]


def _swapped(
    scoring: Scoring, pairs: NDArray[np.intp], difference: NDArray[np.float64], n_resamples: int, seed: int
) -> tuple[Tails, NDArray[np.bool_]]:
    """Tails where the metric is one of a whole set: the two models' answers side by side, one of each sample counts."""
    units = scoring.units()
    n_units = int(units.max()) + 1
    data = swappable(scoring.oof, scoring.metric)[1]
    greater, less, exact = np.empty(len(pairs)), np.empty(len(pairs)), np.empty(len(pairs), dtype=bool)
    for i, (first, second) in enumerate(pairs):
        told = _told_apart(data, scoring, first, second, units)
        exact[i] = paired.enumerable(len(told), n_resamples)
        kernels = _side_by_side(scoring, data, first, second)
        drawn = _masks(n_units, told, bool(exact[i]), n_resamples, seed)
        found = [_score_of(kernels, masks[:, units]) for masks in drawn]
        scale = max(abs(float(difference[i])), 1.0)
        tails = paired.swapped_tails(float(difference[i]), np.concatenate(found), scale, bool(exact[i]))
        greater[i], less[i] = tails.greater[0], tails.less[0]
    return Tails(greater, less), exact


def _told_apart(
    data: NDArray[np.float64], scoring: Scoring, first: int, second: int, units: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Units in which the two models do not predict the same."""
    rows = scoring.rows
    unequal = data[:, first][:, rows] != data[:, second][:, rows]
    unequal = unequal.reshape(*unequal.shape[:2], -1).any(axis=(0, 2))
    return np.unique(units[unequal])


def _masks(
    n_units: int, told: NDArray[np.intp], exact: bool, n_resamples: int, seed: int
) -> Iterable[NDArray[np.uint8]]:
    if not exact:
        yield from paired.swaps(n_units, n_resamples, seed)
        return
    every = paired.all_swaps(len(told))
    for part in blocks(len(every), block_size(n_units)):
        masks = np.zeros((part.stop - part.start, n_units), dtype=np.uint8)
        masks[:, told] = every[part]
        yield masks


def _side_by_side(
    scoring: Scoring, data: NDArray[np.float64], first: int, second: int
) -> list[tuple[Kernel, NDArray[np.intp]]]:
    """For each repeat, a kernel on 2 N rows, those of the first model and then of the second, and its columns among them."""
    oof = scoring.oof
    out = []
    for r in range(oof.n_repeats):
        columns = np.flatnonzero(oof.folds[scoring.rows, r] >= 0)
        rows = scoring.rows[columns]
        both = np.concatenate([data[r, first][rows], data[r, second][rows]])
        out.append((scoring.metric.kernel(oof.target.take(np.concatenate([rows, rows])), both[None]), columns))
    return out


def _score_of(kernels: list[tuple[Kernel, NDArray[np.intp]]], masks: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(b,) the difference under swaps (b, N), mean over repeats."""
    total = np.zeros(len(masks))
    for kernel, columns in kernels:
        swapped = masks[:, columns]
        kept = 1 - swapped
        total += kernel.scores(np.concatenate([kept, swapped], axis=1))[:, 0]
        total -= kernel.scores(np.concatenate([swapped, kept], axis=1))[:, 0]
    return total / len(kernels)


_SHIFTED = replace(
    MEAN_OVER_SAMPLES,
    remedy="Swaps of sets can only show that there is some difference. Use `bootstrap`, or `delong` for roc_auc.",
)


@pair_test(
    "permutation of the two models",
    "Fisher 1935; Hartigan 1969",
    "",
    (PREDICTIONS,),
    _permutation,
    shifts=(_SHIFTED,),
)
def permutation(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    n_resamples: int = 10_000,
    rng: RngLike = 0,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
    null: float = 0.0,
) -> Comparison:
    """Difference of any metric of two models on the same samples, against what swapping the two at random gives.

    Under the null hypothesis it does not matter which of the two predictions of a sample came from which model [1]_. They are
    swapped with probability 1/2, for all repeats of a sample and for whole groups at once. All 2^k swaps are taken where the
    models differ on few units, k. p = (1 + count) / (1 + draws), two-sided twice the smaller tail, never 0.

    Where only the order of the predictions counts (areas under curves, concordance), two models may have different scales. So
    the midranks of a model's predictions among the samples of the repeat are swapped instead, for each class alone [2]_ [3]_.

    For a metric that is a mean, the interval holds all shifts that the same swaps do not reject [4]_, and so leaves out the null
    exactly where p is at most 1 - confidence_level. For other metrics it is a percentile bootstrap interval, and a null other
    than 0 is refused: two models whose scores of sets differ by it need not be alike in any way that swaps could show.

    Parameters: {predictions, metric, pair}
    n_resamples : int
        Number of random swaps.
    {rng, alternative, test_level, rope, null}
    Returns: {comparison}
    References: {fisher1935, venkatraman1996, bandos2005, hartigan1969}

    Examples: {outfold, errors}
    >>> of.compare.permutation(oof, "mean", "a", "b")
    <Comparison permutation a - b: mean -0.1250, p = 0.1250>
    """
    options = {"n_resamples": n_resamples, "rng": rng}
    return compare_pair(
        permutation, source, metric, a, b, Hypothesis(alternative, confidence_level, rope, null), **options
    )


def defined_scores(scoring: Scoring) -> NDArray[np.float64]:
    """(C,) the score of each configuration, or an error where the metric is undefined."""
    observed: NDArray[np.float64] = scoring.scores()[0]
    if np.isnan(observed).any():
        needed = f"{scoring.metric.name} is undefined on these samples"
        raise InputError(needed=needed, remedy="Use another metric or more samples.")
    return observed


def sample_effects(compared: ComparedConfigs, pairs: NDArray[np.intp]) -> dict[str, Any]:
    """Standardised difference and wins over samples, of a mean; nothing for a metric of a whole set."""
    if not compared.scoring.metric.pointwise:
        return {}
    values, shares = _sample_values(compared)
    scaled = values / shares
    means = [scaled[i] - scaled[j] for i, j in pairs]
    difference = np.array([np.sum(d * shares) for d in means])
    spread = np.array([0.0 if np.ptp(d) == 0 else d.std(ddof=1) for d in means])
    return {"standardised": standardised(difference, spread), **sample_wins(compared, pairs)}


def sample_wins(compared: ComparedConfigs, pairs: NDArray[np.intp]) -> dict[str, Any]:
    """Samples on which the first is better, equal and worse, for a mean."""
    if not compared.scoring.metric.pointwise:
        return {}
    values = compared.sign * _sample_values(compared)[0]
    better = np.array([np.sum(values[i] > values[j]) for i, j in pairs])
    worse = np.array([np.sum(values[i] < values[j]) for i, j in pairs])
    return {"wins": np.stack([better, values.shape[1] - better - worse, worse], axis=1), "unit": "sample"}


def _pooled(compared: ComparedConfigs) -> tuple[Note, ...]:
    return compared.notes_on_pooling(ranked=compared.scoring.metric.needs == "score")


def unit_name(scoring: Scoring) -> str:
    return "sample" if scoring.group_codes() is None else "group"
