"""What each protocol says of the selected configuration of one subsample, and how good that configuration really is.

All protocols read one set of out-of-fold predictions, so that they differ in their arithmetic alone. The winner is fitted once
more on the whole subsample, and its score on the part that tells the truth is the truth.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import outfold as of
from outfold.data.cells import State

NAMES = {"cvm": "CVM", "cvm_cv": "CVM-CV", "tt": "TT", "ncv": "NCV", "bbc": "BBC", "bbcd": "BBCD"}


def collect(configs: of.Configs, X: Any, y: NDArray[np.intp], plan: of.Plan, **options: Any) -> of.Predictions:
    """`collect` without words; members of a family share a fit that is equal up to the tolerance of the solver."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return of.collect(configs, X, y, plan, progress=False, **{"share": "close"} | options)


def score(oof: of.Predictions, metric: str, config: str | int = 0) -> float:
    """Mean over folds of one configuration."""
    return float(of.estimate.cv(oof, metric, config, aggregate="fold", n_resamples=10).value)


def truths(
    configs: of.Configs, winners: Sequence[str], X: Any, y: NDArray[np.intp], rows: Any, truth: Any, metric: str
) -> dict[str, float]:
    """The score of these configurations, fitted on the subsample, on the part that tells the truth."""
    chosen = of.Configs({name: configs[name] for name in dict.fromkeys(winners)})
    held_out = collect(chosen, X, y, [(rows, truth)], rng=0, metric=metric)  # type: ignore[arg-type]
    return dict(zip(held_out.configs, np.ravel(held_out.scores(metric)).tolist(), strict=True))


def so_far(oof: of.Predictions, fold: int) -> of.Predictions:
    """The predictions as they were after this fold."""
    state, data = np.array(oof.state), np.array(oof.data)
    state[:, 0, fold + 1 :] = State.PENDING
    data[0][:, oof.folds[:, 0] > fold] = -1 if data.dtype.kind == "i" else np.nan
    return replace(oof, data=data, state=state)


def race(oof: of.Predictions, rule: of.drop.DropRule, seed: int = 0, *, last: bool = False) -> dict[str, int]:
    """What a rule drops that is asked after every fold but the last, or after that too, and after which fold."""
    dropped: dict[str, int] = {}
    for fold in range(oof.n_folds if last else oof.n_folds - 1):
        for drop in rule.test(so_far(without(oof, dropped), fold), 0, fold, seed):
            dropped[drop.config] = fold
    return dropped


def without(oof: of.Predictions, dropped: Mapping[str, int]) -> of.Predictions:
    """The predictions of what is left."""
    if not dropped:
        return oof
    return oof.sel(
        config=[j for j, name in enumerate(oof.configs) if name not in dropped]
    )  # by name takes long for many


def saved(oof: of.Predictions, dropped: Mapping[str, int]) -> float:
    """Share of all fits that dropping saves."""
    return sum(oof.n_folds - 1 - fold for fold in dropped.values()) / (oof.n_folds * oof.n_configs)
