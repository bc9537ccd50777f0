"""SelectCV is an estimator of scikit-learn: its own checks say so."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import TransformerMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import outfold as of

pytestmark = pytest.mark.filterwarnings("ignore")

SEARCHES = [
    of.SelectCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, error_score="raise"),
    of.SelectCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, error_score="raise"),
    of.SelectCV(
        Pipeline([("pca", PCA()), ("ridge", Ridge())]), {"ridge__alpha": [0.1, 1.0]}, cv=3, error_score="raise"
    ),
    of.SelectCV({"strong": LogisticRegression(C=0.1), "weak": LogisticRegression()}, cv=2, error_score="raise"),
]


@parametrize_with_checks(SEARCHES)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


# -- compared with GridSearchCV -------------------------------------------------------------------------


class TheirTransformer(TransformerMixin, GridSearchCV):
    """The checks refuse a search that can transform, unless it says so with a tag."""


class OurTransformer(TransformerMixin, of.SelectCV):
    """See `TheirTransformer`."""


def mean_score(model, X, y=None):
    """A scorer that needs no labels, for a detector without `score`."""
    return float(np.mean(model.score_samples(X)))


PAIR, TRANSFORMERS = (GridSearchCV, of.SelectCV), (TheirTransformer, OurTransformer)
COMPARED = {
    "k neighbours": (PAIR, KNeighborsClassifier(), {"n_neighbors": [1, 2]}, {}),
    "ridge": (PAIR, RidgeClassifier(), {"alpha": [0.1, 1.0]}, {}),
    "tree": (PAIR, DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, {}),
    "normal": (PAIR, GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, {}),
    "counts": (PAIR, MultinomialNB(), {"alpha": [0.1, 1.0]}, {}),
    "regression by neighbours": (PAIR, KNeighborsRegressor(), {"n_neighbors": [1, 2]}, {}),
    "regression tree": (PAIR, DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, {}),
    "components": (TRANSFORMERS, PCA(), {"n_components": [1]}, {}),
    "clusters": (TRANSFORMERS, KMeans(2, n_init=1, random_state=0), {"max_iter": [5, 10]}, {}),
    "outliers": (
        PAIR,
        IsolationForest(n_estimators=5, random_state=0),
        {"max_samples": [0.5, 1.0]},
        {"scoring": mean_score},
    ),
}


def passed(search, but=frozenset()) -> set[str]:
    """Names of the checks that run and never fail; those of `but` are not run."""
    statuses = defaultdict(set)
    for model, check in estimator_checks_generator(search, mark=None):
        name = (check.func if isinstance(check, partial) else check).__name__
        if name in but:
            continue
        try:
            check(model)
        except SkipTest:
            statuses[name].add("skipped")
        except Exception:
            statuses[name].add("failed")
        else:
            statuses[name].add("passed")
    return {name for name, found in statuses.items() if "passed" in found and "failed" not in found}


@pytest.mark.parametrize("name", COMPARED)
def test_every_check_that_gridsearchcv_passes(name):
    """So those that we do not pass are those that GridSearchCV does not pass either."""
    pair, estimator, grid, options = COMPARED[name]
    theirs, ours = (search(estimator, grid, cv=2, error_score="raise", **options) for search in pair)
    found = passed(ours)
    assert len(found) >= 30
    assert passed(theirs, but=found) == set()
