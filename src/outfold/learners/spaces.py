"""Ready configuration spaces for tables: about 60 configurations that need no thought about the columns.

Every configuration is a whole pipeline, so that imputation, one-hot encoding and scaling are learnt inside the training
part of each fold, and the fitted model takes rows as they were read from the file. All classifiers give probabilities:
one collection then serves every metric, log loss and Brier score included. Support vector machines get theirs from a
sigmoid fitted by an inner 3-fold CV, which costs four fits of a method that is light on the tables it is used for.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arguments import check_choice
from ..docstrings import fill_with
from ..exceptions import invalid
from ..fitting.configs import Configs, grid

__all__ = ["MOST_ROWS_SVM", "classification", "regression", "tabular", "tsamardinos2015", "tsamardinos2018"]

# The time of a kernel SVM grows with the square of the rows: above this many it would take longer than all others.
MOST_ROWS_SVM = 5000
# One-hot columns a text column may become; its rarer values share the last of them.
MOST_CATEGORIES = 20

_STRENGTHS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0]
_NEIGHBOURS = [1, 3, 5, 9, 15, 25]
_TREE = {"max_depth": [2, 3, 5, None], "min_samples_leaf": [1, 5, 20]}
_FOREST = {"max_features": ["sqrt", 0.5], "min_samples_leaf": [1, 3, 10]}
_BOOST = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [2, 4, 8, 16]}
_SVM = {"C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.003, 0.01, 0.1]}
# Strategy NFS of Tsamardinos et al. (2015), sect. 4, as printed.
_NODE_SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50]
_TENS = [0.1, 1, 10]
# Tsamardinos et al. (2018), sect. 5.2, as printed.
_FIVE = [0.01, 0.1, 1, 10, 100]
_SES: dict[str, tuple[float, int] | None] = {
    "": None,
    **{f"ses(alpha={alpha}, k={k}) ": (alpha, k) for alpha in (0.05, 0.01) for k in (2, 3)},
}
_MIXES = [0.001, 0.5, 1.0]
_N_PENALTIES = 10


# Texts that the docstrings share.
_filled = fill_with(
    {
        "X": """X : pandas or polars DataFrame, or array of numbers of shape (n_samples, n_features)
    The features. Only the columns, the number of rows and whether values are missing are looked at.""",
        "configs": "\nReturns\n-------\nConfigs\n    The configurations by name.\n\nExamples\n--------",
    }
)


@_filled
def tabular(X: Any, task: Literal["classification", "regression"]) -> Configs:
    """Configurations for a table and a task.

    Parameters: {X}
    task : {"classification", "regression"}
        What is predicted.
    {configs}
    >>> len(tabular(np.zeros((100, 4)), "regression"))
    60
    """
    check_choice(task, ("classification", "regression"), "task")
    return classification(X) if task == "classification" else regression(X)


@_filled
def classification(X: Any) -> Configs:
    """Logistic regression, SVM, k-NN, tree, forest and boosting for the columns of `X`; all give probabilities.

    SVMs are left out above `MOST_ROWS_SVM` rows, and numbers of neighbours that the rows cannot fill.

    Parameters: {X, configs}
    >>> len(classification(np.zeros((100, 4))))
    60
    """
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    table = _look_at(X)
    linear = grid("logit", table.scaled(LogisticRegression(max_iter=2000)), C=_STRENGTHS)
    svm = CalibratedClassifierCV(SVC(), cv=3, ensemble=False)
    trees = DecisionTreeClassifier(), RandomForestClassifier(), HistGradientBoostingClassifier()
    return linear | table.others(svm, KNeighborsClassifier(), *trees)


@_filled
def regression(X: Any) -> Configs:
    """Ridge regression, SVM, k-NN, tree, forest and boosting for the columns of `X`.

    SVMs are left out above `MOST_ROWS_SVM` rows, and numbers of neighbours that the rows cannot fill.

    Parameters: {X, configs}
    >>> len(regression(np.zeros((100, 4))))
    60
    """
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor

    table = _look_at(X)
    linear = grid("ridge", table.scaled(Ridge()), alpha=[1 / c for c in _STRENGTHS])
    # C and epsilon of a support vector regression are in units of the target, which only scaling makes comparable.
    svm = TransformedTargetRegressor(SVR(), transformer=StandardScaler())
    trees = DecisionTreeRegressor(), RandomForestRegressor(), HistGradientBoostingRegressor()
    return linear | table.others(svm, KNeighborsRegressor(), *trees)


@_filled
def tsamardinos2015(X: Any) -> Configs:
    """The 236 configurations of strategy NFS in Tsamardinos, Rakhshani and Lagani (2015), for two classes.

    Logistic regression without a penalty; a decision tree with 14 x 14 smallest sizes of a leaf and of a node that is
    split; support vector machines with linear, Gaussian and polynomial kernels (3 + 9 + 27). Their printed grids make
    236, their text says 247. The machines give scores, no probabilities; they stop after 20,000 steps, since some of the
    polynomial ones would take hours to fit what they cannot.

    Parameters: {X, configs}
    >>> len(tsamardinos2015(np.zeros((100, 4))))
    236
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    table = _look_at(X)
    svm = table.scaled(SVC(max_iter=20_000))
    # A node of one sample is never split, so that 1 and 2 are the same tree; both were tried, and both count.
    trees, params = {}, {}
    for leaf, node in product(_NODE_SIZES, _NODE_SIZES):
        name = f"tree(min_samples_leaf={leaf}, min_samples_split={node})"
        trees[name] = table.plain(DecisionTreeClassifier(min_samples_leaf=leaf, min_samples_split=max(2, node)))
        params[name] = {"min_samples_leaf": leaf, "min_samples_split": node}
    out = Configs({"logit": table.scaled(LogisticRegression(C=np.inf, max_iter=1000))})
    out |= Configs(trees, params)
    out |= grid("svm", svm, kernel="linear", C=_TENS)
    out |= grid("svm", svm, kernel="rbf", gamma=_TENS, C=_TENS)
    return out | grid("svm", svm, kernel="poly", degree=[2, 3, 4], gamma=_TENS, C=_TENS)


