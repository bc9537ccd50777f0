"""Bootstrap bias correction: the estimate that nothing has to be fitted for."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import formatting, select
from ..arguments import RngLike, as_seed, check_choice, check_confidence_level, check_count
from ..data.notes import Note
from ..data.predictions import Predictions
from ..exceptions import InputError, invalid
from ..metrics import MetricLike
from ..metrics._scoring import Scoring, group_notes, sample_bootstrap
from ..requirements import requires
from ..results import Estimate, Selection
from ..select import RuleLike, as_rule
from ..stats import resampling
from ..stats.resampling import BLOCK, Corrected, correct, correct_given, first_block, noise_share
from ._build import build, calm, cannot_score, document
from ._intervals import Rivals, SelectedConfiguration
from ._selected import spread_of


@document
@requires()
def bbc(
    oof: Predictions,
    metric: MetricLike,
    *,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    rng: RngLike = 0,
    draws: ArrayLike | None = None,
    draws_are: Literal["auto", "indices", "counts"] = "auto",
    correction: Literal["none", "balanced"] = "none",
) -> Estimate:
    """Estimate the performance of the selected configuration, with bootstrap bias correction (BBC-CV).

    Each draw selects on the samples it drew, and scores the selected configuration on the samples it did not draw. The
    estimate is the mean of these scores. Nothing is fitted. It is Algorithm 5 of [1]_. The interval joins how much a score
    varies with the samples and how much it varies with what is selected, by square-and-add ([2]_, [3]_). The quantiles of the
    scores, as published, are ``confidence_interval(method="percentile")`` and ``"order"``.

    Parameters
    ----------
    oof : Predictions
        Predictions of all configurations that were tried. With repeats, a drawn sample brings its predictions of all repeats.
        With groups, each group is drawn or left out whole.
    {metric, rule, n_resamples, confidence_level}
    stratify : bool
        Whether to draw within classes (within events, for survival).
    {rng}
    draws : array-like of shape (B, N) or None
        Draws made elsewhere: the drawn indices, or how often each sample was drawn. A draw that cannot be scored is then left
        out of the mean; without `draws` it is drawn again.
    draws_are : {"auto", "indices", "counts"}
        What `draws` holds. ``auto`` takes rows that all sum to N for counts, and refuses if both are possible.
    correction : {"none", "balanced"}
        A draw holds 63 percent of the samples, so its winner is a little worse than the winner on all samples, and the estimate
        is a little too careful. ``balanced`` adds this loss back: the winner's lead over the winners of the draws, times the
        share of the differences between configurations that is not noise.
    Returns: {estimate}
    References: {tsamardinos2018, newcombe1998, zou2008}

    Examples: {outfold}
    >>> oof = of.simulate.correctness(80, 150, accuracy=0.7).oof  # 150 equally good prompts on 80 questions
    >>> found = of.estimate.bbc(oof, "mean")
    >>> round(found.naive, 2), round(found.value, 2)
    (0.84, 0.72)
    """
    level, rng = check_confidence_level(confidence_level), as_seed(rng)
    scoring = Scoring(oof, metric)
    chosen_rule = as_rule(rule)
    selection = select.choose(scoring, chosen_rule)
    _check_correction(correction, chosen_rule)
    if draws is None:
        bootstrap, b = sample_bootstrap(scoring, stratify, rng), check_count(n_resamples, "n_resamples", 2)
        with calm(scoring):
            result = correct(scoring, chosen_rule, bootstrap, b)
    else:
        counts = _given_counts(draws, len(scoring.rows), draws_are)
        result = correct_given(scoring, chosen_rule, counts)
    if not len(result.scores):
        raise cannot_score(scoring)
    again = f", {result.n_again:,} {'redrawn' if draws is None else 'left out'}" if result.n_again else ""
    balance = None
    if correction == "balanced":
        some = first_block(bootstrap, b) if draws is None else counts[:BLOCK]
        balance = _balance(scoring, result, some)
    scores = result.scores if balance is None else result.scores + balance["added"]
    value = float(scores.mean())
    weightings = (
        bootstrap.blocks(b) if draws is None else (counts[part] for part in resampling.blocks(len(counts), BLOCK))
    )
    spread = spread_of(scoring, selection.name, result, weightings, value)
    return build(
        scoring,
        selection,
        "bbc",
        value=value,
        draws=scores,
        level=level,
        description=f"BBC-CV{'' if balance is None else ', balanced'}, {len(scores):,} bootstrap draws{again}",
        reference="Tsamardinos 2018, Alg. 5",
        chosen=np.array(scoring.names, dtype=object)[result.chosen],
        own=_OWN.get(oof.plan.kind, ""),
        notes=_bbc_notes(scoring, selection, result),
        details={"n_resamples": len(result.scores), "redrawn": result.n_again} | (balance or {}),
        intervals=SelectedConfiguration(Rivals(scoring, chosen_rule is select.best, len(scores), rng), spread),
    )


# What the winner's score is called where nothing was cross-validated.
_OWN = {"bootstrap": "out-of-bag score", "holdout": "hold-out score", "three_way": "score on the validation part"}


def _check_correction(correction: str, rule: Any) -> None:
    if check_choice(correction, ("none", "balanced"), "correction") == "balanced" and rule is not select.best:
        needed = "is for the configuration with the best score"
        remedy = "Leave `rule=` out, or use `correction='none'`."
        raise invalid("correction='balanced'", needed, f"the rule here is {rule.name}", remedy)


def _balance(scoring: Scoring, result: Corrected, counts: NDArray[Any]) -> dict[str, float]:
    """What selecting on all samples gains over selecting on drawn ones: the part of the winner's lead that is no noise."""
    own = scoring.scores()[0]
    best = np.nanmax(own) if scoring.metric.greater_is_better else np.nanmin(own)
    lead = float(best - np.nanmean(own[result.chosen]))
    noise = noise_share(scoring, counts, scoring.metric.sign)
    return {"added": (1 - noise) * lead, "lead": lead, "noise_share": noise}


