"""Wins of two algorithms over data sets, counted by a test on each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, get_args

import numpy as np

from .. import compare
from ..arguments import check_choice
from ..compare._auto import AdjustPvalues, adjust_pvalues, unadjusted_notes
from ..data.predictions import Predictions
from ..data.scores import FoldScores
from ..docstrings import fill_common
from ..exceptions import InputError, NeedError, invalid
from ..metrics import MetricLike
from ..results import Comparison, SetWins
from ..stats.rank_tests import settled_differences
from ._table import refuse_same_data

SetsLike: TypeAlias = Mapping[str, Predictions | FoldScores] | Sequence[Predictions | FoldScores]


@fill_common
def wins(
    sets: SetsLike,
    metric: MetricLike | None,
    a: str | int,
    b: str | int,
    *,
    test: Any = "auto",
    adjust: AdjustPvalues = "none",
    confidence_level: float = 0.95,
    **options: Any,
) -> SetWins:
    """On how many data sets one of two algorithms is significantly better, by a test on each of them.

    A data set counts as a win only if the test finds a difference there, and else as a tie. Raeder, Hoens and Chawla [1]_ (sect.
    IV-A) argue for this: without it, chance in one partition decides who wins. Demsar [2]_ (sect. 3.1.4) argues against it: the
    line at 0.05 is arbitrary, and many small differences in one direction are evidence too. So the wins by mean scores stand
    beside. `wilcoxon` tests all data sets at once.

    Parameters
    ----------
    sets : dict or list of Predictions or FoldScores
        One for each data set. Predictions come from `collect`, `load` or `read`, scores of folds from `from_scores`.
    metric : str, callable, Metric or None
        How Predictions are scored; None takes the metric that they record. Scores of folds have their own.
    a, b : str or int
        Two algorithms, by name or position. The difference is the score of `a` minus the score of `b`.
    test : str or function
        A test of `compare`; ``"auto"`` takes the one that fits the plan of each data set.
    adjust : {"none", "holm", "bonferroni", "bh"}
        How p values are adjusted for the number of data sets. With ``none``, as in the papers, some data sets show a difference
        by chance alone (OF307).
    {test_level}
    **options
        Further options of the test, such as ``n_resamples`` and ``rng``.

    Returns
    -------
    SetWins
        The comparison on each data set, the wins that a test found, and those by mean scores.
    References: {raeder2010, demsar2006}

    Examples: {outfold}
    >>> clear = of.from_scores({"a": [0.9, 0.8, 0.9, 0.9], "b": [0.6, 0.5, 0.7, 0.6]}, n_train=60, n_test=20)
    >>> close = of.from_scores({"a": [0.9, 0.7, 0.8, 0.9], "b": [0.8, 0.8, 0.9, 0.7]}, n_train=60, n_test=20)
    >>> found = of.rank.wins({"first": clear, "second": close}, None, "a", "b")
    >>> print(found.significant)
    better in 1, equal in 1, worse in 0 of 2 data sets
    >>> print(found.by_means)
    better in 2, equal in 0, worse in 0 of 2 data sets
    """
    check_choice(adjust, get_args(AdjustPvalues), "adjust")
    named = _by_name(sets)
    how: dict[str, Any] = {"test": test, "adjust": "none", "omnibus": False, "confidence_level": confidence_level}
    found = [_compared(name, held, metric, (a, b), how | options) for name, held in named.items()]
    different = next((one for one in found if (one.a, one.b) != (found[0].a, found[0].b)), None)
    if different is not None:
        given = f"they are {found[0].a!r} and {found[0].b!r}, or {different.a!r} and {different.b!r}"
        raise invalid("a and b", "must be the same on every data set", given, "Name them.")
    if len({one.metric for one in found}) > 1:
        given = f"these are of {', '.join(sorted({one.metric for one in found}))}"
        raise InputError(needed="all data sets need the same metric", given=given, remedy="Give `metric`.")
    tested = adjust == "none" and any(one.pvalue is not None for one in found)
    return SetWins(
        datasets=tuple(named),
        comparisons=tuple(_adjusted(found, adjust)),
        gains=tuple(map(_gain, found)),
        adjust=adjust,
        notes=unadjusted_notes(len(found), found[0].alpha, "data sets") if tested else (),
    )


def _by_name(sets: Any) -> dict[str, Predictions | FoldScores]:
    """The data sets by name, checked."""
    if isinstance(sets, (Predictions, FoldScores)):
        remedy = "For one data set, use `compare.auto`."
        raise NeedError(argument="wins", needed="needs several data sets", given="got one", remedy=remedy)
    if not isinstance(sets, (Mapping, list, tuple)):
        needed = "must be a dict or list with Predictions or FoldScores of each data set"
        raise invalid("sets", needed, f"got {type(sets).__name__}")
    values = list(sets.values()) if isinstance(sets, Mapping) else list(sets)
    names = [str(name) for name in sets] if isinstance(sets, Mapping) else [f"data set {i}" for i in range(len(values))]
    wrong = next((value for value in values if not isinstance(value, (Predictions, FoldScores))), None)
    if wrong is not None:
        raise invalid("sets", "must hold Predictions or FoldScores only", f"got {type(wrong).__name__}")
    if len(values) < 2:
        raise NeedError(argument="wins", needed="needs at least 2 data sets", given=f"there are {len(values)}")
    refuse_same_data({n: v for n, v in zip(names, values, strict=True) if isinstance(v, Predictions)})
    return dict(zip(names, values, strict=True))


def _compared(
    name: str, held: Predictions | FoldScores, metric: MetricLike | None, pair: tuple[Any, Any], how: dict[str, Any]
) -> Comparison:
    """The test of the pair on one data set; an error says on which."""
    try:
        return compare.pairs(held, metric if isinstance(held, Predictions) else None, configs=pair, **how)[0]
    except InputError as error:
        error.add_note(f"This is about the data set {name!r}.")
        raise


def _adjusted(found: Sequence[Comparison], adjust: AdjustPvalues) -> Sequence[Comparison]:
    """The comparisons with p values adjusted for their number; one without any variance has none, and counts in it."""
    if adjust == "none" or all(one.pvalue is None for one in found):
        return [replace(one, adjusted=None) for one in found]
    corrected = adjust_pvalues(np.array([1.0 if one.pvalue is None else one.pvalue for one in found]), adjust).tolist()
    return [replace(one, adjusted=None if one.pvalue is None else p) for one, p in zip(found, corrected, strict=True)]


def _gain(one: Comparison) -> float:
    """By how much the first is ahead, in the direction of the metric; 0 if the two differ by rounding only."""
    first, second = (np.array([score]) for score in one.scores)
    difference = float(settled_differences(first, second)[0])
    return difference if one.greater_is_better else -difference
