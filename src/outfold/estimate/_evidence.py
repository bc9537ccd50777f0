"""What an interval can be made of, computed from predictions when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import RngLike
from ..data.inner import leaves_out_pairs
from ..data.predictions import Predictions, State
from ..data.scores import Layout, is_time_series, layout
from ..intervals._samples import AREA_NEEDS, LabelledScores, area_and_error
from ..metrics import Metric
from ..metrics._scoring import Aggregate, Scoring, jackknife_scores, sample_bootstrap
from ..metrics._units import UnitValues
from ..requirements import met
from ..stats.intervals import Nested, nested_cv
from ..stats.kernels import Floats, MeanKernel
from ._trained import Trained, sampled_variance, trained_variance

# Draws of fewer samples, or groups, in a fold vary too little (studies/by_fold.py).
LEAST_SAMPLES, LEAST_GROUPS = 3, 6


class Folds(NamedTuple):
    """(..., J) scores in the folds in which all are defined, and (J,) samples trained on and held out."""

    scores: Floats
    n_train: NDArray[np.intp]
    n_test: NDArray[np.intp]


class _Lazy:
    """Parts that are computed from predictions when asked for; a pickle holds the parts and not the predictions."""

    parts: tuple[str, ...] = ()

    def __init__(self, scoring: Scoring, n_resamples: int, rng: int) -> None:
        # Not the scoring itself, whose kernels are large: it can be made again.
        self._source: tuple[Predictions, Metric, Aggregate] | None = (scoring.oof, scoring.metric, scoring.aggregate)
        self.n_resamples, self.rng = n_resamples, rng

    def scoring(self) -> Scoring:
        assert self._source is not None  # all parts of what was pickled are there
        return Scoring(*self._source)

    def __getstate__(self) -> dict[str, Any]:
        for part in self.parts:
            getattr(self, part)
        return self.__dict__ | {"_source": None, "_units_of": None}


class Evidence(_Lazy):
    """All that an interval of the score of one configuration, `value`, can be made of."""

    parts = (
        "values",
        "counts",
        "codes",
        "area",
        "folds",
        "few_per_fold",
        "independent",
        "nested",
        "trained",
        "sampled",
        "draws",
        "jackknife",
    )

    def __init__(
        self,
        scoring: Scoring,
        value: float,
        n_resamples: int,
        rng: int,
        units_of: Callable[[], UnitValues] | None = None,
    ) -> None:
        super().__init__(scoring, n_resamples, rng)
        oof = scoring.oof
        self.value, self._units_of = value, units_of
        self.one_set = scoring.one_test_set
        self.n_splits = len(oof.splits.cells)
        self.by_fold = scoring.aggregate == "fold"
        self.is_mean = scoring.metric.values is not None  # over samples
        self.layout: Layout | str = "one test set" if self.one_set else layout(oof)
        if is_time_series(oof.splits):
            self.layout = "time series"
        codes = scoring.group_codes()
        # Groups of one sample each are no groups.
        self.codes = None if codes is None or int(codes.max()) + 1 == len(codes) else codes
        groups = "" if self.codes is None else f" in {int(self.codes.max()) + 1} groups"
        way = "by fold" if self.by_fold else "pooled"
        kind = f"{oof.plan}, a time series" if self.layout == "time series" else str(oof.plan)
        self.words = f"{scoring.metric.name} {way} on {kind}, {len(scoring.rows)} samples{groups}"

    @cached_property
    def values(self) -> Floats | None:
        """(N,) one value per sample, whose mean is the score, whatever the folds and repeats; None for set-valued metrics."""
        return _sample_values(self.scoring(), self.value) if self.is_mean else None

    @property
    def single_samples(self) -> bool:
        """Whether nothing but the models, which are held fixed, tells the samples' values apart from those of one test set."""
        return self.one_set or self.layout == "loo"

    @cached_property
    def counts(self) -> tuple[int, int] | None:
        """How many samples of how many have the value 1, where all have 0 or 1 and none counts twice."""
        scoring = self.scoring()
        if scoring.metric.values is None or not self.single_samples:
            return None
        v = np.concatenate([_values_of(scoring, cell[0], rows) for cell, rows in _held(scoring)])
        if len(v) > len(scoring.rows):
            return None
        whole = v.dtype.kind in "biu" or scoring.metric.needs == "pointwise"
        return (int(v.sum()), len(v)) if whole and bool(np.isin(v, (0, 1)).all()) else None

    @cached_property
    def area(self) -> tuple[float, float] | None:
        """The area under the ROC curve on one test set and its standard error; None for other metrics."""
        scoring = self.scoring()
        if scoring.metric.name != "roc_auc" or not self.one_set or scoring.oof.target.task != "binary":
            return None
        held = _held(scoring)
        rows = held[0][1]  # the same in each repeat
        score = scoring.oof.respond("score")[[r for (r, _), _ in held]][:, 0, rows].astype(np.float64)
        labelled = LabelledScores(score, scoring.oof.target.y[rows] == 1, self.codes)
        return area_and_error(labelled) if met(AREA_NEEDS, labelled) else None

    @cached_property
    def folds(self) -> Folds:
        return _fold_parts(self.scoring(), 0)

    @cached_property
    def few_per_fold(self) -> bool:
        return few_per_fold(self.scoring())

    @cached_property
    def independent(self) -> Floats | None:
        """Scores that are independent if the models are held fixed, with the estimate as their mean: of samples, or of folds."""
        if self.is_mean:
            return self.values if self.single_samples and self.codes is None else None
        grouped = self.codes is not None or self.layout == "loo"
        if not (self.few_per_fold and grouped) or self.layout == "time series":
            return None
        scoring = self.scoring()
        units = scoring.oof.group_codes
        held = [rows if units is None else np.unique(units[rows]) for _, rows in _held(scoring)]
        once = len(np.unique(np.concatenate(held))) == sum(map(len, held))
        return self.folds.scores if once else None

    @cached_property
    def nested(self) -> Nested | None:
        """Bates' estimate and its error; None unless every pair of folds was left out."""
        scoring = self.scoring()
        oof = scoring.oof
        inner = oof.blocks.get("inner")
        if inner is None or not leaves_out_pairs(oof) or scoring.metric.values is None or self.codes is not None:
            return None
        whole = len(scoring.cells) == oof.n_repeats * oof.n_folds and bool(np.all(oof.folds >= 0))
        if not whole or not np.all(inner.state[:, inner.planned] == State.DONE):
            return None
        if min(len(rows) for _, rows in _held(scoring)) < 2:
            return None
        outer = np.empty((oof.n_samples, oof.n_repeats))
        for (r, _), rows in _held(scoring):
            outer[rows, r] = _values_of(scoring, r, rows)
        within, searches = np.full((*outer.shape, oof.n_folds), np.nan), Scoring(inner, scoring.metric)
        for r, k in scoring.cells:
            rows = np.flatnonzero(oof.folds[:, r] != k)
            within[rows, r, k] = _values_of(searches, r * oof.n_folds + k, rows)
        return nested_cv(outer, within, oof.folds)

    @cached_property
    def trained(self) -> Trained | None:
        """What varies with the samples and with the training sets; None where that cannot be told."""
        scoring = self.scoring()
        oof, metric = scoring.oof, scoring.metric
        if self.codes is not None or self.layout not in ("kfold", "balanced", "holdout"):
            return None
        # A mean over folds of a metric of sets is not the score of all their samples.
        if (self.by_fold and not metric.pointwise) or len(scoring.cells) < len(oof.splits.cells):
            return None
        return trained_variance(scoring, self.value, self._units_of)

    @cached_property
    def sampled(self) -> Trained | None:
        """What varies with the samples alone, on one test set or by leave-one-out; None where another interval is better."""
        if self.codes is not None or not self.single_samples:
            return None
        return sampled_variance(self.scoring(), self.value, self.area)

    @cached_property
    def draws(self) -> Floats:
        """Scores on bootstrap samples, of groups where there are groups; such as are undefined are left out."""
        return bootstrap_scores(self.scoring(), self.n_resamples, self.rng)

    @cached_property
    def jackknife(self) -> Floats:
        """Scores without each sample, or group, on one test set."""
        scores = jackknife_scores(self.scoring())[:, 0] if self.one_set else np.empty(0)
        return scores[np.isfinite(scores)]


