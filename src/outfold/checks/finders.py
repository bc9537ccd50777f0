"""What each check finds in a case: a sentence with the numbers at hand, or None where the check has nothing to say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import estimate, select
from ..arguments import is_number
from ..compare._auto import unadjusted_notes
from ..compare._compared import selected_note
from ..data.duplicates import held_out_with_twin, row_codes
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, NeedError, got, invalid
from ..formatting import compact, count, interval, number
from ..metrics import Metric, MetricLike
from ..metrics._scoring import Scoring, metric_or_default
from ..results import Estimate, Selection, TiedSet
from ..stats.selection import argbest, rank_correlations, running_moments

# The fewest `tied_among` takes: how many are tied is told roughly, and fast.
_TIED_DRAWS = 100


class Case:
    """Predictions and a metric; the features and the estimate to report where there are some; and what follows from them."""

    def __init__(
        self, oof: Predictions, metric: MetricLike | None = None, X: Any = None, made: Estimate | None = None
    ) -> None:
        self.oof, self.X, self._made = oof, X, made
        self.scoring = Scoring(oof, metric_or_default(oof, metric))

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.scoring.metric

    @property
    def n_candidates(self) -> int:
        """How many configurations can be selected."""
        return len(self.scoring.candidates)

    @property
    def leave_one_out(self) -> bool:
        """Whether every fold holds one sample."""
        return 1 < self.oof.n_samples == self.oof.n_folds

    @property
    def one_test_set(self) -> bool:
        """Whether the predictions were made elsewhere on one test set: what the models learnt from is not known."""
        return self.oof.plan.kind == "given" and self.oof.n_folds < 2

    @cached_property
    def _estimated(self) -> Estimate | InputError:
        if self._made is not None and self._made.method == "bbc":
            return self._made
        try:
            return estimate.bbc(self.oof, self.metric)
        except InputError as error:
            return error

    @property
    def estimate(self) -> Estimate | None:
        """The estimate by bbc; None where there is none."""
        return self._estimated if isinstance(self._estimated, Estimate) else None

    @property
    def problem(self) -> str | None:
        """Why there is no estimate."""
        return str(self._estimated) if isinstance(self._estimated, InputError) else None

    @cached_property
    def selection(self) -> Selection | None:
        """What the estimate to report is of, or the winner; None where the metric is undefined for all."""
        try:
            won = select.choose(self.scoring)
        except InputError:
            return None
        reported = None if self._made is None else self._made.selected
        if reported == won.name or reported not in self.scoring.names:
            return won
        at = self.scoring.names.index(reported)
        index, score = int(self.scoring.candidates[at]), float(self.scoring.scores()[0, at])
        return replace(won, name=reported, index=index, score=score, params=self.scoring.params[at])

    @cached_property
    def tied(self) -> TiedSet | None:
        """The configurations that cannot be told from the best; None where too many draws cannot be scored."""
        try:
            return select.tied_among(self.scoring, n_resamples=_TIED_DRAWS)
        except InputError:
            return None

    @cached_property
    def repeat_scores(self) -> NDArray[np.float64] | None:
        """(R, C) scores of the candidates in every repeat; None for one repeat, or where a score is undefined."""
        if len({repeat for repeat, _ in self.scoring.cells}) < 2:
            return None
        scores = self.scoring.repeat_scores()
        return None if np.isnan(scores).any() else scores

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What the predictions and the estimates say of themselves."""
        own = (*self.oof.notes, *self.scoring.notes) if self.estimate is None else self.estimate.notes
        reported = () if self._made is None else self._made.notes
        return (*reported, *own, *self._fold_notes())

    def _fold_notes(self) -> tuple[Note, ...]:
        """What `tt` would say, where folds may be too small for the metric or for the method."""
        if self.oof.n_folds < 2 or (self.metric.pointwise and not self.leave_one_out):
            return ()
        try:
            made = estimate.tt(self.oof, self.metric)
        except (InputError, NeedError):
            return ()
        return tuple(note for note in made.notes if note.code in ("OF202", "OF204"))


Find = Callable[[Case], str | None]
# By code; the other checks speak through the notes of results only.
FINDERS: dict[str, Find] = {}


def finds(code: str) -> Callable[[Find], Find]:
    """Register what finds the caveat of this code."""

    def register(find: Find) -> Find:
        FINDERS[code] = find
        return find

    return register


# -- the samples, and how they are held out -----------------------------------------------------------------

_TWINS = 0.02  # equal rows of fewer samples than this share can hardly move a score
_SAME = 1e-6  # predictions that differ by less than this part of their range are the same but for rounding
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
    pairs = _same_pairs(case)
    if not pairs:
        return None
    first, second = (case.scoring.names[j] for j in pairs[0])
    n = len({j for pair in pairs for j in pair})
    which = f"{first} and {second}" + (", for one" if n > 2 else "")
    return f"{n:,} of {count(case.n_candidates, 'configuration')} predict the same as another: {which}."


