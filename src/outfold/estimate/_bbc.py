"""Bootstrap bias correction: the estimate that nothing has to be fitted for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
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
    asked = metric if selected_by is None else selected_by
    by = Selecting(recorded_rule(oof, rule), selecting(oof, asked, aggregate))
    base = by.scoring
    if selected_by is not None:
        by, base = _by_another(by, recorded_metric(oof, metric))
    other = base.metric.name != by.scoring.metric.name
    selection = by.choose()
    balanced = not other and _is_balanced(correction, by)
    with _scores_kept(base, n_resamples):
        scoring, scored = drawn_by(base), scored_by(base)
        if scoring.at_once:
            scored = scoring
        precise = correction == "auto" and _is_precision(scoring)
        also: Scores = _RankedTogether.of(oof) if precise else scored
        if draws is None:
            bootstrap, b = sample_bootstrap(scoring, stratify, rng, True), check_count(n_resamples, "n_resamples", 2)
            with calm(scoring):
                result = correct(scoring, by, bootstrap, b, also)
        else:
            counts = given_counts(draws, len(scoring.rows), draws_are)
            result = correct_given(scoring, by, counts, also)
        if not len(result.scores):
            raise cannot_score(scoring)
        again = f", {result.n_again:,} {'redrawn' if draws is None else 'left out'}" if result.n_again else ""
        within = _within_folds(scored, result)
        mean = float(np.nanmean(result.also if within else result.scores))
        balance: dict[str, float] = {}
        if balanced and (within or correction != "auto"):
            some = first_block(bootstrap, b) if draws is None else counts[:BLOCK]
            by_pairs = within and (correction == "auto" or by.scoring.aggregate != "pooled")
            balance = _balance(by.scoring, scored if by_pairs else scoring, result.chosen, some, mean)
        added = balance.get("added", 0.0)
        scores = result.scores + (0.0 if correction == "auto" else added)  # by default the draws stay as published
        value = mean + added if within else float(scores.mean())
        own = _OWN.get(oof.plan.kind, "")
        if other:
            selection = _scored_as(scoring, selection)
        if selection.aggregate == "pooled" and scoring.at_once:
            selection, own = _scored_as(scoring, selection), f"{own or 'score'}, all at once"
        elif selection.aggregate == "pooled" and within and len(scoring.names) > 1:
            selection, own = _scored_as(scored, selection), f"cross-validation score, {AGGREGATES['within']}"

        def drawn() -> Iterator[NDArray[Any]]:
            if draws is None:  # those whose scores are known come as they came
                return bootstrap.blocks(b, first_alone=scoring.metric.within is None)
            return (counts[part] for part in resampling.blocks(len(counts), BLOCK))

        rule_of_scores = None if other else by.rule
        intervals = intervals_of_selected(scoring, selection, rule_of_scores, result, drawn(), value, rng)
        corrected: dict[str, float] = {}
        if precise:
            few = bias_of_few(scoring, result.chosen, drawn())
            chance = float(np.mean(oof.target.y[scoring.rows]))
            value, intervals, corrected = _of_many_samples(intervals, few, result.also, chance)
        words = ", scored within folds" if within else ""
        if precise:
            words = f", corrected for few samples{' and folds' if corrected['folds'] else ''}"
        if other:
            words += f", selected by {formatting.called(by.scoring.metric.name)}"
        return build(
            scoring,
            selection,
            "bbc",
            value=value,
            draws=scores,
            level=level,
            description=f"BBC-CV{', balanced' if balance else ''}, {len(scores):,} bootstrap draws{again}{words}",
            reference="Tsamardinos 2018, Alg. 5",
            chosen=np.array(scoring.names, dtype=object)[result.chosen],
            own=own,
            notes=(*_bbc_notes(scoring, selection, result, by.scoring.aggregate, within), *marks_of(scoring)),
            details={"n_resamples": len(result.scores), "redrawn": result.n_again}
            | balance
            | corrected
            | ({"pooled": float(scores.mean())} if within or precise else {}),
            intervals=intervals,
        )


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


def _bbc_notes(
    scoring: Scoring, selection: Selection, result: Corrected, selected_by: Aggregate, within: bool
) -> tuple[Note, ...]:
    notes = []
    if result.n_again:
        share = result.n_again / (len(result.scores) + result.n_again)
        lacking = "left out no sample, or a class or pair was missing"
        notes.append(Note("OF201", f"{result.n_again:,} draws ({share:.1%}) could not be scored: they {lacking}."))
    ranked = "selection ranks" if within else "estimate ranks"
    margins = scoring.oof.response == "score" and scoring.metric.needs == "score" and scoring.oof.n_folds > 1
    if margins and (selected_by == "pooled" or not within):
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
