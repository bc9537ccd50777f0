"""Whether a verdict depends on the partition: the same test of the same two configurations, partition by partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import metrics
from ..arguments import check_choice, check_confidence_level, check_count
from ..data.predictions import Predictions
from ..docstrings import fill_common
from ..exceptions import InputError, NeedError, invalid
from ..metrics import MetricLike
from ..metrics._scoring import recorded_metric, selecting
from ..results import Comparison, Flips
from ._repeats import column, complete_pair

Sets = Mapping[str, Predictions] | Sequence[Predictions]
# Tests of two algorithms over data sets, in `rank`.
_OVER_SETS = ("wilcoxon", "sign", "signed_rank_bayes")


@fill_common
def flips(
    source: Predictions | Sets | ArrayLike,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    test: Any = "auto",
    size: int = 1,
    confidence_level: float = 0.95,
    **options: Any,
) -> Flips:
    """How often the verdict on two configurations depends on the partition into folds.

    The comparison is made again on each partition alone, or on each group of `size` repeats, which have no repeat in common.
    Each gives one of three verdicts: `a` is better, `b` is better, or undecided. With several data sets, the test is one over
    data sets, as in Table II of [1]_: there, two partitions of the same 18 data sets give two verdicts.

    Parameters
    ----------
    source : Predictions, dict or list of Predictions, or array of shape (repeats, data sets, algorithms)
        Predictions with repeats on one data set, or of several data sets; or scores of each repeat on each data set. Repeat r of
        one data set goes with repeat r of the others.
    {task_metric}
    a, b : str or int
        The two configurations, by name or position.
    test : str or function
        For one data set, a test of `compare`, or ``"auto"`` for the one that fits the plan. For several, ``"wilcoxon"``, the
        default, ``"sign"`` or ``"signed_rank_bayes"`` of `rank`.
    size : int
        Repeats in each comparison. With several data sets, their mean is compared.
    {test_level}
    **options
        Further options of the test, such as ``n_resamples`` and ``rng``.

    Returns
    -------
    Flips
        The verdict of each partition, their shares, and the verdict of all repeats together.
    References: {raeder2010}

    Examples: {numpy_outfold}
    >>> rng = np.random.default_rng(0)
    >>> right = rng.random((60, 2, 20)) < [[0.85], [0.7]]
    >>> folds = np.stack([rng.permutation(60) % 5 for _ in range(20)], axis=1)
    >>> oof = of.from_arrays(None, right, folds=folds, configs=["a", "b"], response="pointwise")
    >>> found = of.stability.flips(oof, "mean", "a", "b")
    >>> found.shares, round(found.agreement, 2)
    ({'a': 0.1, 'b': 0.0, 'undecided': 0.9}, 0.81)
    """
    size, level = check_count(size, "size", 1), check_confidence_level(confidence_level)
    asked = {"confidence_level": level, **options}
    if isinstance(source, Predictions):
        made: _OneSet | _SeveralSets = _OneSet(complete_pair(source, a, b, "flips"), metric, test, asked)
    else:
        made = _SeveralSets(_scores_of_sets(source, metric, a, b), test, asked)
    groups = [range(start, start + size) for start in range(0, made.n_repeats - size + 1, size)]
    if len(groups) < 2:
        needed, given = f"needs {2 * size} repeats or more, for two comparisons", f"there are {made.n_repeats}"
        raise NeedError(argument="flips", needed=needed, given=given, remedy="Collect more repeats.")
    found = tuple(made.compared(group) for group in groups)
    return Flips(comparisons=found, overall=made.overall(), size=size)


class _OneSet:
    """Two configurations on the repeats of one data set."""

    def __init__(self, pair: Predictions, metric: MetricLike | None, test: Any, asked: dict[str, Any]) -> None:
        self._pair, self._metric, self._test, self._asked = pair, metric, test, asked
        self.n_repeats = pair.n_repeats

    def compared(self, repeats: Sequence[int]) -> Comparison:
        """The two on these repeats."""
        from .. import compare  # here: who only collects needs no tests

        part = self._pair.sel(repeat=list(repeats))
        if self._test == "auto":
            found = compare.auto(part, self._metric, 0, 1, **self._asked)
            assert isinstance(found, Comparison)
            return found
        alone: dict[str, Any] = {"configs": (0, 1), "adjust": "none", "omnibus": False}
        return compare.pairs(part, self._metric, test=self._test, **alone, **self._asked)[0]

    def overall(self) -> Comparison | None:
        """The two on all repeats; None if the test takes one repeat only."""
        try:
            return self.compared(range(self.n_repeats))
        except InputError:
            return None


class _SetScores(NamedTuple):
    """(R, D, 2) scores of two algorithms in each repeat on each data set, their names, and the metric."""

    values: NDArray[np.float64]
    names: tuple[str, str]
    metric: metrics.Metric | None


class _SeveralSets:
    """Two algorithms on several data sets."""

    def __init__(self, scores: _SetScores, test: Any, asked: dict[str, Any]) -> None:
        name = "wilcoxon" if test == "auto" else test if isinstance(test, str) else getattr(test, "__name__", test)
        check_choice(name, _OVER_SETS, "test")
        if name == "signed_rank_bayes":  # decides by probabilities, at 0.95
            asked = {key: value for key, value in asked.items() if key != "confidence_level"}
        self._scores, self._test, self._asked = scores, name, asked
        self.n_repeats = len(scores.values)

    def compared(self, repeats: Sequence[int]) -> Comparison:
        """The two by their mean scores over these repeats."""
        from .. import rank

        means = self._scores.values[list(repeats)].mean(axis=0)
        columns = dict(zip(self._scores.names, means.T.tolist(), strict=True))
        found: Comparison = getattr(rank, self._test)(columns, self._scores.metric, *self._scores.names, **self._asked)
        return found

    def overall(self) -> Comparison:
        """The two by their mean scores over all repeats, the steady state."""
        return self.compared(range(self.n_repeats))


def _scores_of_sets(source: Any, metric: MetricLike | None, a: str | int, b: str | int) -> _SetScores:
    """The scores of both in each repeat on each data set."""
    sets = list(source.values()) if isinstance(source, Mapping) else source
    if isinstance(sets, (list, tuple)) and sets and all(isinstance(oof, Predictions) for oof in sets):
        by_dataset = source if isinstance(source, Mapping) else {f"data set {i}": oof for i, oof in enumerate(sets)}
        return _scores_of_predictions(by_dataset, metric, a, b)
    try:
        values = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError):
        needed = "needs predictions with repeats, of one data set or of each of several, or an array of scores"
        raise invalid("flips", needed, f"got {type(source).__name__}") from None
    if values.ndim != 3 or not values.size:
        raise invalid("source", "must have shape (repeats, data sets, algorithms)", f"got {values.shape}")
    at = [column(name, values.shape[2]) for name in (a, b)]
    if at[0] == at[1]:
        raise invalid("a and b", "must be two algorithms", f"both are {a!r}")
    names = (f"algorithm {at[0]}", f"algorithm {at[1]}")
    return _SetScores(values[:, :, at], names, None if metric is None else metrics.get(metric))


def _scores_of_predictions(
    by_dataset: Mapping[str, Predictions], metric: MetricLike | None, a: str | int, b: str | int
) -> _SetScores:
    from ..rank._table import refuse_same_data

    refuse_same_data(by_dataset)
    first, *others = by_dataset.values()
    pair = complete_pair(first, a, b, "flips")
    names = pair.configs[0], pair.configs[1]
    by = recorded_metric(pair, metric)
    pairs = [pair, *(complete_pair(oof, *names, "flips") for oof in others)]
    scores = [selecting(one, by).repeat_scores() for one in pairs]
    n = min(map(len, scores))
    return _SetScores(np.stack([table[:n] for table in scores], axis=1), names, metrics.get(by, pair.target.task))
