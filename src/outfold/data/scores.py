"""Scores of every fold: what tests by resampling are made of, from predictions or from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import formatting
from ..arguments import check_count
from ..docstrings import fill_common
from ..exceptions import InputError, got, invalid
from .plan import Plan
from .predictions import Predictions, WithConfigs
from .splitting import Splits

Design = Literal["kfold", "holdout", "5x2cv", "blocked"]
Layout = Literal["kfold", "balanced", "holdout", "loo", "one test set", "other"]


@fill_common
@dataclass(frozen=True, eq=False, repr=False)
class FoldScores(WithConfigs):
    """The score of every configuration in every fold of every repeat.

    Parameters
    ----------
    configs : tuple of str
        Names of the configurations.
    values : ndarray
        (C, R, K) scores; NaN where a score is undefined or a fold does not exist.
    n_train, n_test : ndarray of int
        (R, K) samples trained on and held out; 0 where that is not known.
    plan : Plan
        How samples were held out.
    layout : str
        What the splits themselves are, whatever made them: ``kfold`` where every repeat holds out every sample once,
        ``balanced`` where these are halves and the halves of any two repeats share a quarter of the samples,
        ``holdout`` for random splits, ``loo`` for single samples, ``one test set``, or ``other``.
    metric : str
        Name of the score.
    greater_is_better : bool
        Its direction.
    fingerprint : str or None
        Of the predictions the scores come from; None for scores made elsewhere.
    n_samples : int or None
        Number of samples of these predictions.

    Examples: {outfold}
    >>> scores = of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.9]}, n_train=60, n_test=30)
    >>> scores.values.shape
    (2, 1, 3)
    """

    configs: tuple[str, ...]
    values: NDArray[np.float64]
    n_train: NDArray[np.intp]
    n_test: NDArray[np.intp]
    plan: Plan
    layout: Layout
    metric: str = "score"
    greater_is_better: bool = True
    fingerprint: str | None = None
    n_samples: int | None = None

    def __post_init__(self) -> None:
        for array in (self.values, self.n_train, self.n_test):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return f"<FoldScores of {len(self.configs)} configurations by {self.metric}, {self.plan}>"

    def _repr_html_(self) -> str:
        means = [f"{np.nanmean(part):.4f}" if np.isfinite(part).any() else "-" for part in self.values]
        rows = zip(self.configs, means, strict=True)
        return formatting.table_html(["configuration", f"mean {self.metric}, {self.plan}"], rows)


def layout(oof: Predictions) -> Layout:
    """What the splits of these predictions are; see `FoldScores`."""
    return _layout(oof.splits, *split_sizes(oof))


def split_sizes(oof: Predictions) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(R, K) samples trained on and held out in every cell."""
    splits = oof.splits
    shape = (oof.n_repeats, oof.state.shape[2])
    n_train, n_test = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp)
    for r, k in splits.cells:
        n_test[r, k] = np.count_nonzero(splits.folds[:, r] == k)
        # What a bootstrap round drew twice is one sample.
        drawn = None if splits.train is None else splits.train[r, k]
        n_train[r, k] = len(splits.folds) - n_test[r, k] if drawn is None else len(np.unique(drawn))
    if oof.plan.kind == "given" and oof.n_folds <= 1:
        n_train[:] = 0  # predictions made elsewhere on one test set come without a training part
    return n_train, n_test


def _layout(splits: Splits, n_train: NDArray[np.intp], n_test: NDArray[np.intp]) -> Layout:
    """What the splits are, found from the splits: the name of a plan does not tell for a splitter made elsewhere."""
    n, planned = len(splits.folds), n_test > 0
    if not n_train[planned].all():
        return "one test set"
    whole = bool(np.all(n_train[planned] + n_test[planned] == n))
    if whole and np.all(splits.folds >= 0):
        if np.all(n_test[planned] == 1):
            return "loo"
        return "balanced" if splits.plan.kind == "blocked" or _is_balanced(splits.folds) else "kfold"
    # No test here is made for samples that are trained on more than once, as in bootstrap rounds.
    draws_twice = any(len(np.unique(rows)) < len(rows) for rows in (splits.train or {}).values())
    if draws_twice or is_time_series(splits):
        return "other"
    # Random test parts may by chance have no sample in common; folds, of whatever training sets, cover all samples.
    return "other" if np.all(splits.folds >= 0) else "holdout"


def is_time_series(splits: Splits) -> bool:
    """Whether there are several splits, and all train on what comes before the samples they hold out."""
    rows = ((splits.train_rows(*cell), splits.test_rows(*cell)) for cell in splits.cells)
    return len(splits.cells) > 1 and all(len(train) and len(test) and train.max() < test.min() for train, test in rows)


def _is_balanced(folds: NDArray[np.int32]) -> bool:
    """Whether m = 2^k - 1 repeats of halves share a quarter of the samples, to within the one that does not divide by four.

    Random halves do so by coincidence only; blocked plans, whose classes may leave more samples over, say what they are.
    """
    n, m = folds.shape
    if m < 3 or m & (m + 1) or folds.max() != 1:
        return False
    halves = np.concatenate([folds, 1 - folds], axis=1).astype(np.float64)
    shared = (halves.T @ halves).reshape(2, m, 2, m)
    pairs = np.triu_indices(m, 1)
    return bool(np.all(np.abs(shared[:, pairs[0], :, pairs[1]] - n / 4) < 1))


