"""SelectCV is an estimator of scikit-learn: its own checks say so."""

from __future__ import annotations

import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

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
