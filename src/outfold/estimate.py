"""How good is the configuration I selected, really?

| method | estimates the performance of the selected configuration by | extra fits |
| --- | --- | --- |
| `bbc` | bootstrap bias correction of the out-of-fold predictions; the one to use | none |
| `nested` | cross-validating the whole search | C K(K-1)/2 |
| `tt` | the Tibshirani-Tibshirani correction by fold | none |
| `cvm_cv` | cross-validating the winner on a new partition | K |
| `cvt` | the winner's own score: optimistic, never the answer | none |
| `cv` | the score of one configuration named beforehand | none |
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _render, select
from ._kernels import resample
from ._kernels.bias import Corrected, correct, correct_given, first_block, noise_share
from ._kernels.intervals import percentile
from ._notes import Note
from ._predictions import Predictions, State
from ._results import Estimate, Interval, Selection
from ._scoring import Aggregate, Scoring, sample_bootstrap
from ._validate import check_count, check_level, needs
from .exceptions import InputError, NeedError
from .metrics import MetricLike
from .select import RuleLike, as_rule

__all__ = ["bbc", "cv", "cvm_cv", "cvt", "nested", "tt"]

# Below this many test samples a fold, a set-valued metric such as AUC says little (Tsamardinos 2015, sect. 4).
SMALL_FOLD = 10


@needs()
def bbc(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    rng: int = 0,
    draws: ArrayLike | None = None,
    draws_are: Literal["auto", "indices", "counts"] = "auto",
    correction: Literal["none", "balanced"] = "none",
) -> Estimate:
    """Performance of the selected configuration, with bootstrap bias correction (BBC-CV) and interval.

    Every draw selects on the samples it drew and scores the selected configuration on those it never drew; the estimate
    is the mean of these scores, the interval their quantiles (Tsamardinos et al. 2018, Algorithm 5). Nothing is fitted.

    Parameters
    ----------
    oof
        Predictions of all configurations that were tried. Repeats: a drawn sample brings its predictions of all repeats
        (sect. 3.2). Groups: a group is drawn or left out whole.
    metric
        Name, scikit-learn scorer or callable.
    rule
        How the configuration is selected, `select.best` by default; run inside the bootstrap too.
    n_resamples
        Number of bootstrap draws B.
    confidence_level
        Level of the interval.
    stratify
        Draw within classes (within events, for survival).
    rng
        Seed of the draws.
    draws
        Draws made elsewhere, (B, N) drawn indices or counts. A draw that cannot be scored is then left out of the mean;
        otherwise it is drawn again, and counted.
    draws_are
        Whether `draws` are ``"indices"`` or ``"counts"``. ``"auto"`` takes rows that all sum to N for counts, and refuses
        where that leaves a doubt.
    correction
        ``"balanced"`` adds what is lost by selecting on drawn samples instead of on all: a draw holds 63 percent of the
        samples, so its winner is a little worse than the one selected on all of them, and BBC a little too careful. The
        winner's lead over the winners of the draws, times the share of the differences between rivals that is not noise, is
        added to every draw; the share comes from regressing out-of-bag scores on in-bag scores. See the methods page.

    Examples
    --------
    >>> import numpy as np, outfold as of
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random((80, 150)) < 0.7          # 150 equally good prompts on 80 questions
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> print(of.estimate.bbc(oof, "mean"))            # doctest: +SKIP
    """
    level = check_level(confidence_level)
    scoring = Scoring(oof, metric)
    chosen_rule = as_rule(rule)
    selection = select.choose(scoring, chosen_rule)
    _check_correction(correction, chosen_rule)
    if draws is None:
        bootstrap, b = sample_bootstrap(scoring, stratify, rng), check_count(n_resamples, "n_resamples", 2)
        result, some = correct(scoring, chosen_rule, bootstrap, b), first_block(bootstrap, b)
    else:
        counts = _given_counts(draws, len(scoring.rows), draws_are)
        result, some = correct_given(scoring, chosen_rule, counts), counts[: resample.BLOCK]
    if not len(result.scores):
        raise InputError(_cannot_score(scoring))
    again = f", {result.n_again:,} {'redrawn' if draws is None else 'left out'}" if result.n_again else ""
    balance = _balance(scoring, result, some) if correction == "balanced" else None
    scores = result.scores if balance is None else result.scores + balance["added"]
    return _estimate(
        scoring,
        selection,
        "bbc",
        value=float(scores.mean()),
        draws=scores,
        level=level,
        description=f"BBC-CV{'' if balance is None else ', balanced'}, {len(scores):,} bootstrap draws{again}",
        reference="Tsamardinos 2018, Alg. 5",
        chosen=np.array(scoring.names, dtype=object)[result.chosen],
        notes=_bbc_notes(scoring, result, selection.score),
        details={"n_resamples": len(result.scores), "redrawn": result.n_again} | (balance or {}),
    )


def _check_correction(correction: str, rule: Any) -> None:
    if correction not in ("none", "balanced"):
        raise InputError(f"correction must be 'none' or 'balanced'; got {correction!r}.")
    if correction == "balanced" and rule is not select.best:
        raise InputError(
            f"correction='balanced' is for the configuration with the best score; the rule here is {rule.name}. "
            "Leave rule= out, or use correction='none'."
        )


def _balance(scoring: Scoring, result: Corrected, counts: NDArray[Any]) -> dict[str, float]:
    """What selecting on all samples gains over selecting on drawn ones: the part of the winner's lead that is no noise."""
    own = scoring.scores()[0]
    best = np.nanmax(own) if scoring.metric.greater_is_better else np.nanmin(own)
    lead = float(best - np.nanmean(own[result.chosen]))
    noise = noise_share(scoring, counts, scoring.metric.sign)
    return {"added": (1 - noise) * lead, "lead": lead, "noise_share": noise}


