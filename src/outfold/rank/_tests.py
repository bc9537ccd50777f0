"""Tests of algorithms over data sets: does any differ, which pairs do, and by how much do these two?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from itertools import combinations
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import formatting
from ..arguments import RngLike, as_seed, check_alpha, check_choice, check_confidence_level, check_count
from ..data.notes import Note
from ..docstrings import fill_docstring
from ..exceptions import InputError, got, invalid
from ..metrics import MetricLike
from ..results import Comparison, Interval, OmnibusTest, Probabilities, Ranking, RankPair, Wins
from ..stats import pvalues
from ..stats import rank_tests as kernel
from ..stats.kernels import Floats
from ..stats.rank_tests import ZeroMethod
from ..stats.sequential import Ranks
from ._table import Missing, ScoresLike, ScoreTable, read_scores

P = ParamSpec("P")
T = TypeVar("T")

OmnibusMethod: TypeAlias = Literal["iman_davenport", "chi2"]
RankAdjust: TypeAlias = Literal["holm", "hochberg", "bh"]

# Below these the distributions of the statistics are rough (Demsar 2006, sect. 3.2.2).
_FEW_DATASETS, _FEW_ALGORITHMS = 10, 5
# Up to this number of differences "auto" is exact: all signs are counted, ties or not.
_EXACT = 50
_ADJUST = {
    "holm": (pvalues.holm, "Holm's step-down", "Holm 1979"),
    "hochberg": (pvalues.hochberg, "Hochberg's step-up", "Hochberg 1988"),
    "bh": (pvalues.benjamini_hochberg, "Benjamini and Hochberg's false discovery rate", "Benjamini & Hochberg 1995"),
}
_OMNIBUS = {
    "iman_davenport": ("Friedman's test in Iman and Davenport's form", "Friedman 1937; Iman & Davenport 1980"),
    "chi2": ("Friedman's test", "Friedman 1937"),
}
_ZEROS = {"wilcox": "left out", "pratt": "ranked, then left out", "zsplit": "ranked and shared"}

_TEXTS = {
    "scores": """scores : data frame, path, dict, array-like, or list or dict of Predictions
    One score of every algorithm on every data set: a data frame with a row for each data set and a column for each
    algorithm (names of the data sets in the first column of text, or in the index), the path of such a .csv or
    .parquet file, a dict of such columns, a matrix, or one Predictions for each data set.""",
    "metric": """metric : str, callable, Metric or None
    How Predictions are scored. For a table of scores, the metric they are of, which gives their name and direction;
    None where greater scores are better, or where `greater_is_better` says it.""",
    "pair": """a, b : str or int
    Two algorithms, by name or position. The difference is the score of `a` minus the score of `b`.""",
    "omnibus": """method : {"iman_davenport", "chi2"}
    The test of all algorithms at once: Friedman's chi2, or the F that Iman and Davenport made of it because chi2 is
    conservative.
ties : bool
    Whether to correct that test for ties, as scipy and R do; Demsar's printed numbers come without.""",
    "alpha": "alpha : float\n    Error rate of the decision, or over all comparisons.",
    "table": """greater_is_better : bool or None
    False for losses; None follows the metric.
algorithms : sequence of str or None
    Names for the columns of a matrix; for a table, the columns to compare.
datasets : sequence of str, str or None
    Names of the data sets, or the column of the table that holds them.
missing : {"refuse", "drop"}
    Whether missing scores are an error, or drop the data sets that have them.""",
    "ranking": "Ranking\n    Mean ranks, the test of all algorithms at once, the pairs compared, and caveats.",
    "comparison": "Comparison\n    Difference, interval, p value, wins and caveats.",
    "example": """>>> scores = {
...     "tree": [0.81, 0.70, 0.90, 0.66, 0.75, 0.62],
...     "forest": [0.84, 0.75, 0.91, 0.71, 0.77, 0.69],
...     "bayes": [0.80, 0.72, 0.85, 0.60, 0.70, 0.63],
... }""",
}


