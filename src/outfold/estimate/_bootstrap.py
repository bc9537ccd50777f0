"""Estimates by bootstrap rounds: train on what was drawn, test on what was not, and mend the bias of either.

Rounds are scored in several ways, for all configurations at once. Each way is a `Scoring`, so that the rules can select by it
and the bias correction can draw from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike, check_choice, check_confidence_level
from ..data.notes import Note
from ..data.predictions import Predictions
from ..data.target import Target
from ..exceptions import NeedError
from ..metrics import Metric, MetricLike
from ..metrics._candidates import running
from ..metrics._scoring import Aggregate, Scoring, bind
from ..requirements import Requirement, block, check_requirements, design, requires
from ..results import Estimate, Interval
from ..select import RuleLike
from ..stats.intervals import student
from ..stats.kernels import Kernel, MeanKernel
from ..stats.resampling import Plus, absolute_pairs, compact, squared_pairs, weighted632plus
from ..stats.resampling import point632 as mixed632
from ..stats.resampling import point632plus as mixed632plus
from ._build import Subject, build, document, drawn_by, of_subject

Floats = NDArray[np.float64]

# Scores that differ by less, relative to their size, differ by rounding.
_ROUNDING = 1e-12

# Chance level of the metrics that rank.
_RANKS = 0.5
_FAST = {
    "mse": (1, squared_pairs),
    "mae": (1, absolute_pairs),
    "neg_mean_squared_error": (-1, squared_pairs),
    "neg_mean_absolute_error": (-1, absolute_pairs),
}


_KNOWN: Requirement[Scoring] = Requirement(
    "a metric whose value without information is known: a mean over samples (accuracy, log_loss, brier, mse, mae), roc_auc or "
    "concordance",
    lambda scoring: (
        scoring.metric.within is not None
        # Of losses that are known for single samples, those of other pairs of a label and a prediction are not.
        or (scoring.metric.values is not None and scoring.metric.needs not in ("pointwise", "losses"))
    ),
    "Use one of these, or `point632` or `optimism`.",
    lambda scoring: f"got {scoring.metric.name}",
)


def no_information(metric: Metric, target: Target, predictions: NDArray[Any]) -> NDArray[np.float64]:
    """(C,) the metric where labels and predictions, (C, N) or (C, N, K), are put together at random.

    Never holds N x N pairs: classes are taken one by one, squared and absolute errors by moments and sorting.
    """
    if metric.within is not None:
        return np.full(len(predictions), _RANKS)
    if metric.name in _FAST:
        sign, pairs = _FAST[metric.name]
        return np.asarray(sign * pairs(target.y, predictions), dtype=np.float64)
    assert metric.values is not None
    labels, counts = np.unique(target.y, return_counts=True)
    out = np.zeros(len(predictions))
    for label, count in zip(labels, counts, strict=True):
        everywhere = Target(target.task, np.full(len(target), label), target.classes)
        out += count / len(target) * np.mean(metric.values(everywhere, predictions), axis=1)
    return out


# -- ways to score rounds -------------------------------------------------------------------------------------


class Rounds(Scoring):
    """Scores made of those of bootstrap rounds and of the model fitted on all samples.

    Candidates are those that all the blocks it reads have predictions of.
    """

    blocks: tuple[str, ...] = ("resub",)

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        before = len(self.candidates)
        for name in self.blocks:
            self.candidates = np.intersect1d(self.candidates, running(oof.blocks[name]))
        missing, blocks = before - len(self.candidates), " and ".join(self.blocks)
        if not len(self.candidates):
            needed = f"no configuration has all its predictions in the blocks {blocks}"
            raise NeedError(needed=needed, remedy="Collect some that can be fitted on all samples.")
        if missing:
            text = f"{missing} more of {oof.n_configs} configurations have no predictions in the blocks {blocks}"
            self.notes = (*self.notes, Note("OF205", f"{text} and cannot be selected."))

    @cached_property
    def resub(self) -> Scoring:
        """The candidates fitted on all samples, scored on the same samples."""
        return Scoring(self.oof.blocks["resub"].sel(config=self.candidates.tolist()), self.metric)

    def on_all(self) -> Iterator[NDArray[Any]]:
        """(C, N) or (C, N, K) what the candidates of every round predict for all samples, drawn or not.

        A round at a time: all of them together would be as large as the predictions.
        """
        data = self._data
        for r, _ in self.cells:
            outside = (self.oof.folds[:, r] >= 0).reshape(-1, *[1] * (data.ndim - 3))
            yield np.where(outside, data[r][self.candidates], self._drawn[r][self.candidates])

    def on_drawn(self, weights: NDArray[Any] | None) -> Iterator[tuple[Kernel, NDArray[Any], NDArray[Any]]]:
        """For each round: its model's kernel on all samples, the weights of what it drew, as often as drawn, and those of all."""
        target, full, splits = self.oof.target, self._spread(weights), self.oof.splits
        for cell, predictions in zip(self.cells, self.on_all(), strict=True):
            times = np.bincount(splits.train_rows(*cell), minlength=len(target))
            drawn = compact(np.multiply(full, times, dtype=np.int64))
            yield self.metric.kernel(target, predictions), drawn, full

    @cached_property
    def _drawn(self) -> NDArray[Any]:
        return bind(self.oof.blocks["inbag"], self.metric)[1]

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the estimate for every candidate under every weighting."""
        raise NotImplementedError

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> Floats:
        """(b,) the estimate for candidate chosen[i] under weights[i]."""
        return np.asarray(self.scores(weights)[np.arange(len(weights)), chosen])

    def apparent(self, weights: NDArray[Any] | None = None) -> Floats:
        """(b, C) the resubstitution score; without weights on all samples, held out in some round or not."""
        return self.resub.scores(self._spread(weights))

    def _spread(self, weights: NDArray[Any] | None) -> NDArray[Any]:
        """Weights of the rows that count, as weights of all samples; without weights every sample counts once."""
        if weights is None:
            return np.ones((1, self.oof.n_samples), dtype=np.uint8)
        if len(self.rows) == self.oof.n_samples:
            return weights
        out = np.zeros((len(weights), self.oof.n_samples), dtype=weights.dtype)
        out[:, self.rows] = weights
        return out


class Point632(Rounds):
    """0.368 resubstitution + 0.632 out-of-bag score.

    The out-of-bag part is averaged for every sample over the rounds that held it out, then over samples (Efron and Tibshirani
    1997, eq. 17); for a set-valued metric it is the mean over rounds, or what `drawn` has for draws.
    """

    drawn: Scoring | None = None

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        return self._combine(self.apparent(weights), self.out_of_bag(weights), slice(None))

    def paired(self, weights: NDArray[Any], chosen: NDArray[np.intp]) -> Floats:
        by = self._by_sample or self.drawn
        score1 = Scoring.paired(self, weights, chosen) if by is None else by.paired(weights, chosen)
        return self._combine(self.resub.paired(self._spread(weights), chosen), score1, chosen)

    def out_of_bag(self, weights: NDArray[Any] | None = None) -> Floats:
        by = self._by_sample or self.drawn
        if by is None:
            return Scoring.scores(self, weights)
        return by.scores(self.equal_weights() if weights is None else weights)

    @cached_property
    def _by_sample(self) -> MeanKernel | None:
        values = self.metric.values
        if values is None:
            return None
        total = np.zeros((len(self.candidates), self.oof.n_samples))
        times = np.zeros(self.oof.n_samples)
        for r, k in self.cells:
            rows = self.oof.splits.test_rows(r, k)
            total[:, rows] += values(self.oof.target.take(rows), self._slice(r, rows))
            times[rows] += 1
        return MeanKernel(total[:, self.rows] / times[self.rows])

    def _combine(self, score0: Floats, score1: Floats, columns: Any) -> Floats:
        return mixed632(score0, score1)


class Point632Plus(Point632):
    """The .632+ estimate as published; its no-information rate is that of all samples, whatever the weights."""

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        check_requirements("point632plus", (_KNOWN,), self)

    @cached_property
    def gamma(self) -> Floats:
        """(C,) the score of every candidate without information."""
        found, data = bind(self.resub.oof, self.metric)
        return no_information(found, self.oof.target, data[0])

    def plus(self, weights: NDArray[Any] | None = None) -> Plus:
        """The loss and the overfitting rate, (b, C) each."""
        return self._plus(self.apparent(weights), self.out_of_bag(weights), slice(None))

    def _plus(self, score0: Floats, score1: Floats, columns: Any) -> Plus:
        # A loss is all that is needed, up to a constant: minus a score will do.
        sign = -self.metric.sign
        return mixed632plus(sign * score0, sign * score1, sign * self.gamma[columns])

    def _combine(self, score0: Floats, score1: Floats, columns: Any) -> Floats:
        return -self.metric.sign * self._plus(score0, score1, columns).loss


class Point632ByRound(Rounds):
    """The .632 of every round, then the mean (Raschka 2018, eq. 34).

    The training part is the score of the round's model on all samples, as in the program of the paper's author.
    """

    blocks = ("inbag",)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        target, full = self.oof.target, self._spread(weights)
        kernels = (self.metric.kernel(target, predictions) for predictions in self.on_all())
        training = np.stack([kernel.scores(full) for kernel in kernels], axis=-1)
        return self._combine(training, self.fold_scores(weights))

    def _combine(self, score0: Floats, score1: Floats) -> Floats:
        return _mean_of_rounds(mixed632(score0, score1))


class Point632PlusByRound(Point632ByRound):
    """The .632+ of every round as a weighted mean (Raschka 2018, eq. 35-37) with one R, from 0 to 1, then the mean.

    R comes from the means over rounds. Where there is nothing to learn, the loss of a round is above that without information
    as often as below. R ends at 1, so one for each round would count the two sides differently, and the mean would be too good.
    """

    def __init__(self, oof: Predictions, metric: MetricLike) -> None:
        super().__init__(oof, metric)
        check_requirements("point632plus", (_KNOWN,), self)

    @cached_property
    def gamma(self) -> Floats:
        """(C, rounds) the score of every candidate of every round without information."""
        target = self.oof.target
        return np.stack([no_information(self.metric, target, predictions) for predictions in self.on_all()], axis=1)

    def _combine(self, score0: Floats, score1: Floats) -> Floats:
        defined, sign = ~np.isnan(score1), -self.metric.sign
        parts = (np.where(defined, part, np.nan) for part in (score0, score1, self.gamma))
        return sign * weighted632plus(*(sign * _mean_of_rounds(part) for part in parts))


class OptimismCorrected(Rounds):
    """The resubstitution score minus the mean optimism of the rounds (Harrell, Lee and Mark 1996).

    A round's optimism is its model's score on what it drew, as often as it drew it, minus its score on all samples.
    """

    blocks = ("inbag", "resub")

    def undefined(self) -> tuple[int, int]:
        """None: whether the samples a round left out can be scored does not matter here."""
        return 0, len(self.cells)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        gaps = [kernel.scores(drawn) - kernel.scores(full) for kernel, drawn, full in self.on_drawn(weights)]
        return np.asarray(self.apparent(weights) - _mean_of_rounds(np.stack(gaps, axis=-1)))


class InBag(Rounds):
    """The score of each round's model on what it drew, as often as it drew it, then the mean over rounds."""

    blocks = ("inbag",)

    def undefined(self) -> tuple[int, int]:
        """None: the samples a round left out do not matter here."""
        return 0, len(self.cells)

    def scores(self, weights: NDArray[Any] | None = None) -> Floats:
        return _mean_of_rounds(np.stack([kernel.scores(drawn) for kernel, drawn, _ in self.on_drawn(weights)], axis=-1))


