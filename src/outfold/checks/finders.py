"""What each check finds in a case: a sentence with the numbers at hand, or None where the check has nothing to say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import is_number
from ..data.duplicates import held_out_with_twin, row_codes
from ..data.predictions import Predictions, State
from ..data.scores import layout
from ..data.stored import comes_in_parts, of_parts, outputs_of, readable
from ..exceptions import NeedError, got, invalid
from ..formatting import compact, count, interval, number, pvalue, seconds
from ..metrics import Metric
from ..metrics._baseline import class_shares, majority
from ..metrics._keeping import alone
from ..metrics._units import UnitValues, allowance_of, degrees_of_freedom, design_of, unit_values
from ..stats import training
from ..stats.kernels import Floats
from ..stats.paired import student
from ..stats.selection import argbest, rank_correlations, running_moments
from .case import Case, finds

# -- the samples, and how they are held out -----------------------------------------------------------------

_TWINS = 0.02  # equal rows of fewer samples than this share can hardly move a score
_SAME = 1e-6  # predictions that differ by less than this part of their range are the same but for rounding
_ROUNDING = 1e-12  # what varies less does not vary
_SMALL_TRAINING = 0.6  # models trained on a smaller share are noticeably worse than one trained on all samples


@finds("OF511")
def twins(case: Case) -> str | None:
    """Samples that were held out while an equal row was trained on."""
    oof = case.oof
    held = int(np.any(oof.folds >= 0, axis=1).sum())
    n = oof.provenance.get("twins") if case.X is None else _twins_in(case)
    if n is None or n < 2 or n < _TWINS * held:
        return None
    return f"{n:,} of {held:,} samples were held out while a sample with exactly the same features was trained on."


def _twins_in(case: Case) -> int:
    oof = case.oof
    X = case.X if hasattr(case.X, "shape") else np.asarray(case.X)
    if X.shape[:1] != (oof.n_samples,):
        needed = f"must have one row for each of the {oof.n_samples:,} samples"
        raise invalid("X", needed, f"it has shape {X.shape}")
    codes = row_codes(X)
    if codes is None:
        raise invalid("X", "must be an array, a sparse matrix or a frame", got(case.X))
    return int(held_out_with_twin(codes, oof.folds, oof.train).sum())


@finds("OF512")
def same_predictions(case: Case) -> str | None:
    """Configurations that predict what another does."""
    pairs = [] if case.oof.response == "none" else _same_pairs(case)
    if not pairs:
        return None
    first, second = (case.scoring.names[j] for j in pairs[0])
    n = len({j for pair in pairs for j in pair})
    which = f"{first} and {second}" + (", for one" if n > 2 else "")
    return f"{n:,} of {count(case.n_candidates, 'configuration')} predict the same as another: {which}."


def _same_pairs(case: Case) -> list[tuple[int, int]]:
    """Pairs of candidates, each the nearest in a projection, whose predictions differ by rounding only."""
    oof, who, repeat = case.oof, case.scoring.candidates, case.scoring.cells[0][0]
    # Equal predictions have equal projections; what is near there is compared in full.
    weights = np.random.default_rng(0).random(math.prod((oof.n_samples, *outputs_of(oof))))
    if comes_in_parts(oof):
        parts = of_parts(oof, who, lambda _, some: _projected(some.data[repeat], weights))
    else:
        first = oof.data[repeat]
        parts = [_projected(first if len(who) == len(first) else first[who], weights)]
    projected = np.concatenate([part for part, _, _ in parts])
    slack = _SAME * float(max(high for _, _, high in parts) - min(low for _, low, _ in parts))
    order = np.argsort(projected, kind="stable")
    rounding = 1e-9 * float(np.abs(projected).max())
    near = np.flatnonzero(np.diff(projected[order]) <= slack * weights.sum() + rounding)
    pairs = sorted(tuple(sorted((int(order[i]), int(order[i + 1])))) for i in near)
    with readable(oof) as read:
        return [(a, b) for a, b in pairs if _equal(read([int(who[a]), int(who[b])]), slack)]


def _projected(predictions: NDArray[Any], weights: Floats) -> tuple[Floats, float, float]:
    """(C,) weighted sums of the predictions of each configuration, and the least and the largest prediction."""
    rows = predictions.reshape(len(predictions), -1)
    projected = rows @ weights
    if np.isnan(projected).any():  # samples that were not held out
        rows = np.nan_to_num(rows, nan=0.0)
        projected = rows @ weights
    return projected, rows.min(), rows.max()


def _equal(both: NDArray[Any], slack: float) -> bool:
    one, other = both[:, 0], both[:, 1]
    return bool(np.all((np.abs(one - other) <= slack) | (np.isnan(one) & np.isnan(other))))


@finds("OF102")
def split_groups(case: Case) -> str | None:
    """Groups that are on both sides of a split."""
    codes = case.oof.group_codes
    if codes is None or not len(case.split_groups):
        return None
    n_groups = count(int(codes.max()) + 1, "group")
    return f"{len(case.split_groups):,} of {n_groups} are on both sides of a split; the plan ignores groups."


@finds("OF521")
def missing_classes(case: Case) -> str | None:
    """Folds that lack a class, which stratified ones would not; of whole groups, folds of other groups would not."""
    oof, target = case.oof, case.oof.target
    if target.classes is None or case.leave_one_out or case.one_test_set:
        return None
    n_classes, n_folds = len(target.classes), oof.state.shape[2] + 1
    # One row for each fold; the last row has the samples that no fold holds out.
    tables = [
        np.bincount((folds % n_folds) * n_classes + target.y, minlength=n_folds * n_classes).reshape(n_folds, n_classes)
        for folds in oof.folds.T
    ]
    counts = np.array([tables[r][k] for r, k in case.scoring.cells])
    lacking = np.sum(counts == 0, axis=0)
    # Stratified folds lack a class too that has fewer members, or is in fewer groups, than there are folds.
    whole_groups, members = _members(case, n_classes)
    per_repeat = np.bincount([r for r, _ in case.scoring.cells])
    spread = np.maximum(per_repeat[:, None] - members, 0).sum(axis=0)
    lacking = np.where(lacking > spread, lacking, 0)
    if not lacking.any():
        return None
    worst = int(np.argmax(lacking))
    where = f" in {count(int(members[worst]), 'group')}" if whole_groups else ""
    even_so = f"the plan is stratified, but {'holds out whole groups' if whole_groups else 'the class is rare'}"
    return (
        f"class {target.classes[worst]!s}, {np.sum(target.y == worst):,} of {count(oof.n_samples, 'sample')}{where}, is missing "
        f"in {lacking[worst]:,} of {len(counts):,} folds; "
        f"{even_so if oof.plan.stratify is True else 'the plan is not stratified by class'}."
    )


def _members(case: Case, n_classes: int) -> tuple[bool, NDArray[np.intp]]:
    """Whether groups are held out whole, and how many of them, or else of the samples, each class has."""
    codes, y = case.oof.group_codes, case.oof.target.y
    if codes is None or len(case.split_groups):
        return False, np.bincount(y, minlength=n_classes)
    return True, np.bincount(np.unique(np.stack([y, codes], axis=1), axis=0)[:, 0], minlength=n_classes)


@finds("OF522")
def small_training(case: Case) -> str | None:
    """Models that learnt from far fewer samples than the final one will."""
    n, mean = case.oof.n_samples, 0.0 if case.one_test_set else case.mean_training
    if not 0 < mean < _SMALL_TRAINING * n:
        return None
    return (
        f"the models learnt from {mean:,.0f} of {count(n, 'sample')} ({mean / n:.0%}); "
        "one fitted on all is mostly better than these scores say."
    )


@finds("OF523")
def leave_one_out(case: Case) -> str | None:
    """Folds of one sample."""
    n = f"{case.oof.n_samples:,}"
    said = f"each of the {n} folds holds one sample, so none can be stratified, and each configuration needs {n} fits."
    return said if case.leave_one_out else None


_TURNED = 3.0  # standard errors below 0 of a correlation that is negative
_TURNED_WITHIN = 2.0  # fewer than these below 0 within folds: the models themselves are not at fault


@finds("OF524")
def turned_round(case: Case) -> str | None:
    """Predictions that follow the mean of the training part, which is lower where the held-out labels are higher."""
    target, P = case.oof.target, case.predictions
    # A value near the mean of all has an R² near 0 with any folds; ranks and labels turn round as a whole.
    if P is None or case.selection is None or case.one_test_set or (target.classes is None and not case.leave_one_out):
        return None
    y = target.y[:, None].astype(float) if target.classes is None else np.eye(len(target.classes))[target.y]
    pairs = [(y[rows], P[r, rows], case.oof.folds[rows, r]) for r, rows in _held_out(P)]
    whole = [_correlation(a, b, np.zeros(len(folds), dtype=np.intp)) for a, b, folds in pairs]
    within = [_correlation(a, b, folds) for a, b, folds in pairs]
    mean = float(np.mean([r for r, _ in whole]))
    if any(z > -_TURNED for _, z in whole) or np.mean([z for _, z in within]) < -_TURNED_WITHIN:
        return None
    return (
        f"the predictions of {case.selection.name} fall where the labels rise (correlation {mean:.2f}), but not within folds: "
        "the models predict little but the mean of their training part, which lacks the held-out labels."
    )


def _held_out(P: NDArray[np.float64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each repeat, and the rows that it predicts."""
    return ((r, np.flatnonzero(~np.isnan(P[r]).any(axis=1))) for r in range(len(P)))


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64], folds: NDArray[np.integer]) -> tuple[float, float]:
    """Correlation of the rows of two matrices around their means in each fold, and by how many standard errors it is not 0."""
    _, fold, sizes = np.unique(folds, return_inverse=True, return_counts=True)
    for_each = np.zeros((len(sizes), a.shape[1] + b.shape[1]))
    both = np.hstack([a, b])
    np.add.at(for_each, fold, both)
    both = both - (for_each / sizes[:, None])[fold]
    a, b = both[:, : a.shape[1]], both[:, a.shape[1] :]
    spread = np.sqrt((a**2).sum() * (b**2).sum())
    free = len(a) - len(sizes)
    if free < 1 or spread <= _ROUNDING * len(a):
        return 0.0, 0.0
    r = float((a * b).sum() / spread)
    return r, r * np.sqrt(free)


