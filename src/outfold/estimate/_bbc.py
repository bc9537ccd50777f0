"""Bootstrap bias correction: the estimate that nothing has to be fitted for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import formatting, select
from ..arguments import RngLike, as_seed, check_choice, check_confidence_level, check_count, is_whole_number
from ..data.criterion import AGGREGATES
from ..data.draws import DrawsAre, given_counts
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import NeedError, invalid
from ..metrics import MetricLike
from ..metrics._keeping import kernels_kept
from ..metrics._scoring import Aggregate, Scoring, group_notes, recorded_metric, sample_bootstrap, selecting
from ..requirements import requires
from ..results import Estimate, Selection
from ..select import RuleLike, recorded_rule
from ..stats import resampling
from ..stats.kernels import Scores
from ..stats.resampling import BLOCK, Corrected, correct, correct_given, first_block, noise_share
from ._build import (
    Selecting,
    build,
    calm,
    cannot_score,
    document,
    drawn_by,
    intervals_of_selected,
    marks_of,
    scored_by,
)
from ._intervals import SelectedConfiguration
from ._selected import bias_of_few

# The share of draws that must leave out pairs of the same fold, for the estimate to count these only.
_MOST_DRAWS = 0.5
# Metrics that `auto` corrects: docs/studies/real_data.md has the bias of each without and with corrections.
_PRECISION, _CONCORDANCE = "average_precision", "concordance"
# Scores under draws are kept for the interval, unless they are more than this.
_MOST_KEPT = 1 << 22


@document
@requires()
def bbc(
    oof: Predictions,
    metric: MetricLike | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    rng: RngLike = 0,
    draws: ArrayLike | None = None,
    draws_are: DrawsAre = "auto",
    correction: Literal["auto", "none", "balanced"] = "auto",
    selected_by: MetricLike | None = None,
) -> Estimate:
    """Estimate the performance of the selected configuration, with bootstrap bias correction (BBC-CV).

    Each draw selects on the samples it drew, by the same metric, aggregate and rule, and scores the selected configuration on
    the samples it did not draw. The estimate is the mean of these scores. Nothing is fitted. It is Algorithm 5 of [1]_. For AUC
    and concordance the mean counts pairs of samples of the same fold only, because scores of different folds are those of
    different models; `draws` are the scores on all samples at once, as published. The interval joins how much a score varies
    with the samples and how much it varies with what is selected, by square-and-add ([2]_, [3]_). The quantiles of the draws, as
    published, are ``confidence_interval(method="percentile")`` and ``"order"``.

    Parameters
    ----------
    oof : Predictions
        Predictions of all configurations that were tried. With repeats, a drawn sample brings its predictions of all repeats.
        With groups, each group is drawn or left out whole.
    {recorded_metric, rule, aggregate, n_resamples, confidence_level}
    stratify : bool
        Whether to draw within classes (within events, for survival).
    {rng}
    draws : array-like of shape (B, N) or None
        Draws made elsewhere: the drawn indices, or how often each sample was drawn. A draw that cannot be scored is then left
        out of the mean; without `draws` it is drawn again.
    draws_are : {"auto", "indices", "counts"}
        What `draws` holds. ``auto`` takes rows that all sum to N for counts, and refuses if both are possible.
    correction : {"auto", "none", "balanced"}
        ``none`` is the mean of the scores. A draw holds 63 percent of the samples, so its winner is a little worse than the
        winner on all samples, and the estimate is a little too careful. ``balanced``, for the best score, adds this loss back:
        the winner's lead over the winners of the draws, times the share of the differences between configurations that is not
        noise. ``auto`` is ``balanced`` for concordance of K folds, if the best score selects. Average precision is too high on
        the few samples that a draw leaves out, and too low where scores of different folds are ranked together: ``auto``
        corrects it for both. For all other metrics it is ``none``.
    selected_by : str, callable, Metric or None
        The metric that selects, if it is another one than `metric`, which scores: each draw selects by the one and scores by the
        other. None is `metric` itself.
    Returns: {estimate}
    References: {tsamardinos2018, newcombe1998, zou2008}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 150, accuracy=0.7).oof  # 150 equally good prompts on 80 questions
    >>> found = of.estimate.bbc(oof, "mean")
    >>> round(found.naive, 2), round(found.value, 2)
    (0.84, 0.72)
    """
    level, rng = check_confidence_level(confidence_level), as_seed(rng)
    by, base = _selecting_and_scoring(oof, metric, rule, aggregate, selected_by)
    selection = by.choose()
    with _scores_kept(base, n_resamples):
        way = _Way.of(by, base, correction)
        drawn = (
            _Made(way.scoring, n_resamples, stratify, rng) if draws is None else _Given(way.scoring, draws, draws_are)
        )
        result = drawn.correct(way)
        if not len(result.scores):
            raise cannot_score(way.scoring)
        within = _within_folds(way.scored, result)
        mean = float(np.nanmean(result.also if within else result.scores))
        balance = way.balance(result, drawn, mean, within)
        added = balance.get("added", 0.0)
        scores = result.scores + (0.0 if correction == "auto" else added)  # by default the draws stay as published
        value = mean + added if within else float(scores.mean())
        selection, own = way.as_corrected(selection, within)
        rule_of_scores = None if way.other else by.rule
        intervals = intervals_of_selected(way.scoring, selection, rule_of_scores, result, drawn.blocks(), value, rng)
        corrected: dict[str, float] = {}
        if way.precise:
            few = bias_of_few(way.scoring, result.chosen, drawn.blocks())
            chance = float(np.mean(oof.target.y[way.scoring.rows]))
            value, intervals, corrected = _of_many_samples(intervals, few, result.also, chance)
        again = f", {result.n_again:,} {drawn.again}" if result.n_again else ""
        words = way.in_words(within, corrected)
        return build(
            way.scoring,
            selection,
            "bbc",
            value=value,
            draws=scores,
            level=level,
            description=f"BBC-CV{', balanced' if balance else ''}, {len(scores):,} bootstrap draws{again}{words}",
            reference="Tsamardinos 2018, Alg. 5",
            chosen=np.array(way.scoring.names, dtype=object)[result.chosen],
            own=own,
            notes=(*_bbc_notes(way, selection, result, within), *marks_of(way.scoring)),
            details={"n_resamples": len(result.scores), "redrawn": result.n_again}
            | balance
            | corrected
            | ({"pooled": float(scores.mean())} if within or way.precise else {}),
            intervals=intervals,
        )


def _selecting_and_scoring(
    oof: Predictions,
    metric: MetricLike | None,
    rule: RuleLike,
    aggregate: Aggregate | None,
    selected_by: MetricLike | None,
) -> tuple[Selecting, Scoring]:
    """What selects and what scores: the same, unless `selected_by` names another metric."""
    asked = metric if selected_by is None else selected_by
    by = Selecting(recorded_rule(oof, rule), selecting(oof, asked, aggregate))
    return (by, by.scoring) if selected_by is None else _by_another(by, recorded_metric(oof, metric))


def _by_another(by: Selecting, metric: MetricLike) -> tuple[Selecting, Scoring]:
    """How one metric selects and another scores, of the configurations that both can score."""
    scoring = Scoring(by.scoring.oof, metric, by.scoring.aggregate)
    winner = by.choose().name
    if winner not in scoring.names:
        needed = f"needs a score of the selected configuration, {winner!r}"
        given = "it gives no survival curve" if scoring.metric.needs == "losses" else "there is none"
        remedy = f"Leave `selected_by` out: then {scoring.metric.name} selects too."
        raise NeedError(argument=scoring.metric.name, needed=needed, given=given, remedy=remedy)
    both = np.intersect1d(by.scoring.candidates, scoring.candidates)
    ours, theirs = (one.only(np.flatnonzero(np.isin(one.candidates, both))) for one in (by.scoring, scoring))
    return Selecting(by.rule, ours), theirs


@dataclass(frozen=True)
class _Way:
    """How the draws select, how they score, and which corrections their mean gets."""

    by: Selecting
    scoring: Scoring  # the samples that a draw left out, all at once
    scored: Scoring  # the same within folds, where that is possible
    correction: str
    other: bool  # another metric selects than scores
    balanced: bool
    precise: bool  # average precision is corrected

    @classmethod
    def of(cls, by: Selecting, base: Scoring, correction: str) -> _Way:
        other = base.metric.name != by.scoring.metric.name
        balanced = _is_balanced(correction, by) and not other
        scoring, scored = drawn_by(base), scored_by(base)
        precise = correction == "auto" and _is_precision(scoring)
        return cls(by, scoring, scoring if scoring.at_once else scored, correction, other, balanced, precise)

    def also(self) -> Scores:
        """What is computed of every draw besides its score."""
        return _RankedTogether.of(self.scoring.oof) if self.precise else self.scored

    def balance(self, result: Corrected, drawn: _Draws, mean: float, within: bool) -> dict[str, float]:
        """What selecting on draws loses, where it is added back."""
        if not self.balanced or not (within or self.correction != "auto"):
            return {}
        by_pairs = within and (self.correction == "auto" or self.by.scoring.aggregate != "pooled")
        scored = self.scored if by_pairs else self.scoring
        return _balance(self.by.scoring, scored, result.chosen, drawn.first(), mean)

    def as_corrected(self, selection: Selection, within: bool) -> tuple[Selection, str]:
        """The choice with the score that the estimate corrects, and what this score is called if it has no name yet."""
        scoring, own = self.scoring, _OWN.get(self.scoring.oof.plan.kind, "")
        if self.other:
            selection = _scored_as(scoring, selection)
        if selection.aggregate == "pooled" and scoring.at_once:
            return _scored_as(scoring, selection), f"{own or 'score'}, all at once"
        if selection.aggregate == "pooled" and within and len(scoring.names) > 1:
            return _scored_as(self.scored, selection), f"cross-validation score, {AGGREGATES['within']}"
        return selection, own

    def in_words(self, within: bool, corrected: dict[str, float]) -> str:
        """How the draws were scored, for the description of the method."""
        words = ", scored within folds" if within else ""
        if self.precise:
            words = f", corrected for few samples{' and folds' if corrected['folds'] else ''}"
        return words + (f", selected by {formatting.called(self.by.scoring.metric.name)}" if self.other else "")


class _Made:
    """Draws that are made here; one that cannot be scored is drawn again."""

    again = "redrawn"

    def __init__(self, scoring: Scoring, n: int, stratify: bool, rng: int) -> None:
        self.bootstrap = sample_bootstrap(scoring, stratify, rng, True)
        self.n = check_count(n, "n_resamples", 2)
        self._first_alone = scoring.metric.within is None  # kept scores are found in the blocks they came in

    def correct(self, way: _Way) -> Corrected:
        with calm(way.scoring):
            return correct(way.scoring, way.by, self.bootstrap, self.n, way.also())

    def first(self) -> NDArray[Any]:
        return first_block(self.bootstrap, self.n)

    def blocks(self) -> Iterator[NDArray[Any]]:
        return self.bootstrap.blocks(self.n, first_alone=self._first_alone)


class _Given:
    """Draws that were made elsewhere; one that cannot be scored is left out of the mean."""

    again = "left out"

    def __init__(self, scoring: Scoring, draws: ArrayLike, draws_are: DrawsAre) -> None:
        self.counts = given_counts(draws, len(scoring.rows), draws_are)

    def correct(self, way: _Way) -> Corrected:
        return correct_given(way.scoring, way.by, self.counts, way.also())

    def first(self) -> NDArray[Any]:
        return self.counts[:BLOCK]

    def blocks(self) -> Iterator[NDArray[Any]]:
        return (self.counts[part] for part in resampling.blocks(len(self.counts), BLOCK))


_Draws = _Made | _Given


def _is_precision(scoring: Scoring) -> bool:
    """Whether this is average precision of two classes; functions of users, and of more classes, may have the same name."""
    metric = scoring.metric
    return metric.name == _PRECISION and not metric.looped and scoring.oof.target.task == "binary"


class _RankedTogether(NamedTuple):
    """What AUC loses where scores of different folds are ranked together: AUC within folds minus pooled AUC."""

    within: Scoring
    pooled: Scoring

    @classmethod
    def of(cls, oof: Predictions) -> _RankedTogether:
        """That of all candidates; 0 where there is one fold, or where pairs within folds are of the same group."""
        pooled = Scoring(oof, "roc_auc")
        return cls(scored_by(pooled), pooled)

    def scores(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """(b, C) that of each configuration."""
        return self.within.scores(weights) - self.pooled.scores(weights)

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """(b,) that of the chosen configurations."""
        if self.within is self.pooled:
            return np.zeros(len(chosen))
        return self.within.paired(weights, chosen) - self.pooled.paired(weights, chosen)


def _of_many_samples(
    intervals: SelectedConfiguration, few: float, ranked: NDArray[np.float64], chance: float
) -> tuple[float, SelectedConfiguration, dict[str, float]]:
    """Average precision on many samples of one model, its intervals, and what is added for it to the mean of the draws.

    It is too high with few positives, and too low where scores of different folds are ranked together. The latter is taken to
    be what AUC loses. On real data this is about right (docs/studies/real_data.md). Neither makes an estimate worse than
    `chance`, the share of positives, which ranking at random gives.
    """
    spread = intervals.spread
    assert spread is not None  # its range is known
    folds = float(np.nanmean(ranked)) if np.isfinite(ranked).mean() > _MOST_DRAWS else 0.0
    # Only a winner without errors has the best score.
    best = 1.0 if spread.perfect else np.nextafter(1.0, 0.0)
    asked = spread.estimate - few + folds
    value = float(np.clip(asked, min(spread.estimate, chance), best))
    # What was cut off counts with the few samples, so that the parts add up to the estimate.
    found = {"few_samples": value - asked - few, "folds": folds}
    moved = replace(spread, estimate=value, leans=0.0, leans_by=0.0)
    return value, SelectedConfiguration(intervals.rivals, moved), found


def _scores_kept(scoring: Scoring, n_resamples: int) -> Any:
    """Context in which the interval reads the shares of pairs that the selection computes, where these are not too many."""
    few = is_whole_number(n_resamples) and n_resamples * len(scoring.candidates) <= _MOST_KEPT
    return kernels_kept() if few and scoring.metric.within is not None else nullcontext()


def _scored_as(scored: Scoring, selection: Selection) -> Selection:
    """The same choice with the score that the estimate corrects: both are made in the same way."""
    one = scored.only(np.array([scored.names.index(selection.name)]))
    return replace(selection, score=float(one.scores()[0, 0]))


def _within_folds(scored: Scoring, result: Corrected) -> bool:
    """Whether the draws can be scored within folds: most of them leave out pairs of the same fold."""
    return scored.aggregate == "within" and bool(np.mean(np.isfinite(result.also)) > _MOST_DRAWS)


# What the winner's score is called where nothing was cross-validated.
_OWN = {"bootstrap": "out-of-bag score", "holdout": "hold-out score", "three_way": "score on the validation part"}


def _is_balanced(correction: str, by: Selecting) -> bool:
    """Whether what selecting on draws loses is added back."""
    check_choice(correction, ("auto", "none", "balanced"), "correction")
    if correction == "auto":
        metric = by.scoring.metric
        return metric.name == _CONCORDANCE and not metric.looped and by.rule is select.best
    if correction == "balanced" and by.rule is not select.best:
        needed = "is for the configuration with the best score"
        given = f"this one is {select.in_words(by.scoring, by.rule)}"
        raise invalid("correction='balanced'", needed, given, "Use `rule=select.best`, or `correction='none'`.")
    return correction == "balanced"


def _balance(
    selecting: Scoring, scored: Scoring, chosen: NDArray[np.intp], counts: NDArray[Any], mean: float
) -> dict[str, float]:
    """What selecting on all samples gains over selecting on drawn ones: the part of the winner's lead that is no noise."""
    own, metric = selecting.scores()[0], selecting.metric
    best = np.nanmax(own) if metric.greater_is_better else np.nanmin(own)
    lead = float(best - np.nanmean(own[chosen]))
    found = noise_share(scored, counts, metric.sign, selecting.scores(counts))
    noise = 1.0 if np.isnan(found) else found  # nothing is added that is not known
    # Draws may be scored better than the lead knows: no more is added than is left to the best score.
    left = max(float(metric.sign * (metric.bounds[metric.sign > 0] - mean)), 0.0)
    return {"added": metric.sign * min((1 - noise) * metric.sign * lead, left), "lead": lead, "noise_share": noise}