@fill_common
def from_scores(
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    n_train: int,
    n_test: int,
    design: Design | Plan = "kfold",
    repeats: int | None = None,
    configs: Sequence[str] | None = None,
    metric: str = "score",
    greater_is_better: bool = True,
) -> FoldScores:
    """Scores of folds from elsewhere, for the tests of `outfold.compare` that need no predictions.

    Parameters
    ----------
    scores : dict, data frame or array-like
        The scores of each configuration, by name or as the rows of an array: one score for each split, repeat by repeat, or a
        table (repeats, folds). The same position must be the same split for all configurations; NaN (or masked) if a score is
        undefined.
    n_train : int
        Samples trained on in a split.
    n_test : int
        Samples held out in a split.
    design : str or Plan, default "kfold"
        How samples were held out: ``"kfold"`` (also repeated), ``"holdout"`` (independent random splits), ``"5x2cv"``,
        ``"blocked"`` (m x 2, such as the blocked 3x2), or a Plan.
    repeats : int or None
        Repeats of a K-fold; 1 unless `design` says otherwise.
    configs : sequence of str or None
        Names, where `scores` is an array.
    metric : str, default "score"
        What the scores are called.
    greater_is_better : bool, default True
        Whether greater scores are better.

    Returns
    -------
    FoldScores
        The scores, with the facts about the splits that the tests need.

    Examples: {outfold}
    >>> of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.9]}, n_train=60, n_test=30)
    <FoldScores of 2 configurations by score, 3-fold>
    """
    names, values, rows = _columns(scores, configs)
    n_train, n_test = check_count(n_train, "n_train"), check_count(n_test, "n_test")
    plan = _plan_of(design, rows if repeats is None and design == "kfold" else repeats, values.shape[1])
    shape = (plan.repeats, values.shape[1] // plan.repeats)
    values, found = values.reshape(len(names), *shape), _layout_of(plan, n_train, n_test)
    train, test = (np.full(shape, n, dtype=np.intp) for n in (n_train, n_test))
    return FoldScores(names, values, train, test, plan, found, metric, greater_is_better)


def _columns(scores: Any, configs: Sequence[str] | None) -> tuple[tuple[str, ...], NDArray[np.float64], int | None]:
    """Names, (C, J) scores, and the number of repeats where scores come as (repeats, folds)."""
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        keys = list(scores if isinstance(scores, Mapping) else scores.columns)
        names, columns = tuple(map(str, keys)), [_column(scores[key]) for key in keys]
    else:
        try:
            columns = [_column(row) for row in scores]
        except TypeError:
            needed = "must be a dict of scores, or an array with a row for each configuration"
            raise invalid("scores", needed, got(scores)) from None
        names = tuple(f"config {i}" for i in range(len(columns))) if configs is None else tuple(map(str, configs))
    if len({column.size for column in columns}) > 1:
        lengths = ", ".join(f"{name} has {column.size}" for name, column in zip(names, columns, strict=False))
        raise invalid("scores", "must be as many for every configuration, one for each split", lengths)
    values = np.stack([column.ravel() for column in columns]) if columns else np.empty((0, 0))
    if len(names) != len(values) or len(set(names)) < len(names):
        given = f"{got(names)} for {len(values)}"
        raise invalid("configs", "must name each configuration, and all names must differ", given)
    if len(values) < 2 or values.shape[1] < 2:
        needed = "must hold at least two configurations and two scores of each"
        raise invalid("scores", needed, f"got {len(values)} with {values.shape[1]}")
    if np.isinf(values).any():
        raise invalid("scores", "must be finite numbers, or NaN where a score is undefined", "some are infinite")
    shapes = {column.shape for column in columns}
    repeats = columns[0].shape[0] if len(shapes) == 1 and columns[0].ndim == 2 and columns[0].shape[1] > 1 else None
    return names, values, repeats


def _column(scores: Any) -> NDArray[np.float64]:
    """The scores of a configuration, one a split or (repeats, folds); what is masked is undefined."""
    try:
        if isinstance(scores, np.ma.MaskedArray):
            scores = np.ma.filled(scores.astype(np.float64), np.nan)
        return np.atleast_1d(np.asarray(scores, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise invalid("scores", "must be numbers, one for each split", str(error)) from None


def _plan_of(design: Design | Plan, repeats: int | None, n: int) -> Plan:
    if isinstance(design, Plan):
        plan = design
    elif design == "5x2cv":
        plan = Plan.five_by_two()
    elif design == "holdout":
        plan = Plan.repeated_holdout(n)
    elif design == "blocked":
        plan = Plan.blocked(n // 2)
    elif design == "kfold":
        times = check_count(1 if repeats is None else repeats, "repeats")
        plan = Plan(folds=max(n // times, 2), repeats=times, stratify=False)
    else:
        raise invalid("design", "must be 'kfold', 'holdout', '5x2cv', 'blocked' or a Plan", got(design))
    if repeats is not None and repeats != plan.repeats:
        raise invalid("repeats", f"must be {plan.repeats} for {plan}, as the design says", got(repeats))
    if plan.folds * plan.repeats != n:
        raise InputError(f"{plan} has {plan.folds * plan.repeats} splits; got {n} scores of every configuration.")
    return plan


def _layout_of(plan: Plan, n_train: int, n_test: int) -> Layout:
    """What a plan says its splits are; sizes that contradict it are most often a wrong number of repeats."""
    if plan.kind == "holdout":
        return "holdout"
    n = n_train + n_test
    if abs(n_test * plan.folds - n) > plan.folds:
        problem = f"{plan} holds out a {plan.folds}th part of the samples; n_train={n_train} and n_test={n_test} do not"
        raise InputError(problem, remedy="Give `repeats`, or `design='holdout'` for independent splits.")
    return "loo" if n_test == 1 else "balanced" if plan.kind == "blocked" else "kfold"