# -- the score: what it is worth, and whether it can be true ------------------------------------------------

_IMBALANCED = 2 / 3  # classes are imbalanced where the largest holds this share of the samples
_ABOVE_ONE_CLASS = 0.1  # labels are useful where their mean recall goes this part of the way from one class's to 1
_AVOIDED = 0.25  # part of the trivial classifier's errors that a useful one avoids


@finds("OF501")
def near_trivial(case: Case) -> str | None:
    """An accuracy on imbalanced classes that is hardly above that of always predicting the largest."""
    if case.metric.name not in ("accuracy", "error") or case.estimate is None:
        return None
    share, value = float(class_shares(case.oof.target).max()), case.estimate.value
    accuracy = value if case.metric.greater_is_better else 1 - value
    if share < _IMBALANCED or accuracy - share >= _AVOIDED * (1 - share):
        return None
    always = f"always predicting {majority(case.oof.target)} gives {number(share)}"
    return f"an accuracy of {number(accuracy)} is to be expected; {always}."


@finds("OF502")
def chance(case: Case) -> str | None:
    """An interval that does not lie above what a model that learnt nothing would get."""
    made, known = case.estimate, case.baseline
    if made is None or made.interval is None or known is None or case.says("OF501") is not None:
        return None
    level = known.value
    bad, good = made.interval if case.metric.greater_is_better else (-made.interval.high, -made.interval.low)
    # A ranking worse than chance is mostly that of the other class, which is said already.
    if bad > case.metric.sign * level or any(note.code == "OF213" for note in case.notes) or case.says("OF524"):
        return None
    ends = interval(*made.interval, made.confidence_level)
    how = "is worse than" if good < case.metric.sign * level else "cannot be told from"
    return f"the estimate, {number(made.value)}, {ends}, {how} {number(level)}, that of {known.of}."


