"""Scores of every fold: what tests by resampling are made of, from predictions or from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import metrics
from ._plan import Plan
from ._predictions import Predictions, State
from ._scoring import cell_scores
from ._validate import check_count
from .exceptions import InputError
from .metrics import MetricLike

Design = Literal["kfold", "holdout", "5x2cv", "blocked"]


@dataclass(frozen=True, eq=False, repr=False)
class FoldScores:
    """The score of every configuration in every fold of every repeat.

    Attributes
    ----------
    configs
        Names of the configurations.
    values
        (C, R, K) scores; NaN where a score is undefined or a fold does not exist.
    n_train, n_test
        (R, K) samples trained on and held out; 0 where that is not known.
    plan
        How samples were held out.
    metric, greater_is_better
        Name and direction of the score.
    fingerprint, n_samples
        Of the predictions the scores come from; None for scores made elsewhere.
    """

    configs: tuple[str, ...]
    values: NDArray[np.float64]
    n_train: NDArray[np.intp]
    n_test: NDArray[np.intp]
    plan: Plan
    metric: str = "score"
    greater_is_better: bool = True
    fingerprint: str | None = None
    n_samples: int | None = None

    def __post_init__(self) -> None:
        for array in (self.values, self.n_train, self.n_test):
            array.setflags(write=False)

    def __repr__(self) -> str:
        return f"<FoldScores of {len(self.configs)} configurations by {self.metric}, {self.plan}>"

    def config_index(self, config: str | int) -> int:
        """Position of a configuration given by name or by position."""
        if isinstance(config, (int, np.integer)) and 0 <= config < len(self.configs):
            return int(config)
        if config in self.configs:
            return self.configs.index(str(config))
        raise InputError(f"no configuration {config!r}; there are {', '.join(map(repr, self.configs))}.")


def fold_scores(oof: Predictions, metric: MetricLike) -> FoldScores:
    """The metric of every cell that is done."""
    found, splits = metrics.get(metric, oof.target.task), oof.splits
    shape = (oof.n_repeats, oof.state.shape[2])
    n_train, n_test = np.zeros(shape, dtype=np.intp), np.zeros(shape, dtype=np.intp)
    for r, k in splits.cells:
        n_test[r, k] = len(splits.test_rows(r, k))
        # Predictions made elsewhere on one test set come without a training part.
        n_train[r, k] = 0 if oof.plan.kind == "given" and oof.n_folds <= 1 else len(splits.train_rows(r, k))
    values = np.where(oof.state == State.DONE, cell_scores(oof, found), np.nan)
    return FoldScores(
        oof.configs,
        values,
        n_train,
        n_test,
        oof.plan,
        found.name,
        found.greater_is_better,
        oof.fingerprint,
        oof.n_samples,
    )


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
    """Scores of folds made elsewhere, for the tests of `outfold.compare` that need no predictions.

    Parameters
    ----------
    scores
        A dict (or data frame) with the scores of every configuration, or an array with a row for each: one score a
        split, repeat by repeat. The same position must be the same split for all.
    n_train, n_test
        Samples trained on and held out in a split.
    design
        How samples were held out: ``"kfold"`` (also repeated), ``"holdout"`` (independent random splits), ``"5x2cv"``,
        ``"blocked"`` (m x 2, such as the blocked 3x2), or a Plan.
    repeats
        Repeats of a K-fold; 1 unless `design` says otherwise.
    configs
        Names, where `scores` is an array.
    metric, greater_is_better
        What the scores are called, and which are better.

    Examples
    --------
    >>> import outfold as of
    >>> of.from_scores({"a": [0.8, 0.7, 0.9], "b": [0.7, 0.6, 0.9]}, n_train=60, n_test=30)
    <FoldScores of 2 configurations by score, 3-fold>
    """
    names, values = _columns(scores, configs)
    n_train, n_test = check_count(n_train, "n_train"), check_count(n_test, "n_test")
    plan = _plan_of(design, repeats, values.shape[1])
    shape = (plan.repeats, values.shape[1] // plan.repeats)
    return FoldScores(
        names,
        values.reshape(len(names), *shape),
        np.full(shape, n_train, dtype=np.intp),
        np.full(shape, n_test, dtype=np.intp),
        plan,
        metric,
        greater_is_better,
    )


def _columns(scores: Any, configs: Sequence[str] | None) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        names = tuple(str(name) for name in (scores if isinstance(scores, Mapping) else scores.columns))
        columns = (
            [scores[name] for name in scores] if isinstance(scores, Mapping) else [scores[c] for c in scores.columns]
        )
    else:
        columns = list(scores)
        names = (
            tuple(map(str, configs)) if configs is not None else tuple(f"config {i + 1}" for i in range(len(columns)))
        )
    try:
        values = np.stack([np.asarray(column, dtype=np.float64).ravel() for column in columns])
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be numbers, as many for every configuration: {error}.") from None
    if len(names) != len(values) or len(set(names)) < len(names):
        raise InputError(f"scores need one name a configuration, all different; got {names} for {len(values)}.")
    if len(values) < 2 or values.shape[1] < 2:
        raise InputError(
            f"a comparison needs two configurations and two scores of each at least; got {len(values)} with "
            f"{values.shape[1]}."
        )
    if not np.isfinite(values).all():
        raise InputError("scores must be finite numbers; leave out the splits where one is undefined, for all.")
    return names, values


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
        raise InputError(f"design must be 'kfold', 'holdout', '5x2cv', 'blocked' or a Plan; got {design!r}.")
    if repeats is not None and repeats != plan.repeats:
        raise InputError(f"{plan} has {plan.repeats} repeats; got repeats={repeats}.")
    if plan.folds * plan.repeats != n:
        raise InputError(f"{plan} has {plan.folds * plan.repeats} splits; got {n} scores of every configuration.")
    return plan
