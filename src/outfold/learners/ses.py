"""SES, feature selection by statistically equivalent signatures (Tsamardinos, Lagani and Pappas 2012; Lagani et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arguments import check_alpha, check_choice, check_count
from ..docstrings import fill_with
from ..exceptions import InputError
from ._independence import Independence, Linear, Logistic

__all__ = ["SES"]

Task = Literal["auto", "classification", "regression"]
# Numbers with more different values are no classes, unless the user says so.
_MOST_CLASSES = 20


@fill_with({})
class SES(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features that no few others make independent of the target.

    Features come in one by one, the strongest first. Strength is the largest p value over all sets of at most `max_conditions`
    selected features. A feature leaves if such a set makes it independent of the target. If it in turn makes a feature of
    that set independent, either can replace the other: they are equivalent (``equivalent_``), and the one that came first is
    kept [1]_ [2]_.

    For a target with classes, independence is tested by the likelihood ratio of a (multinomial) logistic regression. For a
    number, it is tested by the t test of a partial correlation.

    Parameters
    ----------
    alpha : float
        Level of the tests.
    max_conditions : int
        The most features to condition on, *k* in the papers.
    task : {"auto", "classification", "regression"}
        ``auto`` takes numbers with more than 20 different values for a regression.

    Attributes
    ----------
    selected_ : ndarray of int
        Positions of the features kept, the strongest first. If all tests say independent, the one with the smallest p value,
        since a model needs one.
    equivalent_ : list of list of int
        For each feature kept, the features that could replace it, itself first.

    References: {tsamardinos2012, lagani2017}

    Examples
    --------
    >>> from outfold.learners import SES
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SES(alpha=0.01).fit(X, y).selected_.tolist()
    [3, 2]
    """

    def __init__(self, alpha: float = 0.05, max_conditions: int = 3, task: Task = "auto") -> None:
        self.alpha = alpha
        self.max_conditions = max_conditions
        self.task = task

    def fit(self, X: Any, y: Any) -> SES:
        """Select features."""
        check_alpha(self.alpha)
        check_count(self.max_conditions, "max_conditions", 0)
        check_choice(self.task, get_args(Task), "task")
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        # Tests do not depend on place and scale; Newton's method likes columns of one size.
        spread = X.std(axis=0)
        varying = np.flatnonzero(spread > 1e-12 * np.maximum(1.0, np.abs(X).max(axis=0)))
        if not len(varying):
            raise InputError(needed="all features are constant on these samples, so that none can be selected")
        Z = (X[:, varying] - X[:, varying].mean(axis=0)) / spread[varying]
        search = _Search(_tests(Z, y, self.task), len(varying), np.log(self.alpha), self.max_conditions)
        search.run()
        self.selected_ = varying[search.selected]
        self.equivalent_ = [varying[search.stands_for[j]] for j in search.selected]
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _tests(Z: NDArray[np.float64], y: NDArray[Any], task: Task) -> Independence:
    labels, codes = np.unique(y, return_inverse=True)
    if task == "regression" or (task == "auto" and y.dtype.kind in "iuf" and len(labels) > _MOST_CLASSES):
        return Linear(Z, np.asarray(y, dtype=np.float64))
    if len(labels) < 2:
        raise InputError(
            argument="SES", needed="needs at least two classes", given=f"these samples are all of class {labels[0]!s}"
        )
    return Logistic(Z, codes)


class _Search:
    """The state of the selection: who may still come in, who is in, and the weakest association each has shown."""

    def __init__(self, tests: Independence, n_features: int, level: float, most: int) -> None:
        self.tests, self.level, self.most = tests, level, most
        self.open = np.arange(n_features)
        self.selected: list[int] = []
        self.largest_p = np.full(n_features, -np.inf)
        self.stands_for = {j: [j] for j in range(n_features)}

    def run(self) -> None:
        """Add features until none is open."""
        first = self.tests.log_p(self.open, ())
        self.largest_p[:] = first
        self.open = self.open[first <= self.level]
        while len(self.open):
            new = int(self.open[np.argmin(self.largest_p[self.open])])
            self.open = self.open[self.open != new]
            self.selected.append(new)
            for given in self._conditions(new):
                self._test(given)
        if not self.selected:
            self.selected = [int(np.argmin(first))]

    def _conditions(self, new: int) -> Iterator[tuple[int, ...]]:
        """Sets with the new feature in them: all others were asked before it came."""
        others = [j for j in self.selected if j != new]
        for size in range(self.most):
            yield from (((*some, new)) for some in combinations(others, size))

    def _test(self, given: tuple[int, ...]) -> None:
        if not set(given) <= set(self.selected):  # one of them has left meanwhile
            return
        inside = [j for j in self.selected if j not in given]
        asked = np.array([*self.open, *inside], dtype=np.intp)
        if not len(asked):
            return
        log_p = self.tests.log_p(asked, given)
        self.largest_p[asked] = np.maximum(self.largest_p[asked], log_p)
        gone = asked[log_p > self.level]
        if len(gone):
            self._note_equivalents(gone, given)
            self.open = self.open[~np.isin(self.open, gone)]
            self.selected = [j for j in self.selected if j not in gone]

    def _note_equivalents(self, gone: NDArray[np.intp], given: tuple[int, ...]) -> None:
        waiting = gone
        for kept in given:
            swapped = self.tests.log_p_swapped(waiting, given, kept)
            for j in waiting[swapped > self.level]:
                self.stands_for[kept] += self.stands_for[int(j)]
            waiting = waiting[swapped <= self.level]
