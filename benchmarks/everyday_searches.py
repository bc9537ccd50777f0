"""Searches of the size that people run every day, on data made here or shipped with scikit-learn.

Each function gives one search. It imports what its script would import, so that a new process pays for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Search(NamedTuple):
    """One search: what is varied, the samples, and how configurations are scored."""

    estimator: Any
    grid: dict[str, list[Any]]
    X: Any
    y: Any
    scoring: Any = None
    refit: Any = True
    classes: bool = True  # y holds classes: the folds are stratified

    def folds(self) -> Any:
        """Five folds, the same for both sides."""
        from sklearn.model_selection import KFold, StratifiedKFold

        return StratifiedKFold(5) if self.classes else KFold(5)


def _mixed(n: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """A frame of six columns of numbers, some missing, and four of categories; two classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 6))
    words = [
        rng.choice([f"{name}{i}" for i in range(size)], n) for name, size in zip("abcd", (3, 5, 8, 12), strict=True)
    ]
    signal = numbers[:, 0] + np.sin(2 * numbers[:, 1]) + 0.8 * (words[0] == "a1") - 0.6 * (words[2] == "c3")
    y = (signal + rng.logistic(size=n) > 0).astype(int)
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    frame = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(6)])
    return frame.assign(**{f"w{i}": column for i, column in enumerate(words)}), y


def _prepared(scaled: bool) -> Any:
    """Columns of numbers imputed (and scaled), columns of categories as 0-1 columns."""
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), *([StandardScaler()] if scaled else []))
    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", numbers, make_column_selector(dtype_include="number")),
        ("words", words, make_column_selector(dtype_exclude="number")),
    ]
    return ColumnTransformer(parts)


