"""Which interval is valid for what: one declaration, which checks, words the error, and fills the docs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import intervals
from ..exceptions import InputError, NeedError, got, invalid
from ..results import Interval
from ..stats.intervals import around
from ._evidence import Evidence, Rivals

# Splits whose scores are those of random training sets, as the corrected t takes them.
_RANDOM = ("kfold", "balanced", "holdout")
# Ends nearer than this, relative to the score, come from rounding: nothing varied.
_NO_WIDTH = 1e-12


@dataclass(frozen=True)
class IntervalMethod:
    """An interval for the score of one configuration, named beforehand.

    Attributes
    ----------
    name
        That of the function in `outfold.intervals`.
    words
        What it is called where it is printed.
    valid_for
        The plan and the metric it is valid for.
    formula, source
        For the docs.
    met
        Whether these predictions are such.
    compute
        The interval at a level.
    """

    name: str
    words: str
    valid_for: str
    formula: str
    source: str
    met: Callable[[Evidence], bool]
    compute: Callable[[Evidence, float], Interval]


def _answers(e: Evidence) -> bool:
    return e.codes is None and e.counts is not None


def _counted(function: Callable[..., Interval]) -> Callable[[Evidence, float], Interval]:
    def compute(e: Evidence, level: float) -> Interval:
        assert e.counts is not None
        return function(*e.counts, confidence_level=level)

    return compute


def _t(e: Evidence, level: float) -> Interval:
    assert e.values is not None
    return intervals.t(e.values, confidence_level=level)


def _cluster_robust(e: Evidence, level: float) -> Interval:
    assert e.values is not None and e.codes is not None  # noqa: PT018
    return intervals.cluster_robust(e.values, e.codes, confidence_level=level)


def _delong(e: Evidence, level: float) -> Interval:
    assert e.area is not None
    return Interval(*around(*e.area, level))


def _nested(e: Evidence, level: float) -> Interval:
    assert e.nested is not None
    return Interval(*around(*e.nested, level))


def _corrected_t(e: Evidence, level: float) -> Interval:
    return intervals.corrected_t(*e.folds, confidence_level=level)


def _bca(e: Evidence, level: float) -> Interval:
    return intervals.bca_draws(e.draws, e.value, e.jackknife, confidence_level=level)


def _percentile(e: Evidence, level: float) -> Interval:
    return intervals.percentile(e.draws, confidence_level=level)


def _no_plan(e: Evidence, level: float) -> Interval:
    raise NeedError(
        argument="conservative_z", needed="needs scores on halves of the data, which predictions do not hold"
    )


_ONE_CONFIGURATION = (
    IntervalMethod(
        "wilson",
        "Wilson interval",
        "one test set of independent samples, answers right or wrong",
        "(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)",
        "Wilson 1927",
        _answers,
        _counted(intervals.wilson),
    ),
    IntervalMethod(
        "clopper_pearson",
        "Clopper-Pearson interval",
        "one test set of independent samples, answers right or wrong",
        "shares whose exact binomial tails are both above a/2",
        "Clopper and Pearson 1934",
        _answers,
        _counted(intervals.clopper_pearson),
    ),
    IntervalMethod(
        "normal",
        "normal interval",
        "one test set of independent samples, answers right or wrong",
        "p ± z sqrt(p(1-p)/n)",
        "Raschka 2018, eq. 17",
        _answers,
        _counted(intervals.normal),
    ),
    IntervalMethod(
        "delong",
        "DeLong interval",
        "one test set, roc_auc; groups are clusters",
        "A ± z sqrt(S²(V+)/n+ + S²(V-)/n-), V the placements",
        "DeLong et al. 1988; Obuchowski 1997",
        lambda e: e.area is not None,
        _delong,
    ),
    IntervalMethod(
        "cluster_robust",
        "cluster-robust interval",
        "samples in groups, a pointwise metric, any plan but a time series, models held fixed",
        "m ± t(G-1) sqrt(G/(G-1) sum_g (sum_{i in g} (v_i - m))²) / n",
        "Liang and Zeger 1986",
        lambda e: e.codes is not None and e.layout != "time series" and e.values is not None,
        _cluster_robust,
    ),
    IntervalMethod(
        "t",
        "t interval",
        "one test set of independent samples, a pointwise metric",
        "m ± t(n-1) S / sqrt(n)",
        "Student 1908",
        lambda e: e.one_set and e.codes is None and e.values is not None,
        _t,
    ),
    IntervalMethod(
        "nested_cv_bates",
        "nested-CV interval",
        "K folds of independent samples with the block `inner`, a pointwise metric",
        "NCV - (1 + (K-2)/K)(NCV - CV) ± z sqrt((K-1)/K (mean a - mean b)), the root within SE and sqrt(K) SE",
        "Bates et al. 2023, Alg. 1",
        lambda e: e.nested is not None,
        _nested,
    ),
    IntervalMethod(
        "corrected_t",
        "corrected t interval",
        "two or more folds or random splits of independent samples, scored by fold",
        "m ± t(J-1) sqrt(S² (1/J + n_test/n_train))",
        "Nadeau & Bengio 2003",
        lambda e: e.layout in _RANDOM and e.by_fold and e.codes is None and e.folds.scores.size > 1,
        _corrected_t,
    ),
    IntervalMethod(
        "bca",
        "BCa bootstrap interval",
        "one test set, any metric; groups are drawn whole",
        "quantiles of the draws at Phi(z0 + (z0 + z)/(1 - a(z0 + z)))",
        "Efron 1987",
        lambda e: e.one_set,
        _bca,
    ),
    IntervalMethod(
        "percentile",
        "percentile bootstrap interval",
        "any plan but a time series, any metric, models held fixed; groups are drawn whole",
        "a/2 and 1 - a/2 quantiles of the draws",
        "Efron 1979",
        lambda e: e.layout != "time series",
        _percentile,
    ),
    IntervalMethod(
        "conservative_z",
        "conservative Z interval",
        "plain numbers only: no plan collects the splits of halves that it needs",
        "m ± z sqrt(sum_m (a_m - b_m)² / 2M), a_m and b_m means on disjoint halves",
        "Nadeau & Bengio 2003",
        lambda e: False,
        _no_plan,
    ),
)
METHODS = {method.name: method for method in _ONE_CONFIGURATION}

# The first that is valid is taken where none is named.
AUTO = ("wilson", "delong", "cluster_robust", "t", "nested_cv_bates", "corrected_t", "bca", "percentile")

# The configuration that was selected: what is drawn must include the selecting.
SELECTED = {
    "percentile": "the selected configuration (`bbc`), every plan and metric",
    "order": "the same draws by order statistics, as printed in Tsamardinos 2018",
    "bbc_f": "the selected configuration, best mean score, one repeat of K folds",
}


class OneConfiguration:
    """The intervals of a configuration that was named beforehand."""

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
        found = METHODS[method]
        if not found.met(self.evidence):
            valid = ", ".join(m.name for m in METHODS.values() if m.met(self.evidence))
            raise NeedError(
                argument=method,
                needed=f"needs {found.valid_for}",
                given=f"this is {self.evidence.words}",
                remedy=f"Valid here: {valid}." if valid else "No interval is valid here.",
            )
        return found.compute(self.evidence, level)

    def choose(self, level: float) -> tuple[IntervalMethod, Interval] | None:
        """The first method that is valid and finds something that varies, with its interval."""
        for name in AUTO:
            method = METHODS[name]
            if not method.met(self.evidence):
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
        if self.evidence.layout == "time series":
            return (
                f"there is no valid interval for {self.evidence.words}: later samples depend on earlier ones, and training "
                "sets contain one another. Hold out one test set, or compare scores fold by fold."
            )
        return (
            f"there is no valid interval for {self.evidence.words}: nothing varies, or too few draws can be scored. Hold out "
            f"more samples{', or take a pointwise metric such as accuracy' if self.evidence.values is None else ''}."
        )


class SelectedConfiguration:
    """The intervals of the selected configuration that are not among its draws."""

    def __init__(self, rivals: Rivals) -> None:
        self.rivals = rivals

    def interval(self, method: str, level: float) -> Interval:
        """The interval by drawing folds; an error for all that ignores the selection."""
        if method in METHODS:
            raise NeedError(
                argument=method,
                needed="is for a configuration named beforehand",
                given="this one was selected for its score, and the interval would be too optimistic",
                remedy=f"Valid here: {', '.join(SELECTED)}.",
            )
        if method not in SELECTED:
            raise invalid("method", f"must be 'auto' or one of {', '.join(SELECTED)}", got(method))
        if not self.rivals.one_repeat or self.rivals.folds.scores.shape[1] < 2:
            raise NeedError(
                argument=method,
                needed="needs one repeat of K folds and the configuration of the best mean",
                given=f"this is {self.rivals.words}",
                remedy="Use `percentile`.",
            )
        return intervals.bbc_f(
            self.rivals.folds.scores,
            greater_is_better=self.rivals.greater_is_better,
            n_resamples=self.rivals.n_resamples,
            confidence_level=level,
            rng=self.rivals.rng,
        )