def _same_pairs(case: Case) -> list[tuple[int, int]]:
    """Pairs of candidates, each the nearest in a projection, whose predictions differ by rounding only."""
    data, who = case.oof.data, case.scoring.candidates
    first = data[case.scoring.cells[0][0]]
    first = (first if len(who) == len(first) else first[who]).reshape(len(who), -1)
    # Equal predictions have equal projections; what is near there is compared in full.
    weights = np.random.default_rng(0).random(first.shape[1])
    projected = first @ weights
    if np.isnan(projected).any():  # samples that were not held out
        first = np.nan_to_num(first, nan=0.0)
        projected = first @ weights
    slack = _SAME * float(np.ptp(first))
    order = np.argsort(projected, kind="stable")
    rounding = 1e-9 * float(np.abs(projected).max())
    near = np.flatnonzero(np.diff(projected[order]) <= slack * weights.sum() + rounding)
    pairs = (sorted((int(order[i]), int(order[i + 1]))) for i in near)
    return sorted((a, b) for a, b in pairs if _equal(data[:, who[a]], data[:, who[b]], slack))


def _equal(one: NDArray[Any], other: NDArray[Any], slack: float) -> bool:
    return bool(np.all((np.abs(one - other) <= slack) | (np.isnan(one) & np.isnan(other))))


@finds("OF102")
def split_groups(case: Case) -> str | None:
    """Groups that are on both sides of a split."""
    oof, codes = case.oof, case.oof.group_codes
    split = () if codes is None else np.unique(codes[held_out_with_twin(codes, oof.folds, oof.train)])
    if codes is None or not len(split):
        return None
    n_groups = count(int(codes.max()) + 1, "group")
    return f"{len(split):,} of {n_groups} are on both sides of a split; the plan ignores groups."


@finds("OF521")
def missing_classes(case: Case) -> str | None:
    """Folds that lack a class, which stratified ones would not."""
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
    if not lacking.any():
        return None
    worst = int(np.argmax(lacking))
    return (
        f"class {target.classes[worst]!s}, {np.sum(target.y == worst):,} of {count(oof.n_samples, 'sample')}, is missing in "
        f"{lacking[worst]:,} of {len(counts):,} folds; the plan is not stratified by class."
    )


def _mean_training(case: Case) -> float:
    return float(np.mean([len(case.oof.splits.train_rows(r, k)) for r, k in case.scoring.cells]))


@finds("OF522")
def small_training(case: Case) -> str | None:
    """Models that learnt from far fewer samples than the final one will."""
    n, mean = case.oof.n_samples, 0.0 if case.one_test_set else _mean_training(case)
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


# -- the score: what it is worth, and whether it can be true ------------------------------------------------

_IMBALANCED = 2 / 3  # classes are imbalanced where the largest holds this share of the samples
_AVOIDED = 0.25  # part of the trivial classifier's errors that a useful one avoids

