"""A search for tests of clusters: a driver and its workers import it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import outfold as of

X, y = make_classification(n_samples=240, n_features=8, flip_y=0.2, random_state=0)
PLAN = of.Plan(folds=4, repeats=2)


class SlowTree(DecisionTreeClassifier):
    """A tree whose fit takes long enough for a fault to come in between."""

    def __init__(self, seconds: float = 0.03, max_depth: int | None = None, min_samples_leaf: int = 1) -> None:
        super().__init__(max_depth=max_depth, min_samples_leaf=min_samples_leaf)
        self.seconds = seconds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SlowTree:
        time.sleep(self.seconds)
        return super().fit(X, y, sample_weight)


class DeadlyTree(DecisionTreeClassifier):
    """A tree whose fit ends the process."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DeadlyTree:
        os.kill(os.getpid(), signal.SIGKILL)
        return self


class WhereTree(DecisionTreeClassifier):
    """A tree that leaves the number of its process in a folder."""

    def __init__(self, folder: str = "", max_depth: int | None = None) -> None:
        super().__init__(max_depth=max_depth)
        self.folder = folder

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WhereTree:
        Path(self.folder, str(os.getpid())).touch()
        return super().fit(X, y, sample_weight)


def configs() -> Any:
    logit = make_pipeline(StandardScaler(), LogisticRegression())
    found = of.grid("logit", logit, logisticregression__C=[0.01, 1.0, 100.0])
    return found | of.grid("tree", SlowTree(), max_depth=[1, 2, 4], min_samples_leaf=[1, 10])


def search(**options: Any) -> of.Predictions:
    """The search with dropping."""
    return of.collect(configs(), X, y, PLAN, rng=0, drop=True, **{"progress": False, **options})


def same(a: of.Predictions, b: of.Predictions) -> bool:
    """Whether two searches gave the same bits, and dropped the same."""
    return bool(
        a.configs == b.configs
        and np.array_equal(a.state, b.state)
        and np.array_equal(a.data, b.data, equal_nan=True)
        and a.provenance["drops"] == b.provenance["drops"]
    )


class Once:
    """A callback of `collect` that does something as soon as so many cells are done."""

    def __init__(self, n_cells: int, does: Any) -> None:
        self.n_cells, self.does, self.done = n_cells, does, False

    def __call__(self, done: int, total: int) -> None:
        if done >= self.n_cells and not self.done:
            self.done = True
            self.does()
