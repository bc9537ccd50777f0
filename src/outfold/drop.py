"""Which configurations are hopeless, so that no more time is spent on them?

A rule is asked after every fold, ``collect(..., drop=drop.Bootstrap())``; what it drops is fitted no more. Any callable
on the predictions so far that gives the names to drop is a rule too.

| rule | drops a configuration when | needs |
| --- | --- | --- |
| `Bootstrap` | it loses against the best in nearly all bootstrap draws; the one to use | any metric |
| `NeverSelected` | no draw of the remaining folds selects it in the end; can make the estimate too high | any metric |
| `Hoeffding` | its best possible score is below the worst possible of the best | a bounded mean |
| `Friedman` | its ranks over folds are significantly worse than those of the best | 5 folds |
| `Sequential` | it is too seldom in the top group of a fold | a mean, 7 folds |
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import metrics
from .arguments import check_alpha, check_between, check_count, check_takes
from .data.draws import DrawsAre, given_counts
from .data.predictions import Predictions, State
from .docstrings import fill_common
from .exceptions import InputError, NeedError, got, invalid
from .metrics import Metric, MetricLike
from .metrics._candidates import running
from .metrics._scoring import Scoring, bind, recorded_metric
from .requirements import check_predictions
from .stats import resampling, sequential
from .stats.selection import argbest

__all__ = ["Bootstrap", "Drop", "DropRule", "Friedman", "Hoeffding", "NeverSelected", "Sequential"]

# Streams of one seed are told apart by the first word of their spawn key; fits use (repeat, fold).
_DROP_STREAM = 0xD209


@fill_common
class Drop(NamedTuple):
    """A configuration to fit no more.

    Parameters
    ----------
    config : str
        Its name.
    probability : float or None
        How sure the rule is that it is worse than `compared_with`; None where the rule has no such number.
    compared_with : str
        The best configuration at that time; empty where the rule compared with none.

    Examples: {outfold}
    >>> of.drop.Drop("tree", 0.995, "logit").config
    'tree'
    """

    config: str
    probability: float | None
    compared_with: str


@fill_common
class DropRule:
    """What drop rules have in common. A rule drops neither the current best nor all configurations.

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 2)) < [0.9, 0.3]
    >>> oof = of.from_arrays(None, correct, response="pointwise")
    >>> of.drop.Bootstrap().test(oof, repeat=0, fold=0, seed=0)
    [Drop(config='config 1', probability=1.0, compared_with='config 0')]
    """

    metric: MetricLike | None = None
    # Whether scores of whole folds are enough, as fitted models give them; other rules look at samples.
    by_fold: ClassVar[bool] = False

    def test(self, oof: Predictions, repeat: int, fold: int, seed: int) -> list[Drop]:
        """The configurations to drop, given the predictions up to and including this fold.

        Parameters
        ----------
        oof : Predictions
            Predictions so far: later folds are pending, and there are no later repeats. ``oof.plan`` is the whole plan.
        repeat, fold : int
            The fold that was finished last, and its repeat.
        seed : int
            The seed of the collection; the same predictions and seed give the same drops.
        """
        check_predictions(oof, f"drop.{type(self).__name__}")
        if len(running(oof)) < 2:
            return []
        return list(self._losers(Scoring(oof, recorded_metric(oof, self.metric)), (repeat, fold), seed))

    def check(self, oof: Predictions) -> None:
        """Refuse predictions on which the rule cannot be asked, before anything is fitted."""
        asked = recorded_metric(oof, self.metric)
        if not isinstance(asked, metrics.LiveScore):
            self._found(oof)
        elif not self.by_fold:
            needed = "needs a score of samples to drop by"
            given = f"{asked.name} is known for whole folds only, because it is computed with the fitted models"
            raise NeedError(argument=type(self).__name__, needed=needed, given=given, remedy="Use `drop.Friedman()`.")

    def _found(self, oof: Predictions) -> Metric:
        return bind(oof, recorded_metric(oof, self.metric))[0]

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        raise NotImplementedError

    def __repr__(self) -> str:
        """The rule with all it depends on; a store is continued by the same rule only."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}  # type: ignore[arg-type]
        if self.metric is not None and not isinstance(self.metric, str):
            values["metric"] = metrics.get(self.metric).name  # the text of a function holds an address
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


