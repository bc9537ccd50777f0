"""Several algorithms: does any differ, and which pairs do?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..results import OmnibusTest, Ranking, RankPair
from ..stats import pvalues
from ..stats import ranking as kernel
from ..stats.kernels import Floats
from ..stats.sequential import Ranks
from .table import Missing, ScoresLike, Table, read

Omnibus: TypeAlias = Literal["iman_davenport", "chi2"]
Adjust: TypeAlias = Literal["holm", "hochberg", "bh"]

# Below these the distributions of the statistics are rough (Demsar 2006, sect. 3.2.2).
_FEW_DATASETS, _FEW_ALGORITHMS = 10, 5
_ADJUST = {
    "holm": (pvalues.holm, "Holm's step-down", "Holm 1979"),
    "hochberg": (pvalues.hochberg, "Hochberg's step-up", "Hochberg 1988"),
    "bh": (pvalues.benjamini_hochberg, "Benjamini and Hochberg's false discovery rate", "Benjamini & Hochberg 1995"),
}


def friedman(
    scores: ScoresLike,
    *,
    method: Omnibus = "iman_davenport",
    ties: bool = True,
    alpha: float = 0.05,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Whether any of several algorithms differs from the others over data sets, by their ranks.

    Friedman's chi2, or the F that Iman and Davenport (1980) made of it because chi2 is too careful.

    Parameters
    ----------
    scores
        One score of every algorithm on every data set: a data frame with a row a data set and a column an algorithm (names
        of the data sets in the first column of text, or in the index), the path of such a .csv or .parquet file, a dict of
        such columns, a matrix, or a list or dict of Predictions, one a data set, with the same configurations.
    method
        ``iman_davenport`` or ``chi2``.
    ties
        Correct the statistic for ties, as scipy and R do; Demsar's printed numbers come without.
    alpha
        Error rate of the decision.
    greater_is_better
        False for losses. Predictions know it from the metric.
    metric
        How Predictions are scored.
    algorithms, datasets
        Names for a matrix. For a table, the columns to compare, and the names of the data sets or the column that holds them.
    missing
        ``refuse`` missing scores, or ``drop`` the data sets that have them.

    Examples
    --------
    >>> import outfold as of
    >>> scores = {"tree": [0.81, 0.70, 0.90, 0.66], "forest": [0.84, 0.75, 0.91, 0.71], "bayes": [0.80, 0.72, 0.85, 0.60]}
    >>> of.rank.friedman(scores).mean_ranks
    array([2.25, 1.  , 2.75])
    """
    table = read(
        scores,
        method="friedman",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    _check_alpha(alpha)
    found = kernel.score_ranks(table.gains, table.slack)
    omnibus = _omnibus(found, method, ties)
    words, reference = _OMNIBUS[method]
    return _ranking(
        table,
        found,
        omnibus,
        method="friedman",
        description=f"{words}, {'corrected' if ties else 'not corrected'} for ties",
        reference=reference,
        alpha=alpha,
        notes=_notes(table, found, omnibus, method, ties),
    )


def nemenyi(
    scores: ScoresLike,
    *,
    alpha: float = 0.05,
    method: Omnibus = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which pairs of algorithms differ, by one critical difference of mean ranks for all of them (Nemenyi 1963).

    CD = q_alpha sqrt(k (k + 1) / (6 N)), q_alpha the studentized range over sqrt(2) (Demsar 2006, sect. 3.2.2). p values are
    adjusted for all pairs by the same distribution.

    Parameters
    ----------
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    alpha
        Error rate over all pairs.
    method, ties
        The omnibus test printed beside it, as in `friedman`.
    """
    table = read(
        scores,
        method="nemenyi",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    k = len(table.algorithms)
    return _post_hoc(
        table,
        "nemenyi",
        alpha=alpha,
        omnibus=(method, ties),
        adjust=lambda z, _: kernel.nemenyi_pvalues(z, k),
        quantile=lambda: kernel.nemenyi_quantile(alpha, k),
        description="Nemenyi's test of all pairs",
        reference="Nemenyi 1963; Demsar 2006",
    )


def bonferroni_dunn(
    scores: ScoresLike,
    control: str | int,
    *,
    alpha: float = 0.05,
    method: Omnibus = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which algorithms differ from a control, by one critical difference of mean ranks (Dunn 1961).

    CD = z sqrt(k (k + 1) / (6 N)), z the normal quantile at alpha / (2 (k - 1)). p values are multiplied by k - 1. `holm` with
    the same control finds at least as much.

    Parameters
    ----------
    control
        The algorithm that all others are compared with, by name or position.
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    alpha
        Error rate over all comparisons.
    method, ties
        The omnibus test printed beside it, as in `friedman`.
    """
    table = read(
        scores,
        method="bonferroni_dunn",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    k = len(table.algorithms)
    return _post_hoc(
        table,
        "bonferroni_dunn",
        alpha=alpha,
        omnibus=(method, ties),
        control=control,
        adjust=lambda _, p: np.minimum((k - 1) * p, 1.0),
        quantile=lambda: kernel.bonferroni_dunn_quantile(alpha, k),
        description="Bonferroni-Dunn test against the control",
        reference="Dunn 1961; Demsar 2006",
    )


def holm(
    scores: ScoresLike,
    control: str | int | None = None,
    *,
    adjust: Adjust = "holm",
    alpha: float = 0.05,
    method: Omnibus = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which algorithms differ, all pairs or from a control, with p values of mean rank differences adjusted step by step.

    z = (R_a - R_b) / sqrt(k (k + 1) / (6 N)), p from the normal distribution, adjusted by Holm's (1979) method (Demsar 2006,
    sect. 3.2.2).

    Parameters
    ----------
    control
        The algorithm that all others are compared with; all pairs where None.
    adjust
        ``holm``, ``hochberg`` (a little more power), or ``bh``, which bounds the share of false discoveries, not their chance.
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    alpha
        Error rate over all comparisons.
    method, ties
        The omnibus test printed beside it, as in `friedman`.
    """
    if adjust not in _ADJUST:
        raise InputError(f"adjust must be 'holm', 'hochberg' or 'bh'; got {adjust!r}.")
    table = read(
        scores,
        method="holm",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    correct, words, reference = _ADJUST[adjust]
    return _post_hoc(
        table,
        "holm",
        alpha=alpha,
        omnibus=(method, ties),
        control=control,
        adjust=lambda _, p: correct(p),
        description=f"mean rank differences of {'all pairs' if control is None else 'all against the control'}, {words}",
        reference=f"{reference}; Demsar 2006",
    )


# -- parts ----------------------------------------------------------------------------------------------

_OMNIBUS = {
    "iman_davenport": ("Friedman's test in Iman and Davenport's form", "Friedman 1937; Iman & Davenport 1980"),
    "chi2": ("Friedman's test", "Friedman 1937"),
}


def _check_alpha(alpha: float) -> None:
    if not isinstance(alpha, (int, float, np.number)) or not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1, such as 0.05; got {alpha!r}.")


def _omnibus(found: Ranks, method: str, ties: bool) -> OmnibusTest:
    from scipy.special import chdtrc, fdtrc

    if method not in _OMNIBUS:
        raise InputError(f"method must be 'iman_davenport' or 'chi2'; got {method!r}.")
    n, k = found.n_blocks, len(found.sums)
    chi2 = kernel.friedman_chi2(found, ties)
    if method == "chi2":
        return OmnibusTest("Friedman", "chi2", chi2, (k - 1,), float(chdtrc(k - 1, chi2)))
    F, df = kernel.iman_davenport(chi2, n, k), (k - 1, (k - 1) * (n - 1))
    p = float(fdtrc(*df, F)) if np.isfinite(F) else kernel.agreement_probability(found.sums, n)
    return OmnibusTest("Iman-Davenport", "F", F, df, p)


def _post_hoc(
    table: Table,
    name: str,
    *,
    alpha: float,
    omnibus: tuple[str, bool],
    adjust: Callable[[Floats, Floats], Floats],
    description: str,
    reference: str,
    control: str | int | None = None,
    quantile: Callable[[], float] | None = None,
) -> Ranking:
    _check_alpha(alpha)
    found = kernel.score_ranks(table.gains, table.slack)
    n, k = found.n_blocks, len(found.sums)
    mean, error = found.sums / n, kernel.rank_error(n, k)
    held = None if control is None else table.index(control)
    pairs = list(combinations(range(k), 2)) if held is None else [(held, j) for j in range(k) if j != held]
    first, second = np.array(pairs).T
    difference = mean[first] - mean[second]
    z = difference / error
    raw = kernel.normal_pvalues(z)
    corrected = adjust(z, raw)
    different = corrected <= alpha
    rows = zip(pairs, difference, z, raw, corrected, different, strict=True)
    names = table.algorithms
    overall = _omnibus(found, *omnibus)
    return _ranking(
        table,
        found,
        overall,
        method=name,
        description=description,
        reference=reference,
        alpha=float(alpha),
        pairs=tuple(
            RankPair(names[i], names[j], float(d), float(s), float(p), float(q), bool(told))
            for (i, j), d, s, p, q, told in rows
        ),
        cd=None if quantile is None else quantile() * error,
        groups=_groups(names, mean, pairs, different, held),
        control=None if held is None else names[held],
        notes=(*_notes(table, found, overall, *omnibus), *_post_hoc_notes(overall, alpha, k)),
    )


def _groups(
    names: tuple[str, ...],
    mean: Floats,
    pairs: list[tuple[int, int]],
    different: NDArray[np.bool_],
    control: int | None,
) -> tuple[tuple[str, ...], ...]:
    """Names not told apart, best first: runs in rank order, or those not told from the control."""
    order = np.argsort(mean, kind="stable")
    told = np.zeros((len(names), len(names)), dtype=bool)
    for (i, j), one in zip(pairs, different, strict=True):
        told[i, j] = told[j, i] = one
    if control is not None:
        alike = tuple(names[j] for j in order if not told[control, j])
        return (alike,) if len(alike) > 1 else ()
    runs = kernel.runs_not_told_apart(told[np.ix_(order, order)])
    return tuple(tuple(names[j] for j in order[first : last + 1]) for first, last in runs)


def _ranking(table: Table, found: Ranks, omnibus: OmnibusTest, **parts: object) -> Ranking:
    return Ranking(
        algorithms=table.algorithms,
        mean_ranks=found.sums / found.n_blocks,
        mean_scores=table.scores.mean(axis=0),
        datasets=table.datasets,
        omnibus=omnibus,
        greater_is_better=table.greater_is_better,
        metric=table.metric,
        **parts,  # type: ignore[arg-type]  # the callers are in this module
    )


def _notes(table: Table, found: Ranks, omnibus: OmnibusTest, method: str, ties: bool) -> tuple[Note, ...]:
    n, k = found.n_blocks, len(found.sums)
    notes = list(table.notes)
    if n < _FEW_DATASETS or (method == "chi2" and k < _FEW_ALGORITHMS):
        notes.append(
            Note(
                "OF351",
                f"{formatting.count(n, 'data set')} and {formatting.count(k, 'algorithm')}: p values of mean ranks are rough "
                f"below {_FEW_DATASETS} data sets"
                + (f" or {_FEW_ALGORITHMS} algorithms." if method == "chi2" else "."),
            )
        )
    tied = kernel.tied_rows(table.gains, table.slack)
    if tied:
        how = "the omnibus test is corrected for them" if ties else "the omnibus test ignores them and is too careful"
        notes.append(Note("OF352", f"{tied} of {formatting.count(n, 'data set')} have tied scores; {how}."))
    if omnibus.statistic_name == "F" and not np.isfinite(omnibus.statistic):
        notes.append(
            Note(
                "OF356",
                "all data sets rank the algorithms alike: F is infinite, p is the exact chance of such agreement.",
            )
        )
    return tuple(notes)


def _post_hoc_notes(omnibus: OmnibusTest, alpha: float, k: int) -> tuple[Note, ...]:
    notes = []
    if omnibus.pvalue > alpha:
        p = formatting.pvalue(omnibus.pvalue)
        notes.append(
            Note("OF353", f"the omnibus test found no difference (p = {p}); what the pairs show is at most a hint.")
        )
    if k == 2:
        notes.append(Note("OF355", "ranks of two algorithms tell only who won; rank.wilcoxon uses the sizes too."))
    return tuple(notes)