def _made(n: int, n_features: int, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    informative = min(8, n_features // 2)
    return make_classification(
        n, n_features, n_informative=informative, n_classes=classes, flip_y=0.1, class_sep=0.8, random_state=seed
    )


def _friedman(n: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_friedman1

    return make_friedman1(n, 10, noise=1.0, random_state=0)


def mixed_boosting() -> Search:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import Pipeline

    model = Pipeline([("prepare", _prepared(False)), ("model", HistGradientBoostingClassifier(random_state=0))])
    grid = {"model__learning_rate": [0.03, 0.1, 0.3], "model__max_leaf_nodes": [7, 31]}
    return Search(model, grid, *_mixed(1500), "roc_auc")


def mixed_logistic() -> Search:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    model = Pipeline([("prepare", _prepared(True)), ("model", LogisticRegression(max_iter=1000))])
    grid = {"model__C": [0.01, 0.1, 1.0, 10.0], "model__class_weight": [None, "balanced"]}
    return Search(model, grid, *_mixed(1500), "roc_auc")


def lightgbm() -> Search:
    from lightgbm import LGBMClassifier

    grid = {
        "num_leaves": [7, 15, 31],
        "learning_rate": [0.03, 0.1],
        "min_child_samples": [5, 20],
        "n_estimators": [50, 100],
    }
    return Search(LGBMClassifier(n_jobs=1, random_state=0, verbose=-1), grid, *_made(5000, 20), "roc_auc")


def xgboost() -> Search:
    from xgboost import XGBClassifier

    grid = {"max_depth": [2, 4, 6], "learning_rate": [0.05, 0.2], "n_estimators": [50, 100]}
    return Search(XGBClassifier(random_state=0), grid, *_made(3000, 20), "roc_auc")


def text_logistic() -> Search:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    usual = 1.0 / np.arange(1, 3001)
    topics = [usual * rng.gamma(0.7, size=3000) for _ in range(4)]
    y = rng.integers(4, size=1500)
    texts = [" ".join(rng.choice(words, 60, p=topics[k] / topics[k].sum())) for k in y]
    model = Pipeline([("words", TfidfVectorizer()), ("model", LogisticRegression(max_iter=1000))])
    return Search(model, {"words__ngram_range": [(1, 1), (1, 2)], "model__C": [0.1, 1.0, 10.0, 100.0]}, texts, y)


def random_forest() -> Search:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    grid = {"n_estimators": [25, 50], "max_features": ["sqrt", 0.3, 0.6], "min_samples_leaf": [1, 2, 5, 10]}
    return Search(RandomForestClassifier(random_state=0), grid, *load_breast_cancer(return_X_y=True), "roc_auc")


def extra_trees() -> Search:
    from sklearn.ensemble import ExtraTreesClassifier

    grid = {"max_features": ["sqrt", 0.5, 1.0], "min_samples_leaf": [1, 2, 5, 10]}
    return Search(ExtraTreesClassifier(random_state=0), grid, *_made(1500, 20, 3))


def forest_regression() -> Search:
    from sklearn.ensemble import RandomForestRegressor

    grid = {"max_features": [0.3, 0.6, 1.0], "min_samples_leaf": [1, 3, 10]}
    return Search(RandomForestRegressor(random_state=0), grid, *_friedman(800), classes=False)


def neural_network() -> Search:
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = Pipeline([("scale", StandardScaler()), ("model", MLPClassifier(max_iter=60, random_state=0))])
    grid = {"model__hidden_layer_sizes": [(30,), (60,)], "model__alpha": [1e-4, 1e-2, 1.0]}
    return Search(model, grid, *load_digits(return_X_y=True))


def support_vectors() -> Search:
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    model = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    return Search(
        model, {"model__C": [0.1, 1, 10, 100], "model__gamma": [0.001, 0.01, 0.1]}, *_made(1500, 20), "roc_auc"
    )


def elastic_net() -> Search:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import ElasticNet
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = Pipeline([("scale", StandardScaler()), ("model", ElasticNet())])
    grid = {"model__alpha": [0.01, 0.03, 0.1, 0.3, 1.0], "model__l1_ratio": [0.1, 0.5, 0.9]}
    return Search(model, grid, *load_diabetes(return_X_y=True), classes=False)


def boosting_regression() -> Search:
    from sklearn.ensemble import GradientBoostingRegressor

    grid = {"learning_rate": [0.03, 0.1, 0.3], "max_depth": [2, 3], "n_estimators": [50, 150]}
    model = GradientBoostingRegressor(random_state=0)
    return Search(model, grid, *_friedman(1000), "neg_mean_squared_error", classes=False)


def pca_logistic() -> Search:
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = [("scale", StandardScaler()), ("pca", PCA()), ("model", LogisticRegression(max_iter=2000))]
    grid = {"pca__n_components": [10, 20, 40], "model__C": [0.01, 0.1, 1.0, 10.0]}
    return Search(Pipeline(model), grid, *load_digits(return_X_y=True))


def neighbours() -> Search:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = Pipeline([("scale", StandardScaler()), ("model", KNeighborsClassifier())])
    grid = {"model__n_neighbors": list(range(1, 21, 2)), "model__weights": ["uniform", "distance"]}
    return Search(model, grid, *_made(208, 60))


def ridge() -> Search:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    model = Pipeline([("scale", StandardScaler()), ("products", PolynomialFeatures()), ("model", Ridge())])
    grid = {"products__degree": [1, 2], "model__alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}
    return Search(model, grid, *load_diabetes(return_X_y=True), "neg_root_mean_squared_error", classes=False)


def splines() -> Search:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import SplineTransformer

    model = Pipeline([("splines", SplineTransformer()), ("model", Ridge())])
    grid = {"splines__n_knots": [4, 6, 10], "model__alpha": [0.01, 0.1, 1.0, 10.0]}
    return Search(model, grid, *_friedman(1000), classes=False)


def several_metrics() -> Search:
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression(max_iter=1000))])
    data, scoring = load_breast_cancer(return_X_y=True), ["accuracy", "roc_auc", "f1"]
    grid = {"model__C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0], "model__class_weight": [None, "balanced"]}
    return Search(model, grid, *data, scoring, "roc_auc")


def decision_tree() -> Search:
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    grid = {"max_depth": [2, 3, 5, None], "min_samples_leaf": [1, 5, 10, 20], "criterion": ["gini", "entropy"]}
    return Search(DecisionTreeClassifier(random_state=0), grid, *load_breast_cancer(return_X_y=True))


# The name of a search in the table, and what makes it.
SEARCHES: dict[str, Callable[[], Search]] = {
    "mixed columns, histogram boosting, 6": mixed_boosting,
    "mixed columns, logistic, 8": mixed_logistic,
    "LightGBM, 24, 5,000 rows": lightgbm,
    "xgboost, 12, 3,000 rows": xgboost,
    "tf-idf, logistic, 8": text_logistic,
    "random forest, 24": random_forest,
    "extra trees, 12, 1,500 rows": extra_trees,
    "random forest regression, 9": forest_regression,
    "MLP, 6": neural_network,
    "SVC, 12, 1,500 rows": support_vectors,
    "elastic net, 15, 442 rows": elastic_net,
    "gradient boosting regression, 12": boosting_regression,
    "scaler, PCA, logistic, 12": pca_logistic,
    "k-NN, 20, 208 rows": neighbours,
    "polynomial features, ridge, 10": ridge,
    "splines, ridge, 12": splines,
    "logistic, three metrics, 12": several_metrics,
    "decision tree, 32": decision_tree,
}
