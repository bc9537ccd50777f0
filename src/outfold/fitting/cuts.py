"""Classifiers whose `predict` is known to be the cut of their probabilities or scores, so that it need not be asked.

Everything else is asked: a threshold that was tuned, Platt's probabilities beside an SVM, a class of the user's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .sharing import View

# predict is the first largest of the columns of predict_proba, literally.
_LARGEST = frozenset(
    {
        ("sklearn.tree", "DecisionTreeClassifier"),
        ("sklearn.tree", "ExtraTreeClassifier"),
        ("sklearn.ensemble", "RandomForestClassifier"),
        ("sklearn.ensemble", "ExtraTreesClassifier"),
    }
)
# predict, predict_proba and decision_function are monotone in each other: they agree up to rounding at the cut.
_MONOTONE = frozenset(
    {
        ("sklearn.linear_model", "LogisticRegression"),
        ("sklearn.linear_model", "LogisticRegressionCV"),
        ("sklearn.linear_model", "SGDClassifier"),
        ("sklearn.linear_model", "RidgeClassifier"),
        ("sklearn.linear_model", "RidgeClassifierCV"),
        ("sklearn.linear_model", "Perceptron"),
        ("sklearn.svm", "LinearSVC"),
        ("sklearn.naive_bayes", "GaussianNB"),
        ("sklearn.naive_bayes", "BernoulliNB"),
        ("sklearn.naive_bayes", "MultinomialNB"),
        ("sklearn.naive_bayes", "ComplementNB"),
        ("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"),
        ("sklearn.discriminant_analysis", "QuadraticDiscriminantAnalysis"),
        ("sklearn.ensemble", "GradientBoostingClassifier"),
        ("sklearn.ensemble", "HistGradientBoostingClassifier"),
        ("sklearn.neural_network", "MLPClassifier"),
    }
)
# Of these only the sign of the binary score is what predict goes by.
_BINARY_SCORE = frozenset({("sklearn.svm", "SVC"), ("sklearn.svm", "NuSVC")})
_PIPELINE = ("sklearn.pipeline", "Pipeline")


def predicts_largest(model: Any) -> bool:
    """Whether predict takes the first largest of the probabilities."""
    name = _name(_final(model))
    return name in _LARGEST or (name == _NEIGHBOURS and _final(model).weights == "uniform")


def predicts_by_cut(model: Any, response: str, n_classes: int) -> bool:
    """Whether predict is the cut of this response for every row that is not on the boundary."""
    name = _name(_final(model))
    return name in _MONOTONE or (name in _BINARY_SCORE and response == "score" and n_classes == 2)


def scores_pairs(model: Any) -> bool:
    """Whether decision_function compares two classes a column, as no metric of scores can read for more than two."""
    final = _final(model)
    return _name(final) in _BINARY_SCORE and final.decision_function_shape == "ovo"


_NEIGHBOURS = ("sklearn.neighbors", "KNeighborsClassifier")


def _final(model: Any) -> Any:
    if isinstance(model, View):
        model = model.member
    while _name(model) == _PIPELINE:
        model = model.steps[-1][1]
    return model


def _name(model: Any) -> tuple[str, str]:
    """Package and class; a class of the user's that derives from one of these is another."""
    kind = type(model)
    return _package(kind.__module__), kind.__qualname__


@lru_cache(maxsize=256)
def _package(module: str) -> str:
    return ".".join(module.split(".")[:2])
