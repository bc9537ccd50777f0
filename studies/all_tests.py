"""Every test of `compare` on many simulated data sets at once, by the kernels of the library.

`Held` holds the predictions of two configurations on the same splits of B data sets. `apply_tests` returns the (B,) p values of
every metric and test, NaN where there is none; `agree` compares them with the public functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numba
import numpy as np
from type_one_tables import SCORES_ALONE

import outfold as of
from outfold.stats import intervals, paired, pvalues, resampling, training

DRAWS = 1000
AREA_DRAWS = 400  # swaps of ranks, and draws of areas, which take longest
SEED = 0
# Designs whose predictions are also taken as one test set: others would say the same again.
POOLED = ("10-fold", "3 x 10-fold", "leave-one-out", "one test set")
SETS = ("f1", "balanced_accuracy", "mcc", "average_precision")


@dataclass(frozen=True, eq=False)
class Held:
    """Predictions (2, B, R, N) of y (B, N), with folds (B, R, N); -1 where a sample is not held out."""

    y: np.ndarray
    folds: np.ndarray
    scores: np.ndarray
    groups: np.ndarray | None = None
    regression: bool = False

    @property
    def held(self) -> np.ndarray:
        """(B, R, N) whether a sample is held out."""
        return self.folds >= 0

    @property
    def whole(self) -> bool:
        """Whether every repeat holds every sample out."""
        return bool(self.held.all())

    @property
    def n_repeats(self) -> int:
        """Number of repeats R."""
        return self.folds.shape[1]

    @property
    def n_samples(self) -> int:
        """Number of samples N."""
        return self.folds.shape[2]

    @cached_property
    def test_share(self) -> float:
        """The share of the samples that is held out, the mean over splits."""
        n_folds = int(self.folds.max()) + 1
        return 1 / n_folds if self.whole else float(self.held[0].mean())

    @cached_property
    def least_of_a_class(self) -> int:
        """Samples of the rarer class in the hold-out that has fewest of one."""
        return min(int((self.held & (self.y[:, None] == c)).sum(axis=2).min()) for c in (0, 1))

    @cached_property
    def ratio(self) -> np.ndarray:
        """(B,) n_test / n_train, the mean over splits."""
        counts = np.stack([(self.folds == k).sum(axis=2) for k in range(int(self.folds.max()) + 1)], axis=2)
        return (counts / (self.n_samples - counts)).mean(axis=(1, 2))

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """By metric: (2, B, R, N) what each sample adds to the score; the score of a repeat is the mean over its samples."""
        y = self.y[None, :, None, :]
        squared = (self.scores - y) ** 2
        if self.regression:
            return {"mse": squared}
        areas = self._areas[0]
        return {"accuracy": ((self.scores > 0.5) == y).astype(float), "roc_auc": areas, "brier": squared}

    @cached_property
    def _areas(self) -> tuple[np.ndarray, np.ndarray]:
        flat = self._flat(self.scores), self._flat(self._of_all(self.y[:, None])), self._flat(self._of_all(self.folds))
        values, by_fold = _areas(*flat, int(self.folds.max()) + 1)
        return values.reshape(self.scores.shape), by_fold.reshape(*self.scores.shape[:3], -1)

    def _of_all(self, array: np.ndarray) -> np.ndarray:
        return np.broadcast_to(array, self.scores.shape)

    def _flat(self, array: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(array.reshape(-1, self.n_samples))

    def fold_scores(self, metric: str) -> np.ndarray:
        """(2, B, R, K) scores of single folds."""
        if metric == "roc_auc":
            return self._areas[1]
        flat = self._flat(self.values[metric]), self._flat(self._of_all(self.folds))
        return _fold_means(*flat, int(self.folds.max()) + 1).reshape(*self.scores.shape[:3], -1)

    def pseudo_values(self, metric: str) -> np.ndarray:
        """(2, B, R, N) jackknife pseudo-values of a metric of whole repeats."""
        flat = self._flat(self.scores), self._flat(self._of_all(self.y[:, None]))
        if metric == "average_precision":
            return _precision_values(*flat).reshape(self.scores.shape)
        return _count_values(COUNTED[metric], *flat).reshape(self.scores.shape)


# -- metrics -----------------------------------------------------------------------------------------------------


@numba.njit(cache=True)
def _areas(scores, y, folds, n_folds):
    """Values whose mean over a row's held-out samples is its area, and the areas of single folds."""
    m, n = scores.shape
    values, by_fold = np.zeros((m, n)), np.zeros((m, n_folds))
    for a in range(m):
        wins = np.zeros(n)
        sums, ones, zeros = np.zeros(n_folds), np.zeros(n_folds), np.zeros(n_folds)
        for i in range(n):
            if folds[a, i] < 0:
                continue
            if y[a, i] == 0:
                zeros[folds[a, i]] += 1
                continue
            ones[folds[a, i]] += 1
            for j in range(n):
                if y[a, j] == 0 and folds[a, j] >= 0:
                    win = 1.0 if scores[a, i] > scores[a, j] else 0.5 if scores[a, i] == scores[a, j] else 0.0
                    wins[i] += win
                    wins[j] += win
                    if folds[a, i] == folds[a, j]:
                        sums[folds[a, i]] += win
        n1, n0 = ones.sum(), zeros.sum()
        area = wins.sum() / 2 / (n1 * n0)
        for i in range(n):
            own, other = (n1, n0) if y[a, i] == 1 else (n0, n1)
            values[a, i] = area + (n1 + n0) / own * (wins[i] / other - area)
        by_fold[a] = sums / (ones * zeros)
    return values, by_fold