def _mean_of_rounds(rounds: Floats) -> Floats:
    """(b, C) mean over the last axis of what is defined."""
    defined = ~np.isnan(rounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, rounds, 0.0).sum(axis=-1) / defined.sum(axis=-1))


# -- estimates ------------------------------------------------------------------------------------------------


@document
@requires(design("bootstrap"))
def oob(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    interval: Literal["t", "percentile"] = "t",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance after training on bootstrap samples: the mean out-of-bag score over rounds (section 2.4 of [1]_).

    Each round trains on 63 percent of the samples, so the estimate is a little too low for a model trained on all of them.

    Parameters: {oof, recorded_metric, config, rule, aggregate}
    interval : {"t", "percentile"}
        The interval of a configuration named beforehand. ``t`` is the mean plus and minus t standard deviations over rounds
        (eq. 31), ``percentile`` the quantiles of the rounds. The selected configuration gets that of `bbc`.
    {n_resamples, confidence_level, rng}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models, rounds}
    >>> found = of.estimate.oob(oof, "accuracy")
    >>> found.selected, round(found.value, 2)
    ('bayes', 0.7)
    """
    check_choice(interval, ("t", "percentile"), "interval")
    level = check_confidence_level(confidence_level)
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    scoring = Scoring(subject.oof, subject.metric)
    kept = _rounds_of_one(scoring) if subject.named else None
    why = "there is no valid interval: the scores of the rounds do not vary, or fewer than two are defined."
    around = Interval(*student(kept, level)) if kept is not None and interval == "t" else None
    return of_subject(
        subject,
        scoring,
        "oob",
        description=f"mean out-of-bag score of {len(scoring.cells):,} bootstrap rounds"
        + ("" if kept is None else f", {interval} interval of the rounds"),
        reference="Raschka 2018, sect. 2.4",
        own="out-of-bag score",
        draws=kept,
        level=level,
        interval=around,
        keeps_draws=True,
        notes=(Note("OF218", why),) if subject.named and kept is None else (),
    )


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def point632(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    per_round: bool = False,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by the .632 bootstrap: 0.368 resubstitution + 0.632 out-of-bag score.

    It is optimistic for models that overfit, such as one nearest neighbour; `point632plus` is not.

    Parameters: {oof, recorded_metric, config, rule, aggregate, per_round, n_resamples, rng}
    Returns: {estimate}
    References: {raschka2018, efron1983}

    Examples: {models, rounds}
    >>> round(of.estimate.point632(oof, "accuracy", "neighbours").value, 2)
    0.68
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    scoring = (Point632ByRound if per_round else Point632)(subject.oof, subject.metric)
    return _combined(subject, scoring, "point632", ".632 bootstrap", "Efron 1983")


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def point632plus(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    per_round: bool = False,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance by the .632+ bootstrap, which trusts the resubstitution score less if the model overfits more.

    As published, the out-of-bag part of a pointwise metric is a mean over rounds for each sample, then a mean over samples.
    For a configuration named beforehand, ``details`` has the parts of the estimate, but not with `per_round`.

    Parameters: {oof}
    metric : str, callable, Metric or None
        A mean over samples, `roc_auc` or `concordance`: its value without information must be known. None is the recorded one.
    {config, rule, aggregate, per_round, n_resamples, rng}
    Returns: {estimate}
    References: {raschka2018, efron1997}

    Examples: {models, rounds}
    >>> found = of.estimate.point632plus(oof, "accuracy", "neighbours")
    >>> round(found.value, 2), round(found.details["overfitting"], 2)
    (0.58, 0.87)
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    scoring = (Point632PlusByRound if per_round else Point632Plus)(subject.oof, subject.metric)
    reference = "Raschka 2018, eq. 35" if per_round else "Efron & Tibshirani 1997"
    return _combined(subject, scoring, "point632plus", ".632+ bootstrap", reference)


@document
@requires(design("bootstrap"), block("inbag"), block("resub"))
def optimism(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
    n_resamples: int = 1000,
    rng: RngLike = 0,
) -> Estimate:
    """Estimate the performance as the resubstitution score minus its optimism, which bootstrap rounds measure.

    The optimism of a round is the score of its model on the samples it drew minus its score on all samples. Any metric works.

    Parameters: {oof, recorded_metric, config, rule, aggregate, n_resamples, rng}
    Returns: {estimate}
    References: {harrell1996}

    Examples: {models, rounds}
    >>> round(of.estimate.optimism(oof, "accuracy", "bayes").value, 2)
    0.67
    """
    subject = Subject(oof, metric, config, rule, aggregate, n_resamples, rng)
    scoring = OptimismCorrected(subject.oof, subject.metric)
    return _combined(subject, scoring, "optimism", "optimism bootstrap", "Harrell, Lee & Mark 1996")


@document
@requires(design("bootstrap"), block("inbag"))
def inbag(
    oof: Predictions,
    metric: MetricLike | None = None,
    config: str | int | None = None,
    *,
    rule: RuleLike = None,
    aggregate: Aggregate | None = None,
) -> Estimate:
    """Score bootstrap rounds on the samples that they drew, and take the mean: optimistic, never the answer (eq. 23 of [1]_).

    Each round's model is scored on its own training sample, in which a sample counts as often as it was drawn. It is the
    bootstrap's resubstitution score; `oob` scores the samples that the rounds left out, and `resubstitution` the model that is
    fitted on all samples.

    Parameters: {oof, recorded_metric}
    config : str, int or None
        A configuration that you named beforehand. None takes the one that the held-out predictions select.
    {rule, aggregate}
    Returns: {estimate}
    References: {raschka2018}

    Examples: {models, rounds}
    >>> round(of.estimate.inbag(oof, "accuracy", "neighbours").value, 3)
    0.925
    """
    subject = Subject(oof, metric, config, rule, aggregate)
    scoring = InBag(subject.oof, subject.metric)
    selection = subject.selection(scoring)
    why = "each model was fitted on the samples that it is scored on"
    return build(
        scoring,
        selection,
        "inbag",
        value=selection.score,
        description=f"mean score of {len(scoring.cells):,} rounds on the samples they drew",
        reference="Raschka 2018, eq. 23",
        notes=(Note("OF214", f"{why}, so the score is too good; more so for a flexible model."),),
        named=subject.named,
        own="in-bag score",
    )


def _rounds_of_one(scoring: Scoring) -> NDArray[np.float64] | None:
    """The scores of the rounds of the only candidate; None where they say nothing of spread: fewer than two, or all the same."""
    rounds = scoring.fold_scores()[0, 0]
    kept = rounds[np.isfinite(rounds)]
    return kept if len(kept) > 1 and np.ptp(kept) > _ROUNDING * np.abs(kept).max() else None


def _combined(subject: Subject, scoring: Rounds, method: str, text: str, reference: str) -> Estimate:
    if isinstance(scoring, Point632) and not subject.named:
        drawn = drawn_by(scoring)
        scoring.drawn = drawn if drawn.at_once else None
    why = "there is no valid interval: models were fitted on the samples that are part of the score; use bbc."
    return of_subject(
        subject,
        scoring,
        method,
        notes=(Note("OF218", why),),
        description=f"{text}, {len(scoring.cells):,} rounds",
        reference=reference,
        own=f"{text} score",
        details=_parts(scoring) if len(scoring.candidates) == 1 else {},
    )


def _parts(scoring: Any) -> dict[str, float]:
    if not isinstance(scoring, Point632):
        return {}
    out = {"resubstitution": float(scoring.apparent()[0, 0]), "out_of_bag": float(scoring.out_of_bag()[0, 0])}
    if isinstance(scoring, Point632Plus):
        out |= {"no_information": float(scoring.gamma[0]), "overfitting": float(scoring.plus().overfitting[0, 0])}
    return out