@needs()
def cv(
    oof: Predictions,
    metric: MetricLike,
    config: str | int | None = None,
    aggregate: Aggregate = "fold",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Estimate:
    """Cross-validation score of one configuration that was named before looking at any score.

    Parameters
    ----------
    config
        The configuration; may be left out where there is one only.
    aggregate
        ``"fold"``, the mean over folds (Tsamardinos 2015, Alg. 1), or ``"pooled"``, one value a repeat.
    n_resamples, confidence_level, rng
        The interval is the percentile bootstrap over samples (groups).
    """
    if config is None and oof.n_configs > 1:
        raise InputError(
            f"cv is the score of one configuration; name one of the {oof.n_configs}, or use bbc for the selected one."
        )
    scoring = Scoring(oof.sel(config=0 if config is None else config), metric, aggregate)
    return _single(scoring, "cv", f"CV by {aggregate}", "Tsamardinos 2015, Alg. 1", n_resamples, confidence_level, rng)


@needs()
def cvt(oof: Predictions, metric: MetricLike, rule: RuleLike = None, aggregate: Aggregate = "fold") -> Estimate:
    """The winner's own cross-validation score: optimistic, because the winner was picked for it.

    Reported beside the honest estimates, never as the answer (Tsamardinos 2015, Alg. 2, there CVM).
    """
    scoring = Scoring(oof, metric, aggregate)
    selection = select.choose(scoring, as_rule(rule))
    note = Note("OF208", "the winner's own score is optimistic; bbc corrects it at no cost.")
    return _estimate(
        scoring,
        selection,
        "cvt",
        value=selection.score,
        description=f"CVT by {aggregate}",
        reference="Tsamardinos 2015, Alg. 2",
        notes=(note,) if len(scoring.candidates) > 1 else (),
    )


@needs(min_folds=2)
def tt(oof: Predictions, metric: MetricLike, rule: RuleLike = None) -> Estimate:
    """Performance of the selected configuration with the correction of Tibshirani and Tibshirani (2009).

    CVT + (1/K) sum_k [l_k(j*) - min_j l_k(j)]: how much worse the winner is, fold by fold, than the fold's own best
    (Tsamardinos 2015, Alg. 4).
    """
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, as_rule(rule))
    sign = 1.0 if scoring.metric.greater_is_better else -1.0
    folds = sign * scoring.fold_scores()[0]
    folds = folds[:, ~np.all(np.isnan(folds), axis=0)]
    winner = scoring.names.index(selection.name)
    gap = np.nanmax(folds, axis=0) - folds[winner]
    value = selection.score - sign * float(np.nanmean(gap))
    notes = list(_fold_notes(scoring))
    if oof.n_folds == oof.n_samples:
        own = f"{_render.number(selection.score)} becomes {_render.number(value)}"
        notes.append(Note("OF202", f"with leave-one-out the TT correction tends to twice the loss ({own}); use bbc."))
    low, high = scoring.metric.bounds
    if not low <= value <= high:
        notes.append(
            Note(
                "OF203",
                f"the corrected value {_render.number(value)} lies outside the metric's range [{low:g}, {high:g}].",
            )
        )
    return _estimate(
        scoring,
        selection,
        "tt",
        value=value,
        description="TT correction over folds",
        reference="Tibshirani & Tibshirani 2009; Tsamardinos 2015, Alg. 4",
        notes=tuple(notes),
    )


