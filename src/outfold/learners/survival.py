"""Models of scikit-survival that also give survival curves, without which there are no survival probabilities.

A survival tree keeps a curve over all training times in each of its nodes: gigabytes for a few thousand rows. With
``low_memory=True`` it keeps none, and the forest gives a risk only. The forests here keep the curves of the leaves, at a hundred
times at most. There they are the curves of scikit-survival. The support vector machine gets its curves from a Cox regression on
its risk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sksurv.ensemble import ExtraSurvivalTrees, RandomSurvivalForest
from sksurv.functions import StepFunction
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.svm import FastSurvivalSVM

# A leaf keeps its curve at so many event times at most.
MOST_TIMES = 100


class _LeafCurves:
    """What both forests add: curves of leaves."""

    gives_curves = True  # although memory is saved

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the forest and, if memory is saved, keep the Kaplan-Meier curve of each leaf."""
        super().fit(X, y, sample_weight)  # type: ignore[misc]
        if self.low_memory:
            event, time = (y[name] for name in y.dtype.names)
            self._keep_curves(self.apply(X), np.asarray(time, dtype=np.float64), event)
        return self

    def _keep_curves(self: Any, leaves: NDArray[np.intp], time: NDArray[np.float64], event: NDArray[np.bool_]) -> None:
        """The curves of the leaves of all trees, from the rows that each tree drew; and the curve of each node."""
        times = np.unique(time[event])
        kept = _spread(len(times))
        self.curve_times_ = times[kept]
        curves, rows, n = [], [], 0
        for tree, drawn, in_leaf in zip(self.estimators_, self.estimators_samples_, leaves.T, strict=True):
            found, of = np.unique(in_leaf[drawn], return_inverse=True)
            curves.append(_kaplan_meier(of, times, time[drawn], event[drawn])[:, kept].astype(np.float32))
            row = np.zeros(tree.tree_.node_count, dtype=np.int32)
            row[found] = n + np.arange(len(found))
            rows.append(row)
            n += len(found)
        self.curves_ = np.concatenate(curves)
        self.curve_of_node_ = np.concatenate(rows)
        self.first_node_ = np.cumsum([0, *(len(row) for row in rows[:-1])])

    def predict_survival_function(self: Any, X: Any, return_array: bool = False) -> Any:
        """The survival curve of each row: the mean over trees of the curve of its leaf, at ``curve_times_``."""
        if not self.low_memory:
            return super().predict_survival_function(X, return_array)  # type: ignore[misc]
        nodes = self.apply(X) + self.first_node_
        total = np.zeros((len(nodes), len(self.curve_times_)))
        for column in nodes.T:  # one tree after the other: all at once would take as many times the memory
            total += self.curves_[self.curve_of_node_[column]]
        total /= nodes.shape[1]
        if return_array:
            return total
        out = np.empty(len(total), dtype=object)
        out[:] = [StepFunction(self.curve_times_, row) for row in total]
        return out


class SurvivalForest(_LeafCurves, RandomSurvivalForest):  # type: ignore[misc]
    """The random survival forest of scikit-survival, whose curves are kept if ``low_memory`` is True."""


class SurvivalExtraTrees(_LeafCurves, ExtraSurvivalTrees):  # type: ignore[misc]
    """The extremely randomized survival trees of scikit-survival, whose curves are kept if ``low_memory`` is True."""


def _spread(n: int) -> NDArray[np.intp]:
    """The positions of all event times, or of a hundred of them with about as many in between."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_TIMES)).round().astype(np.intp))


def _kaplan_meier(
    leaf: NDArray[np.intp], times: NDArray[np.float64], time: NDArray[np.float64], event: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """(leaves, times) the Kaplan-Meier curve of the samples in each leaf; `times` are all event times of the training rows."""
    shape = int(leaf.max()) + 1, len(times) + 1
    until = np.searchsorted(times, time, side="right")  # so many event times a sample is observed at
    size = shape[0] * shape[1]
    events = np.bincount(leaf * shape[1] + np.maximum(until - 1, 0), event, size).reshape(shape)[:, :-1]
    ended = np.bincount(leaf * shape[1] + until, minlength=size).reshape(shape)
    at_risk = ended[:, ::-1].cumsum(axis=1)[:, -2::-1]
    return np.asarray(np.cumprod(1 - events / np.maximum(at_risk, 1), axis=1))


class SurvivalSVM(FastSurvivalSVM):  # type: ignore[misc]
    """The linear survival support vector machine of scikit-survival, with survival curves of proportional hazards.

    A Cox regression on the risks of the training rows says how steeply the hazard rises with the risk, and gives the baseline.
    """

    def fit(self, X: Any, y: Any) -> SurvivalSVM:
        """Fit the machine, then the curves."""
        super().fit(X, _above_zero(y) if self.rank_ratio == 1 else y)
        # Of no use any more, and no file of plain values could hold it.
        del self.optimizer_result_
        risks = self.predict(X)
        self.risk_scale_ = float(np.std(risks)) or 1.0
        self.hazard_ = CoxPHSurvivalAnalysis().fit(risks[:, None] / self.risk_scale_, y)
        return self

    def predict_survival_function(self, X: Any, return_array: bool = False) -> Any:
        """The survival curve of each row."""
        return self.hazard_.predict_survival_function(self.predict(X)[:, None] / self.risk_scale_, return_array)


def _above_zero(y: NDArray[Any]) -> NDArray[Any]:
    """The same order of times without 0, which the machine refuses although only the order counts for it."""
    *_, time = y.dtype.names or ()
    if y[time].min() > 0:
        return y
    moved = y.copy()
    moved[time] += 1 - y[time].min()
    return moved
