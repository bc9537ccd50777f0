"""The ready spaces: small, standard and thorough. Each contains the one before it, with the same names and estimators.

So a search can go on with a larger space, and the first quarter of a space is the space before it. All classifiers give
probabilities: one collection then serves every metric, log loss and Brier score included. Support vector machines get theirs
from a sigmoid fitted by an inner 3-fold CV, which costs four fits of a method that is light on the tables it is used for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...docstrings import fill_with
from ...fitting.configs import Configs
from .grids import LEAVES, MOST_ROWS_SVM, ROUNDS, Before, Grids, TableTask
from .table import Kind
from .texts import TEXTS

# Trees need no scaling and forests little tuning; values that are often good come first.
_TREE = {"max_depth": [2, 3, 5, None], "min_samples_leaf": [1, 5, 20]}
_FOREST = {"max_features": ["sqrt", 0.5], "min_samples_leaf": LEAVES}
_BOOST = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [2, 4, 8, 16]}
_SVM = {"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.003, 0.01, 0.1]}
_FEW_SVM = {"C": [1.0, 10.0], "gamma": ["scale", 0.01]}
_LIGHT = {"learning_rate": [0.03, 0.1], "num_leaves": [4, 8, 16, 31], "n_estimators": [50, 150, 400]}
_SMALL_LEAVES = {"min_samples_leaf": 5, "learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 8, 16]}
# Not "balanced", with which scikit-learn's forests refuse labels that are digits as text.
_BALANCED = {"class_weight": "balanced_subsample"}
_ENTROPY = {"criterion": "entropy"}
_FEW_STRENGTHS = (0.003, 0.03, 0.3, 3.0, 30.0)
_OTHER_STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)

_filled = fill_with(TEXTS)


@_filled
def tabular(X: Any, task: TableTask) -> Configs:
    """The small space for a table and a task.

    Parameters: {X}
    task : {"classification", "regression"}
        What is predicted.
    {configs}
    >>> len(tabular(np.zeros((100, 4)), "regression"))
    60
    """
    return small(X, None, task)


@_filled
def classification(X: Any) -> Configs:
    """The small space for classes: logistic regression, SVM, k-NN, forest, boosting and tree; all give probabilities.

    Parameters: {X, configs}
    >>> len(classification(np.zeros((100, 4))))
    60
    """
    return small(X, None, "classification")


@_filled
def regression(X: Any) -> Configs:
    """The small space for numbers: ridge regression, SVM, k-NN, forest, boosting and tree.

    Parameters: {X, configs}
    >>> len(regression(np.zeros((100, 4))))
    60
    """
    return small(X, None, "regression")


@_filled
def small(X: Any, y: Any, task: TableTask, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """60 configurations of six families.

    Large tables get fewer: no SVM above 5,000 rows, no nearest neighbours above 20,000.

    Parameters: {X, y}
    task : {"classification", "regression"}
        What is predicted.
    {kinds, configs}
    >>> len(small(np.zeros((100, 4)), None, "classification"))
    60
    """
    return _small(Grids(X, y, task, kinds))


@_filled
def standard(X: Any, y: Any, task: TableTask, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """About 250 configurations: the small space, and more families, values, selections and principal components.

    Parameters: {X, y}
    task : {"classification", "regression"}
        What is predicted.
    {kinds, configs}
    >>> len(standard(np.zeros((100, 4)), None, "classification")) > 220
    True
    """
    grids = Grids(X, y, task, kinds)
    return _small(grids) | _standard(grids)


@_filled
def thorough(X: Any, y: Any, task: TableTask, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """About 1,000 configurations: the standard space, and the same families after more selections, with more values.

    Parameters: {X, y}
    task : {"classification", "regression"}
        What is predicted.
    {kinds, configs}
    >>> len(thorough(np.zeros((100, 4)), None, "classification")) > 900
    True
    """
    grids = Grids(X, y, task, kinds)
    return _small(grids) | _standard(grids) | _thorough(grids)


def _small(grids: Grids) -> Configs:
    ensembles = [grids.forest(_FOREST), grids.boost(_BOOST)]
    first = [grids.linear(), grids.svm(_SVM), grids.knn()]
    return _joined(*first, *_by_cost(grids, ensembles), grids.tree(_TREE))


def _standard(grids: Grids) -> Configs:
    """What the standard space has beside the small one."""
    return _joined(
        grids.net(),
        grids.discriminant(),
        *_by_cost(grids, [grids.extra(_FOREST), grids.light(_LIGHT)]),
        *(_selected(grids, before) for before in _given(grids.univariate(0.05), grids.pca(0.9))),
        grids.linear_svm(),
        grids.bayes(),
        grids.svm({"C": [3.0, 30.0], "gamma": ["scale", 0.003, 0.01, 0.1]}),
        grids.balanced_linear(),
        grids.boost(_SMALL_LEAVES | {"max_iter": [30, 100, 300]}),
        grids.knn(p=1),
        grids.forest({"max_features": [0.2, 1.0], "min_samples_leaf": LEAVES}),
        grids.forest(_BALANCED | {"min_samples_leaf": LEAVES}) if grids.classes else Configs(),
        grids.boost(_BOOST | {"max_iter": ROUNDS}),
        *(_selected(grids, before) for before in _given(grids.univariate(0.001))),
    )


def _by_cost(grids: Grids, ensembles: list[Configs]) -> list[Configs]:
    """A forest and boosting, the cheaper one first: histograms make boosting cheap on many rows."""
    return ensembles if grids.n_rows <= MOST_ROWS_SVM else ensembles[::-1]


def _selected(grids: Grids, before: Before) -> Configs:
    return _joined(grids.linear(before, _FEW_STRENGTHS), grids.svm(_FEW_SVM, before), grids.knn(before))


def _thorough(grids: Grids) -> Configs:
    """What the thorough space has beside the standard one."""
    out = Configs()
    for before in _given(
        grids.ranks(), grids.ses(0.05, 2), grids.univariate(0.01), grids.pca(0.5), grids.univariate(0.2)
    ):
        out |= _selected(grids, before) | _further(grids, before)
    out |= grids.boost({"max_features": 0.3} | _BOOST | {"max_iter": [30, 100, 300]})
    out |= grids.light({"colsample_bytree": 0.3, "min_child_samples": 5} | _LIGHT)
    for before in _given(grids.univariate(0.05), grids.pca(0.9), grids.univariate(0.001)):
        out |= _further(grids, before)
    return out | _joined(
        grids.light({"min_child_samples": 5} | _LIGHT),
        grids.boost({"l2_regularization": 10.0} | _BOOST | {"max_iter": [30, 100, 300]}),
        grids.net(mixes=(0.1, 0.25, 0.75)),
        grids.forest(_ENTROPY | _FOREST) if grids.classes else Configs(),
        grids.extra(_ENTROPY | _FOREST) if grids.classes else Configs(),
        grids.extra({"max_features": [0.2, 1.0], "min_samples_leaf": LEAVES}),
        *(grids.forest(_FOREST, before) for before in _given(grids.univariate(0.05), grids.univariate(0.001))),
        *(grids.extra(_FOREST, before) for before in _given(grids.univariate(0.05), grids.pca(0.9))),
        grids.svm({"kernel": "poly", "degree": [2, 3], "C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.01]}),
        grids.svm({"kernel": "sigmoid", "C": [0.1, 1.0, 10.0], "gamma": [0.001, 0.003, 0.01, 0.03]}),
        grids.forest({"n_estimators": 500} | _FOREST),
        grids.extra({"n_estimators": 500} | _FOREST),
        grids.boost({"learning_rate": 0.01, "max_leaf_nodes": [2, 4, 8, 16], "max_iter": [300, 600, 1000]}),
        grids.tree(_ENTROPY | _TREE) if grids.classes else Configs(),
        grids.tree({"min_samples_leaf": [1, 5], "ccp_alpha": [0.003, 0.01, 0.03]}),
    )


def _further(grids: Grids, before: Before) -> Configs:
    return _joined(
        grids.linear(before, _OTHER_STRENGTHS),
        grids.net(before),
        grids.svm({"C": [0.1], "gamma": ["scale", 0.01]}, before),
        grids.svm({"C": [0.1, 1.0, 10.0], "gamma": [0.003, 0.1]}, before),
        grids.discriminant(before),
        grids.linear_svm(before),
        grids.bayes(before),
        grids.knn(before, p=1),
    )


def _given(*befores: Before | None) -> list[Before]:
    return [before for before in befores if before is not None]


def _joined(*parts: Configs) -> Configs:
    out = Configs()
    for part in parts:
        out |= part
    return out