@finds("OF505")
def useless_labels(case: Case) -> str | None:
    """Labels that are hardly better than always predicting one class, whatever the ranking behind them is worth."""
    target, labels = case.oof.target, case.labels
    if labels is None or any(case.says(code) is not None for code in ("OF501", "OF502", "OF524")):
        return None
    assert target.classes is not None
    held, k = labels >= 0, len(target.classes)
    y = np.broadcast_to(target.y, labels.shape)
    right = np.bincount(y[held & (labels == y)], minlength=k)
    n = np.bincount(y[held], minlength=k)
    recall = float(np.mean(right[n > 0] / n[n > 0]))
    largest, repeats = int(np.argmax(n)), len(labels)
    if np.sum(n > 0) < 2 or recall - 1 / k >= _ABOVE_ONE_CLASS * (1 - 1 / k):
        return None
    found, others = ((x.sum() - x[largest]) / repeats for x in (right, n))
    name, whose = target.classes[largest], case.selection.name if case.selection is not None else ""
    return (
        f"the labels of {whose} find {found:,.0f} of the {others:,.0f} samples that are not {name!s}, and are right for "
        f"{right.sum() / n.sum():.1%}; always predicting {name!s} is right for {n[largest] / n.sum():.1%}."
    )


@finds("OF213")
def other_class(case: Case) -> str | None:
    """A ranking worse than chance that is not the fault of the folds."""
    said = next((note.text for note in case.notes if note.code == "OF213"), None)
    return None if said is None or case.says("OF524") is not None else said


