"""Which interval is valid for what: one declaration, which checks, words the error, and fills the docs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import intervals
from ..arguments import RngLike
from ..data.predictions import Predictions, State
from ..data.scores import Layout, is_time_series, layout
from ..exceptions import InputError, NeedError, got, invalid
from ..intervals import AREA_NEEDS, LabelledScores, area_and_error
from ..metrics import Metric
from ..metrics._scoring import Aggregate, Scoring, alone, jackknife_scores, sample_bootstrap
from ..metrics._units import UnitValues, unit_values
from ..requirements import Requirement, Requirements, check_requirements, in_words, met
from ..results import Interval
from ..stats.intervals import Nested, around, nested_cv
from ..stats.kernels import MeanKernel
from ._selected import Spread
from ._trained import Trained, sampled_variance, trained_variance

T = TypeVar("T")
Floats = NDArray[np.float64]

# Ends nearer than this, relative to the score, come from rounding: nothing varied.
_NO_WIDTH = 1e-12
# Draws of fewer samples, or groups, in a fold vary too little (studies/by_fold.py).
_LEAST_SAMPLES, _LEAST_GROUPS = 3, 6

# -- what an interval is made of ------------------------------------------------------------------------------


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
        self.one_set = len(scoring.cells) == 1
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
        ((cell, rows),) = _held(scoring)
        score = scoring.oof.respond("score")[cell[0]][0, rows].astype(np.float64)
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
        if inner is None or scoring.metric.values is None or self.codes is not None:
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
        return min(map(len, held)) < _LEAST_SAMPLES
    return min(len(np.unique(scoring.oof.group_codes[rows])) for rows in held) < _LEAST_GROUPS  # type: ignore[index]


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


# -- intervals of a configuration named beforehand ------------------------------------------------------------


def _need(words: str, is_met: Callable[[Evidence], bool]) -> Requirement[Evidence]:
    return Requirement(words, is_met, given=lambda evidence: f"this is {evidence.words}")


_ONE_SET = _need("one test set", lambda e: e.one_set)
_NO_TIME_SERIES = _need("any plan but a time series", lambda e: e.layout != "time series")
_INDEPENDENT = _need("independent samples", lambda e: e.codes is None)
_GROUPS = _need("samples in groups", lambda e: e.codes is not None)
_MEAN = _need("a pointwise metric", lambda e: e.is_mean)
_EACH_ONCE = _need("one test set or leave-one-out", lambda e: e.single_samples)
_DRAWN = _need(
    "scores pooled, a pointwise metric, or three samples (six groups) in every fold",
    lambda e: e.is_mean or not e.few_per_fold,
)
_ANSWERS = (_EACH_ONCE, _INDEPENDENT, _need("answers right or wrong", lambda e: e.counts is not None))
_SPLITS = _need(
    "two or more folds or random splits",
    lambda e: e.layout in ("kfold", "balanced", "holdout") and e.folds.scores.size > 1,
)


@dataclass(frozen=True)
class IntervalMethod:
    name: str  # that of the function in `outfold.intervals`
    words: str  # what it is called where it is printed
    requirements: Requirements[Evidence]  # the plan and the metric it is valid for
    formula: str
    source: str
    compute: Callable[[Evidence, float], Interval]  # the interval at a level
    remark: str = ""

    @property
    def valid_for(self) -> str:
        """The plan and the metric it is valid for, in words."""
        return in_words(self.requirements) + (f"; {self.remark}" if self.remark else "")


def _known(part: T | None) -> T:
    assert part is not None  # a requirement of the method
    return part


_ONE_CONFIGURATION = (
    IntervalMethod(
        "wilson",
        "Wilson interval",
        _ANSWERS,
        "(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)",
        "Wilson 1927",
        lambda e, level: intervals.wilson(*_known(e.counts), confidence_level=level),
    ),
    IntervalMethod(
        "clopper_pearson",
        "Clopper-Pearson interval",
        _ANSWERS,
        "shares whose exact binomial tails are both above a/2",
        "Clopper and Pearson 1934",
        lambda e, level: intervals.clopper_pearson(*_known(e.counts), confidence_level=level),
    ),
    IntervalMethod(
        "normal",
        "normal interval",
        _ANSWERS,
        "p ± z sqrt(p(1-p)/n)",
        "Raschka 2018, eq. 17",
        lambda e, level: intervals.normal(*_known(e.counts), confidence_level=level),
    ),
    IntervalMethod(
        "samples",
        "interval of samples",
        (
            _INDEPENDENT,
            _need(
                "roc_auc on one test set, two samples of each class; a loss without an upper end on one test set or "
                "leave-one-out; set-valued metrics of leave-one-out, pooled",
                lambda e: e.sampled is not None,
            ),
        ),
        "Wilson's at p = m for n = (p(1-p) + 1/N) / (V + 1/(N n')), V the variance of the mean, DeLong's for an area; for a loss "
        "m exp(± t sqrt(1.2 V) / m); leave-one-out 1.3 V",
        "after Wilson 1927; DeLong et al. 1988",
        lambda e, level: Interval(*_known(e.sampled).interval(level)),
        "models held fixed",
    ),
    IntervalMethod(
        "delong",
        "DeLong interval",
        (_ONE_SET, _need("roc_auc, two samples and two groups of each class", lambda e: e.area is not None)),
        "A ± z sqrt(S²(V+)/n+ + S²(V-)/n-), V the placements",
        "DeLong et al. 1988; Obuchowski 1997",
        lambda e, level: Interval(*around(*_known(e.area), level)),
        "groups are clusters",
    ),
    IntervalMethod(
        "cluster_robust",
        "cluster-robust interval",
        (_GROUPS, _MEAN, _NO_TIME_SERIES),
        "m ± t(G-1) sqrt(G/(G-1) sum_g (sum_{i in g} (v_i - m))²) / n",
        "Liang and Zeger 1986",
        lambda e, level: intervals.cluster_robust(_known(e.values), _known(e.codes), confidence_level=level),
        "models held fixed",
    ),
    IntervalMethod(
        "t",
        "t interval",
        (
            _need(
                "independent samples on one test set or leave-one-out by a pointwise metric; or scores by fold of another "
                "metric, the folds single samples or fewer than six groups, none of them in two folds",
                lambda e: e.independent is not None,
            ),
        ),
        "m ± t(n-1) S / sqrt(n), n samples or folds",
        "Student 1908",
        lambda e, level: intervals.t(_known(e.independent), confidence_level=level),
        "models held fixed",
    ),
    IntervalMethod(
        "nested_cv_bates",
        "nested-CV interval",
        (_INDEPENDENT, _MEAN, _need("K folds with the block `inner`, all of it done", lambda e: e.nested is not None)),
        "NCV - (1 + (K-2)/K)(NCV - CV) ± z sqrt((K-1)/K (mean a - mean b)), the root within SE and sqrt(K) SE",
        "Bates et al. 2023, Alg. 1",
        lambda e, level: Interval(*around(*_known(e.nested), level)),
    ),
    IntervalMethod(
        "training",
        "interval of samples and training sets",
        (
            _INDEPENDENT,
            _need(
                "two or more folds or random splits, all done; a pointwise metric, or scores pooled and, of hold-outs, five "
                "samples of each class in each",
                lambda e: e.trained is not None,
            ),
        ),
        "Wilson's at p = m for n = (p(1-p) + 1/N) / (V + 1/(N n')), V = (var_i(mean_r v_ir) + θ T) / N; for a loss without an "
        "upper end m exp(± t sqrt(V) / m)",
        "after Nadeau & Bengio 2003; Bengio & Grandvalet 2004",
        lambda e, level: Interval(*_known(e.trained).interval(level)),
    ),
    IntervalMethod(
        "corrected_t",
        "corrected t interval",
        (_INDEPENDENT, _need("scores by fold", lambda e: e.by_fold), _SPLITS),
        "m ± t(J-1) sqrt(S² (1/J + n_test/n_train))",
        "Nadeau & Bengio 2003",
        lambda e, level: intervals.corrected_t(*e.folds, confidence_level=level),
    ),
    IntervalMethod(
        "bca",
        "BCa bootstrap interval",
        (_ONE_SET,),
        "quantiles of the draws at Phi(z0 + (z0 + z)/(1 - a(z0 + z)))",
        "Efron 1987",
        lambda e, level: intervals.bca_draws(e.draws, e.value, e.jackknife, confidence_level=level),
        "any metric; groups are drawn whole",
    ),
    IntervalMethod(
        "percentile",
        "percentile bootstrap interval",
        (_NO_TIME_SERIES, _DRAWN),
        "a/2 and 1 - a/2 quantiles of the draws",
        "Efron 1979",
        lambda e, level: intervals.percentile(e.draws, confidence_level=level),
        "any metric, models held fixed; groups are drawn whole",
    ),
    IntervalMethod(
        "conservative_z",
        "conservative Z interval",
        (_need("plain numbers: no plan collects the splits of halves that it takes", lambda e: False),),
        "m ± z sqrt(sum_m (a_m - b_m)² / 2M), a_m and b_m means on disjoint halves",
        "Nadeau & Bengio 2003",
        lambda e, level: _known(None),
    ),
)
METHODS = {method.name: method for method in _ONE_CONFIGURATION}

# The first that is valid is taken where none is named.
AUTO_METHODS = (
    "wilson",
    "samples",
    "delong",
    "cluster_robust",
    "t",
    "nested_cv_bates",
    "training",
    "corrected_t",
    "bca",
    "percentile",
)


def why_not_drawn(grouped: bool) -> str:
    """Why the scores of folds of few samples are not drawn, and what to do."""
    least, units = (_LEAST_GROUPS, "groups") if grouped else (_LEAST_SAMPLES, "samples")
    return (
        f"a fold has fewer than {least} {units}, and draws of so few vary too little. Hold out more {units} per fold, or take "
        "a pointwise metric such as accuracy."
    )


class OneConfiguration:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def interval(self, method: str, level: float) -> Interval:
        """The interval by this method, by the first valid one for ``auto``; an error where it is not valid here."""
        if method == "auto":
            first = self.choose(level)
            if first is None:
                raise NeedError(self.why_none())
            return first[1]
        if method not in METHODS:
            raise invalid("method", f"must be 'auto' or one of {', '.join(METHODS)}", got(method))
        valid = [name for name, one in METHODS.items() if met(one.requirements, self.evidence)]
        remedy = f"Valid here: {', '.join(valid)}." if valid else "No interval is valid here."
        check_requirements(method, METHODS[method].requirements, self.evidence, remedy)
        return METHODS[method].compute(self.evidence, level)

    def choose(self, level: float) -> tuple[IntervalMethod, Interval] | None:
        """The first method that is valid and finds something that varies, with its interval."""
        for method in (METHODS[name] for name in AUTO_METHODS):
            if not met(method.requirements, self.evidence):
                continue
            try:
                found = method.compute(self.evidence, level)
            except InputError:  # too few draws can be scored
                continue
            if found.high - found.low > _NO_WIDTH * abs(self.evidence.value):
                return method, found
        return None

    def why_none(self) -> str:
        """What an interval would need, where none is valid."""
        none = f"there is no valid interval for {self.evidence.words}"
        if not _NO_TIME_SERIES.is_met(self.evidence):
            return (
                f"{none}: later samples depend on earlier ones, and training sets contain one another. Hold out one test "
                "set, or compare scores fold by fold."
            )
        if not _DRAWN.is_met(self.evidence) and self.evidence.independent is None:
            return f"{none}: {why_not_drawn(self.evidence.codes is not None)}"
        other = "" if _MEAN.is_met(self.evidence) else ", or take a pointwise metric such as accuracy"
        return f"{none}: nothing varies, or too few draws can be scored. Hold out more samples{other}."


def interval_of_each(
    scoring: Scoring, positions: Sequence[int], level: float, n_resamples: int, rng: int
) -> list[Interval | None]:
    """The interval that `cv` gives each of some candidates, on the cells that all candidates have; None where none is valid."""
    names, values = [scoring.names[j] for j in positions], scoring.scores()[0]

    @cache
    def units() -> UnitValues:  # of all at once: kernels cost more than what they compute
        return unit_values(scoring.oof.sel(config=names), scoring.metric)

    found = []
    for i, j in enumerate(positions):
        one = Scoring(_on_same_cells(scoring, names[i]), scoring.metric, scoring.aggregate)
        evidence = Evidence(one, float(values[j]), n_resamples, rng, lambda i=i: units().only(i))  # type: ignore[misc]
        first = OneConfiguration(evidence).choose(level)
        found.append(None if first is None else first[1])
    return found


def _on_same_cells(scoring: Scoring, name: str) -> Predictions:
    """The predictions of one candidate, without cells that others lack."""
    one = alone(scoring.oof, name)
    if len(scoring.cells) == len(one.splits.cells):
        return one
    state = np.full_like(one.state, State.PENDING)
    for r, k in scoring.cells:
        state[:, r, k] = State.DONE
    return replace(one, state=state)


# -- intervals of the selected configuration ------------------------------------------------------------------

# What is drawn must include the selecting.
SELECTED = {
    "mover": "the selected configuration (`bbc`), every plan and metric; the default",
    "percentile": "the quantiles of the same draws, every plan and metric",
    "order": "the same draws by order statistics, as printed in Tsamardinos 2018",
    "bbc_f": "the selected configuration, best mean score, one repeat of K folds",
}
_ONE_REPEAT: Requirement[Rivals] = Requirement(
    "one repeat of K folds and the configuration of the best mean",
    lambda rivals: rivals.one_repeat and rivals.folds.scores.shape[1] > 1,
    "Use `percentile`.",
    lambda rivals: f"this is {rivals.words}",
)


class SelectedConfiguration:
    """Intervals of the selected configuration; without `rivals` by the spread of the draws alone."""

    def __init__(self, rivals: Rivals | None, spread: Spread | None) -> None:
        self.rivals, self.spread = rivals, spread

    def of_one_choice(self, value: float) -> SelectedConfiguration:
        """Those of another estimate, which does not average over what else might have been selected."""
        return SelectedConfiguration(None, None if self.spread is None else self.spread.of_one_choice(value))

    def interval(self, method: str, level: float) -> Interval:
        """The interval by the spread of the draws or by drawing folds; an error for all that ignores the selection."""
        if method == "mover" and self.spread is not None:
            return self.spread.interval(level)
        if method == "mover":
            raise NeedError("there is no MOVER interval here: the score does not vary, and its range is not known.")
        if self.rivals is None:
            raise invalid("method", "must be 'auto' or 'mover'", got(method))
        if method in METHODS:
            needed = "is for a configuration named beforehand"
            given = "this one was selected for its score, and the interval would be too optimistic"
            raise NeedError(argument=method, needed=needed, given=given, remedy=f"Valid here: {', '.join(SELECTED)}.")
        if method not in SELECTED:
            raise invalid("method", f"must be 'auto' or one of {', '.join(SELECTED)}", got(method))
        check_requirements(method, (_ONE_REPEAT,), self.rivals)
        return intervals.bbc_f(
            self.rivals.folds.scores,
            greater_is_better=self.rivals.greater_is_better,
            n_resamples=self.rivals.n_resamples,
            confidence_level=level,
            rng=self.rivals.rng,
        )