@needs(min_folds=3, blocks=("inner",))
def nested(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Estimate:
    """Performance of the whole search as a learner, by nested cross-validation.

    For every outer fold the configuration is selected by cross-validation on the other folds, and scored on the outer one
    (Tsamardinos 2015, Alg. 5). A model trained without folds i and k serves outer i, inner k and outer k, inner i, and
    the outer refits are the ordinary out-of-fold cells.

    Parameters
    ----------
    n_resamples, confidence_level, rng
        The interval is the percentile bootstrap over samples of the outer predictions.
    """
    own_rule = as_rule(rule)
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, own_rule)
    searches = {cell: _inner_scoring(oof, metric, cell) for cell in scoring.cells}
    picks = {cell: oof.config_index(select.choose(inner, own_rule).name) for cell, inner in searches.items()}
    outer = Scoring(_outer_predictions(oof, picks), metric, "fold")
    value = float(outer.scores()[0, 0])
    return _estimate(
        scoring,
        selection,
        "nested",
        value=value,
        draws=_sample_draws(outer, check_count(n_resamples, "n_resamples", 2), rng),
        level=check_level(confidence_level),
        description=_nested_text(oof),
        reference="Tsamardinos 2015, Alg. 5",
        notes=(*_fold_notes(scoring), *_inner_notes(scoring, list(searches.values()))),
        chosen=np.array([oof.configs[j] for j in picks.values()], dtype=object),
        details=_nested_fits(oof),
    )


@needs(min_folds=2, blocks=("fresh",))
def cvm_cv(
    oof: Predictions,
    metric: MetricLike,
    rule: RuleLike = None,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: int = 0,
) -> Estimate:
    """Score of the selected configuration on a new random partition (double CV; Tsamardinos 2015, Alg. 3).

    Less optimistic than the winner's own score, not free of optimism: the same samples selected it.
    """
    scoring = Scoring(oof, metric, "fold")
    selection = select.choose(scoring, as_rule(rule))
    fresh = oof.blocks["fresh"]
    if not np.any(fresh.state[selection.index] == State.DONE):
        raise NeedError(
            f"cvm_cv needs {selection.name!r} on the new partition; the block 'fresh' was collected for another metric or "
            f"rule. Collect with fresh={scoring.metric.name!r} and the same rule."
        )
    again = Scoring(fresh.sel(config=selection.name), metric, "fold")
    return _estimate(
        scoring,
        selection,
        "cvm_cv",
        value=float(again.scores()[0, 0]),
        draws=_sample_draws(again, check_count(n_resamples, "n_resamples", 2), rng),
        level=check_level(confidence_level),
        description="CV of the winner on a new partition",
        reference="Tsamardinos 2015, Alg. 3",
        notes=(*again.notes, *_fold_notes(again)),
    )


# -- parts ----------------------------------------------------------------------------------------------


