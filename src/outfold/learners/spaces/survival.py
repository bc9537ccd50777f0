"""Spaces for survival times, with scikit-survival: Cox regression, random survival forests and boosting.

Every configuration predicts a risk: a number that is larger the sooner the event is expected. That is what concordance needs.
Every configuration also gives survival curves, which the integrated Brier score needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from ...exceptions import InputError
from ...fitting.configs import Configs, grid
from .grids import LEAVES, NOTHING, Before
from .table import Kind, Table, look_at

# The time of a survival forest grows with the square of the rows: each leaf keeps a function of all times.
MOST_ROWS_FOREST = 5000
_PENALTIES = [0.003, 0.006, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15]
_RIDGES = [0.01, 0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]
_FOREST = {"max_features": ["sqrt", 0.5], "min_samples_leaf": [3, 10, 25]}
_BOOST = {"learning_rate": [0.03, 0.1], "max_depth": [1, 2, 3], "n_estimators": [30, 100, 300]}


def small(X: Any, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """About 50 configurations: Cox regression with a ridge penalty or an elastic net, survival forests and boosting."""
    return _small(_look_at(X, kinds))


def standard(X: Any, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """About 120 configurations: the small space, and survival SVMs, extra trees, more values, and principal components."""
    table = _look_at(X, kinds)
    return _small(table) | _standard(table)


def thorough(X: Any, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """About 250 configurations: the standard space, and more mixes, subsamples and principal components."""
    table = _look_at(X, kinds)
    return _small(table) | _standard(table) | _thorough(table)


SPACES: Mapping[str, Callable[[Any, Mapping[str, Kind] | None], Configs]] = {
    "small": small,
    "standard": standard,
    "thorough": thorough,
}


def _small(table: Table) -> Configs:
    return _ridge(table) | _net(table, [0.5, 1.0]) | _forest(table, _FOREST) | _boost(table, _BOOST)


def _standard(table: Table) -> Configs:
    out = _net(table, [0.1]) | _svm(table)
    for before in _components(table, 0.9):
        out |= _ridge(table, before) | _net(table, [0.1, 1.0], before)
    out |= _extra(table, _FOREST) | _forest(table, {"max_features": [0.2, 1.0], "min_samples_leaf": LEAVES})
    return out | _boost(table, {"subsample": 0.5} | _BOOST)


def _thorough(table: Table) -> Configs:
    out = _net(table, [0.25, 0.75, 0.9]) | _boost(table, {"max_features": 0.3} | _BOOST)
    for share in (0.5, 0.99):
        for before in _components(table, share):
            out |= _ridge(table, before) | _net(table, [0.1, 0.5, 1.0], before)
    out |= _extra(table, {"max_features": [0.2, 1.0], "min_samples_leaf": LEAVES})
    return out | _boost(table, {"min_samples_leaf": 10, "subsample": 0.5, "max_features": 0.3} | _BOOST)


def _look_at(X: Any, kinds: Mapping[str, Kind] | None) -> Table:
    if find_spec("sksurv") is None:
        remedy = "pip install 'outfold[survival]'"
        raise InputError("survival times need scikit-survival.", remedy=remedy, page="extras")
    return look_at(X, kinds)


def _components(table: Table, share: float) -> list[Before]:
    from sklearn.decomposition import PCA

    if table.n_columns < 3 or table.n_columns > 1000:
        return []
    return [Before(f"pca(share={share:g}) ", PCA(share, svd_solver="full"))]


def _ridge(table: Table, before: Before = NOTHING) -> Configs:
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    pipeline = table.scaled(CoxPHSurvivalAnalysis(), before.step)
    return grid(f"{before.prefix}cox", pipeline, model__alpha=_RIDGES)


def _net(table: Table, mixes: list[float], before: Before = NOTHING) -> Configs:
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    # A path of one penalty: each configuration is one model.
    pipeline = table.scaled(CoxnetSurvivalAnalysis(fit_baseline_model=True), before.step)
    parts = [
        Configs({f"{before.prefix}coxnet(l1_ratio={mix:g}, alpha={alpha:g})": _with(pipeline, mix, alpha)})
        for mix in mixes
        for alpha in _PENALTIES
    ]
    out = Configs()
    for part in parts:
        out |= part
    return out


def _with(pipeline: Any, mix: float, alpha: float) -> Any:
    from sklearn.base import clone

    return clone(pipeline).set_params(model__l1_ratio=mix, model__alphas=[alpha])


def _svm(table: Table) -> Configs:
    from ..survival import SurvivalSVM

    if table.n_rows > MOST_ROWS_FOREST:
        return Configs()
    pipeline = table.scaled(SurvivalSVM(max_iter=100, tol=1e-4))
    return grid("survival svm", pipeline, model__alpha=[0.001, 0.01, 0.1, 1.0, 10.0])


def _forest(table: Table, values: Mapping[str, Any]) -> Configs:
    from ..survival import SurvivalForest

    if table.n_rows > MOST_ROWS_FOREST:
        return Configs()
    return grid("forest", table.plain(SurvivalForest(low_memory=True)), values)


def _extra(table: Table, values: Mapping[str, Any]) -> Configs:
    from ..survival import SurvivalExtraTrees

    if table.n_rows > MOST_ROWS_FOREST:
        return Configs()
    return grid("extra", table.plain(SurvivalExtraTrees(low_memory=True)), values)


def _boost(table: Table, values: Mapping[str, Any]) -> Configs:
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis

    return grid("boost", table.plain(GradientBoostingSurvivalAnalysis()), values)