@finds("OF503")
def perfect(case: Case) -> str | None:
    """The best score there is."""
    won, best = case.selection, case.metric.bounds[1 if case.metric.greater_is_better else 0]
    if won is None or not np.isfinite(best) or won.score != best or case.oof.target.task == "pointwise":
        return None
    n = count(len(case.scoring.rows), "sample")
    return f"{won.name} has the perfect {case.metric.name}, {best:g}, on {n}; does a feature know the label?"


@finds("OF504")
def no_estimate(case: Case) -> str | None:
    """Why nothing can be estimated."""
    return case.problem


# -- picking the best: luck, ties, and the grid ---------------------------------------------------------------

_SLOW = 0.1  # seconds per fold from which the time of the winner matters
_MUCH_FASTER = 0.1  # part of the winner's time
_INSIDE = 3  # fewer values than this have no inside
# Parameters that count passes over the data, by the last part of their name.
_PASSES = re.compile(
    r"(n_|max_|num_)?epochs|n_estimators|num_boost_round|n_boost_rounds|n_?rounds|num_rounds?|iterations"
    r"|n_iter(ations)?|max_iter|num_iterations|(max|n)_steps"
)
# Their number of estimators is no number of passes: more of them only steady the mean.
_AVERAGING = ("Forest", "ExtraTrees", "Bagging")


@finds("OF531")
def optimism(case: Case) -> str | None:
    """A winner's score whose optimism is larger than the uncertainty of the estimate."""
    made = case.estimate
    if made is None or made.interval is None or made.draws is None or case.n_candidates < 2:
        return None
    # An end of the interval lies about two of them out; luck larger than one is not lost in the noise.
    spread = float(np.std(made.draws, ddof=1))
    if not made.optimism > spread:
        return None
    return (
        f"the winner's {case.metric.name}, {number(made.naive)}, is too good by {number(made.optimism)}, "
        f"more than the spread {number(spread)} (sd) of the draws behind the estimate "
        f"{number(made.value)}, {interval(*made.interval, made.confidence_level)}."
    )


