"""The collections of the snapshot: small, and as varied as collections can be.

Every call that makes predictions stands here, and only here. A change of a public signature is adapted in this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import outfold as of

# -- data -----------------------------------------------------------------------------------------------

_FEATURES, _PROGRESSION = load_diabetes(return_X_y=True)


def values(n: int = 50, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features and a value above 0."""
    return _FEATURES[start : start + n, :6], _PROGRESSION[start : start + n]


def two_classes(n: int = 50, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = values(n, start)
    return X, np.where(y > np.median(y), "worse", "stable")


def three_classes() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    some = np.random.default_rng(3).permutation(150)[:48]
    # Noise, so that no configuration is always right.
    return X[some] + np.random.default_rng(4).normal(0, 0.6, (48, 4)), y[some]


def texts() -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(5)
    y = np.arange(40) % 2
    words = np.array(["good", "fine", "plain", "dull", "bad", "long"])
    weights = np.array([[0.1, 0.1, 0.2, 0.2, 0.2, 0.2], [0.25, 0.2, 0.2, 0.15, 0.1, 0.1]])
    return [" ".join(rng.choice(words, 8, p=weights[label])) for label in y], y


# -- configurations ---------------------------------------------------------------------------------------


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def pipelines() -> of.Configs:
    columns = ColumnTransformer(
        [("a", StandardScaler(), [0, 1, 2]), ("b", MinMaxScaler(), [3, 4])], remainder="passthrough"
    )
    return (
        of.grid("logit", scaled(LogisticRegression()), C=[0.1, 1])
        | of.grid("pca", make_pipeline(StandardScaler(), PCA(), LogisticRegression()), n_components=[2, 3])
        | of.grid("best", make_pipeline(SelectKBest(), KNeighborsClassifier()), k=[2, 4], n_neighbors=[3, 7])
        | of.grid("columns", make_pipeline(columns, GaussianNB()))
    )


def logistic() -> of.Configs:
    return (
        of.grid("lbfgs", scaled(LogisticRegression(max_iter=300)), C=[0.01, 0.1, 1])
        | of.grid("liblinear", scaled(LogisticRegression(solver="liblinear")), C=[0.1, 1])
        | of.grid("saga", scaled(LogisticRegression(solver="saga", l1_ratio=1.0, max_iter=2000)), C=[0.3, 1])
    )


def forests() -> of.Configs:
    return (
        of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 4], min_samples_leaf=[1, 4])
        | of.grid("forest", RandomForestClassifier(), n_estimators=[3, 6], max_depth=[None, 2])
        | of.grid("extra", ExtraTreesClassifier(), n_estimators=[3, 6])
        | of.grid("boost", GradientBoostingClassifier(subsample=0.8), n_estimators=[3, 8])
        | of.grid("histogram", HistGradientBoostingClassifier(min_samples_leaf=5), max_iter=[2, 5])
        | of.grid("ada", AdaBoostClassifier(), n_estimators=[3, 6])
    )


def linear() -> of.Configs:
    return (
        of.grid("ridge", scaled(Ridge()), alpha=[0.1, 1, 10])
        | of.grid("lasso", scaled(Lasso()), alpha=[0.5, 2, 8])
        | of.grid("net", scaled(ElasticNet()), alpha=[0.5, 2], l1_ratio=[0.2, 0.8])
        | of.grid("svr", scaled(SVR()), C=[1, 30])
        | of.grid("knn", scaled(KNeighborsRegressor()), n_neighbors=[1, 3, 7], weights=["uniform", "distance"])
    )


def machines() -> of.Configs:
    return of.grid("svm", scaled(SVC()), C=[0.3, 1, 10], gamma=[0.03, 0.3]) | of.grid(
        "poly", SVC(kernel="poly"), C=[1, 30]
    )


def mixed() -> of.Configs:
    """A few quick ones."""
    return (
        of.grid("knn", scaled(KNeighborsClassifier()), n_neighbors=[1, 5, 9])
        | of.grid("bayes", GaussianNB())
        | of.grid("logit", scaled(LogisticRegression()), C=[0.1, 1])
    )


# -- ways to make predictions -------------------------------------------------------------------------------


def collected(configs: Any, data: tuple[Any, Any], plan: Any, **options: Any) -> of.Predictions:
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return of.collect(configs, X, y, plan, rng=options.pop("rng", 7), progress=False, **options)


def searched(drop: bool) -> tuple[of.Predictions, dict[str, Any]]:
    """A search, and what it says besides its predictions."""
    X, y = two_classes(60, start=100)
    grid = {
        "kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25],
        "kneighborsclassifier__weights": ["uniform", "distance"],
    }
    search = of.SelectCV(
        scaled(KNeighborsClassifier()), grid, scoring="roc_auc", cv=5, repeats=2, drop=drop, random_state=3
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y)
    return search.oof_, {
        "best index": search.best_index_,
        "best score": search.best_score_,
        "best parameters": [str(v) for _, v in sorted(search.best_params_.items())],
        "mean test score": np.asarray(search.cv_results_["mean_test_score"]),
        "rank": np.asarray(search.cv_results_["rank_test_score"]),
        "estimate": search.estimate_,
        "interval": search.interval_,
        "probabilities": search.predict_proba(X),
    }