# What a model that learnt nothing gets, by metric.
_CHANCE: dict[str, Callable[[Case], float]] = {
    "accuracy": lambda case: largest_share(case),
    "error": lambda case: 1 - largest_share(case),
    "balanced_accuracy": lambda case: 1 / len(_shares(case)),
    "average_precision": lambda case: float(_shares(case)[1]),
    "log_loss": lambda case: _entropy(_shares(case)),
    "brier": lambda case: float(_shares(case)[1] * (1 - _shares(case)[1])),
    "mse": lambda case: float(np.var(case.oof.target.y)),
    "rmse": lambda case: float(np.std(case.oof.target.y)),
    "mae": lambda case: float(np.abs(case.oof.target.y - np.median(case.oof.target.y)).mean()),
    **dict.fromkeys(("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "concordance"), lambda case: 0.5),
    **dict.fromkeys(("mcc", "cohen_kappa", "r2", "explained_variance"), lambda case: 0.0),
    **dict.fromkeys(("d2_log_loss_score", "d2_brier_score", "d2_absolute_error_score"), lambda case: 0.0),
}
_OF_TWO = ("average_precision", "brier")  # their level is known for two classes only
_F = re.compile(r"f(\d+\.?\d*)")


def _shares(case: Case) -> NDArray[np.float64]:
    classes = case.oof.target.classes
    assert classes is not None
    return np.bincount(case.oof.target.y, minlength=len(classes)) / case.oof.n_samples


def _entropy(shares: NDArray[np.float64]) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


def largest_share(case: Case) -> float:
    """Share of the largest class: the accuracy of always predicting it."""
    return float(_shares(case).max())


@finds("OF501")
def near_trivial(case: Case) -> str | None:
    """An accuracy on imbalanced classes that is hardly above that of always predicting the largest."""
    if case.metric.name not in ("accuracy", "error") or case.estimate is None:
        return None
    share, value = largest_share(case), case.estimate.value
    accuracy = value if case.metric.greater_is_better else 1 - value
    if share < _IMBALANCED or accuracy - share >= _AVOIDED * (1 - share):
        return None
    name = case.oof.target.classes[int(np.argmax(_shares(case)))]  # type: ignore[index]
    return f"an accuracy of {number(accuracy)} is to be expected; always predicting {name!s} gives {number(share)}."


@finds("OF502")
def chance(case: Case) -> str | None:
    """An interval that does not lie above what a model that learnt nothing would get."""
    made, known = case.estimate, _level(case)
    if made is None or made.interval is None or known is None or near_trivial(case) is not None:
        return None
    level, whose = known
    bad, good = made.interval if case.metric.greater_is_better else (-made.interval.high, -made.interval.low)
    # A ranking worse than chance is mostly that of the other class, which is said already.
    if bad > case.metric.sign * level or any(note.code == "OF213" for note in case.notes):
        return None
    ends = interval(*made.interval, made.confidence_level)
    how = "is worse than" if good < case.metric.sign * level else "cannot be told from"
    return f"the estimate, {number(made.value)}, {ends}, {how} {number(level)}, that of {whose}."


def _level(case: Case) -> tuple[float, str] | None:
    """What a model that learnt nothing gets, and which model that is; None where that is not known."""
    name, target = case.metric.name, case.oof.target
    f = _F.fullmatch(name)
    if f is not None and target.task == "binary":
        # All positive: precision p, recall 1, and no other constant has a higher one.
        p, weight = float(_shares(case)[1]), float(f[1]) ** 2
        return (1 + weight) * p / (weight * p + 1), f"always predicting {target.classes[1]!s}"  # type: ignore[index]
    if name not in _CHANCE or (name in _OF_TWO and target.task != "binary"):
        return None
    return _CHANCE[name](case), "chance"


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

_MANY_TIED = 3  # others that cannot be told from the winner
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
def many_tied(case: Case) -> str | None:
    """A winner that cannot be told from many others."""
    if case.selection is None or case.n_candidates <= _MANY_TIED or case.tied is None:
        return None
    others = len(case.tied) - (case.selection.name in case.tied)
    if others < _MANY_TIED:
        return None
    return (
        f"{case.selection.name} cannot be told from {others:,} of the {case.n_candidates - 1:,} others "
        f"({100 * case.tied.confidence_level:g}% confidence set of the best)."
    )


@finds("OF533")
def edge(case: Case) -> str | None:
    """A winner at the smallest or largest value of a parameter."""
    found = list(_edges(case))
    return f"in {case.selection.name} {'; '.join(found)}." if case.selection is not None and found else None


def _edges(case: Case) -> Iterator[str]:
    family = _family(case)
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


def _family(case: Case) -> list[Mapping[str, Any]]:
    """Parameters of the configurations of the winner's grid: those whose names begin the same way, with the same parameters."""
    if case.selection is None:
        return []
    stem, keys = _stem(case.selection.name), case.selection.params.keys()
    pairs = zip(case.oof.configs, case.oof.params, strict=True)
    return [params for name, params in pairs if _stem(name) == stem and params.keys() == keys]


def _stem(name: str) -> str:
    """The part of a name before the parameters; empty where the name does not show them."""
    return name.partition("(")[0] if "(" in name else ""


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
        if known and is_number(value) and len({params[name] for params in _family(case)}) > 1:
            return (
                f"{name} = {compact(value)} was chosen on {_mean_training(case):,.0f} samples; fitted on all "
                f"{oof.n_samples:,}, the model may need more."
            )
    return None


# -- what another partition would have picked -----------------------------------------------------------------

# A skew of fewer repeats is noise; one beyond this many standard errors is not.
_SKEW_REPEATS, _SKEW_ERRORS = 10, 2.58
_FEW_SAMPLES = 500  # with more samples one partition is much like another
_FEW_REPEATS = 3  # fewer repeats than this leave much of the luck of the partition in
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
    """Too few repeats to know the ranking, or repeats whose even and odd halves rank differently."""
    oof, scores = case.oof, case.repeat_scores
    if case.n_candidates < 2 or case.one_test_set or case.leave_one_out:
        return None
    if oof.n_repeats < _FEW_REPEATS:
        # Splits with training parts of their own, such as those of a time series, cannot be drawn anew.
        if len(case.scoring.rows) > _FEW_SAMPLES or oof.train is not None:
            return None
        return (
            f"{count(oof.n_repeats, 'partition')} of {count(oof.n_samples, 'sample')}: another one may rank the "
            f"{count(case.n_candidates, 'configuration')} differently."
        )
    if scores is None or case.n_candidates < _FEW_REPEATS:
        return None
    even, odd = scores[::2].mean(axis=0), scores[1::2].mean(axis=0)
    agreement = float(rank_correlations(even[None, None], odd[None, None])[0])
    said = f"even and odd ones of {len(scores)} repeats rank the {case.n_candidates:,} configurations with a correlation of "
    return None if agreement >= _AGREE else f"{said}{agreement:.2f} only."


# -- comparisons to come --------------------------------------------------------------------------------------


@finds("OF301")
def selected_here(case: Case) -> str | None:
    """A winner that these predictions chose, and that they cannot test."""
    if case.selection is None or case.n_candidates < 3:
        return None
    return selected_note(case.selection.name, case.oof.n_configs, "p value of a comparison with it does").text


@finds("OF307")
def many_pairs(case: Case) -> str | None:
    """How many pairs there are to compare."""
    notes = unadjusted_notes(case.n_candidates * (case.n_candidates - 1) // 2)
    return notes[0].text if notes else None