@fill_common
@dataclass(frozen=True, repr=False)
class Bootstrap(DropRule):
    """Drops what loses against the best in more than the share `threshold` of bootstrap draws (BBCD-CV).

    After every fold, the best configuration on the predictions so far is compared with all others on the same bootstrap
    draws of the samples (groups are drawn whole); the share of draws in which one is strictly worse estimates the
    probability that it is (Tsamardinos et al. 2018, sect. 4).

    Parameters
    ----------
    threshold : float
        Between 0.5 and 1. At 0.99 the winner of the whole cross-validation nearly always survives.
    min_predictions : int
        Number of samples that must have predictions before anything is dropped; with fewer, a drop is noise (sect. 5.2.2). The
        authors' program has no such bound: 0.
    {n_resamples, task_metric}
    draws : mapping or None
        Draws made elsewhere, by the (repeat, fold) after which they are used, to replay another program's run: arrays of shape
        (B, n), the drawn indices or how often each sample was drawn. They count the n samples that have predictions by then,
        in the order of the samples. `n_resamples` is not used then.
    draws_are : {"auto", "indices", "counts"}
        What `draws` hold; see `estimate.bbc`.
    References: {tsamardinos2018}

    Examples: {outfold}
    >>> of.drop.Bootstrap(threshold=0.95)
    Bootstrap(threshold=0.95, min_predictions=50, n_resamples=1000, metric=None)
    """

    threshold: float = 0.99
    min_predictions: int = 50
    n_resamples: int = 1000
    metric: MetricLike | None = None
    draws: Mapping[tuple[int, int], ArrayLike] | None = field(default=None, repr=False, compare=False)
    draws_are: DrawsAre = field(default="auto", repr=False)

    def __post_init__(self) -> None:
        check_between(self.threshold, "threshold", 0.99, low=0.5)
        check_count(self.min_predictions, "min_predictions", 0)
        check_count(self.n_resamples, "n_resamples", 1)
        if self.draws is not None and not isinstance(self.draws, Mapping):
            raise invalid("draws", "must be a mapping from (repeat, fold) to draws", got(self.draws))
        for cell, drawn in (self.draws or {}).items():
            numbers = np.asarray(drawn).dtype.kind in "biuf"
            if not (isinstance(cell, tuple) and len(cell) == 2 and numbers):
                raise invalid("draws", "must map (repeat, fold) to draws, arrays of numbers", got({cell: drawn}))

    def check(self, oof: Predictions) -> None:
        """Refuse predictions on which the rule cannot be asked, and draws that do not reach to the last fold but one."""
        super().check(oof)
        lacking = [] if self.draws is None else [cell for cell in oof.splits.cells[:-1] if cell not in self.draws]
        if lacking:
            raise _no_draws(lacking[0])

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        best = _best(scoring)
        if best < 0 or len(scoring.rows) < self.min_predictions:
            return
        blocks = (scoring.scores(counts) for counts in self._draws(scoring, cell, seed))
        worse = sequential.share_worse(blocks, best, scoring.metric.greater_is_better)
        for j in np.flatnonzero(worse > self.threshold):
            yield Drop(scoring.names[j], float(worse[j]), scoring.names[best])

    def _draws(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[NDArray[Any]]:
        """Blocks of draws; a stream of its own for every fold, whatever was drawn before."""
        if self.draws is not None:
            yield self._given(len(scoring.rows), cell)
            return
        bootstrap = resampling.BootstrapDraws(len(scoring.rows), _seed_of(seed, cell), scoring.group_codes())
        yield from bootstrap.blocks(self.n_resamples)

    def _given(self, n: int, cell: tuple[int, int]) -> NDArray[Any]:
        """(B, n) counts of the draws that were given for a fold."""
        assert self.draws is not None
        if cell not in self.draws:
            raise _no_draws(cell)
        return given_counts(self.draws[cell], n, self.draws_are, f"draws[{cell[0]}, {cell[1]}]")

    def __repr__(self) -> str:
        """The same with a hash of the draws, where there are some."""
        rule = super().__repr__()
        if self.draws is None:
            return rule
        found = hashlib.sha256(self.draws_are.encode())
        for cell, drawn in sorted(self.draws.items()):
            array = np.asarray(drawn)
            found.update(repr((cell, array.shape)).encode() + array.astype(np.int64).tobytes())
        return f"{rule[:-1]}, draws={found.hexdigest()[:16]})"


def _no_draws(cell: tuple[int, int]) -> InputError:
    needed = "`draws` must have an entry for each (repeat, fold) but the last"
    return InputError(needed=needed, given=f"there is none for {cell}")


@fill_common
@dataclass(frozen=True, repr=False)
class NeverSelected(DropRule):
    """Drops what would not be selected in the end, whatever the remaining folds bring.

    It is the test that [1]_ (sect. 4.1) wish for: all configurations are looked at together, and the folds that are left count. A
    draw adds to the samples so far as many as the remaining folds will bring, drawn from a bootstrap sample of those so far;
    the best configuration of all of them is selected. What no draw selects is dropped. Groups are drawn whole.

    Do not use it where many configurations may be equally good: it keeps those that were lucky in the first folds, and nothing
    is left to correct their scores with (see the page on dropping). `Bootstrap` keeps what it cannot tell from the best.

    Parameters
    ----------
    min_predictions : int
        Number of samples that must have predictions before anything is dropped.
    n_resamples : int or None
        Number of random draws; None takes 1,000, or ten for each configuration that is still running if these are more. With
        fewer, one of many equally good configurations may not be selected by chance.
    {task_metric}
    References: {tsamardinos2018}

    Examples: {numpy_outfold}
    >>> correct = np.random.default_rng(0).random((80, 2)) < [0.9, 0.3]
    >>> oof = of.from_arrays(None, correct, folds=np.arange(80) // 60, response="pointwise")
    >>> of.drop.NeverSelected().test(oof, repeat=0, fold=0, seed=0)
    [Drop(config='config 1', probability=1.0, compared_with='config 0')]
    """

    min_predictions: int = 50
    n_resamples: int | None = None
    metric: MetricLike | None = None

    def __post_init__(self) -> None:
        check_count(self.min_predictions, "min_predictions", 0)
        if self.n_resamples is not None:
            check_count(self.n_resamples, "n_resamples", 1)

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        best, better = _best(scoring), scoring.metric.greater_is_better
        if best < 0 or len(scoring.rows) < self.min_predictions:
            return
        n = len(scoring.names)
        n_resamples = max(_LEAST_DRAWS, _DRAWS_FOR_EACH * n) if self.n_resamples is None else self.n_resamples
        times = np.zeros(n, dtype=np.intp)
        for weights in resampling.predicted_counts(scoring.units(), _left(scoring), n_resamples, _seed_of(seed, cell)):
            chosen = argbest(scoring.scores(weights), better)
            times += np.bincount(chosen[chosen >= 0], minlength=n)
        for j in np.flatnonzero((times == 0) & (np.arange(n) != best)) if times.any() else ():
            yield Drop(scoring.names[j], 1.0, scoring.names[best])


# Draws of `NeverSelected`: at least so many, and so many for each configuration.
_LEAST_DRAWS, _DRAWS_FOR_EACH = 1000, 10


def _left(scoring: Scoring) -> float:
    """Folds that are left for each that is done; repeats to come count as if they brought new samples, which is careful."""
    planned = scoring.oof.plan.repeats * scoring.oof.n_folds
    return max(planned - len(scoring.cells), 0) / len(scoring.cells)


def _seed_of(seed: int, cell: tuple[int, int]) -> int:
    """A stream of its own for every fold, whatever was drawn before."""
    return int(np.random.SeedSequence(seed, spawn_key=(_DROP_STREAM, *cell)).generate_state(1, np.uint64)[0])


@fill_common
@dataclass(frozen=True, repr=False)
class Hoeffding(DropRule):
    """Drops what cannot be the best within Hoeffding's bounds (the Hoeffding race of Maron and Moore 1994).

    A mean of n values in a range of width B lies within B sqrt(log(2 / delta) / (2 n)) of the truth with probability
    1 - `delta`; a configuration is dropped when its best possible score is below the worst possible one of the best. Makes
    no assumption and therefore drops late. n counts samples, or groups where there are any.

    Parameters
    ----------
    delta : float
        Probability that a single bound fails.
    min_predictions : int
        Number of samples that must have predictions before anything is dropped.
    metric : str, callable, Metric or None
        A mean of values within known bounds, such as ``"accuracy"`` or ``"brier"``; the metric that selects where None.
    References: {maron1994}

    Examples: {outfold}
    >>> of.drop.Hoeffding(metric="accuracy")
    Hoeffding(delta=0.05, min_predictions=50, metric='accuracy')
    """

    delta: float = 0.05
    min_predictions: int = 50
    metric: MetricLike | None = None

    def __post_init__(self) -> None:
        check_between(self.delta, "delta", 0.05)
        check_count(self.min_predictions, "min_predictions", 0)

    def check(self, oof: Predictions) -> None:
        """Refuse metrics without known bounds."""
        found = self._found(oof)
        if not (found.pointwise and np.all(np.isfinite(found.bounds))):
            needed = "needs a mean of values within known bounds, such as accuracy or brier"
            given = f"{found.name} is {'unbounded' if found.pointwise else 'not a mean of values'}"
            raise invalid("Hoeffding", needed, given, "Use `Hoeffding(metric='accuracy')` or `Bootstrap()`.")

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        self.check(scoring.oof)
        best, groups = _best(scoring), scoring.group_codes()
        if best < 0 or len(scoring.rows) < self.min_predictions:
            return
        n = len(scoring.rows) if groups is None else int(groups.max()) + 1
        low, high = scoring.metric.bounds
        radius = sequential.hoeffding_radius(n, high - low, self.delta)
        scores = scoring.metric.sign * scoring.scores()[0]
        for j in np.flatnonzero(scores + radius < scores[best] - radius):
            yield Drop(scoring.names[j], 1 - self.delta, scoring.names[best])


@fill_common
@dataclass(frozen=True, repr=False)
class Friedman(DropRule):
    """Drops what ranks significantly below the best over the folds so far (F-race, Birattari et al. 2002).

    The folds are the blocks of a Friedman test of all running configurations; where it rejects, every one is compared with
    the one of the best rank sum by Conover's test.

    Parameters
    ----------
    alpha : float
        Level of both tests.
    min_folds : int
        Number of folds that must be done before anything is dropped.
    metric : str, callable, Metric or None
        What is ranked within each fold; a fold in which it is undefined is left out. The metric that selects where None.
    References: {birattari2002}

    Examples: {outfold}
    >>> of.drop.Friedman(alpha=0.01)
    Friedman(alpha=0.01, min_folds=5, metric=None)
    """

    alpha: float = 0.05
    min_folds: int = 5
    metric: MetricLike | None = None
    by_fold: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_count(self.min_folds, "min_folds", 2)

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        from scipy.stats import chi2, t

        losses = -scoring.metric.sign * scoring.fold_scores()[0].T
        losses = losses[~np.any(np.isnan(losses), axis=1)]
        k, m = losses.shape
        if k < self.min_folds:
            return
        found = sequential.ranks(losses)
        if found.statistic <= chi2.isf(self.alpha, m - 1):
            return
        best = int(np.argmin(found.sums))
        statistics, df = sequential.conover_statistics(found, best), (k - 1) * (m - 1)
        for j in np.flatnonzero(statistics > t.isf(self.alpha / 2, df)):
            yield Drop(scoring.names[j], float(1 - 2 * t.sf(statistics[j], df)), scoring.names[best])


@fill_common
@dataclass(frozen=True, repr=False)
class Sequential(DropRule):
    """Drops what is too seldom among the top of a fold (CVST, Krueger, Panknin and Braun 2015).

    In every fold the top group is the best configuration and those that cannot be told from it on the samples of the fold
    (Cochran's Q for 0-1 losses, Friedman's test for others). How often a configuration was in it is followed by Wald's
    sequential test; one that falls to the lower line is dropped. Here a step is a fold of the plan; in the paper the
    training sets grow with the steps.

    Parameters
    ----------
    alpha : float
        Probability that the sequential test takes a configuration for one of the best that is not.
    beta : float
        Probability that it drops one of the best.
    similarity : float
        Level of the test for the top group, divided by the number of comparisons in a fold.
    steps : int or None
        The number of folds S the test is laid out for; all folds of the plan where None.
    metric : str, callable, Metric or None
        A mean of per-sample values, such as ``"accuracy"`` or ``"mse"``; the metric that selects where None.
    References: {krueger2015}

    Examples: {outfold}
    >>> of.drop.Sequential(steps=20)
    Sequential(alpha=0.01, beta=0.1, similarity=0.05, steps=20, metric=None)
    """

    alpha: float = 0.01
    beta: float = 0.1
    similarity: float = 0.05
    steps: int | None = None
    metric: MetricLike | None = None

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "similarity"):
            check_between(getattr(self, name), name, 0.05)
        if self.alpha + self.beta >= 1:
            raise invalid("alpha + beta", "must be below 1", f"they are {self.alpha:g} and {self.beta:g}")
        if self.steps is not None:
            self._check_steps(check_count(self.steps, "steps", 1))

    def check(self, oof: Predictions) -> None:
        """Refuse plans with too few folds, and metrics that are not means."""
        found = self._found(oof)
        if not found.pointwise:
            needed = "needs a mean of per-sample values, such as accuracy or mse"
            remedy = "Use `Sequential(metric='accuracy')` or `Bootstrap()`."
            raise invalid("Sequential", needed, f"{found.name} is none", remedy)
        self._check_steps(self._steps(oof))

    def _check_steps(self, steps: int) -> None:
        least = sequential.least_steps(self.alpha, self.beta)
        if steps < least:
            needed = f"needs at least {least} folds in all at these errors"
            raise invalid("Sequential", needed, f"there are {steps}", "Use more repeats, or `Bootstrap()`.")

    def _steps(self, oof: Predictions) -> int:
        return oof.plan.repeats * oof.n_folds if self.steps is None else self.steps

    def _losers(self, scoring: Scoring, cell: tuple[int, int], seed: int) -> Iterator[Drop]:
        oof, best = scoring.oof, _best(scoring)
        self.check(oof)
        intercept, slope = sequential.wald_line(self._steps(oof), self.alpha, self.beta)
        bar = intercept + slope * len(scoring.cells)
        tops = self._tops(oof, scoring)[scoring.candidates]
        for j in np.flatnonzero(tops <= bar):
            if j != best:
                yield Drop(scoring.names[j], None, scoring.names[best])

    def _tops(self, oof: Predictions, scoring: Scoring) -> NDArray[np.intp]:
        """(C,) in how many folds so far a configuration was in the top group of those that ran."""
        metric, data = bind(oof, scoring.metric)
        assert metric.values is not None
        tops = np.zeros(oof.n_configs, dtype=np.intp)
        for r, k in scoring.cells:
            ran, rows = np.flatnonzero(oof.state[:, r, k] == State.DONE), oof.splits.test_rows(r, k)
            values = metric.values(oof.target.take(rows), np.ascontiguousarray(data[r][ran][:, rows]))
            tops[ran] += sequential.top_group(_losses(metric, values).T, self.similarity)
        return tops


