"""Looking while it comes in: a comparison that may be read after every unit, and stopped at any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import formatting
from ..arguments import check_choice, check_confidence_level
from ..data.notes import Note
from ..docstrings import fill_common
from ..exceptions import NeedError, got, invalid
from ..metrics import MetricLike
from ..metrics._builtin import Bounds
from ..requirements import MEAN_OVER_SAMPLES, PREDICTIONS, check_requirements
from ..results import Interval, SequentialComparison
from ..stats import sequential
from ._compared import ComparedConfigs, Source
from ._pair_test import public

# Of an e-value, in logs; its inverse is a number too, so that no p value is 0.
_LARGEST = 708.0


@fill_common
class EProcess:
    """Evidence that a mean difference is not zero, which you may look at after every unit.

    For a loop that evaluates two systems item by item and stops when it knows: the error rate holds however often you look.
    Half of a stake is bet on either sign of the mean; the e-value is the larger wealth (hedged capital with predictable
    plug-in bets [1]_).

    Parameters
    ----------
    bounds : tuple of float
        Lowest and highest possible difference; ``(-1, 1)`` for the difference of two answers that are right or wrong.
    confidence_level : float
        Level of the interval; bets are sized to decide at 1 - confidence_level. The p value is valid at any other level too.
    References: {waudbysmith2024}

    Examples: {outfold}
    >>> process = of.compare.EProcess(bounds=(-1, 1))
    >>> for item in range(100):
    ...     _ = process.update(float(item % 4 > 0))    # the first system is right, the second wrong, in 3 of 4
    ...     if process.pvalue <= 0.05:
    ...         break
    >>> process.n, process.interval.low > 0
    (10, True)
    """

    def __init__(self, bounds: Bounds = (-1.0, 1.0), *, confidence_level: float = 0.95) -> None:
        self.bounds = _checked_bounds(bounds)
        self.confidence_level = check_confidence_level(confidence_level)
        self._alpha = 1 - self.confidence_level
        low, high = self.bounds
        self._null = -low / (high - low)
        self._past = sequential.NOTHING
        self._seen: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        self._wealth = np.zeros(2)
        self._log_largest = 0.0
        self._log_evalues: list[NDArray[np.float64]] = []

    def update(self, differences: ArrayLike) -> EProcess:
        """Take in one difference, or several in the order they came.

        Parameters
        ----------
        differences : float or array-like of float
            Differences within the bounds.

        Returns
        -------
        EProcess
            The process itself.
        """
        values = np.atleast_1d(np.asarray(differences, dtype=np.float64))
        low, high = self.bounds
        outside = values[~((values >= low) & (values <= high))]
        if values.ndim != 1 or outside.size:
            needed = f"must be numbers within the bounds [{low:g}, {high:g}]"
            remedy = "Give `bounds=(lowest, highest)` that no difference can leave."
            found = f"{outside.flat[0]:g}" if outside.size else f"an array of shape {values.shape}"
            raise invalid("differences", needed, f"got {found}", remedy)
        if not len(values):
            return self
        x = (values - low) / (high - low)
        sizes, self._past = sequential.bets(x, self._alpha, self._past)
        up, down = sequential.log_wealth(x, sizes, self._null)
        up, down = up + self._wealth[0], down + self._wealth[1]
        self._wealth = np.array([up[-1], down[-1]])
        self._seen.append((x, sizes))
        self._log_evalues.append(np.maximum(up, down) - np.log(2))
        self._log_largest = max(self._log_largest, float(self._log_evalues[-1].max()))
        return self

    @property
    def n(self) -> int:
        """Differences seen."""
        return self._past.n

    @property
    def evalue(self) -> float:
        """Evidence against a mean of zero: a stake of 1/2 on either sign, and what became of the better one; 1 at first."""
        return float(_exp(np.max(self._wealth) - np.log(2))) if self.n else 1.0

    @property
    def evalues(self) -> NDArray[np.float64]:
        """(n,) the e-value after every difference."""
        return _exp(self._logs)

    @property
    def pvalue(self) -> float:
        """The anytime p value: 1 over the largest e-value so far, at most 1."""
        return float(1 / _exp(self._log_largest))

    @property
    def pvalues(self) -> NDArray[np.float64]:
        """(n,) the p value after every difference."""
        return np.asarray(1 / _exp(np.maximum(np.maximum.accumulate(self._logs), 0.0)))

    @property
    def _logs(self) -> NDArray[np.float64]:
        return np.concatenate([*self._log_evalues, np.empty(0)])

    @property
    def difference(self) -> float:
        """Mean of the differences seen."""
        low, high = self.bounds
        return low + (high - low) * float(self._past.total) / self.n if self.n else np.nan

    @property
    def interval(self) -> Interval:
        """The means that no time so far has rejected: they hold the true one at all times at once, with the level."""
        low, high = self.bounds
        if not self._seen:
            return Interval(low, high)
        x, sizes = (np.concatenate(part) for part in zip(*self._seen, strict=True))
        ends = [low + (high - low) * float(end) for end in sequential.limits(x, sizes, self._alpha)]
        return Interval(*ends)

    def __repr__(self) -> str:
        if not self.n:
            return "<EProcess without any difference yet: e-value 1, p = 1>"
        mean = formatting.number(self.difference, sign=True)
        ends = formatting.interval(*self.interval, self.confidence_level, sign=True)
        return f"<EProcess after {self.n:,} differences: mean {mean} {ends}, e-value {self.evalue:.4g}, p = {self.pvalue:.4g}>"


def _exp(logs: ArrayLike) -> NDArray[np.float64]:
    """E-values of their logs; what no float can hold stays at the largest, which is less evidence than there is."""
    return np.asarray(np.exp(np.minimum(logs, _LARGEST)))


@public
def e_process(
    source: Source,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    over: Literal["samples", "repeats"] = "samples",
    order: Sequence[int] | NDArray[np.intp] | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> SequentialComparison:
    """Whether `a` and `b` differ, by a test that you may look at after every sample, or after every repeat.

    The differences are taken in one after the other, as by `EProcess` [1]_. The error rate holds even if you stop at the first
    look that pleases you; the price is a wider interval than that of a test with a fixed number of samples.

    Parameters: {source, metric, pair}
    over : {"samples", "repeats"}
        ``"samples"``: one difference for each sample (for each group, where there are groups), mean over repeats; the metric
        must be a mean over samples. ``"repeats"``: one difference for each repeat, any metric; it says something about this
        data set only.
    order : sequence of int or None
        Positions of the samples (or repeats) in the order they came; None keeps their order. It must not depend on the
        differences.
    bounds : tuple of float or None
        Lowest and highest possible difference; None takes the range of the metric.
    {test_level}

    Returns
    -------
    SequentialComparison
        Evidence, p value and interval after every unit.
    References: {waudbysmith2024}

    Examples: {outfold}
    >>> right = [[1, 0], [1, 0], [1, 1], [1, 0]] * 10
    >>> oof = of.from_arrays(None, right, configs=["new", "old"], response="pointwise")
    >>> found = of.compare.e_process(oof, "mean", "new", "old")
    >>> found.better, found.stop
    ('new', 9)
    """
    compared = ComparedConfigs(source, metric, (a, b))
    check_choice(over, ("samples", "repeats"), "over")
    differences, unit, notes = _by_sample(compared) if over == "samples" else _by_repeat(compared)
    if order is not None:
        differences = differences[_checked_order(order, len(differences), unit)]
    process = EProcess(_bounds(compared, bounds, over), confidence_level=confidence_level).update(differences)
    pvalues = process.pvalues
    crossed = np.flatnonzero(pvalues <= round(1 - confidence_level, 12))
    return SequentialComparison(
        a=compared.configs[0],
        b=compared.configs[1],
        metric=compared.metric_name,
        greater_is_better=compared.greater_is_better,
        difference=process.difference,
        interval=process.interval,
        evalue=process.evalue,
        pvalue=process.pvalue,
        evalues=process.evalues,
        pvalues=pvalues,
        stop=int(crossed[0]) + 1 if len(crossed) else None,
        over=unit,
        bounds=process.bounds,
        description="hedged betting e-process",
        reference="Waudby-Smith & Ramdas 2024",
        confidence_level=confidence_level,
        plan=str(compared.plan),
        fingerprint=source.fingerprint,
        notes=(*notes, *compared.notes_on_selection(np.array([[0, 1]])).get(0, ())),
    )


def _by_sample(compared: ComparedConfigs) -> tuple[NDArray[np.float64], str, tuple[Note, ...]]:
    check_requirements("e_process(over='samples')", (PREDICTIONS, MEAN_OVER_SAMPLES), compared)
    oof = compared.predictions
    values, times = np.zeros((2, oof.n_samples)), np.zeros(oof.n_samples)
    for rows, found in compared.values_by_repeat():
        values[:, rows] += found
        times[rows] += 1
    held = np.flatnonzero(times)
    values = values[:, held] / times[held]
    differences = values[0] - values[1]
    held, differences = held[np.isfinite(differences)], differences[np.isfinite(differences)]
    notes = compared.notes_on_pooling()
    codes = oof.group_codes
    if codes is None:
        return differences, "samples", notes
    # Groups in the order of their first sample; a unit is a group, whose mean stays within the bounds.
    _, first, own = np.unique(codes[held], return_index=True, return_inverse=True)
    sums = np.zeros(len(first))
    np.add.at(sums, own, differences)
    return (sums / np.bincount(own))[np.argsort(first)], "groups", notes


def _by_repeat(compared: ComparedConfigs) -> tuple[NDArray[np.float64], str, tuple[Note, ...]]:
    if compared.oof is not None:
        scores = compared.scoring.repeat_scores()
        differences = scores[:, 0] - scores[:, 1]
    else:
        with np.errstate(invalid="ignore"):
            means = np.nanmean(compared.folds.values, axis=2)
        differences = means[0] - means[1]
    if len(differences) < 2 or np.isnan(differences).any():
        needed = "needs two repeats at least with a score in each"
        given = f"these predictions are {compared.plan}"
        remedy = "Collect with `Plan(repeats=...)`, or use `over='samples'`."
        raise NeedError(argument="e_process(over='repeats')", needed=needed, given=given, remedy=remedy)
    text = "repeats say how this data set would be judged over all partitions; they say nothing about new samples."
    return differences, "repeats", (Note("OF315", text),)


def _bounds(compared: ComparedConfigs, given: Bounds | None, over: str) -> Bounds:
    if given is not None:
        return _checked_bounds(given)
    low, high = (-np.inf, np.inf) if compared.metric is None else compared.metric.bounds
    if not np.isfinite([low, high]).all() and over == "samples" and compared.zero_one:
        low, high = 0.0, 1.0
    if not np.isfinite([low, high]).all():
        needed = "must be the lowest and the highest difference that is possible"
        raise invalid("bounds", needed, f"{compared.metric_name} has no range", "Give `bounds=(lowest, highest)`.")
    return (low - high, high - low)


def _checked_bounds(bounds: Bounds) -> Bounds:
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite([low, high]).all() and low < 0 < high):
        raise invalid("bounds", "must be two numbers on either side of 0, such as (-1, 1)", got(bounds))
    return low, high


def _checked_order(order: Sequence[int] | NDArray[np.intp], n: int, unit: str) -> NDArray[np.intp]:
    positions = np.asarray(order)
    if positions.dtype.kind not in "iu" or not np.array_equal(np.sort(positions), np.arange(n)):
        needed = f"must hold every position 0..{n - 1} of the {unit} once"
        raise invalid("order", needed, f"got {len(positions)} entries")
    return positions.astype(np.intp)