class Rivals(_Lazy):
    """The fold scores of all candidates, for intervals that draw folds."""

    parts = ("folds",)

    def __init__(self, scoring: Scoring, best_rule: bool, n_resamples: int, rng: int) -> None:
        super().__init__(scoring, n_resamples, rng)
        oof = scoring.oof
        self.greater_is_better = scoring.metric.greater_is_better
        self.one_repeat = best_rule and oof.n_repeats == 1 and len(scoring.cells) > 1
        self.words = f"{oof.plan}{'' if best_rule else ', another rule'}"

    @cached_property
    def folds(self) -> Folds:
        return _fold_parts(self.scoring(), slice(None))


def bootstrap_scores(scoring: Scoring, n_resamples: int, rng: RngLike) -> Floats:
    """Scores of the only candidate on bootstrap samples, without those that are undefined.

    The mean of a fold of one sample is the same however often the sample is drawn, and that of few varies too little. So a
    mean over small folds is drawn as the mean of its samples' values.
    """
    scores: Callable[[NDArray[Any]], Floats] = scoring.scores
    if scoring.metric.values is not None and few_per_fold(scoring):
        scores = MeanKernel(_sample_values(scoring, float(scoring.scores()[0, 0]))[None]).scores
    blocks = sample_bootstrap(scoring, False, rng).blocks(n_resamples)
    draws: Floats = np.concatenate([scores(weights)[:, 0] for weights in blocks])
    return draws[np.isfinite(draws)]