def _public(function: Callable[P, T]) -> Callable[P, T]:
    """Fill the docstring, and say where the metric belongs if it is left out."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError:
            if len(args) == 3:
                remedy = f"Call `{function.__name__}(scores, None, {args[1]!r}, {args[2]!r})`."
                raise invalid("metric", "is the second argument", got(args[1]) + " there", remedy) from None
            raise
        return function(*args, **kwargs)

    return fill_docstring(checked, _TEXTS)


@_public
def friedman(
    scores: ScoresLike,
    metric: MetricLike | None = None,
    *,
    method: OmnibusMethod = "iman_davenport",
    ties: bool = True,
    alpha: float = 0.05,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Whether any of several algorithms differs from the others over data sets, by their ranks.

    Friedman's chi2 [2]_, or the F that Iman and Davenport [3]_ made of it, because chi2 is conservative; see [1]_.

    Parameters: {scores, metric, omnibus, alpha, table}
    Returns: {ranking}
    References: {demsar2006, friedman1937, iman1980}

    Examples: {outfold, example}
    >>> of.rank.friedman(scores, "accuracy").order
    ('forest', 'tree', 'bayes')
    """
    check_choice(method, tuple(_OMNIBUS), "method")
    table = read_scores(scores, metric, "friedman", algorithms, datasets, greater_is_better, missing)
    words, reference = _OMNIBUS[method]
    described = f"{words}, {'corrected' if ties else 'not corrected'} for ties"
    return _ranking(table, "friedman", described, reference, alpha, (method, ties))


