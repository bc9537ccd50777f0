"""SES, feature selection by statistically equivalent signatures (Tsamardinos, Lagani and Pappas 2012; Lagani et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import check_count
from ..docstrings import fill_with
from ..exceptions import InputError
from .independence import FeatureColumns, Independence, Linear, Logistic
from .mixed import CategoricalFeatures, Codes, Column
from .selecting import TEXTS, SelectionTask, Selector

__all__ = ["SES"]


@fill_with(TEXTS)
class SES(Selector):
    """Keep the features that no few others make independent of the target.

    Features come in one by one, the strongest first. Strength is the largest p value over all sets of at most `max_conditions`
    selected features. A feature leaves if such a set makes it independent of the target. If it in turn makes a feature of
    that set independent, either can replace the other: they are equivalent (``equivalent_``), and the one that came first is
    kept [1]_ [2]_.

    For a target with classes, independence is tested by the likelihood ratio of a (multinomial) logistic regression with and
    without the feature. For a number, it is tested by the F test of a linear regression, which is the t test of a partial
    correlation if the feature is a number. A category is tested as a whole, with one column for each level but one. These are
    the tests of the R package MXM for mixed features [2]_. Missing numbers count as the median. Missing categories are a level.
    If the target has classes, a category with fewer than five samples per level is not selected, unless there is nothing else.

    Parameters
    ----------
    alpha : float
        Level of the tests.
    max_conditions : int
        The most features to condition on, *k* in the papers.
    {task, categorical_features}

    Attributes
    ----------
    selected_ : ndarray of int
        Positions of the features kept, the strongest first. If all tests say independent, the one with the smallest p value,
        since a model needs one.
    equivalent_ : list of list of int
        For each feature kept, the features that could replace it, itself first.
    is_categorical_ : ndarray of bool
        Which features are categories.

    References: {tsamardinos2012, lagani2017}

    Examples
    --------
    >>> from outfold.learners import SES
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SES(alpha=0.01).fit(X, y).selected_.tolist()
    [3, 2]
    """

    def __init__(
        self,
        alpha: float = 0.05,
        max_conditions: int = 3,
        task: SelectionTask = "auto",
        categorical_features: CategoricalFeatures = "from_dtype",
    ) -> None:
        self.alpha = alpha
        self.max_conditions = max_conditions
        self.task = task
        self.categorical_features = categorical_features

    def _select(self, columns: Sequence[Column], y: NDArray[Any]) -> None:
        check_count(self.max_conditions, "max_conditions", 0)
        design = FeatureColumns.of(columns)
        candidates = np.flatnonzero(design.widths)
        if not len(candidates):
            raise InputError(needed="all features are constant on these samples, so that none can be selected")
        classes = self._classes(y)
        tests: Independence
        if classes is None:
            tests = Linear(design, y.astype(np.float64))
        else:
            tests = Logistic(design, classes)
            dense = candidates[tests.has_enough_samples(candidates)]
            candidates = dense if len(dense) else candidates  # a model needs one
        search = _Search(tests, candidates, np.log(self.alpha), self.max_conditions)
        search.run()
        self.selected_ = np.array(search.selected, dtype=np.intp)
        self.equivalent_ = [search.equivalents[j] for j in search.selected]


class _Search:
    """The state of the selection: who may still come in, who is in, and the weakest association each has shown."""

    def __init__(self, tests: Independence, candidates: Codes, level: float, most: int) -> None:
        self.tests, self.level, self.most = tests, level, most
        self.open = candidates
        self.selected: list[int] = []
        self.largest_p = np.full(candidates.max() + 1, -np.inf)
        self.equivalents = {j: [j] for j in candidates.tolist()}

    def run(self) -> None:
        """Add features until none is open."""
        candidates = self.open
        first = self.tests.log_p(candidates, ())
        self.largest_p[candidates] = first
        self.open = candidates[first <= self.level]
        while len(self.open):
            new = int(self.open[np.argmin(self.largest_p[self.open])])
            self.open = self.open[self.open != new]
            others = tuple(self.selected)
            self.selected.append(new)
            for size in range(self.most):
                for some in combinations(others, size):  # sets without the new feature were asked before it came
                    self._test((*some, new))
        if not self.selected:
            self.selected = [int(candidates[np.argmin(first)])]

    def _test(self, given: tuple[int, ...]) -> None:
        if not set(given) <= set(self.selected):  # one of them has left meanwhile
            return
        inside = [j for j in self.selected if j not in given]
        asked = np.array([*self.open, *inside], dtype=np.intp)
        if not len(asked):
            return
        log_p = self.tests.log_p(asked, given)
        self.largest_p[asked] = np.maximum(self.largest_p[asked], log_p)
        waiting = gone = asked[log_p > self.level]
        if len(gone):
            for kept in given:
                swapped = self.tests.log_p_swapped(waiting, given, kept)
                for j in waiting[swapped > self.level]:
                    self.equivalents[kept] += self.equivalents[int(j)]
                waiting = waiting[swapped <= self.level]
            self.open = self.open[~np.isin(self.open, gone)]
            self.selected = [j for j in self.selected if j not in gone]