def few_per_fold(scoring: Scoring) -> bool:
    """Whether the score is a mean over folds, and one of them has too few samples, or groups, to be drawn."""
    if scoring.aggregate != "fold" or len(scoring.cells) == 1:
        return False
    codes = scoring.group_codes()
    held = [rows for _, rows in _held(scoring)]
    if codes is None or int(codes.max()) + 1 == len(codes):
        return min(map(len, held)) < LEAST_SAMPLES
    return min(len(np.unique(scoring.oof.group_codes[rows])) for rows in held) < LEAST_GROUPS  # type: ignore[index]


def _sample_values(scoring: Scoring, value: float) -> Floats:
    """(N,) one value per sample, whose mean is the score of the only candidate, `value`."""
    position = np.full(scoring.oof.n_samples, -1)
    position[scoring.rows] = np.arange(len(scoring.rows))
    shares = np.zeros(len(scoring.rows))
    for (cell, rows), weight in zip(_held(scoring), _weights(scoring), strict=True):
        shares[position[rows]] += weight * (_values_of(scoring, cell[0], rows) - value)
    return np.asarray(value + len(scoring.rows) * shares)


def _held(scoring: Scoring) -> list[tuple[tuple[int, int], NDArray[np.intp]]]:
    return [((r, k), scoring.oof.splits.test_rows(r, k)) for r, k in scoring.cells]


def _values_of(scoring: Scoring, repeat: int, rows: NDArray[np.intp]) -> NDArray[Any]:
    """What the metric is the mean of, for the only candidate."""
    assert scoring.metric.values is not None
    data = scoring.oof.respond(scoring.metric.needs)
    values = scoring.metric.values(scoring.oof.target.take(rows), np.ascontiguousarray(data[repeat][:, rows]))
    return np.asarray(values[0])


def _weights(scoring: Scoring) -> list[float]:
    """What a sample of every cell weighs in the score, as `Scoring` takes the mean."""
    held = _held(scoring)
    if scoring.aggregate == "fold":
        return [1 / (len(held) * len(rows)) for _, rows in held]
    planned = np.sum(scoring.oof.folds >= 0, axis=0)
    # A repeat counts for the share of it that is done, and its samples alike: share / n_done is 1 / n_planned.
    done = sum(len(rows) / planned[cell[0]] for cell, rows in held)
    return [float(1 / planned[cell[0]] / done) for cell, _ in held]


def _fold_parts(scoring: Scoring, configs: int | slice) -> Folds:
    scores = scoring.fold_scores()[0]
    splits = scoring.oof.splits
    defined = ~np.isnan(scores).any(axis=0)
    n_train, n_test = (
        np.array([len(rows(r, k)) for r, k in scoring.cells], dtype=np.intp)
        for rows in (splits.train_rows, splits.test_rows)
    )
    return Folds(scores[configs][..., defined], n_train[defined], n_test[defined])