def _given_counts(draws: ArrayLike, n: int, kind: str) -> NDArray[Any]:
    given = np.asarray(draws)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or given.dtype.kind not in "iu" or given.min() < 0:
        needed = f"must be whole numbers from 0 of shape (B, {n}), drawn indices or counts"
        raise invalid("draws", needed, f"got {given.dtype} {given.shape}")
    if check_choice(kind, ("auto", "indices", "counts"), "draws_are") == "auto":
        kind = _kind_of_draws(given, n)
    if kind == "counts":
        return resampling.compact(given)
    if given.max() >= n:
        needed, remedy = f"drawn indices must lie in 0..{n - 1}", "For counts say `draws_are='counts'`."
        raise InputError(needed=needed, given=f"the largest is {given.max()}", remedy=remedy)
    return resampling.count_rows(given, n)


_SAY_WHICH = "Say which they are: `draws_are='indices'` or `draws_are='counts'`."


def _kind_of_draws(given: NDArray[Any], n: int) -> str:
    """Counts sum to N in every row. Indices sum to about N(N-1)/2, and the mean of many rows is near that."""
    if np.all(given.sum(axis=1) == n):
        # Indices could do that by chance in one row of a few samples, not in many rows of more.
        if len(given) < 5 or n < 8:
            raise InputError(needed="these few draws could be indices or counts", remedy=_SAY_WHICH)
        return "counts"
    expected, spread = (n - 1) / 2, np.sqrt((n * n - 1) / 12 / given.size)
    if abs(given.mean() - expected) > 10 * spread:
        raise InputError(
            needed="these draws do not look like indices (their mean is not near that of 0..N-1), nor like counts (their rows do "
            "not sum to N)",
            remedy=_SAY_WHICH,
        )
    return "indices"


def _bbc_notes(scoring: Scoring, selection: Selection, result: Corrected) -> tuple[Note, ...]:
    notes = []
    if result.n_again:
        share = result.n_again / (len(result.scores) + result.n_again)
        lacking = "left out no sample, or a class or pair was missing"
        notes.append(Note("OF201", f"{result.n_again:,} draws ({share:.1%}) could not be scored: they {lacking}."))
    if scoring.oof.response == "score" and scoring.metric.needs == "score" and scoring.oof.n_folds > 1:
        text = "scores of different folds are ranked together; margins of different models may not share a scale"
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
    mine = Scoring(scoring.oof.sel(config=selection.name), scoring.metric, "fold").scores()[0, 0]
    if np.isnan(mine):
        return "."
    pooled = formatting.number(selection.score)
    return f" (the winner's {scoring.metric.name}: {pooled} pooled, {formatting.number(mine)} by the mean over folds)."
