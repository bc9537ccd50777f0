"""Which interval is valid for what: one declaration, which checks, words the error, and fills the docs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

import numpy as np

from .. import intervals
from ..data.predictions import Predictions, State
from ..exceptions import InputError, NeedError, got, invalid
from ..metrics._keeping import alone
from ..metrics._scoring import Scoring
from ..metrics._units import UnitValues, unit_values
from ..requirements import Requirement, Requirements, check_requirements, in_words, met
from ..results import Interval
from ..stats.intervals import around
from ._evidence import LEAST_GROUPS, LEAST_SAMPLES, Evidence, Rivals
from ._selected import Spread

T = TypeVar("T")

# Ends nearer than this, relative to the score, come from rounding: nothing varied.
_NO_WIDTH = 1e-12

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
        (
            _INDEPENDENT,
            _MEAN,
            _need("the block `inner` of all pairs of K folds, all done", lambda e: e.nested is not None),
        ),
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
        "blocked_t",
        "blocked t interval",
        (
            _INDEPENDENT,
            _need(
                "scores by fold, all defined, of balanced m x 2 folds",
                lambda e: e.by_fold and e.layout == "balanced" and e.folds.scores.size == e.n_splits,
            ),
        ),
        "m ± t(2m-1) sqrt(sum_i s_i²/2m + (m-1)/m S_between²), m repeats of two halves",
        "Wang et al. 2014",
        lambda e, level: intervals.blocked_t(e.folds.scores.reshape(-1, 2), confidence_level=level),
        "for models trained on half the samples",
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
    least, units = (LEAST_GROUPS, "groups") if grouped else (LEAST_SAMPLES, "samples")
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