def _bbc_notes(way: _Way, selection: Selection, result: Corrected, within: bool) -> tuple[Note, ...]:
    scoring, notes = way.scoring, []
    if result.n_again:
        share = result.n_again / (len(result.scores) + result.n_again)
        lacking = "left out no sample, or a class or pair was missing"
        notes.append(Note("OF201", f"{result.n_again:,} draws ({share:.1%}) could not be scored: they {lacking}."))
    ranked = "selection ranks" if within else "estimate ranks"
    margins = scoring.oof.response == "score" and scoring.metric.needs == "score" and scoring.oof.n_folds > 1
    if margins and (way.by.scoring.aggregate == "pooled" or not within):
        text = f"the {ranked} margins of different folds together; those of different models may not share a scale"
        notes.append(Note("OF209", text + _both_ways(scoring, selection)))
    notes += group_notes(scoring)
    if scoring.metric.name == "roc_auc" and np.quantile(result.scores, 0.975) < 0.5 and selection.score < 0.5:
        assert scoring.oof.target.classes is not None
        negative, positive = scoring.oof.target.classes
        text = f"even the best ranks worse than chance; is {negative!s}, not {positive!s}, the positive class?"
        notes.append(Note("OF213", text))
    return tuple(notes)


def _both_ways(scoring: Scoring, selection: Selection) -> str:
    """The winner's score pooled and by the mean over folds: how much it may matter."""
    one = scoring.only(np.array([scoring.names.index(selection.name)]))
    pooled, mean = (float(one.by(aggregate).scores()[0, 0]) for aggregate in ("pooled", "fold"))
    if np.isnan(mean):
        return "."
    name, number = scoring.metric.name, formatting.number
    return f" (the winner's {name}: {number(pooled)} pooled, {number(mean)} by the mean over folds)."
