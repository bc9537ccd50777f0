"""What the estimates share: the configuration they are about, the result with its interval, and its caveats."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import select
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..docstrings import fill_with
from ..exceptions import InputError
from ..metrics._scoring import SMALL_FOLD, Scoring, group_notes, sample_bootstrap
from ..results import Estimate, Interval, Intervals, Selection
from ..select import RuleLike, as_rule
from ..stats.compiling import limit_threads
from ..stats.intervals import percentile
from ..stats.resampling import correct
from ._intervals import (
    Evidence,
    OneConfiguration,
    Rivals,
    SelectedConfiguration,
    bootstrap_scores,
    few_per_fold,
    why_not_drawn,
)
from ._selected import spread_of

_MANY_ROUNDS = 20

document = fill_with(
    {
        "config": (
            "config : str, int or None\n"
            "    A configuration that you named before you saw any score. If None and there are several, this estimate selects\n"
            "    one, and the value is corrected for the selection as in `bbc`."
        ),
        "rule": "rule : Rule, callable or None\n    How the configuration is selected; None takes `select.best`.",
        "held_out_level": (
            "confidence_level : float\n"
            "    Level of the interval. A configuration named beforehand gets the one that is valid for the metric, as in `cv`;\n"
            "    the selected configuration gets that of `bbc`."
        ),
        "aggregate": (
            'aggregate : {"fold", "pooled"}\n'
            "    ``fold`` takes the mean over folds, ``pooled`` scores all samples of a repeat at once."
        ),
        "per_round": (
            "per_round : bool\n"
            "    Whether to compute the estimate for each round and take the mean (eq. 34 to 37 of [1]_). The resubstitution\n"
            "    score of a round is the score of its model on all samples."
        ),
        "estimate": "Estimate\n    The value, its interval if there is one, the selected configuration and caveats.",
        "models": (
            ">>> import outfold as of\n"
            ">>> from sklearn.datasets import load_iris\n"
            ">>> from sklearn.naive_bayes import GaussianNB\n"
            ">>> from sklearn.neighbors import KNeighborsClassifier\n"
            ">>> X, y = load_iris(return_X_y=True)\n"
            ">>> X, y = X[50:, :2], y[50:]\n"
            '>>> models = {"neighbours": KNeighborsClassifier(1), "bayes": GaussianNB()}'
        ),
        "rounds": ">>> oof = of.collect(models, X, y, plan=of.Plan.bootstrap(10), resub=True, progress=False)",
    }
)


def build(
    scoring: Scoring,
    selection: Selection,
    method: str,
    *,
    value: float,
    draws: NDArray[np.float64] | None = None,
    level: float = 0.95,
    notes: tuple[Note, ...] = (),
    interval: Interval | None = None,
    intervals: Intervals | None = None,
    **fields: Any,
) -> Estimate:
    """The result, with what all estimates have in common; further fields as they are."""
    oof = scoring.oof
    way = None if draws is None else "percentile" if interval is None else "t"
    if isinstance(intervals, SelectedConfiguration) and intervals.spread is not None:
        interval, way = intervals.spread.interval(level), "mover"
        if intervals.spread.perfect:
            seen = f"no error was seen on {len(scoring.rows)} samples; the interval says how often there may be one."
            notes = (*notes, Note("OF220", seen))
    elif interval is not None:
        notes = (*notes, *_range_notes(interval, scoring.metric.bounds))
    elif draws is not None:
        interval = Interval(*percentile(draws, level))
    if interval is not None and interval.low == interval.high:
        text = "there is no valid interval: the score does not vary, and its range is not known."
        interval, way, notes = None, None, (*notes, Note("OF218", text))
    if np.isnan(value):
        needed = f"{scoring.metric.name} is undefined on every fold of {oof.plan}"
        raise InputError(needed=needed, remedy="Use `bbc` or `aggregate='pooled'`, or larger folds.")
    return Estimate(
        value=value,
        interval=interval,
        interval_method=way,
        confidence_level=level,
        naive=selection.score,
        selected=selection.name,
        method=method,
        metric=scoring.metric.name,
        greater_is_better=scoring.metric.greater_is_better,
        n_samples=len(scoring.rows),
        n_configs=len(scoring.candidates),
        n_groups=None if oof.groups is None else int(oof.group_codes.max()) + 1,  # type: ignore[union-attr]
        positive=None if oof.target.task != "binary" else str(oof.target.classes[1]),  # type: ignore[index]
        aggregate=scoring.aggregate,
        plan=str(oof.plan),
        rule=selection.rule,
        fingerprint=oof.fingerprint,
        notes=(*oof.notes, *scoring.notes, *_repeat_notes(scoring), *notes),
        draws=draws,
        intervals=intervals,
        **fields,
    )


def single(
    scoring: Scoring, method: str, text: str, reference: str, n_resamples: int, level: float, rng: RngLike
) -> Estimate:
    """Estimate for predictions of one configuration, which nothing selected; the interval is the one valid for the plan."""
    selection = select.choose(scoring, select.best)
    estimate = build(
        scoring,
        replace(selection, rule="named beforehand"),
        method,
        value=selection.score,
        description=text,
        reference=reference,
        notes=fold_notes(scoring) if scoring.aggregate == "fold" else (),
        named=True,
    )
    return with_interval(estimate, scoring, n_resamples, level, rng)


def with_interval(estimate: Estimate, scoring: Scoring, n_resamples: int, level: float, rng: RngLike) -> Estimate:
    """The estimate with the interval that is valid for its only candidate, or the caveat that none is."""
    n_resamples, level = check_count(n_resamples, "n_resamples", 2), check_confidence_level(level)
    evidence = Evidence(scoring, estimate.value, n_resamples, as_seed(rng))
    intervals = OneConfiguration(evidence)
    found = intervals.choose(level)
    if found is None:
        note = Note("OF218", intervals.why_none())
        return replace(estimate, confidence_level=level, intervals=intervals, notes=(*estimate.notes, note))
    way, interval = found
    return replace(
        estimate,
        interval=interval,
        interval_method=way.name,
        confidence_level=level,
        intervals=intervals,
        draws=evidence.draws if way.name in ("bca", "percentile") else None,
        description=f"{estimate.description}, {way.words}",
        reference="; ".join(filter(None, (estimate.reference, way.source))),
        notes=(*estimate.notes, *_range_notes(interval, scoring.metric.bounds)),
    )


def _range_notes(interval: Interval, bounds: tuple[float, float]) -> tuple[Note, ...]:
    """Said, not cut: an end out of range shows how rough the interval is."""
    low, high = bounds
    if interval.low >= low and interval.high <= high:
        return ()
    return (Note("OF219", f"the interval goes beyond the metric's range [{low:g}, {high:g}]; it is rough there."),)


def sample_draws(
    scoring: Scoring, n_resamples: int, rng: RngLike
) -> tuple[NDArray[np.float64] | None, tuple[Note, ...]]:
    """Score of the only candidate on bootstrap samples, undefined draws left out; or the caveat that these are not valid."""
    if scoring.metric.values is None and few_per_fold(scoring):
        text = f"there is no valid interval for {scoring.metric.name} by fold here"
        return None, (Note("OF218", f"{text}: {why_not_drawn(scoring.oof.groups is not None)}"),)
    draws = bootstrap_scores(scoring, n_resamples, rng)
    if len(draws) < 2:
        raise cannot_score(scoring)
    return draws, ()


def calm(scoring: Scoring) -> Any:
    """Context for draws of many rounds: products so small that threads would wait for each other more than they work."""
    return limit_threads("blas") if len(scoring.cells) > _MANY_ROUNDS else nullcontext()


def fold_notes(scoring: Scoring) -> tuple[Note, ...]:
    if scoring.metric.pointwise:
        return ()
    sizes = [int(np.sum(scoring.oof.folds[:, r] == k)) for r, k in scoring.cells]
    undefined = int(np.all(np.isnan(scoring.fold_scores()[0]), axis=0).sum())
    name = scoring.metric.name
    if undefined:
        return (Note("OF204", f"{name} is undefined in {undefined} of {len(sizes)} folds, which were left out."),)
    if min(sizes) < SMALL_FOLD:
        return (Note("OF204", f"{name} on folds of {min(sizes)} samples is unreliable; bbc pools the folds."),)
    return ()


def _repeat_notes(scoring: Scoring) -> tuple[Note, ...]:
    """A caveat where the mean over repeats, or bootstrap rounds, leaves some out."""
    if scoring.metric.pointwise or scoring.aggregate == "fold":
        return ()
    undefined, n = scoring.undefined()
    what = "rounds" if scoring.oof.plan.kind == "bootstrap" else "repeats"
    text = f"{scoring.metric.name} is undefined in {undefined} of {n} {what}, which were left out."
    return (Note("OF204", text),) if undefined else ()


def cannot_score(scoring: Scoring) -> InputError:
    """The error where no bootstrap sample can be scored."""
    target = scoring.oof.target.take(scoring.rows)
    rare = ""
    if target.classes is not None:
        counts = np.bincount(target.y, minlength=len(target.classes))
        rare = f"Class {target.classes[np.argmin(counts)]!s} has {counts.min()} of {len(target)} samples. "
    name, n = scoring.metric.name, len(scoring.rows)
    if scoring.metric.pointwise:  # it is defined wherever a sample is left out
        units = "groups" if scoring.oof.groups is not None else "samples"
        return InputError(
            needed=f"{name} cannot be scored on bootstrap samples of these predictions, which leave none of {n} samples out",
            remedy=f"Hold out more {units}, or name the configuration beforehand: `estimate.cv(oof, {name!r}, config=...)`.",
        )
    return InputError(
        needed=f"{name} cannot be scored on bootstrap samples of these predictions",
        remedy=f"{rare}Hold out more samples, or take a pointwise metric such as accuracy; `bbc` can draw within classes: "
        "`stratify=True`.",
    )


class Subject:
    """One configuration or the choice among several, as the arguments of an estimate say."""

    def __init__(
        self, oof: Predictions, config: str | int | None, rule: RuleLike, n_resamples: int, rng: RngLike
    ) -> None:
        if config is not None and rule is not None:
            needed = "give `config=` for a configuration named beforehand, or `rule=` to select one"
            raise InputError(needed=needed, given="got both")
        self.oof = oof if config is None else oof.sel(config=config)
        self.rule = as_rule(rule)
        self.n_resamples, self.rng = check_count(n_resamples, "n_resamples", 2), as_seed(rng)

    @property
    def named(self) -> bool:
        return self.oof.n_configs == 1


def of_subject(
    subject: Subject,
    scoring: Scoring,
    method: str,
    *,
    description: str,
    draws: NDArray[np.float64] | None = None,
    interval: Interval | None = None,
    keeps_draws: bool = False,
    notes: tuple[Note, ...] = (),
    details: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Estimate:
    """The score of a configuration named beforehand; of a selected one the bias-corrected score (as `bbc` has it).

    `draws` and `interval` are those of a named one; a selected one has an interval only where it `keeps_draws`.
    """
    selection = select.choose(scoring, subject.rule)
    if subject.named:
        selection = replace(selection, rule="named beforehand")
        fields |= {"value": selection.score, "draws": draws, "interval": interval, "named": True}
        fields["details"] = details or {}
    else:
        bootstrap = sample_bootstrap(scoring, False, subject.rng)
        with calm(scoring):
            result = correct(scoring, subject.rule, bootstrap, subject.n_resamples)
            if not len(result.scores):
                raise cannot_score(scoring)
            if keeps_draws:
                weightings, value = bootstrap.blocks(subject.n_resamples), float(result.scores.mean())
                spread = spread_of(scoring, selection.name, result, weightings, value)
                rivals = Rivals(scoring, subject.rule is select.best, subject.n_resamples, subject.rng)
                fields["intervals"] = SelectedConfiguration(rivals, spread)
        description += f"; corrected for the selection by {len(result.scores):,} draws"
        notes = (*notes, *group_notes(scoring))
        fields |= {"value": float(result.scores.mean()), "draws": result.scores if keeps_draws else None}
        fields["details"] = {**(details or {}), "n_resamples": len(result.scores), "redrawn": result.n_again}
        fields["chosen"] = np.array(scoring.names, dtype=object)[result.chosen]
    return build(scoring, selection, method, description=description, notes=notes, **fields)