@_public
def nemenyi(
    scores: ScoresLike,
    metric: MetricLike | None = None,
    *,
    alpha: float = 0.05,
    method: OmnibusMethod = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which pairs of algorithms differ, by one critical difference of mean ranks for all of them.

    CD = q_alpha sqrt(k (k + 1) / (6 N)), q_alpha the studentized range over sqrt(2) [2]_ (sect. 3.2.2 of [1]_). P values are
    adjusted for all pairs by the same distribution.

    Parameters: {scores, metric, alpha, omnibus, table}
    Returns: {ranking}
    References: {demsar2006, nemenyi1963}

    Examples: {outfold, example}
    >>> round(of.rank.nemenyi(scores, "accuracy").cd, 3)
    1.353
    """
    table = read_scores(scores, metric, "nemenyi", algorithms, datasets, greater_is_better, missing)
    return _ranking(
        table,
        "nemenyi",
        "Nemenyi's test of all pairs",
        "Nemenyi 1963; Demsar 2006",
        alpha,
        (method, ties),
        adjust=lambda z, _, k: kernel.nemenyi_pvalues(z, k),
        quantile=kernel.nemenyi_quantile,
    )


@_public
def bonferroni_dunn(
    scores: ScoresLike,
    metric: MetricLike | None = None,
    *,
    control: str | int,
    alpha: float = 0.05,
    method: OmnibusMethod = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which algorithms differ from a control, by one critical difference of mean ranks.

    CD = z sqrt(k (k + 1) / (6 N)), z the normal quantile at alpha / (2 (k - 1)) [2]_. P values are multiplied by k - 1. `holm`
    with the same control finds at least as much [1]_.

    Parameters: {scores, metric}
    control : str or int
        The algorithm that all others are compared with, by name or position.
    {alpha, omnibus, table}
    Returns: {ranking}
    References: {demsar2006, dunn1961}

    Examples: {outfold, example}
    >>> round(of.rank.bonferroni_dunn(scores, "accuracy", control="tree").cd, 3)
    1.294
    """
    table = read_scores(scores, metric, "bonferroni_dunn", algorithms, datasets, greater_is_better, missing)
    return _ranking(
        table,
        "bonferroni_dunn",
        "Bonferroni-Dunn test against the control",
        "Dunn 1961; Demsar 2006",
        alpha,
        (method, ties),
        control=control,
        adjust=lambda _, p, k: np.minimum((k - 1) * p, 1.0),
        quantile=kernel.bonferroni_dunn_quantile,
    )


@_public
def holm(
    scores: ScoresLike,
    metric: MetricLike | None = None,
    *,
    control: str | int | None = None,
    adjust: RankAdjust = "holm",
    alpha: float = 0.05,
    method: OmnibusMethod = "iman_davenport",
    ties: bool = True,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Ranking:
    """Which algorithms differ, all pairs or from a control, with p values of mean rank differences adjusted step by step.

    z = (R_a - R_b) / sqrt(k (k + 1) / (6 N)), p from the normal distribution, adjusted by Holm's method [2]_ (sect. 3.2.2 of
    [1]_).

    Parameters: {scores, metric}
    control : str, int or None
        The algorithm that all others are compared with; None compares all pairs.
    adjust : {"holm", "hochberg", "bh"}
        ``hochberg`` has a little more power; ``bh`` bounds the share of false discoveries, not their chance.
    {alpha, omnibus, table}
    Returns: {ranking}
    References: {demsar2006, holm1979}

    Examples: {outfold, example}
    >>> [pair.better for pair in of.rank.holm(scores, "accuracy", control="bayes").pairs]
    [None, 'forest']
    """
    check_choice(adjust, tuple(_ADJUST), "adjust")
    table = read_scores(scores, metric, "holm", algorithms, datasets, greater_is_better, missing)
    correct, words, reference = _ADJUST[adjust]
    described = f"mean rank differences of {'all pairs' if control is None else 'all against the control'}, {words}"
    how: dict[str, Any] = {"control": control, "adjust": lambda _, p, k: correct(p)}
    return _ranking(table, "holm", described, f"{reference}; Demsar 2006", alpha, (method, ties), **how)


def _omnibus(found: Ranks, method: str, ties: bool) -> OmnibusTest:
    from scipy.special import chdtrc, fdtrc

    check_choice(method, tuple(_OMNIBUS), "method")
    n, k = found.n_blocks, len(found.sums)
    chi2 = kernel.friedman_chi2(found, ties)
    if method == "chi2":
        return OmnibusTest("Friedman", "chi2", chi2, (k - 1,), float(chdtrc(k - 1, chi2)))
    F, df = kernel.iman_davenport(chi2, n, k), (k - 1, (k - 1) * (n - 1))
    p = float(fdtrc(*df, F)) if np.isfinite(F) else kernel.agreement_probability(found.sums, n)
    return OmnibusTest("Iman-Davenport", "F", F, df, p)


def _ranking(
    table: ScoreTable,
    method: str,
    description: str,
    reference: str,
    alpha: float,
    omnibus: tuple[str, bool],
    *,
    adjust: Callable[[Floats, Floats, int], Floats] | None = None,
    control: str | int | None = None,
    quantile: Callable[[float, int], float] | None = None,
) -> Ranking:
    """Mean ranks and the test of all at once; the pairs too, where `adjust` says what their p values become."""
    check_alpha(alpha)
    found = kernel.score_ranks(table.gains, table.slack)
    n, k = found.n_blocks, len(found.sums)
    mean, error, names = found.sums / n, kernel.rank_error(n, k), table.algorithms
    overall = _omnibus(found, *omnibus)
    notes = _notes(table, found, overall, *omnibus)
    result = Ranking(
        algorithms=names,
        mean_ranks=mean,
        mean_scores=table.scores.mean(axis=0),
        datasets=table.datasets,
        omnibus=overall,
        greater_is_better=table.greater_is_better,
        metric=table.metric,
        method=method,
        description=description,
        reference=reference,
        alpha=float(alpha),
        notes=notes,
    )
    if adjust is None:
        return result
    held = None if control is None else table.index(control)
    pairs = list(combinations(range(k), 2)) if held is None else [(held, j) for j in range(k) if j != held]
    first, second = np.array(pairs).T
    difference = mean[first] - mean[second]
    z = difference / error
    raw = pvalues.normal_tails(z).two_sided
    corrected = adjust(z, raw, k)
    different = corrected <= alpha
    rows = zip(pairs, difference, z, raw, corrected, different, strict=True)
    return replace(
        result,
        pairs=tuple(
            RankPair(names[i], names[j], float(d), float(s), float(p), float(q), bool(told))
            for (i, j), d, s, p, q, told in rows
        ),
        cd=None if quantile is None else quantile(alpha, k) * error,
        groups=_groups(names, mean, pairs, different, held),
        control=None if held is None else names[held],
        notes=(*notes, *_post_hoc_notes(overall, alpha, k)),
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


def _notes(table: ScoreTable, found: Ranks, omnibus: OmnibusTest, method: str, ties: bool) -> tuple[Note, ...]:
    n, k = found.n_blocks, len(found.sums)
    notes = list(table.notes)
    sets, few = formatting.count(n, "data set"), f"below {_FEW_DATASETS} data sets"
    if method == "chi2":
        few += f" or {_FEW_ALGORITHMS} algorithms"
    if n < _FEW_DATASETS or (method == "chi2" and k < _FEW_ALGORITHMS):
        have = f"{sets} and {formatting.count(k, 'algorithm')}"
        notes.append(Note("OF351", f"{have}: p values of mean ranks are rough {few}."))
    tied = kernel.tied_rows(table.gains, table.slack)
    if tied:
        how = "is corrected for them" if ties else "ignores them and is too conservative"
        notes.append(Note("OF352", f"{tied} of {sets} have tied scores; the omnibus test {how}."))
    if omnibus.statistic_name == "F" and not np.isfinite(omnibus.statistic):
        same = "all data sets rank the algorithms in the same order"
        notes.append(Note("OF356", f"{same}: F is infinite, p is the exact chance of such agreement."))
    return tuple(notes)


def _post_hoc_notes(omnibus: OmnibusTest, alpha: float, k: int) -> tuple[Note, ...]:
    notes = []
    if omnibus.pvalue > alpha:
        none = f"the omnibus test found no difference (p = {formatting.pvalue(omnibus.pvalue)})"
        notes.append(Note("OF353", f"{none}; what the pairs show is at most a hint."))
    if k == 2:
        notes.append(Note("OF355", "ranks of two algorithms ignore the size of a difference; rank.wilcoxon uses it."))
    return tuple(notes)


@_public
def wilcoxon(
    scores: ScoresLike,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    zero_method: ZeroMethod = "wilcox",
    method: Literal["auto", "exact", "asymptotic"] = "auto",
    correction: bool = False,
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """The median difference of two algorithms over data sets, by Wilcoxon's signed rank test.

    The difference is the Hodges-Lehmann estimate, the median of the means of all pairs of differences. Its interval holds the
    values that the test for differences without ties would not reject [2]_. Both leave out data sets without a difference
    where the test does (``wilcox``), and count them else. Differences that are equal but for rounding are tied.

    Parameters: {scores, metric, pair}
    zero_method : {"wilcox", "pratt", "zsplit"}
        Data sets without a difference are left out (``wilcox``), ranked and then left out (``pratt``), or ranked and shared
        by both sides (``zsplit``).
    method : {"auto", "exact", "asymptotic"}
        ``exact`` counts all signs the ranks could have had, with ties and zeros; ``asymptotic`` is the normal approximation
        with the correction for ties; ``auto`` is exact up to 50 data sets. The interval is exact up to 50 differences and
        approximate above, whatever the method.
    correction : bool
        Whether to use the continuity correction of the normal approximation.
    {test_level, table}
    Returns: {comparison}
    References: {demsar2006, wilcoxon1945}

    Examples: {outfold, example}
    >>> of.rank.wilcoxon(scores, "accuracy", "forest", "tree")
    <Comparison wilcoxon forest - tree: accuracy +0.0400, p = 0.0312>
    """
    check_choice(zero_method, tuple(_ZEROS), "zero_method")
    check_choice(method, ("auto", "exact", "asymptotic"), "method")
    table = read_scores(scores, metric, "wilcoxon", algorithms, datasets, greater_is_better, missing)
    pair = _AlgorithmPair(table, a, b, confidence_level)
    found = kernel.signed_ranks(pair.difference, zero_method)
    exact = method == "exact" or (method == "auto" and len(pair.difference) <= _EXACT)
    counted = pair.difference[pair.difference != 0] if zero_method == "wilcox" else pair.difference
    how = "exact" if exact else f"normal approximation{', continuity corrected' if correction else ''}"
    return pair.comparison(
        method="wilcoxon",
        description=f"Wilcoxon's signed rank test, {how}, zeros {_ZEROS[zero_method]}",
        reference="Wilcoxon 1945; Demsar 2006",
        difference=kernel.pseudomedian(counted),
        interval=kernel.walsh_interval(counted, pair.level),
        statistic_name="W",
        statistic=found.statistic,
        pvalue=kernel.signed_rank_exact(found) if exact else kernel.signed_rank_asymptotic(found, correction),
        details={"rank_sums": [found.plus, found.minus], "zero_method": zero_method, "exact": exact},
    )


@_public
def sign(
    scores: ScoresLike,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    ties: Literal["split", "drop"] = "split",
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """The median difference of two algorithms over data sets, by counting who wins: the exact sign test.

    It asks nothing of the sizes of the differences, and so finds less than `wilcoxon`. The median and its interval are those of
    the differences that the test counts.

    Parameters: {scores, metric, pair}
    ties : {"split", "drop"}
        Data sets without a difference are ``split`` between the two, one of an odd number left out (sect. 3.1.4 of [1]_), or
        all left out (``drop``, the textbook test).
    {test_level, table}
    Returns: {comparison}
    References: {demsar2006}

    Examples: {outfold, example}
    >>> of.rank.sign(scores, "accuracy", "forest", "tree")
    <Comparison sign forest - tree: accuracy +0.0400, p = 0.0312>
    """
    check_choice(ties, ("split", "drop"), "ties")
    table = read_scores(scores, metric, "sign", algorithms, datasets, greater_is_better, missing)
    pair = _AlgorithmPair(table, a, b, confidence_level)
    differing = pair.difference[pair.difference != 0]
    half = pair.wins.equal // 2 if ties == "split" else 0
    counted = np.append(differing, np.zeros(2 * half))
    better, worse = pair.wins.better + half, pair.wins.worse + half
    return pair.comparison(
        method="sign",
        description=f"sign test, exact, ties {'split' if ties == 'split' else 'left out'}",
        reference="Demsar 2006",
        difference=float(np.median(counted)) if len(counted) else 0.0,
        interval=kernel.median_interval(counted, pair.level),
        statistic_name="wins",
        statistic=float(better),
        pvalue=kernel.sign_pvalue(better, worse),
        details={"counted": [better, worse], "ties": ties},
    )


@_public
def signed_rank_bayes(
    scores: ScoresLike,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    rope: float = 0.01,
    prior: float = 0.5,
    n_resamples: int = 50_000,
    rng: RngLike = 0,
    greater_is_better: bool | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """How probable it is that one of two algorithms is better over data sets, or that they are practically equivalent.

    The Bayesian signed rank test [1]_: weights of the data sets are drawn from a Dirichlet distribution. In each draw the mean
    of two differences lies most often above the region of practical equivalence, within it, or below it. The probabilities are
    the shares of draws; ``details["expected"]`` holds the mean share of pairs instead. The test decides for an outcome only if
    that is more probable than 0.95; otherwise it is undecided.

    Parameters: {scores, metric, pair}
    rope : float
        Differences up to this size do not matter, in units of the scores; 0.01 is one percent of accuracy.
    prior : float
        Weight of a further data set without a difference, 0.5 as in the paper; 0 for none.
    n_resamples : int
        Number of posterior draws; 50,000 are good to about 0.005.
    {rng, table}
    Returns: {comparison}
    References: {benavoli2017}

    Examples: {outfold, example}
    >>> found = of.rank.signed_rank_bayes(scores, "accuracy", "forest", "tree", n_resamples=1000)
    >>> print(found.probabilities)
    P(better) 0.9900, equivalent 0.0100, P(worse) 0.0000
    >>> found.decision
    'forest is better with probability 0.9900'
    """
    for name, value in (("rope", rope), ("prior", prior)):
        if not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise invalid(name, "must be a number of at least 0", got(value))
    draws = check_count(n_resamples, "n_resamples", 100)
    table = read_scores(scores, metric, "signed_rank_bayes", algorithms, datasets, greater_is_better, missing)
    pair = _AlgorithmPair(table, a, b, 0.95)
    # The draws are of gains, so that "above" is "better" for losses too.
    generator = np.random.default_rng(as_seed(rng))
    shares = kernel.signed_rank_posterior(pair.gain, float(rope), float(prior), draws, generator)
    better, equivalent, worse = kernel.winner_shares(shares).tolist()
    return pair.comparison(
        method="signed_rank_bayes",
        description=f"Bayesian signed rank test, rope {rope:g}, prior {prior:g}, {draws:,} draws",
        reference="Benavoli et al. 2017",
        difference=kernel.pseudomedian(pair.difference),
        rope=float(rope),
        probabilities=Probabilities(better, equivalent, worse),
        details={"expected": shares.mean(axis=0).tolist(), "prior": float(prior), "n_draws": draws},
    )


class _AlgorithmPair:
    def __init__(self, table: ScoreTable, a: str | int, b: str | int, confidence_level: float) -> None:
        i, j = table.index(a), table.index(b)
        if i == j:
            raise InputError(needed="two different algorithms are needed", given=f"both are {table.algorithms[i]!r}")
        self.level = check_confidence_level(confidence_level)
        self._table = table
        self._names = table.algorithms[i], table.algorithms[j]
        self._scores = float(table.scores[:, i].mean()), float(table.scores[:, j].mean())
        self.difference: Floats = kernel.settled_differences(table.scores[:, i], table.scores[:, j], table.slack)
        self.gain: Floats = self.difference if table.greater_is_better else -self.difference
        counts = [int(np.sum(self.gain * s > 0)) for s in (1, -1)]
        self.wins = Wins(counts[0], len(self.gain) - sum(counts), counts[1], "data set")

    def comparison(self, *, interval: tuple[float, float] | None = None, **parts: Any) -> Comparison:
        """The result, with what all tests of two algorithms have in common."""
        sd, notes = float(np.std(self.difference, ddof=1)), list(self._table.notes)
        total, equal = formatting.count(len(self.difference), "data set"), self.wins.equal
        if "pvalue" in parts and equal:
            notes.append(Note("OF357", f"{equal} of {total} show no difference; how they count is a choice."))
        if "pvalue" in parts and interval is None:
            notes.append(Note("OF358", f"{total} are too few for an interval at {100 * self.level:g}%."))
        return Comparison(
            metric=self._table.metric or "score",
            greater_is_better=self._table.greater_is_better,
            a=self._names[0],
            b=self._names[1],
            scores=self._scores,
            wins=self.wins,
            standardised=float(self.difference.mean()) / sd if sd > 0 else None,
            confidence_level=self.level,
            interval=None if interval is None else Interval(*interval),
            notes=tuple(notes),
            **parts,
        )
