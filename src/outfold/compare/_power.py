"""What a test could have found: its power, by simulation on the user's own predictions.

Samples (whole groups) are drawn with replacement, and the two predictions of each are swapped or not at random, so that
the expected difference is the one asked for. How much the two models disagree stays that of the user's own models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import RngLike, as_seed, check_count
from ..data.cells import Response
from ..data.notes import Note
from ..data.predictions import Predictions, State
from ..data.scores import FoldScores
from ..exceptions import InputError, NeedError, got, invalid
from ..io.convert import from_arrays
from ..metrics import MetricLike
from ..metrics._scoring import bind
from ..progress import Mode, ProgressLine
from ..results import MarginQuestion, Power
from ..stats.kernels import Kernel
from ..stats.resampling import blocks, compact, without_each
from ._auto import find_compared
from ._common_scale import swappable
from ._compared import ComparedConfigs, Source
from ._margins import check_margin, margin_hypotheses
from ._pair_test import AlternativeLike, Hypothesis, TestLike, check_options, public

_STREAM = 0x90E7
# Values held at once: simulations are worked off in blocks of such a size.
_AT_ONCE = 1 << 21
_MIXTURES = 64
_STEPS = 14


@dataclass(frozen=True, eq=False)
class _Units:
    """What is drawn and swapped as a whole: samples, or groups of them."""

    members: list[NDArray[np.intp]]  # positions of the samples of every unit
    toward: NDArray[np.bool_]  # (U,) whether the unit, as it is, says that the first is better
    reach: float  # the expected difference when all units say so

    @property
    def n(self) -> int:
        return len(self.members)


class _Simulated(NamedTuple):
    """Simulations: rows, whether they keep the order of the two, and the groups they form, if any."""

    rows: list[NDArray[np.intp]]
    kept: list[NDArray[np.bool_]]
    groups: list[NDArray[np.intp] | None]


class _Known(NamedTuple):
    """The (S,) p values of all simulations where a unit favours the first with probability `p`."""

    p: float
    pvalues: NDArray[np.float64]


@dataclass(frozen=True)
class Asked:
    """What a simulated test is to show: a difference from the null, or that one is as good as the other within a margin."""

    hypothesis: Hypothesis
    question: MarginQuestion | None = None
    margin: float | None = None

    @classmethod
    def checked(cls, hypothesis: Hypothesis, non_inferior: float | None, equivalent: float | None) -> Asked:
        """From the arguments of the public functions."""
        if non_inferior is None and equivalent is None:
            return cls(hypothesis)
        if non_inferior is not None and equivalent is not None:
            raise invalid("equivalent", "cannot be combined with `non_inferior`", "got both", "Give one margin.")
        if hypothesis.alternative != "two-sided" or hypothesis.null != 0:
            needed = "and `null` have no meaning with a margin, which says what is tested"
            raise invalid("alternative", needed, remedy="Leave them out.")
        question: MarginQuestion = "non-inferior" if equivalent is None else "equivalent"
        margin = check_margin(non_inferior if equivalent is None else equivalent)
        # The test is chosen for a null that is not 0; its sign is that of the metric, which is not known yet.
        return cls(replace(hypothesis, alternative="better", null=margin), question, margin)

    @property
    def alpha(self) -> float:
        """Level of the test."""
        return round(1 - self.hypothesis.confidence_level, 12)

    def of(self, greater_is_better: bool) -> tuple[Hypothesis, ...]:
        """The hypotheses that must all be rejected."""
        if self.question is None:
            return (self.hypothesis.directed(greater_is_better),)
        return margin_hypotheses(self.question, self.margin, 1 - 2 * self.alpha, greater_is_better)


class _Simulator:
    """Simulated contests of two configurations, put to one test."""

    def __init__(
        self,
        source: Source,
        metric: MetricLike | None,
        pair: tuple[str | int, str | int],
        test: TestLike,
        asked: Asked,
        options: dict[str, Any],
        n: int | None,
        n_simulations: int,
        rng: RngLike,
    ) -> None:
        self.n_simulations = check_count(n_simulations, "n_simulations", 10)
        n, self.seed = None if n is None else check_count(n, "n", 2), as_seed(rng)
        if isinstance(source, FoldScores):
            remedy = "Collect predictions, or read them."
            raise NeedError(needed="power simulates from predictions", given="`from_scores` has none", remedy=remedy)
        compared, (chosen, self.options, _) = find_compared(source, metric, pair, test, asked.hypothesis, options)
        check_options(chosen, options)
        if chosen.name == "t_bayes":
            needed = "power is how often a p value is at most alpha"
            raise InputError(needed=needed, given="t_bayes has none", remedy="Use t_training.")
        if compared.metric is not None and compared.metric.ranks_only:
            compared = _on_one_scale(compared, chosen.by_folds)
        self.compared, self.test, self.by_folds = compared, chosen, chosen.by_folds
        self.asked, self.hypotheses = asked, asked.of(compared.greater_is_better)
        self.oof = compared.predictions
        self.metric, self._data = bind(self.oof, compared.metric_name if compared.metric is None else compared.metric)
        self.held = np.flatnonzero((self.oof.folds >= 0).any(axis=1))
        self.n = len(self.held) if n is None else n
        self.cells = self.oof.splits.cells
        self.undefined = 0
        self.progress: ProgressLine | None = None
        self._known: list[_Known] = []
        self._expected_at: dict[float, float] = {}
        self._kernels: dict[tuple[int, int | None], tuple[Kernel, NDArray[np.intp]]] = {}

    # -- who is drawn -----------------------------------------------------------------------------------

    @cached_property
    def units(self) -> _Units:
        codes = self.oof.group_codes
        if codes is None:
            members = [np.array([i]) for i in self.held]
        else:
            members = [rows for g in range(int(codes.max()) + 1) if len(rows := self.held[codes[self.held] == g])]
        influence = self.compared.sign * self._influence(members)
        toward = influence >= 0
        if self.metric.pointwise and not self.by_folds:
            return _Units(members, toward, float(np.abs(influence).sum() / len(self.held)))
        return _Units(members, toward, self._expected(members, toward, 1.0))

    def _influence(self, members: list[NDArray[np.intp]]) -> NDArray[np.float64]:
        """(U,) what every unit adds to the difference: its sum for a mean over samples, else its jackknife pseudo-value."""
        if self.metric.pointwise:
            own = self._sample_differences()
            return np.array([own[rows].sum() for rows in members])
        scoring, n = self.compared.scoring, len(self.compared.scoring.rows)
        unit_of = np.full(self.oof.n_samples, -1)
        for unit, rows in enumerate(members):
            unit_of[rows] = unit
        codes = unit_of[scoring.rows]
        without = without_each(codes, scoring.scores)
        left = n - np.bincount(codes[codes >= 0], minlength=len(members))
        whole = np.subtract(*scoring.scores()[0])
        return np.asarray(np.nan_to_num(n * whole - left * (without[:, 0] - without[:, 1])))

    def _sample_differences(self) -> NDArray[np.float64]:
        total, times = np.zeros(self.oof.n_samples), np.zeros(self.oof.n_samples)
        for rows, values in self.compared.values_by_repeat():
            total[rows] += np.subtract(*values.astype(np.float64))
            times[rows] += 1
        return np.asarray(total / np.maximum(times, 1))

    def _expected(self, members: list[NDArray[np.intp]], toward: NDArray[np.bool_], p: float) -> float:
        """Expected gain of the first if each unit favours it with probability p; every sample counts once."""
        if p not in self._expected_at:
            uniform = self._generator(0, 1).random((_MIXTURES if 0 < p < 1 else 1, len(members)))
            kept = np.zeros((len(uniform), self.oof.n_samples), dtype=bool)
            for u, rows in enumerate(members):
                kept[:, rows] = ((uniform[:, u] < p) == toward[u])[:, None]
            cells = self.cells if self.by_folds else [(r, None) for r in range(self.oof.n_repeats)]
            counts = np.concatenate([kept, ~kept], axis=1).view(np.uint8)
            found = [np.subtract(*self._cell(counts, r, k).T) for r, k in cells]
            if np.isnan(found).all():
                problem = f"{self.compared.metric_name} is undefined in every fold of the simulated data"
                raise InputError(problem, remedy="Use larger folds, or a metric that is defined in small ones.")
            self._expected_at[p] = self.compared.sign * float(np.nanmean(found))
        return self._expected_at[p]

    def _cell(self, counts: NDArray[Any], r: int, k: int | None) -> NDArray[np.float64]:
        """(S, 2) scores of the first and of the second in a fold, or in a whole repeat, under (S, 2N) `counts`.

        They say how often each sample was drawn as it is, and how often with its two predictions exchanged: these are two
        rows, which one kernel holds for all simulations.
        """
        if (r, k) not in self._kernels:
            rows = np.flatnonzero(self.oof.folds[:, r] >= 0) if k is None else self.oof.splits.test_rows(r, k)
            a, b = self._data[r][0][rows], self._data[r][1][rows]
            pair = np.stack([np.concatenate([a, b]), np.concatenate([b, a])])
            twice = self.oof.target.take(np.concatenate([rows, rows]))
            columns = np.concatenate([rows, rows + self.oof.n_samples])
            self._kernels[r, k] = self.metric.kernel(twice, pair), columns
        kernel, columns = self._kernels[r, k]
        return kernel.scores(np.ascontiguousarray(counts[:, columns]))

    def probability(self, difference: float) -> float:
        """The probability with which a unit must favour the first to give the expected difference asked for."""
        units = self.units
        if abs(difference) > units.reach * (1 + 1e-12):
            needed = f"these two disagree too little to differ by {difference:+.4g} in {self.metric.name}"
            given = f"differences up to {units.reach:.4g} can be simulated from their predictions"
            raise InputError(needed=needed, given=given)
        if units.reach == 0:
            return 0.5
        if self.metric.pointwise and not self.by_folds:
            return (1 + self.compared.sign * difference / units.reach) / 2
        low, high, wanted = 0.5, 1.0, abs(difference)
        for _ in range(20):
            middle = (low + high) / 2
            below = self._expected(units.members, units.toward, middle) < wanted
            low, high = (middle, high) if below else (low, middle)
        p = (low + high) / 2 if wanted else 0.5
        return p if self.compared.sign * difference >= 0 else 1 - p

    @contextmanager
    def showing(self, progress: Mode, n_steps: int) -> Iterator[None]:
        """Simulations of so many steps, of which a line on the terminal tells how many are done."""
        self.progress = ProgressLine("power", "simulations", n_steps * self.n_simulations, progress)
        try:
            yield
        finally:
            self.progress.close()

    # -- what the test finds ----------------------------------------------------------------------------

    def power(self, difference: float) -> float:
        """Share of the simulations in which the test finds a difference."""
        p = self.probability(difference)
        pvalues = self._pvalues_at(p)
        self._known.append(_Known(p, pvalues))
        self.undefined = max(self.undefined, int(np.isnan(pvalues).sum()))
        return float(np.mean(pvalues <= self.asked.alpha))

    def _pvalues_at(self, p: float) -> NDArray[np.float64]:
        """(S,) p values of all simulations. What is drawn is the same whatever p is, so most are known from a near p."""
        near = min(self._known, key=lambda known: abs(known.p - p), default=None)
        out = np.full(self.n_simulations, np.nan) if near is None else near.pvalues.copy()
        n_units = max(1, round(self.n * self.units.n / len(self.held)))
        for i, part in enumerate(blocks(self.n_simulations, max(1, _AT_ONCE // (self.n * self.oof.n_repeats)))):
            rng, b = self._generator(1, i), part.stop - part.start
            drawn, uniform = rng.integers(0, self.units.n, size=(b, n_units)), rng.random((b, n_units))
            favoured = uniform < p
            other = np.ones(b, dtype=bool) if near is None else (favoured != (uniform < near.p)).any(axis=1)
            again = np.flatnonzero(other)
            self._advance(b - len(again))
            if len(again):
                out[part.start + again] = self._pvalues(self._simulated(drawn[again], favoured[again]))
        return out

    def _simulated(self, drawn: NDArray[np.intp], favoured: NDArray[np.bool_]) -> _Simulated:
        """The samples of the units drawn; `favoured` says where the first is to be the better one."""
        units = self.units
        kept = favoured == units.toward[drawn]
        if self.oof.groups is None:
            return _Simulated(list(self.held[drawn]), list(kept), [None] * len(drawn))
        rows = [np.concatenate([units.members[u] for u in row]) for row in drawn]
        sizes = [[len(units.members[u]) for u in row] for row in drawn]
        # A group drawn twice is two groups, which may be swapped apart.
        labels: list[NDArray[np.intp] | None] = [np.repeat(np.arange(len(s)), s) for s in sizes]
        return _Simulated(rows, [np.repeat(k, s) for k, s in zip(kept, sizes, strict=True)], labels)

    def _advance(self, n: int) -> None:
        if self.progress is not None and n:
            self.progress.advance(n)

    def _generator(self, stream: int, block: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_STREAM, stream, block)))

    def _pvalues(self, made: _Simulated) -> NDArray[np.float64]:
        if self.by_folds:
            out = self._of_folds(made)
        elif self.metric.pointwise and self.oof.groups is None and np.all(self.oof.folds[self.held] >= 0):
            out = self._of_values(np.array(made.rows), np.array(made.kept))
        else:
            return np.array([self._of_one(*one) for one in zip(*made, strict=True)])
        self._advance(len(out))
        return out

    def _of_one(self, rows: NDArray[np.intp], kept: NDArray[np.bool_], groups: NDArray[np.intp] | None) -> float:
        found = self._ask(ComparedConfigs(self._redrawn(rows, kept, groups), self.metric))
        self._advance(1)
        return float(found[0])

    def _ask(self, compared: ComparedConfigs, turned: bool = False) -> NDArray[np.float64]:
        """(S,) p values of the pairs (0, 1), (2, 3), ..., the larger one of two tests; NaN where undefined.

        `turned` if losses were made scores, so that differences have the other sign.
        """
        pairs = np.arange(len(compared.configs)).reshape(-1, 2)
        try:
            found = self._pvalues_of(compared, pairs, -1 if turned else 1)
        except (InputError, NeedError):
            if len(pairs) == 1 and self._answerable:
                return np.array([np.nan])  # a draw without a class, or with an empty fold: nothing is found
            raise
        return found

    def _pvalues_of(self, compared: ComparedConfigs, pairs: NDArray[np.intp], sign: int = 1) -> NDArray[np.float64]:
        found = []
        for hypothesis in self.hypotheses:
            asked = replace(hypothesis, null=sign * hypothesis.null)
            found.append(self.test.run(compared, pairs, asked, **self.options).arrays.pvalue)
        return np.asarray(np.max(np.array(found, dtype=np.float64), axis=0))

    @cached_property
    def _answerable(self) -> bool:
        """Whether the test can be put to the predictions as they are; it raises where it cannot."""
        self._pvalues_of(self.compared, np.array([[0, 1]]))
        return True

    def _of_values(self, drawn: NDArray[np.intp], kept: NDArray[np.bool_]) -> NDArray[np.float64]:
        """All simulations at once, each a pair of columns of values by sample."""
        s, n = drawn.shape
        out = np.empty((n, 2 * s, self.oof.n_repeats))
        for r, values in enumerate(self._values):
            first, second = values[0][drawn], values[1][drawn]
            out[:, 0::2, r], out[:, 1::2, r] = np.where(kept, first, second).T, np.where(kept, second, first).T
        turned = not self.metric.greater_is_better
        if turned:  # losses as scores: "better" keeps its meaning, 0-1 losses stay 0-1
            out = 1.0 - out if np.isin(out, (0.0, 1.0)).all() else -out
        made = from_arrays(None, out, folds=self._dealt(n), response="pointwise")
        return self._ask(ComparedConfigs(made, "mean"), turned)

    def _dealt(self, n: int) -> NDArray[np.intp] | None:
        """(n, R) folds as many as there were, for a test that asks how large they are; what samples of a fold share is lost."""
        if not self.test.by_splits:
            return None
        return np.repeat(np.arange(n)[:, None] % self.oof.n_folds, self.oof.n_repeats, axis=1)

    def _of_folds(self, made: _Simulated) -> NDArray[np.float64]:
        """All simulations at once where every fold has its score, the others one by one."""
        folds, n = self.compared.folds, self.oof.n_samples
        own = np.repeat(np.arange(len(made.rows)), [len(rows) for rows in made.rows])
        row = np.concatenate(made.rows) + n * ~np.concatenate(made.kept)
        counts = compact(np.bincount(own * (2 * n) + row, minlength=len(made.rows) * 2 * n).reshape(-1, 2 * n))
        values = np.full((2 * len(counts), *folds.n_test.shape), np.nan)
        for r, k in self.cells:
            values[:, r, k] = self._cell(counts, r, k).ravel()
        planned = folds.n_test > 0
        whole = np.asarray(~np.isnan(values[:, planned]).any(axis=1))
        whole = whole[0::2] & whole[1::2]
        out = np.full(len(counts), np.nan)
        for at in [np.flatnonzero(whole), *np.flatnonzero(~whole)[:, None]]:
            if len(at):
                both = np.stack([2 * at, 2 * at + 1], axis=1).ravel()
                names = tuple(f"config {i}" for i in range(len(both)))
                out[at] = self._ask(ComparedConfigs(replace(folds, configs=names, values=values[both]), None))
        return out

    @cached_property
    def _values(self) -> list[NDArray[np.float64]]:
        """(2, N) values by sample for each repeat; 0 where it does not hold the sample out."""
        out = []
        for rows, values in self.compared.values_by_repeat():
            out.append(np.zeros((2, self.oof.n_samples)))
            out[-1][:, rows] = values
        return out

    def _redrawn(self, rows: NDArray[np.intp], kept: NDArray[np.bool_], groups: NDArray[np.intp] | None) -> Predictions:
        """The predictions of the rows drawn, exchanged where not kept, as `Predictions`."""
        oof = self.oof
        data = oof.data[:, :, rows]
        labels = None if oof.labels is None else oof.labels[:, :, rows]
        folds = np.ascontiguousarray(oof.folds[rows])
        state = np.zeros(oof.state.shape, dtype=np.uint8)
        for r in range(oof.n_repeats):
            state[:, r, np.unique(folds[folds[:, r] >= 0, r])] = State.DONE
        return replace(
            oof,
            target=oof.target.take(rows),
            data=_exchanged(data, kept),
            labels=None if labels is None else _exchanged(labels, kept),
            folds=folds,
            state=state,
            groups=groups,
            samples=None,
            train=None,
            seconds=None,
            blocks={},
            messages={},
            notes=(),
        )


def _on_one_scale(compared: ComparedConfigs, by_folds: bool) -> ComparedConfigs:
    """The same with midranks for predictions, of which only the order counts."""
    assert compared.metric is not None
    metric, data = swappable(compared.predictions, compared.metric, by_folds)
    response: Response = "risk" if metric.needs == "risk" else "score"
    known: dict[str, Any] = {"data": data, "response": response, "labels": None, "threshold": None, "times": None}
    oof = replace(compared.predictions, **known, blocks={})
    return ComparedConfigs(oof, replace(metric, needs=response))


def _exchanged(data: NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[Any]:
    mask = kept.reshape(1, 1, -1, *([1] * (data.ndim - 3)))
    return np.where(mask, data, data[:, ::-1])


@public
def power(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    difference: float | Sequence[float] | ArrayLike,
    *,
    test: TestLike = "auto",
    n: int | None = None,
    alternative: AlternativeLike = "two-sided",
    null: float = 0.0,
    non_inferior: float | None = None,
    equivalent: float | None = None,
    confidence_level: float = 0.95,
    n_simulations: int = 1000,
    rng: RngLike = 0,
    progress: Mode = True,
    **options: Any,
) -> Power:
    """How often a test would find a true difference of this size between models that disagree as much as `a` and `b` do.

    "Not significant" says little where the power is small. Each simulation draws n samples (whole groups) with replacement from
    the predictions, each with its folds; for a mean over samples, new folds are dealt. It swaps the two predictions of a sample
    at random, with a probability that makes the expected difference the one asked for; their midranks where only the order
    counts, as `permutation` does. It fits no model, so that chance in the training sets counts only as far as the predictions
    show it.

    Parameters: {simulated, metric, pair}
    difference : float or array-like of float
        The true difference, metric of `a` minus metric of `b`; several for a curve. At the null, 0 by default, the power is
        the type I error.
    {test, n, alternative, null, margins, test_level, n_simulations, rng, simulating, options}

    Returns
    -------
    Power
        The power at each difference, with its standard error.

    Examples: {outfold, disagreeing}
    >>> of.compare.power(oof, "mean", "new", "old", 0.2, test="mcnemar", n_simulations=200)
    <Power of mcnemar at +0.2000 mean, n = 80: 0.980>
    """
    asked_for = Asked.checked(Hypothesis(alternative, confidence_level, None, null), non_inferior, equivalent)
    simulator = _Simulator(source, metric, (a, b), test, asked_for, options, n, n_simulations, rng)
    try:
        asked = np.asarray(difference, dtype=np.float64)
    except (TypeError, ValueError):
        asked = np.empty(0)
    if asked.ndim > 1 or not asked.size or not np.isfinite(asked).all():
        raise invalid("difference", "must be a number, or several in a row", got(difference))
    with simulator.showing(progress, asked.size):
        found = np.array([simulator.power(float(d)) for d in np.atleast_1d(asked)])
    return _result(simulator, asked, found.reshape(asked.shape))


@public
def detectable(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    test: TestLike = "auto",
    power: float = 0.8,
    n: int | None = None,
    alternative: AlternativeLike = "two-sided",
    confidence_level: float = 0.95,
    n_simulations: int = 1000,
    rng: RngLike = 0,
    progress: Mode = True,
    **options: Any,
) -> Power:
    """The smallest true difference that a test would find with this power.

    It simulates as `power` does, and finds the difference by bisection. All steps draw the same samples, so that a step
    simulates again only where it exchanges other predictions than the nearest step before it.

    Parameters: {simulated, metric, pair, test}
    power : float
        The power wanted.
    {n, alternative, test_level, n_simulations, rng, simulating, options}

    Returns
    -------
    Power
        The difference, and the power that the test has there.

    Examples: {outfold, disagreeing}
    >>> of.compare.detectable(oof, "mean", "new", "old", test="mcnemar", n_simulations=200)
    <Power of mcnemar at +0.1593 mean, n = 80: 0.800>
    """
    if not (isinstance(power, (int, float, np.number)) and 1 - confidence_level < power < 1):
        raise invalid("power", "must lie between alpha and 1, such as 0.8", got(power))
    asked = Asked(Hypothesis(alternative, confidence_level))
    simulator = _Simulator(source, metric, (a, b), test, asked, options, n, n_simulations, rng)
    sign = simulator.compared.sign * (-1 if simulator.hypotheses[0].alternative == "worse" else 1)
    with simulator.showing(progress, 1 + _STEPS):
        difference, found = _bisect(simulator, sign, power)
    return _result(simulator, np.asarray(difference), np.asarray(found))


def _bisect(simulator: _Simulator, sign: int, power: float) -> tuple[float, float]:
    """The smallest difference that is found with this power, and the power there."""
    low, high = 0.0, simulator.units.reach
    found = simulator.power(sign * high)
    if found < power:
        needed = f"no difference that {simulator.n:,} samples of these two can show is found with power {power:g}"
        given = f"at the largest, {high:.4g}, it is {found:.3f}"
        raise NeedError(needed=needed, given=given, remedy="Ask for more samples: `n=...`.")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        at_middle = simulator.power(sign * middle)
        if at_middle >= power:
            high, found = middle, at_middle
        else:
            low = middle
    return sign * high, found


def _result(simulator: _Simulator, difference: NDArray[np.float64], found: NDArray[np.float64]) -> Power:
    compared, asked, first = simulator.compared, simulator.asked, simulator.hypotheses[0]
    error = np.sqrt(found * (1 - found) / simulator.n_simulations)
    text = (
        f"{simulator.test.name} by {compared.metric_name} is undefined in {simulator.undefined:,} of "
        f"{simulator.n_simulations:,} simulations, in which a class is missing, say; they count as nothing found."
    )
    shaped = [v if v.ndim else float(v) for v in (difference, found, error)]
    return Power(
        test=simulator.test.name,
        metric=compared.metric_name,
        a=compared.configs[0],
        b=compared.configs[1],
        difference=shaped[0],
        power=shaped[1],
        standard_error=shaped[2],
        n=simulator.n,
        n_simulations=simulator.n_simulations,
        reach=simulator.units.reach,
        alternative="two-sided" if asked.question else first.alternative,
        null=0.0 if asked.question else first.null,
        question=asked.question,
        margin=asked.margin,
        confidence_level=asked.hypothesis.confidence_level,
        plan=str(compared.plan),
        notes=(Note("OF316", text),) if simulator.undefined else (),
    )
