"""The spaces of the papers: their printed grids, on pipelines for tables.

The support vector machines give scores, no probabilities, as in the papers. They stop after 20,000 steps, since some of the
polynomial ones would take hours to fit what they cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...docstrings import fill_with
from ...exceptions import invalid
from ...fitting.configs import Configs, grid
from .table import Kind, Table, look_at
from .texts import TEXTS

# Strategies NFS and WFS of Tsamardinos et al. (2015), sect. 8.1, as printed.
_NODE_SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50]
_TENS = [0.1, 1, 10]
_LEVELS_2015 = (0.01, 0.05)
_MAX_K_2015 = (3, 5)
# Tsamardinos et al. (2018), sect. 5.2, as printed.
_FIVE = [0.01, 0.1, 1, 10, 100]
_SES: dict[str, tuple[float, int] | None] = {
    "": None,
    **{f"ses(alpha={alpha}, k={k}) ": (alpha, k) for alpha in (0.05, 0.01) for k in (2, 3)},
}
_MIXES = [0.001, 0.5, 1.0]
_N_PENALTIES = 10
_MOST_STEPS = 20_000

_filled = fill_with(TEXTS)
MakePipeline = Callable[[Any], Any]


@_filled
def tsamardinos2015(X: Any, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """The 236 configurations of strategy NFS in Tsamardinos, Rakhshani and Lagani (2015), for two classes.

    Logistic regression without a penalty; a decision tree with 14 x 14 smallest sizes of a leaf and of a node that is
    split; support vector machines with linear, Gaussian and polynomial kernels (3 + 9 + 27). Their printed grids make
    236, their text says 247.

    Parameters: {X, kinds, configs}
    >>> len(tsamardinos2015(np.zeros((100, 4))))
    236
    """
    table = _binarized(X, kinds)
    return _models_of_2015("", table.plain, table.scaled)


@_filled
def tsamardinos2015_wfs(X: Any, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """The 1652 configurations of strategy WFS in Tsamardinos, Rakhshani and Lagani (2015), for two classes.

    The 236 configurations of `tsamardinos2015` after each of seven choices of features: all of them, `Univariate` at the
    levels 0.01 and 0.05, and `SES` at the same levels with sets of at most 3 or 5. The text says 1729 = 7 x 247. It counts
    247 configurations without selection, of which the printed grids make 236; 7 x 236 = 1652.

    After a selection, all models see scaled features, so that each selection is done once in each fold. Scaling does not
    change a tree. A category is tested as a whole, and its one-hot columns are kept or left out together.

    Parameters: {X, kinds, configs}
    >>> len(tsamardinos2015_wfs(np.zeros((100, 4))))
    1652
    """
    from ..ses import SES  # scikit-learn takes a second to import
    from ..univariate import Univariate

    table = _binarized(X, kinds)
    selectors = {f"univariate(alpha={alpha}) ": Univariate(alpha, task="classification") for alpha in _LEVELS_2015}
    selectors |= {
        f"ses(alpha={alpha}, k={k}) ": SES(alpha, k, task="classification")
        for alpha, k in product(_LEVELS_2015, _MAX_K_2015)
    }
    out = _models_of_2015("", table.plain, table.scaled)
    for prefix, selector in selectors.items():
        selected = partial(table.selected, selector=selector)
        out |= _models_of_2015(prefix, selected, selected)
    return out


def _models_of_2015(prefix: str, plain: MakePipeline, scaled: MakePipeline) -> Configs:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    svm = scaled(SVC(max_iter=_MOST_STEPS))
    # A node of one sample is never split, so that 1 and 2 are the same tree; both were tried, and both count.
    trees, params = {}, {}
    for leaf, node in product(_NODE_SIZES, _NODE_SIZES):
        name = f"{prefix}tree(min_samples_leaf={leaf}, min_samples_split={node})"
        trees[name] = plain(DecisionTreeClassifier(min_samples_leaf=leaf, min_samples_split=max(2, node)))
        params[name] = {"min_samples_leaf": leaf, "min_samples_split": node}
    out = Configs({f"{prefix}logit": scaled(LogisticRegression(C=np.inf, max_iter=1000))})
    out |= Configs(trees, params)
    out |= grid(f"{prefix}svm", svm, kernel="linear", C=_TENS)
    out |= grid(f"{prefix}svm", svm, kernel="rbf", gamma=_TENS, C=_TENS)
    return out | grid(f"{prefix}svm", svm, kernel="poly", degree=[2, 3, 4], gamma=_TENS, C=_TENS)


def _binarized(X: Any, kinds: Mapping[str, Kind] | None) -> Table:
    """The table as the papers encode it: each level has its own column, up to the most of them."""
    return look_at(X, kinds)._replace(rare=None)


@_filled
def tsamardinos2018(X: Any, y: Any, n_trees: int = 1000, kinds: Mapping[str, Kind] | None = None) -> Configs:
    """The 610 configurations of Tsamardinos, Greasidou and Borboudakis (2018), sect. 5.2, for two classes.

    Five choices of features (all, or `SES` at two levels with sets of at most 2 or 3), each with 12 random forests, 80
    support vector machines and 30 logistic regressions with an elastic net. The ten penalties of the elastic net run from
    the smallest one that leaves no coefficient down to a hundredth of it (a ten-thousandth where samples outnumber features),
    as the library glmnet chooses them, here on X and y as they stand.

    Parameters
    ----------
    X, y : array-like
        The samples; their values set the penalties.
    n_trees : int
        Trees of a forest.
    {kinds, configs}
    >>> rng = np.random.default_rng(0)
    >>> len(tsamardinos2018(rng.normal(size=(60, 4)), np.arange(60) % 2))
    610
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    from ..ses import SES  # scikit-learn takes a second to import

    table, labels = _binarized(X, kinds), np.unique(np.asarray(y))
    if len(labels) != 2:
        raise invalid("y", "must have two classes", f"y has {len(labels)}")
    positive = np.asarray(y) == labels[1]
    Z = table.scaled(None).fit_transform(X)
    n, p = Z.shape
    largest = np.abs(Z.T @ (positive - positive.mean())).max() / n
    penalties = np.geomspace(largest, largest * (1e-4 if n > p else 1e-2), _N_PENALTIES)
    root = np.sqrt(sum(map(len, (table.numbers, table.categories, table.dates, table.texts))))
    tried = sorted({max(1, round(share * root)) for share in (0.5, 1.0, 1.5, 2.0)})
    out = Configs()
    for prefix, ses in _SES.items():
        selector = None if ses is None else SES(*ses, task="classification")
        make = table.scaled if selector is None else partial(table.selected, selector=selector)
        forest = make(RandomForestClassifier(n_trees))
        out |= grid(f"{prefix}forest", forest, max_features=tried, min_samples_leaf=[1, 3, 5])
        machine = make(SVC(max_iter=_MOST_STEPS))
        out |= grid(f"{prefix}svm", machine, kernel="linear", C=_FIVE)
        out |= grid(f"{prefix}svm", machine, kernel="rbf", gamma=_FIVE, C=_FIVE)
        out |= grid(f"{prefix}svm", machine, kernel="poly", degree=[2, 3], gamma=_FIVE, C=_FIVE)
        net = make(elastic_net())
        for mix in _MIXES:
            out |= grid(f"{prefix}logit", net, l1_ratio=mix, C=(mix / (n * penalties)).tolist())
    return out


def elastic_net() -> Any:
    """A logistic regression whose penalty is set by ``C`` and ``l1_ratio``."""
    import inspect

    from sklearn.linear_model import LogisticRegression

    # The penalty follows from l1_ratio since scikit-learn 1.8; before, it had to be named.
    named = inspect.signature(LogisticRegression).parameters["penalty"].default != "deprecated"
    return LogisticRegression(solver="saga", max_iter=1000, **({"penalty": "elasticnet"} if named else {}))
