"""Right or wrong on the same samples: McNemar, two proportions, Cochran's Q and Looney's F."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_level
from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..results import Alternative, Comparison, Omnibus, Outcome
from ..stats import paired
from ..stats.pvalues import Tails, normal_tails
from ._contest import Contest, Source
from ._design import Answer, PairTest, Question, compare_pair, default_metric
from ._one_set import Answers, answers, notes_on_pooling, pvalues, standardised

McNemarMethod = Literal["auto", "plain", "edwards", "exact", "midp"]

# Below this number of discordant samples `auto` does not trust the chi2 approximation.
EXACT_BELOW = 50
_FEW = 10
_METRIC = "accuracy"
_NEEDS = "right or wrong answers, one a sample, without groups"

_WORDS: dict[paired.McNemar, str] = {
    "plain": "McNemar's test, chi2 without correction",
    "edwards": "McNemar's test, chi2 with Edwards' correction",
    "exact": "McNemar's test, exact binomial",
    "midp": "McNemar's test, mid-p binomial",
}


def _mcnemar(
    contest: Contest, pairs: NDArray[np.intp], question: Question, *, method: str = "auto", repeat: int | None = None
) -> Answer:
    if method not in get_args(McNemarMethod):
        raise InputError(f"method must be one of {', '.join(get_args(McNemarMethod))}; got {method!r}.")
    found = answers(contest, "mcnemar", repeat)
    b, c = paired.only_one_right(found.hits, pairs)
    used = _methods(method, b + c)
    tails, statistic = _by_method(used, b, c)
    interval = paired.mcnemar_interval(b, c, found.n, tails, question.confidence_level)
    chosen = set(used.tolist())
    outcome = Outcome(
        **_effects(found, pairs, b, c),
        statistic=statistic,
        df=(1.0,) if chosen <= {"plain", "edwards"} else (),
        pvalue=pvalues(question, tails),
        interval=found.in_units(interval),
        notes=_notes_on_few(b + c, question),
        details={"only_a": b, "only_b": c, "by": used},
    )
    described = (
        _WORDS[chosen.pop()] if len(chosen) == 1 else f"McNemar's test, exact below {EXACT_BELOW} discordant, else chi2"
    )
    return Answer(
        outcome,
        found.scores,
        notes_on_pooling(contest),
        description=f"{described}; Tango's score interval, corrected alike",
    )


def _methods(method: str, discordant: NDArray[np.int64]) -> NDArray[np.str_]:
    if method == "auto":
        return np.where(discordant < EXACT_BELOW, "exact", "plain")
    return np.full(len(discordant), method)


def _by_method(used: NDArray[np.str_], b: NDArray[np.int64], c: NDArray[np.int64]) -> tuple[Tails, NDArray[np.float64]]:
    greater, less, statistic = np.empty((3, len(b)))
    for method in _WORDS:
        at = used == method
        if at.any():
            greater[at], less[at] = paired.mcnemar_tails(b[at], c[at], method)
            statistic[at] = paired.mcnemar_statistic(b[at], c[at], method)
    return Tails(greater, less), statistic


def _effects(found: Answers, pairs: NDArray[np.intp], b: NDArray[np.int64], c: NDArray[np.int64]) -> dict[str, Any]:
    """Difference and effects, whichever the test: they hang on the discordant samples alone."""
    n = found.n
    difference = found.sign * (b - c) / n + 0.0
    spread = np.sqrt(np.maximum((b + c) - (b - c) ** 2 / n, 0.0) / max(n - 1, 1))
    odds = np.divide(b, c, out=np.where(b > 0, np.inf, np.nan), where=c > 0)
    return {
        "difference": difference,
        "standardised": standardised(difference, spread),
        "wins": np.stack([b, n - b - c, c], axis=1),
        "unit": "sample",
        "odds_ratio": odds,
    }


def _notes_on_few(discordant: NDArray[np.int64], question: Question) -> dict[int, tuple[Note, ...]]:
    out: dict[int, tuple[Note, ...]] = {}
    for i in np.flatnonzero((discordant > 0) & (discordant < _FEW)):
        m = int(discordant[i])
        least = 0.5 ** (m - (question.alternative == "two-sided"))
        more = "" if least <= 1 - question.confidence_level else "; an exact test of so few cannot find a difference"
        out[int(i)] = (Note("OF303", f"the two differ on {m} of the samples only{more}."),)
    return out


MCNEMAR = PairTest(
    name="mcnemar",
    description="McNemar's test",
    reference="McNemar 1947; Tango 1998",
    statistic_name="chi2",
    needs=_NEEDS,
    compute=_mcnemar,
    metric=_METRIC,
)


def mcnemar(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    method: McNemarMethod = "auto",
    repeat: int | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of the shares of right answers of two models on the same samples (McNemar 1947).

    Only samples that one model has right and the other wrong say anything: b of them for `a`, c for `b`. The interval inverts
    Tango's (1998) score test, which is the plain test at 0, with the continuity correction of the method used; it leaves out 0
    exactly where the two-sided p value is at most one minus the confidence level.

    Parameters
    ----------
    source
        Predictions; on several folds they are taken as one test set (OF308).
    a, b
        The configurations.
    metric
        ``accuracy`` (default), ``error``, or ``mean`` of per-sample scores that are 0 or 1.
    method
        ``plain`` is (b-c)^2 / (b+c) against chi2 with 1 degree of freedom, ``edwards`` the same with max(|b-c|-1, 0), ``exact``
        the binomial test of b among b+c, ``midp`` that test with half the probability of b. ``auto`` is exact below 50
        discordant samples and plain from there on.
    repeat
        The repeat to take, where there are several.
    alternative
        ``two-sided``, or whether `a` is ``better`` or ``worse``.
    confidence_level
        Level of the interval; the decision is at one minus it.
    rope
        Half the width of the region of practical equivalence.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 0]] * 11 + [[0, 1]] + [[1, 1]] * 40
    >>> oof = of.from_arrays(None, right, configs=["new prompt", "old prompt"], response="pointwise")
    >>> mcnemar(oof, "new prompt", "old prompt")
    <Comparison mcnemar new prompt - old prompt: mean +0.1923, p = 0.0063>
    """
    question = Question(alternative, confidence_level, rope)
    return compare_pair(MCNEMAR, source, a, b, metric, question, method=method, repeat=repeat)