@finds("OF532")
def faster_equal(case: Case) -> str | None:
    """A winner that cannot be told from a much faster configuration."""
    won, spent = case.selection, _seconds(case)
    # Most searches end with such a set; it matters where something is to be gained by not taking the winner.
    if won is None or not spent.get(won.name, 0.0) >= _SLOW or case.tied is None or won.name not in case.tied.configs:
        return None
    others = [name for name in case.tied.configs if name != won.name]
    fastest = min(others, key=lambda name: spent.get(name, np.inf), default=None)
    if fastest is None or not spent.get(fastest, np.inf) <= _MUCH_FASTER * spent[won.name]:
        return None
    return (
        f"{won.name} cannot be told from {len(others):,} of the {case.n_candidates - 1:,} others "
        f"({100 * case.tied.confidence_level:g}% confidence set of the best). Of these, {fastest} takes "
        f"{seconds(spent[fastest])} per fold, not {seconds(spent[won.name])}."
    )


def _seconds(case: Case) -> dict[str, float]:
    """Seconds that a fold of each configuration took on average, where they are known."""
    spent = case.oof.seconds
    if spent is None:
        return {}
    known = ~np.isnan(spent)
    sums, n = np.where(known, spent, 0.0).sum(axis=(1, 2)), known.sum(axis=(1, 2))
    return {name: float(s / m) for name, s, m in zip(case.oof.configs, sums, n, strict=True) if m}


@finds("OF533")
def edge(case: Case) -> str | None:
    """A winner at the smallest or largest value of a parameter."""
    found = list(_edges(case))
    return f"in {case.selection.name} {'; '.join(found)}." if case.selection is not None and found else None


def _edges(case: Case) -> Iterator[str]:
    family = case.grid
    for name, value in {} if case.selection is None else case.selection.params.items():
        tried = {params[name] for params in family if is_number(params[name])}
        if not is_number(value) or len(tried) < _INSIDE:
            continue
        low, high = min(tried), max(tried)
        unlimited = any(params[name] is None for params in family)
        # Below 0, or the whole number 1, there can be none; shares end at 1.
        first = low == 0 or (low == 1 and isinstance(low, (int, np.integer)))
        smallest = value == low and not first
        if smallest or (value == high and not unlimited and not (high == 1 and low >= 0)):
            which = "smallest" if smallest else "largest"
            yield f"{name} = {compact(value)} is the {which} of {len(tried)} values tried ({compact(low)} to {compact(high)})"


@finds("OF534")
def passes(case: Case) -> str | None:
    """A number of passes over the data that was chosen on fewer samples than the final fit has."""
    won, oof = case.selection, case.oof
    if won is None or case.one_test_set:
        return None
    if any(word in str(oof.provenance.get("specs", {}).get(won.name, "")) for word in _AVERAGING):
        return None
    for name, value in won.params.items():
        known = _PASSES.fullmatch(name.rpartition("__")[2])
        if known and is_number(value) and len({params[name] for params in case.grid}) > 1:
            return (
                f"{name} = {compact(value)} was chosen on {case.mean_training:,.0f} samples; fitted on all "
                f"{oof.n_samples:,}, the model may need more."
            )
    return None


_FALLS = 0.01  # the largest p value at which a score counts as falling


@finds("OF535")
def falls(case: Case) -> str | None:
    """A winner that is better with fewer samples: nested cross-validation has models of a part of the training samples."""
    won, metric = case.selection, case.metric
    if won is None or "inner" not in case.oof.blocks or metric.needs == "live" or len(case.split_groups):
        return None
    if layout(case.oof) not in ("kfold", "balanced"):  # no test of this variance is valid for leave-one-out
        return None
    oof = alone(case.oof, won.name)
    inner = oof.blocks["inner"]
    if any(np.any(part.state[:, part.planned] != State.DONE) for part in (oof, inner)):
        return None
    try:
        more, fewer = unit_values(oof, metric), unit_values(inner, metric)
    except NeedError:  # undefined without some sample
        return None
    of_repeat = (1, oof.n_repeats, oof.n_folds, -1)
    held = (fewer.folds >= 0).reshape(of_repeat)
    values = np.where(held, fewer.values.reshape(of_repeat), 0.0).sum(axis=2) / held.sum(axis=2)
    p = _worse(oof, metric, more, metric.sign * (more.values - values))
    if not p <= _FALLS:
        return None
    sizes = [np.sum((inner.folds[:, r] >= 0) & (inner.folds[:, r] != k)) for r, k in inner.splits.cells]
    few, many = (number(float(scores.mean())) for scores in (values, more.values))
    return (
        f"the {metric.name} of {won.name} is {few} with {np.mean(sizes):,.0f} samples to train on and {many} with "
        f"{case.mean_training:,.0f} (p = {pvalue(p)}): it gets worse as the training part grows."
    )