@numba.njit(cache=True)
def _fold_means(values, folds, n_folds):
    out = np.zeros((len(values), n_folds))
    for a in range(len(values)):
        sizes = np.zeros(n_folds)
        for i in range(values.shape[1]):
            if folds[a, i] >= 0:
                out[a, folds[a, i]] += values[a, i]
                sizes[folds[a, i]] += 1
        out[a] /= sizes
    return out


def _f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    return 2 * tp / np.maximum(2 * tp + fp + fn, 1)


def _balanced(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def _mcc(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, tn: np.ndarray) -> np.ndarray:
    root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return np.where(root > 0, (tp * tn - fp * fn) / np.where(root > 0, root, 1), 0.0)


Counted = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
COUNTED: dict[str, Counted] = {"f1": _f1, "balanced_accuracy": _balanced, "mcc": _mcc}


def _count_values(metric: Counted, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pseudo-values by what a sample is: leaving out any true positive is the same, and so on."""
    said, n = scores > 0.5, scores.shape[1]
    kinds = np.where(y == 1, np.where(said, 0, 2), np.where(said, 1, 3))
    counts = [np.sum(kinds == k, axis=1).astype(float) for k in range(4)]
    whole = metric(*counts)
    without = np.stack([metric(*(c - (k == j) for j, c in enumerate(counts))) for k in range(4)], axis=1)
    without = np.take_along_axis(without, kinds, axis=1)
    return whole[:, None] + (n - 1) * (without.mean(axis=1, keepdims=True) - without)


@numba.njit(cache=True)
def _precision(ordered, labels, skip):
    """Average precision in steps of equal scores, without one sample."""
    n = len(ordered)
    hits, seen, before, total = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        if i != skip:
            seen += 1
            hits += labels[i]
        if (i == n - 1 or ordered[i + 1] < ordered[i]) and seen > 0:
            total += (hits - before) * hits / seen
            before = hits
    return total / hits


@numba.njit(cache=True)
def _precision_values(scores, y):
    m, n = scores.shape
    out = np.zeros((m, n))
    for a in range(m):
        order = np.argsort(-scores[a])
        ordered, labels = scores[a][order], y[a][order]
        for i in range(n):
            out[a, order[i]] = -(n - 1) * _precision(ordered, labels, i)
        out[a] += _precision(ordered, labels, -1) - out[a].mean()
    return out


# -- tests -------------------------------------------------------------------------------------------------------


def apply_tests(held: Held, design: str, shifted: bool = False) -> dict[str, np.ndarray]:
    """(B,) p values by "metric | test". If `shifted`, of the mean difference over all data sets instead of 0."""
    found = apply_light_tests(held, design, shifted)
    if design in POOLED and not shifted:
        for metric, values in held.values.items():
            for test, p in by_samples(held, metric, values[0] - values[1], design):
                found[f"{metric} | {test}"] = p
    return found


def apply_light_tests(held: Held, design: str, shifted: bool = False) -> dict[str, np.ndarray]:
    """The same without the tests that take the held-out samples as one test set, most of which draw."""
    found = apply_t_training(held, design, shifted)
    if design not in ("one test set", "leave-one-out"):
        for metric in held.values:
            for test, p in by_folds(held, metric, design, shifted):
                found[f"{metric} | {test}"] = p
    return found


def apply_t_training(held: Held, design: str, shifted: bool = False) -> dict[str, np.ndarray]:
    """The same of `t_training` alone; and the parts of its variance."""
    found: dict[str, np.ndarray] = {}
    for metric, values in held.values.items():
        pointwise = metric != "roc_auc"
        if design == "one test set" or not (pointwise or held.whole or held.least_of_a_class >= 5):
            continue
        d = values[0] - values[1]
        d = d - d[held.held].mean() if shifted else d
        zero_one = metric == "accuracy" and held.groups is None
        allowance = training.ZERO_ONE if zero_one else training.OTHER_LOSS
        found[f"{metric} | t_training"], found[f"{metric} | parts"] = t_training(held, d, allowance, pointwise)
    if not held.regression and held.whole and held.groups is None:
        for metric in SETS:
            first, second = held.pseudo_values(metric)
            d = first - second
            d = d - d.mean() if shifted else d
            found[f"{metric} | t_training"], found[f"{metric} | parts"] = t_training(held, d, training.OF_SETS, False)
    return found


def degrees(held: Held, pointwise: bool) -> np.ndarray:
    """(B,) one less than the units held out, or than those of the rarer class for a metric of sets."""
    used = held.held.any(axis=1)
    counts = [used.sum(axis=1)] if pointwise else [(used & (held.y == c)).sum(axis=1) for c in (0, 1)]
    size = 1 if held.groups is None else held.n_samples // (held.groups.max() + 1)  # groups have one size and one class
    return np.min(counts, axis=0) // size - 1


def t_training(
    held: Held, d: np.ndarray, allowance: training.Allowance, pointwise: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """P values, and (B, 5) the mean and the parts of its variance."""
    b, r, n = d.shape
    mean, folds = np.where(held.held, d, 0).sum(axis=(1, 2)) / held.held.sum(axis=(1, 2)), held.folds
    if held.groups is not None:
        d = training.group_values(d.reshape(-1, n), held.groups).reshape(b, r, -1)
        folds = folds[:, :, np.unique(held.groups, return_index=True)[1]]
    design = training.Design.of_splits(d.shape[2], held.test_share)
    parts = training.variance_parts(d, folds)
    variance = training.variance_of_mean(parts, design, allowance)
    tested = paired.student(mean, variance, degrees(held, pointwise), 0.95, np.full(b, 1e-12))
    return tested.pvalue, np.column_stack([mean, *parts])


def by_folds(held: Held, metric: str, design: str, shifted: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Tests of the differences by fold."""
    first, second = held.fold_scores(metric)
    d = (first - second).reshape(len(first), -1)
    d = d - np.nanmean(d) if shifted else d
    floor, ratio = np.full(len(d), 1e-12), held.ratio
    if np.isnan(d).any():
        return

    def t(rho: np.ndarray | float) -> np.ndarray:
        return paired.student(d.mean(axis=1), paired.mean_variance(d, rho), d.shape[1] - 1, 0.95, floor).pvalue

    yield "t_corrected", t(ratio / (1 + ratio))
    if held.whole and held.n_repeats == 1:
        yield "t_kfold", t(0.0)
        yield "t_corrected_kfold", t(0.5)
        yield SCORES_ALONE, t(1.5 / d.shape[1])
    if not held.whole:
        yield "t_resampled", t(0.0)
    if held.whole and held.folds.max() == 1:
        halves, m = d.reshape(len(d), -1, 2), held.n_repeats
        if design == "5 x 2-fold":
            variance = paired.within_halves(halves) / 5
            yield "t_5x2cv", paired.student(halves[:, 0, 0], variance, 5, 0.95, floor).pvalue
            yield "f_5x2cv", paired.combined_f(halves, 0.95, floor).pvalue
        else:
            variance = paired.balanced_variance(halves, (m - 1) / m)
            name = "t_blocked_3x2" if m == 3 else "t_blocked_mx2"
            yield name, paired.student(d.mean(axis=1), variance, 2 * m - 1, 0.95, floor).pvalue


def by_samples(held: Held, metric: str, d: np.ndarray, design: str) -> Iterator[tuple[str, np.ndarray]]:
    """Tests that take the held-out samples as one test set."""
    if held.groups is not None:
        yield from _with_groups(held, metric, d)
        return
    rows = [np.flatnonzero(h[0]) for h in held.held]
    own = np.stack([d[i][:, r].mean(axis=0) for i, r in enumerate(rows)])
    if metric != "roc_auc":
        yield "permutation", flips(own)
        yield "bootstrap", bootstrap(own)
    if metric == "accuracy" and held.n_repeats == 1:
        hits = held.values["accuracy"][:, :, 0]
        only_a, only_b = (
            np.array([np.sum(h[r]) for h, r in zip(x, rows, strict=True)]) for x in (d[:, 0] > 0, d[:, 0] < 0)
        )
        few = only_a + only_b < 50
        exact, plain = (paired.mcnemar_tails(only_a, only_b, m).two_sided for m in ("exact", "plain"))
        yield "mcnemar", np.where(few, exact, plain)
        right = np.stack([[np.sum(h[r]) for h, r in zip(x, rows, strict=True)] for x in hits])
        z = paired.proportions_statistic(*right, own.shape[1], own.shape[1])
        yield "z_proportions", pvalues.normal_tails(z).two_sided
    if metric == "roc_auc":
        yield "delong", delong(held, rows, own)
        if held.n_repeats == 1 and design == "one test set":
            compared = [_wins(held.scores[:, i, 0, r], held.y[i, r] == 1) for i, r in enumerate(rows)]
            yield "bootstrap", area_bootstrap(compared, [held.y[i, r] == 1 for i, r in enumerate(rows)], own)
            swapped = [
                _swapped_areas(*_ranks(held.scores[:, i, 0, r]), held.y[i, r], masks(own.shape[1]))
                for i, r in enumerate(rows)
            ]
            yield "permutation", np.array([_tail(*pair) for pair in zip(own.mean(axis=1), swapped, strict=True)])


def _with_groups(held: Held, metric: str, d: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    if metric != "roc_auc":
        # What rounding leaves of no difference is none.
        yield "permutation", flips(training.group_values(d.mean(axis=1), held.groups).round(12))


def flips(d: np.ndarray) -> np.ndarray:
    n = d.shape[1]
    tails, _ = paired.SwappedMeans(d / n, np.full(n, 1 / n), DRAWS, SEED).test(0.95)
    return tails.two_sided


def bootstrap(d: np.ndarray) -> np.ndarray:
    n = d.shape[1]
    draws = drawn(n, DRAWS) @ d.T / n
    return _bca(draws, d.mean(axis=1), (d.sum(axis=1) - d.T) / (n - 1))


def _bca(draws: np.ndarray, observed: np.ndarray, jackknife: np.ndarray) -> np.ndarray:
    draws[np.abs(draws) < 1e-12] = 0.0
    z0, a = intervals.bias_of(draws, observed), intervals.acceleration_of(jackknife)
    draws = np.sort(draws, axis=0)
    tails = intervals.interval_and_tails(draws, 0.95, z0, a)[1]
    return np.where(draws[-1] - draws[0] < 1e-12, np.where(np.abs(observed) < 1e-12, 1.0, np.nan), tails.two_sided)


def delong(held: Held, rows: list[np.ndarray], own: np.ndarray) -> np.ndarray:
    positive = np.stack([held.y[i, r] == 1 for i, r in enumerate(rows)])
    out = np.empty(len(own))
    for i, (d, mine) in enumerate(zip(own, positive, strict=True)):
        # A value is A + (n / n_c) (placement - A): back to the placements, whose variance DeLong takes.
        n, area = len(d), d.mean()
        parts = [area + np.sum(m) / n * (d[m] - area) for m in (mine, ~mine)]
        variance = sum(part.var(ddof=1) / len(part) for part in parts)
        z = area / np.sqrt(variance) if variance > 1e-30 else (0.0 if abs(area) < 1e-15 else np.nan)
        out[i] = pvalues.normal_tails(np.array([z])).two_sided[0] if variance > 1e-30 else (1.0 if z == 0 else np.nan)
    return out


def _wins(scores: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n1, n0) by how much the first area gains over the second in every pair of samples."""
    apart = scores[:, positive][:, :, None] - scores[:, ~positive][:, None, :]
    first, second = (np.sign(apart) + 1) / 2
    return first - second


def area_bootstrap(compared: list[np.ndarray], positive: list[np.ndarray], own: np.ndarray) -> np.ndarray:
    n = own.shape[1]
    weights = drawn(n, AREA_DRAWS)
    out = np.empty(len(compared))
    for i, (wins, mine) in enumerate(zip(compared, positive, strict=True)):
        ones, zeros = weights[:, mine], weights[:, ~mine]
        pairs = ones.sum(axis=1) * zeros.sum(axis=1)
        draws = ((ones @ wins) * zeros).sum(axis=1)[pairs > 0] / pairs[pairs > 0]
        n1, n0 = wins.shape
        jackknife = np.empty(n)
        jackknife[mine] = (wins.sum() - wins.sum(axis=1)) / ((n1 - 1) * n0)
        jackknife[~mine] = (wins.sum() - wins.sum(axis=0)) / (n1 * (n0 - 1))
        out[i] = _bca(draws[:, None], own[[i]].mean(axis=1), jackknife[:, None])[0]
    return out


@cache
def masks(n: int) -> np.ndarray:
    """(draws, N) which samples are swapped."""
    return np.concatenate(list(paired.swaps(n, AREA_DRAWS, SEED))).astype(bool)


@cache
def drawn(n: int, draws: int) -> np.ndarray:
    """(draws, N) how often a bootstrap draws every sample."""
    return np.concatenate(list(resampling.BootstrapDraws(n, SEED).blocks(draws))).astype(float)


def _ranks(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return tuple((np.sign(s[:, None] - s[None]) + 1).sum(axis=1) for s in scores)


@numba.njit(cache=True)
def _swapped_areas(first, second, y, masks):
    """Differences of the two areas after swapping the ranks of some samples."""
    out = np.zeros(len(masks))
    n = len(y)
    for b in range(len(masks)):
        total, pairs = 0.0, 0
        for i in range(n):
            if y[i] != 1:
                continue
            a_i, b_i = (second[i], first[i]) if masks[b, i] else (first[i], second[i])
            for j in range(n):
                if y[j] == 1:
                    continue
                a_j, b_j = (second[j], first[j]) if masks[b, j] else (first[j], second[j])
                total += np.sign(a_i - a_j) - np.sign(b_i - b_j)
                pairs += 1
        out[b] = total / 2 / pairs
    return out


def _tail(observed: float, draws: np.ndarray) -> float:
    return float(paired.swapped_tails(observed, draws, 1.0, False).two_sided[0])


# -- what intervals of a single score are made of --------------------------------------------------------------------


def single_scores(held: Held) -> dict[str, np.ndarray]:
    """(2, B, 7) by metric: the score and the parts of its variance, the mean over folds and its corrected variance."""
    found: dict[str, np.ndarray] = {}
    if not held.whole or held.groups is not None or held.test_share < 2 / held.n_samples:
        return found
    ratio = held.ratio
    for metric, values in held.values.items():
        folds = held.fold_scores(metric)
        out = []
        for own, by_fold in zip(values, folds, strict=True):
            flat = by_fold.reshape(len(by_fold), -1)
            corrected = paired.mean_variance(flat, ratio / (1 + ratio))
            parts = t_training(held, own, training.OTHER_LOSS)[1]
            out.append(np.column_stack([parts, flat.mean(axis=1), corrected]))
        found[f"{metric} | single"] = np.stack(out)
    return found


# -- the public functions ---------------------------------------------------------------------------------------------


def public(held: Held, plan: of.Plan, i: int, test: str, metric: str, **options: object) -> float:
    """The p value of one data set by the public function."""
    scores = np.clip(held.scores[:, i], 0, 1) if metric != "mse" else held.scores[:, i]
    P = np.moveaxis(scores, 2, 0)
    P = np.ma.masked_array(P, np.broadcast_to(~held.held[i].T[:, None], P.shape))
    response = "value" if held.regression else "proba"
    oof = of.from_arrays(held.y[i], P, folds=held.folds[i].T, groups=held.groups, response=response)
    found = getattr(of.compare, test)(replace(oof, plan=plan), metric, 0, 1, **options)
    return np.nan if found.pvalue is None else found.pvalue