def _z_proportions(
    contest: Contest, pairs: NDArray[np.intp], question: Question, *, repeat: int | None = None
) -> Answer:
    found = answers(contest, "z_proportions", repeat)
    b, c = paired.only_one_right(found.hits, pairs)
    x1, x2 = found.right[pairs].T
    z = paired.proportions_statistic(x1, x2, found.n, found.n)
    outcome = Outcome(
        **_effects(found, pairs, b, c),
        statistic=found.sign * z + 0.0,
        pvalue=pvalues(question, normal_tails(z)),
        interval=found.in_units(paired.proportions_interval(x1, x2, found.n, found.n, question.confidence_level)),
    )
    shared = Note("OF309", "the test takes the two as independent, but they share their test set; use mcnemar.")
    return Answer(outcome, found.scores, (shared, *notes_on_pooling(contest)))


Z_PROPORTIONS = PairTest(
    name="z_proportions",
    description="z test of two proportions, pooled variance; Mee's score interval",
    reference="Raschka 2018, sect. 4.2; Mee 1984",
    statistic_name="z",
    needs=_NEEDS,
    compute=_z_proportions,
    metric=_METRIC,
)


def z_proportions(
    source: Source,
    a: str | int,
    b: str | int,
    metric: MetricLike | None = None,
    *,
    repeat: int | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    rope: float | None = None,
) -> Comparison:
    """Difference of two shares of right answers, as if the two models had been tested on different samples.

    z = (p1 - p2) / sqrt(2 p (1-p) / n) with p the mean of the two. On a shared test set the independence it needs does not hold
    (OF309), and where the models agree it wastes most of what the samples say: `mcnemar` is the test to use. The interval is the
    score interval of Mee (1984), the dual of this z.

    Parameters
    ----------
    source, a, b, metric, repeat, alternative, confidence_level, rope
        As for `mcnemar`.
    """
    question = Question(alternative, confidence_level, rope)
    return compare_pair(Z_PROPORTIONS, source, a, b, metric, question, repeat=repeat)


def cochran_q(
    source: Source,
    configs: Sequence[str | int] | None = None,
    metric: MetricLike | None = None,
    *,
    confidence_level: float = 0.95,
    repeat: int | None = None,
) -> Omnibus:
    """Whether any of several models has another share of right answers than the rest (Cochran 1950).

    McNemar's plain test is the one of two models. After a rejection compare the pairs, with adjusted p values.

    Parameters
    ----------
    source
        Predictions; on several folds they are taken as one test set (OF308).
    configs
        The configurations; all by default.
    metric, confidence_level, repeat
        As for `mcnemar`.

    Examples
    --------
    >>> import outfold as of
    >>> right = [[1, 1, 0]] * 9 + [[0, 1, 1]] * 4 + [[1, 0, 0]] * 2 + [[1, 1, 1]] * 30
    >>> cochran_q(of.from_arrays(None, right, response="pointwise"))
    <Omnibus cochran_q of 3 configurations: p = 0.0115>
    """
    return _omnibus("cochran_q", source, configs, metric, confidence_level, repeat)


def f_looney(
    source: Source,
    configs: Sequence[str | int] | None = None,
    metric: MetricLike | None = None,
    *,
    confidence_level: float = 0.95,
    repeat: int | None = None,
) -> Omnibus:
    """Whether any of several models has another share of right answers than the rest, by an F test (Looney 1988).

    A two-way analysis of variance, samples by models: the mean square of the models over that of what remains, with M-1 and
    (M-1)(n-1) degrees of freedom.

    Parameters
    ----------
    source, configs, metric, confidence_level, repeat
        As for `cochran_q`.
    """
    return _omnibus("f_looney", source, configs, metric, confidence_level, repeat)


_OMNIBUS: dict[str, tuple[Callable[[Any], paired.Test], str, str, str]] = {
    "cochran_q": (paired.cochran_q, "Q", "Cochran's Q test", "Cochran 1950; Raschka 2018, sect. 4.6"),
    "f_looney": (paired.looney_f, "F", "F test of samples by models", "Looney 1988"),
}


def _omnibus(
    name: str,
    source: Source,
    configs: Sequence[str | int] | None,
    metric: MetricLike | None,
    confidence_level: float,
    repeat: int | None,
) -> Omnibus:
    level = check_level(confidence_level)
    compute, statistic_name, description, reference = _OMNIBUS[name]
    contest = Contest(source, default_metric(source, metric, _METRIC), configs)
    found = answers(contest, name, repeat)
    test = compute(found.hits)
    if np.isnan(test.pvalue):
        raise InputError(f"{name} is undefined here: on every sample the same models are right. Use cochran_q.")
    return Omnibus(
        metric=contest.metric_name,
        greater_is_better=contest.greater_is_better,
        method=name,
        description=description,
        reference=reference,
        configs=contest.configs,
        scores=found.scores,
        statistic_name=statistic_name,
        statistic=test.statistic,
        df=test.df,
        pvalue=test.pvalue,
        confidence_level=level,
        plan=str(contest.plan),
        n_samples=found.n,
        notes=notes_on_pooling(contest),
    )