def refitted() -> tuple[of.Predictions, dict[str, Any]]:
    """A collection, the models fitted again, and curves."""
    configs, data = pipelines(), two_classes()
    oof = collected(configs, data, of.Plan(folds=5, repeats=2), inner=True, fresh="accuracy", resub=True)
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = of.refit(oof, configs, X, y, metric="roc_auc")
        simple = of.refit(oof, configs, X, y, metric="accuracy", rule=of.select.one_standard_error(_length))
        learning = of.curves.learning(
            of.grid("tree", DecisionTreeClassifier(), max_depth=[2]),
            X,
            y,
            sizes=[0.5, 1.0],
            plan=of.Plan(3),
            progress=False,
        )
        validation = of.curves.validation(
            scaled(KNeighborsClassifier()), X, y, "n_neighbors", [1, 5, 9], plan=of.Plan(3, 2), progress=False
        )
    return oof, {
        "probabilities": model.predict_proba(X),
        "probabilities of the simplest": simple.predict_proba(X),
        "learning curve": learning,
        "validation curve": validation,
    }


def _length(name: str, params: Any) -> float:
    return float(len(name))


def from_arrays_prompts() -> of.Predictions:
    rng = np.random.default_rng(11)
    skill = np.linspace(-0.4, 0.6, 8)
    correct = (rng.normal(size=(60, 1)) + rng.normal(size=(60, 8)) < skill).astype(float)
    return of.from_arrays(None, correct, response="pointwise", configs=[f"prompt {i}" for i in range(8)])


