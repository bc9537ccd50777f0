"""Two algorithms: by how much do they differ over data sets?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .. import formatting
from ..arguments import check_count, check_level
from ..data.notes import Note
from ..exceptions import InputError
from ..metrics import MetricLike
from ..results import Comparison, Interval, Probabilities, Wins
from ..stats import ranking as kernel
from ..stats.kernels import Floats
from ..stats.ranking import ZeroMethod
from .table import Missing, ScoresLike, Table, read

# Up to so many differences "auto" is exact: all signs are counted, ties or not.
_EXACT = 50


def wilcoxon(
    scores: ScoresLike,
    a: str | int,
    b: str | int,
    *,
    zero_method: ZeroMethod = "wilcox",
    method: Literal["auto", "exact", "asymptotic"] = "auto",
    correction: bool = False,
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """The median difference of two algorithms over data sets, by Wilcoxon's signed rank test (1945).

    The difference is the Hodges-Lehmann estimate, the median of the means of all pairs of differences; its interval holds the
    values that the test for differences without ties would not reject. Both leave out data sets without a difference where
    the test does (``wilcox``), and count them else. Differences that are equal but for rounding are tied.

    Parameters
    ----------
    a, b
        Two algorithms, by name or position.
    zero_method
        Data sets without a difference are left out (``wilcox``), ranked and then left out (``pratt``), or ranked and shared
        by both sides (``zsplit``).
    method
        ``exact`` counts all signs the ranks could have had, ties and zeros as they are; ``asymptotic`` is the normal
        approximation with the correction for ties; ``auto`` is exact up to 50 data sets. The interval is exact up to 50
        differences, by the normal approximation above, whatever the method.
    correction
        Continuity correction of the normal approximation.
    confidence_level
        Of the interval and, as 1 - alpha, of the decision.
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    """
    _check_choice("zero_method", zero_method, ("wilcox", "pratt", "zsplit"))
    _check_choice("method", method, ("auto", "exact", "asymptotic"))
    table = read(
        scores,
        method="wilcoxon",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    pair = _Pair(table, a, b, confidence_level)
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


def sign(
    scores: ScoresLike,
    a: str | int,
    b: str | int,
    *,
    ties: Literal["split", "drop"] = "split",
    confidence_level: float = 0.95,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """The median difference of two algorithms over data sets, by counting who wins: the exact sign test.

    Asks nothing of the sizes of the differences, and so finds less than `wilcoxon`. The median and its interval are those of
    the differences that the test counts.

    Parameters
    ----------
    a, b
        Two algorithms, by name or position.
    ties
        Data sets without a difference are ``split`` between the two, one of an odd number left out (Demsar 2006, sect. 3.1.4),
        or all left out (``drop``, the textbook test).
    confidence_level
        Of the interval and, as 1 - alpha, of the decision.
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    """
    _check_choice("ties", ties, ("split", "drop"))
    table = read(
        scores,
        method="sign",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    pair = _Pair(table, a, b, confidence_level)
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


def signed_rank_bayes(
    scores: ScoresLike,
    a: str | int,
    b: str | int,
    *,
    rope: float = 0.01,
    prior: float = 0.5,
    n_draws: int = 50_000,
    rng: int = 0,
    greater_is_better: bool | None = None,
    metric: MetricLike | None = None,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | str | None = None,
    missing: Missing = "refuse",
) -> Comparison:
    """How probable it is that one of two algorithms is better over data sets, or that they are practically equivalent.

    The Bayesian signed rank test (Benavoli et al. 2017): weights of the data sets are drawn from a Dirichlet distribution, and
    in every draw the mean of two differences lies most often above the region of practical equivalence, within it, or below
    it; the probabilities are the shares of draws. ``details["expected"]`` holds the mean share of pairs instead.

    Parameters
    ----------
    a, b
        Two algorithms, by name or position.
    rope
        Differences up to this size do not matter, in units of the scores; 0.01 is a percent of accuracy.
    prior
        Weight of a further data set without a difference, 0.5 as in the paper; 0 for none.
    n_draws, rng
        Posterior draws and their seed; 50,000 draws are good to about 0.005.
    scores, greater_is_better, metric, algorithms, datasets, missing
        As in `friedman`.
    """
    for name, value in (("rope", rope), ("prior", prior)):
        if not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise InputError(f"{name} must be a number of at least 0; got {value!r}.")
    draws = check_count(n_draws, "n_draws", 100)
    table = read(
        scores,
        method="signed_rank_bayes",
        algorithms=algorithms,
        datasets=datasets,
        metric=metric,
        greater_is_better=greater_is_better,
        missing=missing,
    )
    pair = _Pair(table, a, b, 0.95)
    # The draws are of gains, so that "above" is "better" for losses too.
    generator = np.random.default_rng(check_count(rng, "rng", 0))
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


# -- parts ----------------------------------------------------------------------------------------------

_ZEROS = {"wilcox": "left out", "pratt": "ranked, then left out", "zsplit": "ranked and shared"}


def _check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


class _Pair:
    """The differences of two algorithms over data sets."""

    def __init__(self, table: Table, a: str | int, b: str | int, confidence_level: float) -> None:
        i, j = table.index(a), table.index(b)
        if i == j:
            raise InputError(f"two different algorithms are needed; both are {table.algorithms[i]!r}.")
        self.level = check_level(confidence_level)
        self._table = table
        self._names = table.algorithms[i], table.algorithms[j]
        self._scores = float(table.scores[:, i].mean()), float(table.scores[:, j].mean())
        self.difference: Floats = kernel.settled_differences(table.scores[:, i], table.scores[:, j], table.slack)
        self.gain: Floats = self.difference if table.greater_is_better else -self.difference
        counts = [int(np.sum(self.gain * s > 0)) for s in (1, -1)]
        self.wins = Wins(counts[0], len(self.gain) - sum(counts), counts[1], "data set")

    def comparison(self, *, interval: tuple[float, float] | None = None, **parts: Any) -> Comparison:
        """The result, with what all tests of two algorithms have in common."""
        sd = float(np.std(self.difference, ddof=1))
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
            notes=(*self._table.notes, *self._notes(interval, "pvalue" in parts)),
            **parts,
        )

    def _notes(self, interval: tuple[float, float] | None, tested: bool) -> tuple[Note, ...]:
        notes = []
        total = formatting.count(len(self.difference), "data set")
        if tested and self.wins.equal:
            notes.append(Note("OF357", f"{self.wins.equal} of {total} show no difference; how they count is a choice."))
        if tested and interval is None:
            notes.append(Note("OF358", f"{total} are too few for an interval at {100 * self.level:g}%."))
        return tuple(notes)