class _UserDropRule(DropRule):
    """A rule written by the user."""

    def __init__(self, function: Callable[[Predictions], Iterable[str]]) -> None:
        self.function = function

    def check(self, oof: Predictions) -> None:
        """Nothing is known beforehand."""

    def test(self, oof: Predictions, repeat: int, fold: int, seed: int) -> list[Drop]:
        """Ask the function; configurations that are no longer running may be named again."""
        answer = self.function(oof)
        named = list(answer) if isinstance(answer, Iterable) and not isinstance(answer, str) else None
        if named is None or not all(isinstance(name, str) for name in named):
            raise invalid(repr(self), "must give the names of the configurations to drop", f"it gave {answer!r}")
        named = list(dict.fromkeys(named))
        unknown = [name for name in named if name not in oof.configs]
        if unknown:
            raise invalid(repr(self), f"dropped {unknown[0]!r}, which is no configuration")
        left = [oof.configs[j] for j in running(oof)]
        out = [name for name in named if name in left]
        if out and len(out) == len(left):
            raise invalid(repr(self), f"dropped all {len(left)} running configurations", "one must be left")
        return [Drop(name, None, "") for name in out]

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", None) or type(self.function).__qualname__
        return f"rule {getattr(self.function, '__module__', '')}.{name}"