def from_arrays_survival() -> of.Predictions:
    rng = np.random.default_rng(12)
    time = rng.integers(1, 25, 45).astype(float)
    y = np.stack([time, rng.random(45) < 0.7], axis=1)
    P = np.round(-time[:, None, None] / 6 + rng.normal(0, [[0.8], [1.2], [2.0], [3.0]], (45, 4, 2)), 2)
    folds = np.stack([rng.permutation(np.arange(45) % 5) for _ in range(2)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="risk")


def from_arrays_labels() -> of.Predictions:
    rng = np.random.default_rng(13)
    y = rng.integers(0, 3, 60)
    P = np.where(rng.random((60, 5)) < [0.4, 0.5, 0.6, 0.7, 0.8], y[:, None], rng.integers(0, 3, (60, 5)))
    return of.from_arrays(y, P, folds=rng.permutation(np.arange(60) % 6), response="label", groups=np.arange(60) // 3)


# -- the cases ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One collection.

    Attributes
    ----------
    make
        Gives the predictions, or a pair: predictions, and other answers by name.
    metrics
        The metrics that all questions are asked by; the first is the main one. None where another case has nearly the same
        predictions.
    steady
        Whether predictions on another machine are the same but for rounding. Trees may break a tie another way.
    since
        The first version of scikit-learn that gives this collection.
    """

    make: Callable[[], of.Predictions | tuple[of.Predictions, dict[str, Any]]]
    metrics: tuple[str, ...] = ("accuracy", "roc_auc")
    steady: bool = True
    since: tuple[int, int] = (1, 7)


BINARY = ("accuracy", "roc_auc", "log_loss")
VALUES = ("mse", "r2")

CASES: dict[str, Case] = {
    # Blocks, models fitted again, curves.
    "pipelines": Case(refitted, BINARY),
    # Families of shared fits, by level and without.
    # Before scikit-learn 1.8 an l1_ratio counted only beside penalty="elasticnet".
    "logistic": Case(lambda: collected(logistic(), two_classes(), of.Plan(3)), since=(1, 8)),
    "logistic alone": Case(lambda: collected(logistic(), two_classes(), of.Plan(3), share=False), (), since=(1, 8)),
    "logistic tolerant": Case(
        lambda: collected(logistic(), two_classes(), of.Plan(3), share="close"), (), since=(1, 8)
    ),
    "forests": Case(lambda: collected(forests(), two_classes(), of.Plan(3)), steady=False),
    "forests alone": Case(lambda: collected(forests(), two_classes(), of.Plan(3), share=False), (), steady=False),
    "forests equivalent": Case(
        lambda: collected(forests(), two_classes(), of.Plan(3), share="close"), (), steady=False
    ),
    "linear": Case(lambda: collected(linear(), values(), of.Plan(4, 2)), VALUES),
    "linear alone": Case(lambda: collected(linear(), values(), of.Plan(4, 2), share=False), ()),
    "machines": Case(lambda: collected(machines(), two_classes(start=50), of.Plan(5), share="close")),
    "weights": Case(
        lambda: collected(
            of.grid("ridge", Ridge(), alpha=[0.01, 1]) | of.grid("tree", DecisionTreeRegressor(), max_depth=[1, 3]),
            values(),
            of.Plan(4),
            fit_params={"sample_weight": np.linspace(0.5, 2, 50)},
        ),
        VALUES,
        steady=False,
    ),
    # Workers, and values.
    "values of trees": Case(
        lambda: collected(
            of.grid("tree", DecisionTreeRegressor(), max_depth=[1, 3])
            | of.grid("forest", RandomForestRegressor(), n_estimators=[4, 8])
            | of.grid("boost", GradientBoostingRegressor(), n_estimators=[4, 12])
            | of.grid("histogram", HistGradientBoostingRegressor(min_samples_leaf=5), max_iter=[3, 6]),
            values(start=60),
            of.Plan(3),
            n_jobs=2,
        ),
        ("mse", "msle"),
        steady=False,
    ),
    # Three classes, texts, failures.
    "three classes": Case(
        lambda: collected(
            of.grid("bayes", GaussianNB(), var_smoothing=[1e-9, 0.1])
            | of.grid("lda", LinearDiscriminantAnalysis())
            | of.grid("ada", AdaBoostClassifier(), n_estimators=[4])
            | of.grid("net", scaled(MLPClassifier(hidden_layer_sizes=(4,), max_iter=40)), alpha=[1e-4, 1e-1])
            | of.grid("logit", scaled(LogisticRegression()), C=[0.3]),
            three_classes(),
            of.Plan(3, 2),
        ),
        ("accuracy", "roc_auc_ovr", "log_loss"),
        steady=False,
    ),
    "texts": Case(
        lambda: collected(
            of.grid("bayes", make_pipeline(TfidfVectorizer(), MultinomialNB()), alpha=[0.1, 1])
            | of.grid("logit", make_pipeline(TfidfVectorizer(), LogisticRegression()), C=[1, 10]),
            texts(),
            of.Plan(4),
        )
    ),
    "failures": Case(
        lambda: collected(
            of.grid("pca", make_pipeline(PCA(), GaussianNB()), n_components=[2, 4, 9]) | mixed(),
            two_classes(),
            of.Plan(4),
        )
    ),
    # Plans.
    # StratifiedGroupKFold shuffles in another way since 1.8.
    "groups": Case(
        lambda: collected(mixed(), two_classes(), of.Plan(5), groups=np.arange(50) // 2, inner=True),
        BINARY,
        since=(1, 8),
    ),
    "leave one out": Case(lambda: collected(mixed(), two_classes(30), of.Plan.leave_one_out())),
    "hold-out": Case(lambda: collected(mixed(), two_classes(90), of.Plan.holdout(0.4))),
    "repeated hold-out": Case(lambda: collected(mixed(), two_classes(), of.Plan.repeated_holdout(6, 0.3))),
    "bootstrap": Case(lambda: collected(mixed(), two_classes(40), of.Plan.bootstrap(15))),
    "five by two": Case(lambda: collected(mixed(), two_classes(), of.Plan.five_by_two())),
    "three by two": Case(lambda: collected(mixed(), two_classes(56), of.Plan.blocked(3))),
    "time": Case(
        lambda: collected(
            of.grid("ridge", scaled(Ridge()), alpha=[0.1, 10])
            | of.grid("knn", KNeighborsRegressor(), n_neighbors=[1, 4]),
            values(),
            of.Plan.from_cv(TimeSeriesSplit(4)),
        ),
        VALUES,
    ),
    "three-way": Case(
        lambda: collected(mixed(), two_classes(90), of.Plan.three_way(0.3, 0.3), fresh="accuracy"),
    ),
    # Dropping and repeating.
    "dropping": Case(
        lambda: collected(
            of.grid("knn", scaled(KNeighborsClassifier()), n_neighbors=[1, 2, 5, 9, 25, 35])
            | of.grid("svm", scaled(SVC()), C=[0.001, 1])
            | of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 5]),
            two_classes(80, start=200),
            of.Plan(5, 2),
            drop=of.drop.Bootstrap(threshold=0.9, min_predictions=20, n_resamples=200, metric="accuracy"),
            n_jobs=2,
        ),
        steady=False,
    ),
    "dropping by ranks": Case(
        lambda: collected(
            of.grid("knn", KNeighborsRegressor(), n_neighbors=[1, 3, 6, 12, 30])
            | of.grid("ridge", Ridge(), alpha=[0.01, 100]),
            values(60),
            of.Plan(4, 2),
            drop=of.drop.Friedman(min_folds=3, metric="mse"),
        ),
        VALUES,
    ),
    "repeats": Case(
        lambda: collected(
            mixed(), two_classes(), of.Plan(4), repeats="auto", stop=of.stability.Rank(0.97), max_repeats=6
        )
    ),
    "search": Case(lambda: searched(drop=False)),
    "search dropping": Case(lambda: searched(drop=True)),
    # Predictions made elsewhere.
    "prompts": Case(from_arrays_prompts, ("mean",)),
    "survival": Case(from_arrays_survival, ("concordance",)),
    "labels": Case(from_arrays_labels, ("accuracy", "cohen_kappa")),
}


def run(name: str) -> tuple[of.Predictions, dict[str, Any]]:
    """The predictions of a case, and its other answers."""
    made = CASES[name].make()
    return made if isinstance(made, tuple) else (made, {})
