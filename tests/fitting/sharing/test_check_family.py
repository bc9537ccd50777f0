"""The proof itself finds what it is there to find."""

from __future__ import annotations

import numpy as np
import pytest
from share_estimators import check_company
from sklearn.dummy import DummyClassifier, DummyRegressor

from internals import check_family
from outfold.fitting.sharing import Family, View

X = np.arange(20.0).reshape(10, 2)
y = np.arange(10.0)


class Fixed(View):
    def __init__(self, member, value):
        super().__init__(member)
        self.value = value

    def predict(self, X):
        return np.full(len(X), self.value)


class Constant(Family):
    estimator = "sklearn.dummy.DummyRegressor"
    varies = frozenset({"constant"})
    shift = 0.0

    def covers(self, estimator):
        return estimator.strategy == "constant"

    def fit(self, members, X, y, **fit_params):
        return [Fixed(m, float(m.constant) + self.shift * len(members)) for m in members]


class Off(Constant):
    shift = 1e-6


def members():
    return [DummyRegressor(strategy="constant", constant=c) for c in (1.0, 2.0, 3.0)]


def test_a_family_that_keeps_its_promise_passes():
    check_family(Constant(), members(), X, y, tolerance=0)
    check_company(Constant(), members(), X, y)


def test_differences_are_found_and_told():
    with pytest.raises(
        AssertionError,
        match=r"predict of DummyRegressor\(constant=1.* differs in 100.00% of the rows; "
        r"first in row 0: .*largest difference 3e-06",
    ):
        check_family(Off(), members(), X, y)
    check_family(Off(), members(), X, y, tolerance=1e-5)


def test_dependence_on_the_fellows_is_found():
    with pytest.raises(AssertionError, match="among fewer members"):
        check_company(Off(), members(), X, y)


def test_a_member_that_is_not_covered_is_told():
    with pytest.raises(AssertionError, match="does not cover"):
        check_family(Constant(), [DummyRegressor()], X, y)


def test_a_close_family_needs_a_tolerance():
    class Loose(Constant):
        level = "close"

    with pytest.raises(AssertionError, match="give the tolerance"):
        check_family(Loose(), members(), X, y)


def test_a_close_family_may_differ_in_a_share():
    class OneRow(Fixed):
        def predict(self, X):
            return np.where(np.arange(len(X)) == 0, -1.0, self.value)

    class Close(Constant):
        level = "close"

        def fit(self, members, X, y, **fit_params):
            return [OneRow(m, float(m.constant)) for m in members]

    check_family(Close(), members(), X, y, differing=0.1)
    with pytest.raises(AssertionError, match=r"differs in 10\.00%"):
        check_family(Close(), members(), X, y, differing=0.05)


def test_methods_and_classes_must_be_there():
    class Labels(Family):
        estimator = "sklearn.dummy.DummyClassifier"
        varies = frozenset({"strategy"})

        def fit(self, members, X, y, **fit_params):
            return [Fixed(m, 1) for m in members]

    with pytest.raises(AssertionError, match="lacks predict_proba, classes_"):
        check_family(Labels(), [DummyClassifier()], X, y > 3)