DropRuleLike: TypeAlias = DropRule | Callable[[Predictions], Iterable[str]] | bool | None


def as_drop_rule(rule: DropRuleLike, metric: MetricLike | None = None) -> DropRule | None:
    """A rule, a callable made a rule, the default for True, nothing for None or False; `metric` is for a rule without one."""
    if rule is None or rule is False:
        return None
    rule = Bootstrap() if rule is True else rule
    if isinstance(rule, DropRule):
        lacks = is_dataclass(rule) and rule.metric is None and metric is not None
        return replace(rule, metric=metric) if lacks else rule  # type: ignore[type-var]
    if callable(rule) and not isinstance(rule, type):
        check_takes(rule, ("predictions",), "a drop rule")
        return _UserDropRule(rule)
    raise invalid("drop", "must be a rule such as `drop.Bootstrap()`, True, None or a callable", got(rule))


def _best(scoring: Scoring) -> int:
    """Position of the best candidate so far; -1 where the metric is undefined for all of them."""
    return int(argbest(scoring.scores(), scoring.metric.greater_is_better)[0])


def _losses(metric: Metric, values: NDArray[Any]) -> NDArray[np.float64]:
    """Values as losses; 0-1 values stay 0 and 1, so that Cochran's test knows them."""
    values = values.astype(np.float64)
    if not metric.greater_is_better:
        return values
    return 1 - values if np.all((values == 0) | (values == 1)) else -values