def _estimate(
    scoring: Scoring,
    selection: Selection,
    method: str,
    *,
    value: float,
    description: str,
    reference: str,
    draws: NDArray[np.float64] | None = None,
    level: float = 0.95,
    notes: tuple[Note, ...] = (),
    chosen: NDArray[Any] | None = None,
    details: dict[str, Any] | None = None,
) -> Estimate:
    oof = scoring.oof
    if np.isnan(value):
        raise InputError(
            f"{scoring.metric.name} is undefined on every fold of {oof.plan}; use bbc or aggregate='pooled', or larger folds."
        )
    return Estimate(
        value=value,
        interval=None if draws is None else Interval(*percentile(draws, level)),
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
        description=description,
        reference=reference,
        notes=(*oof.notes, *scoring.notes, *notes),
        draws=draws,
        chosen=chosen,
        details=details or {},
    )


def _single(
    scoring: Scoring, method: str, text: str, reference: str, n_resamples: int, level: float, rng: int
) -> Estimate:
    """Estimate for predictions of one configuration, which nothing selected."""
    selection = select.choose(scoring, select.best)
    return _estimate(
        scoring,
        replace(selection, rule="named beforehand"),
        method,
        value=selection.score,
        draws=_sample_draws(scoring, check_count(n_resamples, "n_resamples", 2), rng),
        level=check_level(level),
        description=text,
        reference=reference,
        notes=_fold_notes(scoring) if scoring.aggregate == "fold" else (),
    )


def _sample_draws(scoring: Scoring, n_resamples: int, rng: int) -> NDArray[np.float64]:
    """Score of the only candidate on bootstrap samples; draws on which it is undefined are left out."""
    blocks = sample_bootstrap(scoring, False, rng).blocks(n_resamples)
    draws: NDArray[np.float64] = np.concatenate([scoring.scores(weights)[:, 0] for weights in blocks])
    draws = draws[np.isfinite(draws)]
    if len(draws) < 2:
        raise InputError(_cannot_score(scoring))
    return draws


def _given_counts(draws: ArrayLike, n: int, kind: str) -> NDArray[Any]:
    given = np.asarray(draws)
    if given.ndim != 2 or given.shape[1] != n or not len(given) or given.dtype.kind not in "iu" or given.min() < 0:
        raise InputError(
            f"draws must be whole numbers from 0 of shape (B, {n}), drawn indices or counts; got {given.dtype} {given.shape}."
        )
    if kind == "auto":
        kind = _kind_of_draws(given, n)
    if kind not in ("indices", "counts"):
        raise InputError(f"draws_are must be 'auto', 'indices' or 'counts'; got {kind!r}.")
    if kind == "counts":
        return resample.compact(given)
    if given.max() >= n:
        raise InputError(
            f"drawn indices must lie in 0..{n - 1}; the largest is {given.max()}. For counts say draws_are='counts'."
        )
    return resample.count_rows(given, n)


def _kind_of_draws(given: NDArray[Any], n: int) -> str:
    """Counts sum to N in every row. Indices sum to about N(N-1)/2, and the mean of many rows is near that."""
    if np.all(given.sum(axis=1) == n):
        # Indices could do that by chance in one row of a few samples, not in many rows of more.
        if len(given) < 5 or n < 8:
            raise InputError("these few draws could be indices or counts; say which: draws_are='indices' or 'counts'.")
        return "counts"
    expected, spread = (n - 1) / 2, np.sqrt((n * n - 1) / 12 / given.size)
    if abs(given.mean() - expected) > 10 * spread:
        raise InputError(
            "these draws do not look like indices (their mean is not near that of 0..N-1), nor do their rows sum to N as "
            "counts would; say which they are: draws_are='indices' or 'counts'."
        )
    return "indices"


def _inner_scoring(oof: Predictions, metric: MetricLike, cell: tuple[int, int]) -> Scoring:
    """Scores for the search without the samples of one outer fold."""
    repeat, fold = cell
    usable = np.flatnonzero(oof.state[:, repeat, fold] == State.DONE)
    inner = oof.blocks["inner"].sel(repeat=repeat * oof.n_folds + fold)
    return Scoring(inner.sel(config=usable.tolist()), metric, "fold")