@_filled
def tsamardinos2018(X: Any, y: Any, n_trees: int = 1000) -> Configs:
    """The 610 configurations of Tsamardinos, Greasidou and Borboudakis (2018), sect. 5.2, for two classes.

    Five choices of features (all, or `SES` at two levels with sets of at most 2 or 3), each with 12 random forests, 80
    support vector machines and 30 logistic regressions with an elastic net. The ten penalties of the elastic net run from
    the smallest one that leaves no coefficient down to a hundredth of it (a ten-thousandth where samples outnumber features),
    as the library glmnet chooses them, here on X and y as they stand. The machines give scores, no probabilities; they
    stop after 20,000 steps.

    Parameters
    ----------
    X, y : array-like
        The samples; their values set the penalties.
    n_trees : int
        Trees of a forest.
    {configs}
    >>> rng = np.random.default_rng(0)
    >>> len(tsamardinos2018(rng.normal(size=(60, 4)), np.arange(60) % 2))
    610
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    from .ses import SES  # scikit-learn takes a second to import

    table, labels = _look_at(X), np.unique(np.asarray(y))
    if len(labels) != 2:
        raise invalid("y", "must have two classes", f"y has {len(labels)}")
    positive = np.asarray(y) == labels[1]
    Z = table.scaled(None).fit_transform(X)
    n, p = Z.shape
    largest = np.abs(Z.T @ (positive - positive.mean())).max() / n
    penalties = np.geomspace(largest, largest * (1e-4 if n > p else 1e-2), _N_PENALTIES)
    root = np.sqrt(len(table.numbers) + len(table.categories))
    tried = sorted({max(1, round(share * root)) for share in (0.5, 1.0, 1.5, 2.0)})
    out = Configs()
    for prefix, ses in _SES.items():
        selector = None if ses is None else SES(*ses, task="classification")
        forest = table.scaled(RandomForestClassifier(n_trees), selector)
        out |= grid(f"{prefix}forest", forest, max_features=tried, min_samples_leaf=[1, 3, 5])
        machine = table.scaled(SVC(max_iter=20_000), selector)
        out |= grid(f"{prefix}svm", machine, kernel="linear", C=_FIVE)
        out |= grid(f"{prefix}svm", machine, kernel="rbf", gamma=_FIVE, C=_FIVE)
        out |= grid(f"{prefix}svm", machine, kernel="poly", degree=[2, 3], gamma=_FIVE, C=_FIVE)
        net = table.scaled(_elastic_net(), selector)
        for mix in _MIXES:
            out |= grid(f"{prefix}logit", net, l1_ratio=mix, C=(mix / (n * penalties)).tolist())
    return out


def _elastic_net() -> Any:
    import inspect

    from sklearn.linear_model import LogisticRegression

    # The penalty follows from l1_ratio since scikit-learn 1.8; before, it had to be named.
    named = inspect.signature(LogisticRegression).parameters["penalty"].default != "deprecated"
    return LogisticRegression(solver="saga", max_iter=1000, **({"penalty": "elasticnet"} if named else {}))


class _Table(NamedTuple):
    """What a pipeline must know of a table: columns of numbers, columns of categories, whether numbers are missing."""

    numbers: list[Any]
    categories: list[Any]
    missing: bool
    n_rows: int

    def plain(self, model: Any) -> Any:
        return self.pipeline(model=model)

    def scaled(self, model: Any, selector: Any = None) -> Any:
        """Numbers of one size, and a selector of features before the model."""
        from sklearn.preprocessing import StandardScaler

        return self.pipeline(scale=StandardScaler(), select=selector, model=model)

    def pipeline(self, **steps: Any) -> Any:
        """These steps after the columns; those that are None are left out."""
        from sklearn.pipeline import Pipeline

        return Pipeline(
            [("columns", self._columns()), *((name, step) for name, step in steps.items() if step is not None)]
        )

    def _columns(self) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder

        # A training part may hold no value of a column at all: it is kept, so that rows that do hold one still fit.
        imputer = SimpleImputer(strategy="median", add_indicator=self.missing, keep_empty_features=True)
        # A missing category is one more category, so nothing has to be imputed.
        encoder = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_CATEGORIES, sparse_output=False)
        parts = [("numbers", imputer, self.numbers), ("categories", encoder, self.categories)]
        return ColumnTransformer([part for part in parts if part[2]])

    def others(self, svm: Any, knn: Any, tree: Any, forest: Any, boost: Any) -> Configs:
        """The grids that classification and regression have in common."""
        # Half the rows is the smallest training part of any plan.
        few = [k for k in _NEIGHBOURS if k <= max(1, self.n_rows // 2)]
        out = grid("svm", self.scaled(svm), _SVM) if self.n_rows <= MOST_ROWS_SVM else Configs()
        out |= grid("knn", self.scaled(knn), n_neighbors=few, weights=["uniform", "distance"])
        out |= grid("tree", self.plain(tree), _TREE) | grid("forest", self.plain(forest), _FOREST)
        return out | grid("boost", self.plain(boost), _BOOST)


def _look_at(X: Any) -> _Table:
    import narwhals as nw

    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        array = np.asarray(X)
        if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "biuf":
            needed = "must be a data frame, or an array of numbers of shape (N, p)"
            raise invalid("X", needed, f"got {array.dtype} {array.shape}") from None
        missing = array.dtype.kind == "f" and bool(np.isnan(array).any())
        return _Table(list(range(array.shape[1])), [], missing, len(array))
    numbers = [c for c, dtype in frame.schema.items() if dtype.is_numeric() or dtype == nw.Boolean]
    texts = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    categories = [c for c, dtype in frame.schema.items() if any(dtype == t for t in texts)]
    other = [c for c in frame.columns if c not in numbers and c not in categories]
    if other:
        given = f"column {other[0]!r} holds {frame.schema[other[0]]}"
        remedy = "Make numbers of it, such as days since a date, or leave it out."
        raise invalid("X", "must have columns of numbers or categories", given, remedy)
    if not numbers and not categories:
        raise invalid("X", "must have at least one column", "there are no columns to predict from")
    columns = [frame[c] for c in numbers]
    missing = any(c.is_null().any() or (c.dtype.is_float() and c.is_nan().any()) for c in columns)
    return _Table(numbers, categories, missing, len(frame))