def _worse(oof: Predictions, metric: Metric, units: UnitValues, gain: NDArray[np.float64]) -> float:
    """One-sided p value of a mean gain (1, R, U) that is below 0, with the variance of `compare.t_training`; 1 above 0."""
    parts = training.variance_parts(gain, units.folds)
    variance = training.variance_of_mean(parts, design_of(oof, gain.shape[2]), allowance_of(oof, metric))
    df = degrees_of_freedom(oof, metric, units.n_held)
    tested = student(gain.mean(axis=(1, 2)), variance, df, 0.95, np.array([_ROUNDING]))
    return float(tested.pvalue[0]) / 2 if tested.statistic[0] < 0 else 1.0


# -- what another partition would have picked -----------------------------------------------------------------

# A skew of fewer repeats is noise; one beyond this many standard errors is not.
_SKEW_REPEATS, _SKEW_ERRORS = 10, 2.58
_FEW_REPEATS = 3  # of fewer repeats, to have led after one says little
_FEW_CONFIGS = 3  # fewer have no ranking to speak of
_AGREE = 0.7  # the least correlation of two halves of the repeats that rank the configurations in a similar way


@finds("OF541")
def seldom_ahead(case: Case) -> str | None:
    """A winner that led after fewer than half of the repeats."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _FEW_REPEATS or case.selection is None:
        return None
    means = np.cumsum(scores, axis=0) / np.arange(1, len(scores) + 1)[:, None]
    leaders = [case.scoring.names[j] for j in argbest(means, case.metric.greater_is_better)]
    held = leaders.count(case.selection.name)
    if held * 2 >= len(leaders):
        return None
    led = count(len(set(leaders)), "configuration")
    return f"{case.selection.name} held the lead after {held} of {len(leaders)} repeats; {led} led in turn."


@finds("OF542")
def skewed(case: Case) -> str | None:
    """Scores over repeats whose mean says too little, or too much."""
    scores = case.repeat_scores
    if scores is None or len(scores) < _SKEW_REPEATS or case.selection is None:
        return None
    moments = running_moments(scores[:, [case.scoring.names.index(case.selection.name)]])
    n, skew = len(scores), float(moments.skew[-1, 0])
    error = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    if not abs(skew) > _SKEW_ERRORS * error:
        return None
    mean, median = (number(float(m[-1, 0])) for m in (moments.mean, moments.median))
    side = "left" if skew < 0 else "right"
    return (
        f"the scores of {case.selection.name} over {n} repeats are skewed to the {side} (skew {skew:+.2f}): "
        f"their mean is {mean}, their median {median}."
    )


@finds("OF543")
def few_repeats(case: Case) -> str | None:
    """Repeats whose even and odd halves rank the configurations differently."""
    scores = case.repeat_scores
    if scores is None or case.n_candidates < _FEW_CONFIGS:
        return None
    even, odd = scores[::2].mean(axis=0), scores[1::2].mean(axis=0)
    agreement = float(rank_correlations(even[None, None], odd[None, None])[0])
    if agreement >= _AGREE:
        return None
    differ = f"the two halves of the {len(scores)} repeats rank the {case.n_candidates:,} configurations differently"
    return f"{differ} (rank correlation {agreement:.2f})."