def _inner_notes(scoring: Scoring, searches: list[Scoring]) -> tuple[Note, ...]:
    """What the inner searches lacked: configurations, or folds."""
    notes = []
    fewest = min(len(inner.candidates) for inner in searches)
    if fewest < len(scoring.candidates):
        notes.append(
            Note("OF205", f"an inner search had {fewest} of {len(scoring.candidates)} configurations to choose from.")
        )
    lacking = sum(len(inner.cells) < len(inner.oof.splits.cells) for inner in searches)
    if lacking:
        notes.append(
            Note("OF206", f"{lacking} of {len(searches)} inner searches lack folds; collect the missing cells.")
        )
    return tuple(notes)


def _outer_predictions(oof: Predictions, picks: dict[tuple[int, int], int]) -> Predictions:
    """Out-of-fold predictions of the search itself, as if it were one configuration."""
    data = np.array(oof.data[:, :1])
    labels = None if oof.labels is None else np.full(data.shape[:3], -1, dtype=np.intp)
    state = np.zeros((1, *oof.state.shape[1:]), dtype=np.uint8)
    for (r, k), j in picks.items():
        rows = oof.splits.test_rows(r, k)
        data[r, 0, rows] = oof.data[r, j, rows]
        if labels is not None and oof.labels is not None:
            labels[r, 0, rows] = oof.labels[r, j, rows]
        state[0, r, k] = State.DONE
    return replace(
        oof,
        data=data,
        labels=labels,
        state=state,
        configs=("search",),
        params=({},),
        seconds=None,
        blocks={},
        messages={},
        notes=(),
    )


def _nested_fits(oof: Predictions) -> dict[str, int]:
    """Fits behind a nested CV, the final one included: those done here, and those of the papers' protocol."""
    c, k, r = oof.n_configs, oof.n_folds, oof.n_repeats
    inner = oof.blocks["inner"]
    outer_cells, inner_cells = (int(np.sum(part.state[:, part.planned] != State.PENDING)) for part in (oof, inner))
    return {"fits": outer_cells + inner_cells // 2 + 1, "fits_plain": r * (c * k * k + k) + 1}


def _nested_text(oof: Predictions) -> str:
    fits = _nested_fits(oof)
    return f"nested CV, {fits['fits']:,} fits instead of {fits['fits_plain']:,}"


def _bbc_notes(scoring: Scoring, result: Corrected, naive: float) -> tuple[Note, ...]:
    notes = []
    if result.n_again:
        share = result.n_again / (len(result.scores) + result.n_again)
        lacking = "left out no sample, or a class or pair was missing"
        notes.append(Note("OF201", f"{result.n_again:,} draws ({share:.1%}) could not be scored: they {lacking}."))
    if scoring.oof.response == "score" and scoring.metric.needs == "score" and scoring.oof.n_folds > 1:
        notes.append(
            Note(
                "OF209",
                "scores of different folds are ranked together; margins of different models may not share a scale.",
            )
        )
    notes += group_notes(scoring)
    if scoring.metric.name == "roc_auc" and np.quantile(result.scores, 0.975) < 0.5 and naive < 0.5:
        assert scoring.oof.target.classes is not None
        negative, positive = scoring.oof.target.classes
        notes.append(
            Note(
                "OF213",
                f"even the best ranks worse than chance; is {negative!s}, not {positive!s}, the positive class?",
            )
        )
    return tuple(notes)


def group_notes(scoring: Scoring) -> list[Note]:
    """A caveat where few groups are all there is to draw."""
    codes = scoring.group_codes()
    n_groups = SMALL_FOLD if codes is None else int(codes.max()) + 1
    if n_groups >= SMALL_FOLD:
        return []
    return [Note("OF212", f"only {n_groups} groups to draw from; the interval is rough.")]


def _fold_notes(scoring: Scoring) -> tuple[Note, ...]:
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


def _cannot_score(scoring: Scoring) -> str:
    target = scoring.oof.target.take(scoring.rows)
    rare = ""
    if target.classes is not None:
        counts = np.bincount(target.y, minlength=len(target.classes))
        rare = f" Class {target.classes[np.argmin(counts)]!s} has {counts.min()} of {len(target)} samples."
    return (
        f"{scoring.metric.name} cannot be scored on bootstrap samples of these predictions.{rare} "
        "Use more samples, stratify=True, or a pointwise metric such as accuracy."
    )
