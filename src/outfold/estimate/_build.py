"""What the estimates share: the configuration they are about, the result with its interval, and its caveats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import select
from ..arguments import RngLike, as_seed, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.scores import is_time_series, layout
from ..docstrings import fill_with
from ..exceptions import InputError
from ..metrics import MetricLike
from ..metrics._scoring import (
    SMALL_FOLD,
    Aggregate,
    Scoring,
    group_notes,
    recorded_metric,
    sample_bootstrap,
)
from ..results import Estimate, Interval, Intervals, Selection
from ..select import Rule, RuleLike, choose, recorded_rule
from ..stats.compiling import limit_threads
from ..stats.intervals import percentile
from ..stats.resampling import Corrected, correct
from ._evidence import Evidence, Rivals
from ._intervals import OneConfiguration, SelectedConfiguration
from ._selected import ROUNDING, spread_of

_MANY_ROUNDS = 20
# Pairs of the same fold tell how new groups are ranked, unless more of them than this share are of the same group.
_MOST_OF_A_GROUP = 0.1
T = TypeVar("T")

document = fill_with(
    {
        "config": (
            "config : str, int or None\n"
            "    A configuration that you named before you saw any score. If None and there are several, this estimate selects\n"
            "    one, and the value is corrected for the selection as in `bbc`."
        ),
        "rule": (
            "rule : Rule, callable or None\n"
            "    How the configuration is selected; None is the rule that the predictions record."
        ),
        "best_rule": (
            "rule : Rule, callable or None\n    Must be `select.best`, or None if the predictions record it."
        ),
        "normal_draws": "n_resamples : int\n    Number of draws from the normal distribution.",
        "held_out_level": (
            "confidence_level : float\n"
            "    Level of the interval. A configuration named beforehand gets the one that is valid for the metric, as in `cv`;\n"
            "    the selected configuration gets that of `bbc`."
        ),
        "per_round": (
            "per_round : bool\n"
            "    Whether to compute the estimate for each round and take the mean (eq. 34 to 37 of [1]_). The resubstitution\n"
            "    score of a round is the score of its model on all samples. All rounds share one rate of overfitting."
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


def scored_by(scoring: Scoring) -> Scoring:
    """The scores whose mean over draws is the estimate, however a configuration was selected: decided here alone.

    Scores of different folds are those of different models. Ranked together they make AUC and concordance of few samples too
    low, so pairs of the same fold are counted (docs/studies/real_data.md has both). Other metrics are pooled: few samples of one
    fold make average precision much too high. Samples of one group are alike, and easier to rank than those of new groups: where
    a fold has few groups, all pairs are counted.
    """
    several_folds = len(scoring.cells) > len({repeat for repeat, _ in scoring.cells})
    within = several_folds and scoring.metric.within is not None and _pairs_of_a_group(scoring) <= _MOST_OF_A_GROUP
    return scoring.by("within" if within else "pooled")


def _pairs_of_a_group(scoring: Scoring) -> float:
    """Of the pairs of samples that are held out together, the share whose two samples are of the same group."""
    codes, target = scoring.oof.group_codes, scoring.oof.target
    if codes is None:
        return 0.0
    classes = target.y if target.task == "binary" else None
    of_fold = of_group = 0.0
    for repeat, fold in scoring.cells:
        held = np.flatnonzero(scoring.oof.folds[:, repeat] == fold)
        labels = None if classes is None else classes[held]
        of_fold += _n_pairs(np.zeros(len(held), dtype=np.intp), labels)
        of_group += _n_pairs(codes[held], labels)
    return of_group / of_fold if of_fold else 0.0


def _n_pairs(codes: NDArray[np.intp], labels: NDArray[Any] | None) -> float:
    """Pairs of samples with the same code; of two classes, pairs of a positive and a negative."""
    if labels is None:
        n = np.bincount(codes)
        return float(np.sum(n * (n - 1) / 2))
    size = int(codes.max(initial=0)) + 1
    return float(np.bincount(codes[labels == 1], minlength=size) @ np.bincount(codes[labels == 0], minlength=size))


def drawn_by(scoring: Scoring) -> Scoring:
    """Pooled scores that can be asked about draws.

    A hold-out or a bootstrap round has few samples, and a draw leaves out a third of them. The mean over repeats of R2 or F1 of
    a handful of samples is far too low (studies/other_intervals.py), so what all repeats hold out is scored at once. Shares of
    pairs and means over samples have no such bias.
    """
    metric, repeats = scoring.metric, {repeat for repeat, _ in scoring.cells}
    parts = len(repeats) > 1 and len(repeats) == len(scoring.cells)  # a repeat holds out a part of the samples
    biased = metric.values is None and metric.within is None
    return scoring.all_at_once() if parts and biased else scoring.by("pooled")


@dataclass(frozen=True)
class Selecting:
    """A rule and the scores it selects by, whatever a draw is scored by."""

    rule: Rule
    scoring: Scoring

    def choose(self) -> Selection:
        """The choice on all samples."""
        return choose(self.scoring, self.rule)

    def pick(self, _: Any, weights: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """(b,) the choice under every weighting, -1 where there is none."""
        return self.rule.pick(self.scoring, weights)


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
        if intervals.spread.off:
            notes = (*notes, _bias_note(scoring, intervals.spread.leans_by))
    elif interval is not None:
        notes = (*notes, *_range_notes(interval, scoring.metric.bounds))
    elif draws is not None:
        interval = Interval(*percentile(draws, level))
    if why := _why_none(scoring, interval, isinstance(intervals, SelectedConfiguration)):
        interval, way = None, None
        notes = (
            *(note for note in notes if note.code != "OF221"),
            Note("OF218", f"there is no valid interval: {why}."),
        )
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
        aggregate=selection.aggregate,
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
    selection = choose(scoring, select.best)
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
        centre=evidence.nested.centre if way.name == "nested_cv_bates" and evidence.nested else None,
        confidence_level=level,
        intervals=intervals,
        draws=evidence.draws if way.name in ("bca", "percentile") else None,
        description=f"{estimate.description}, {way.words}",
        reference="; ".join(filter(None, (estimate.reference, way.source))),
        notes=(*estimate.notes, *_range_notes(interval, scoring.metric.bounds), *_named_notes(way.name, scoring)),
    )


# With fewer test samples, a bootstrap of a metric of sets covers too rarely, and so does any interval of a loss without an upper
# end; with fewer samples, R2 of what a draw leaves out is too low (studies/other_intervals.py).
_FEW_TESTED, _FEW_FOR_SKILL = 50, 140


def approximate(why: str) -> Note:
    """The caveat of an interval that covered less than its level in our studies."""
    return Note("OF221", f"the interval is approximate and may cover too rarely: {why}.")


def _named_notes(way: str, scoring: Scoring) -> tuple[Note, ...]:
    """A caveat where the best interval there is for a configuration named beforehand is not good enough."""
    if way == "corrected_t":
        return (approximate("the corrected t falls short with repeats, small folds and scores near the best"),)
    if way == "bca" and len(scoring.rows) < _FEW_TESTED:
        return (approximate(f"{len(scoring.rows)} test samples are few for a bootstrap of {scoring.metric.name}"),)
    return (*skill_notes(scoring), *_loss_notes(scoring)) if way == "samples" else ()


def marks_of(scoring: Scoring) -> tuple[Note, ...]:
    """Caveats of the interval of the selected configuration, by the plan and the metric."""
    if scoring.oof.plan.kind == "bootstrap":
        return (approximate("rounds train on 63 percent of the samples, so the score is too low for a model of all"),)
    if layout(scoring.oof) == "loo":
        return (approximate("the models of leave-one-out are nearly the same, and err together"),)
    return (*skill_notes(scoring), *_loss_notes(scoring))


def _loss_notes(scoring: Scoring) -> tuple[Note, ...]:
    """A caveat for losses without an upper end on one small test set, which rarely shows how large they can be."""
    metric, n = scoring.metric, len(scoring.rows)
    is_loss = metric.pointwise and not metric.greater_is_better and not np.isfinite(metric.bounds[1])
    if not is_loss or n >= _FEW_TESTED or len(scoring.oof.splits.cells) > 1:
        return ()
    return (approximate(f"{n} test samples are few for {metric.name}, which a few large errors decide"),)


def skill_notes(scoring: Scoring) -> tuple[Note, ...]:
    """A caveat for R2 and its like, of which only the best score is known, and which few samples make too low."""
    metric, n = scoring.metric, len(scoring.rows)
    (low, high), best = metric.bounds, metric.greater_is_better
    is_skill = not metric.pointwise and best and np.isfinite(high) and not np.isfinite(low)
    if not is_skill or n >= _FEW_FOR_SKILL:
        return ()
    return (approximate(f"{n} samples are few for {metric.name}, which varies with the spread of their labels"),)


def _why_none(scoring: Scoring, interval: Interval | None, of_selected: bool) -> str:
    """Why there is no interval; empty where there is one, or where the method has none."""
    if of_selected and is_time_series(scoring.oof.splits):
        return "in a time series later samples depend on earlier ones, and training sets contain one another"
    if interval is None:
        return "the score does not vary, and its range is not known" if of_selected else ""
    if interval.high - interval.low <= ROUNDING * max(abs(interval.low), abs(interval.high)):
        return "the score does not vary, and its range is not known"
    return ""


def _bias_note(scoring: Scoring, leans_by: float) -> Note:
    """The caveat that a draw leaves out too few samples for this metric."""
    side, name = "high" if leans_by > 0 else "low", scoring.metric.name
    few = f"{name} of the few samples that a draw leaves out is too {side}, and with it the estimate"
    return Note("OF222", f"{few}: by about {abs(leans_by):.1g}. The interval is wider for it.")


def _range_notes(interval: Interval, bounds: tuple[float, float]) -> tuple[Note, ...]:
    """Said, not cut: an end out of range shows how rough the interval is."""
    low, high = bounds
    if interval.low >= low and interval.high <= high:
        return ()
    return (Note("OF219", f"the interval goes beyond the metric's range [{low:g}, {high:g}]; it is rough there."),)


def intervals_of_selected(
    scoring: Scoring,
    selection: Selection,
    rule: Rule,
    result: Corrected,
    drawn: Iterable[NDArray[Any]],
    value: float,
    rng: RngLike,
) -> SelectedConfiguration:
    """The intervals of an estimate `value` that these draws made."""
    rivals = Rivals(scoring, rule is select.best, len(result.scores), as_seed(rng))
    return SelectedConfiguration(rivals, spread_of(scoring, selection.name, result, drawn, value))


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
        self,
        oof: Predictions,
        metric: MetricLike | None,
        config: str | int | None,
        rule: RuleLike,
        aggregate: Aggregate | None,
        n_resamples: int = 2,
        rng: RngLike = 0,
    ) -> None:
        given = "rule" if rule is not None else "aggregate" if aggregate is not None else None
        if config is not None and given is not None:
            needed = f"give `config=` for a configuration named beforehand, or `{given}=` to select one"
            raise InputError(needed=needed, given="got both")
        self.metric = recorded_metric(oof, metric)
        self.oof = oof if config is None else oof.sel(config=config)
        self.rule = select.best if self.named else recorded_rule(oof, rule)
        self.aggregate = oof.criterion.aggregate if aggregate is None else aggregate
        self.n_resamples, self.rng = check_count(n_resamples, "n_resamples", 2), as_seed(rng)

    @property
    def named(self) -> bool:
        return self.oof.n_configs == 1

    def selecting(self, scoring: Scoring) -> Selecting:
        """How one of the candidates of `scoring` is selected: by what was held out, whatever `scoring` makes of it."""
        if type(scoring) is Scoring and scoring.oof is self.oof:
            return Selecting(self.rule, scoring.by(self.aggregate))
        every = Scoring(self.oof, self.metric, self.aggregate)
        return Selecting(self.rule, every.only(np.flatnonzero(np.isin(every.names, scoring.names))))

    def selection(self, scoring: Scoring) -> Selection:
        """The configuration that is named or selected, with its score by `scoring`."""
        if self.named:
            return replace(choose(scoring, select.best), rule="named beforehand")
        won = self.selecting(scoring).choose()
        own = float(scoring.scores()[0, scoring.names.index(won.name)])
        return replace(won, score=own, aggregate=scoring.aggregate)


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
    if not subject.named and type(scoring) is Scoring:
        scoring = drawn_by(scoring)
    if scoring.at_once:
        fields["own"] = f"{fields['own']}, all at once"
    selection = subject.selection(scoring)
    if subject.named:
        fields |= {"value": selection.score, "draws": draws, "interval": interval, "named": True}
        fields["details"] = details or {}
    else:
        bootstrap = sample_bootstrap(scoring, False, subject.rng, keeps_draws)
        with calm(scoring):
            result = correct(scoring, subject.selecting(scoring), bootstrap, subject.n_resamples)
            if not len(result.scores):
                raise cannot_score(scoring)
            value, drawn = float(result.scores.mean()), bootstrap.blocks(subject.n_resamples)
            if keeps_draws:
                fields["intervals"] = intervals_of_selected(
                    scoring, selection, subject.rule, result, drawn, value, subject.rng
                )
                notes = (*notes, *marks_of(scoring))
        description += f"; corrected for the selection by {len(result.scores):,} draws"
        notes = (*notes, *group_notes(scoring))
        fields |= {"value": value, "draws": result.scores if keeps_draws else None}
        fields["details"] = {**(details or {}), "n_resamples": len(result.scores), "redrawn": result.n_again}
        fields["chosen"] = np.array(scoring.names, dtype=object)[result.chosen]
    return build(scoring, selection, method, description=description, notes=notes, **fields)
