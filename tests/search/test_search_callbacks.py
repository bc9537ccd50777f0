"""Callbacks of scikit-learn hear of a search what they hear of GridSearchCV."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import outfold as of

pytest.importorskip("sklearn.callback")

from sklearn.callback import CallbackSupportMixin, with_callbacks

X, y = make_classification(60, 4, random_state=0)
WEIGHTS = np.arange(1.0, 61.0)
DEPTHS = {"max_depth": [1, 2, 3]}


class Listener:
    """Notes what it is told: the task, its number and place in the tree, and how many samples it has."""

    max_propagation_depth = None

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append(("setup", type(estimator).__name__))

    def on_fit_task_begin(self, estimator, context, *, X, metadata):
        self.told.append(
            ("begins", *self._place(context), context.task_id, 0 if X is None else len(X), metadata is not None)
        )

    def on_fit_task_end(self, estimator, context, *, X, metadata):
        self.told.append(("ends", *self._place(context), 0 if X is None else len(X), metadata is not None))

    def teardown(self, estimator, context):
        self.told.append(("teardown", type(estimator).__name__))

    @staticmethod
    def _place(context):
        parents = []
        while context is not None:
            parents.append(context.source_task_name or context.task_name)
            context = context.parent
        return tuple(reversed(parents))


class Steps(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """A classifier that has callbacks itself, and fails if told so."""

    def __init__(self, n_steps=1):
        self.n_steps = n_steps

    @with_callbacks
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.n_steps < 0:
            raise RuntimeError("no luck today")
        whole = self._init_callback_context(max_subtasks=self.n_steps)
        whole.call_on_fit_task_begin(estimator=self, X=X, y=y)
        for _ in range(self.n_steps):
            step = whole.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self, X=X, y=y)
            step.call_on_fit_task_end(estimator=self, X=X, y=y)
        whole.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def heard(search, **params):
    listener = Listener()
    search.set_callbacks(listener).fit(X, y, **params)
    assert listener.told[0] == ("setup", type(search).__name__)
    assert listener.told[-1] == ("teardown", type(search).__name__)
    return Counter(listener.told[1:-1])


@pytest.mark.parametrize(
    ("estimator", "grid", "options", "params"),
    [
        (DecisionTreeClassifier(random_state=0), DEPTHS, {}, {}),
        (DecisionTreeClassifier(random_state=0), DEPTHS, {"refit": False}, {}),
        (DecisionTreeClassifier(random_state=0), DEPTHS, {}, {"sample_weight": WEIGHTS}),
        (Steps(), {"n_steps": [1, 3]}, {}, {}),
        (Steps(), {"n_steps": [-1, 2]}, {"error_score": 0.0}, {}),
    ],
    ids=["plain", "without refit", "weights", "steps", "failures"],
)
@pytest.mark.filterwarnings("ignore")
def test_the_same_as_gridsearchcv_tells(estimator, grid, options, params):
    theirs, ours = (search(estimator, grid, cv=3, **options) for search in (GridSearchCV, of.SelectCV))
    assert heard(ours.set_params(drop=False), **params) == heard(theirs, **params)


def test_all_hooks_get_the_search():
    class Owner(Listener):
        def on_fit_task_begin(self, estimator, context):
            self.told.append(estimator)

        def on_fit_task_end(self, estimator, context):
            self.told.append(estimator)

    listener, search = Owner(), of.SelectCV(DecisionTreeClassifier(), DEPTHS, cv=2, drop=False)
    search.set_callbacks(listener).fit(X, y)
    assert len(listener.told) == 2 + 2 * (3 + 6)
    assert all(told is search for told in listener.told[1:-1])


def test_a_sampler_is_told_of_too():
    optuna = pytest.importorskip("optuna")
    depths = {"max_depth": optuna.distributions.IntDistribution(1, 50)}
    sampler = optuna.samplers.RandomSampler(seed=0)
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), depths, search=sampler, n_configs=4, cv=3)
    found = heard(search)
    fits = sum(n for told, n in found.items() if told[0] == "ends" and "candidate-split-evaluation" in told)
    assert fits == 3 * len(search.cv_results_["params"])
    assert sum(n for told, n in found.items() if told[:3] == ("begins", "fit", "search") and len(told) == 6) == 1


@pytest.mark.filterwarnings("ignore")
def test_repeats_without_end_and_workers():
    search = of.SelectCV(DecisionTreeClassifier(random_state=0), DEPTHS, cv=3, repeats="auto", drop=False)
    found = heard(search)
    fits = sum(n for told, n in found.items() if told[0] == "ends" and "candidate-split-evaluation" in told)
    assert fits == 3 * search.n_splits_
    plain = of.SelectCV(DecisionTreeClassifier(random_state=0), DEPTHS, cv=3)
    parallel = of.SelectCV(DecisionTreeClassifier(random_state=0), DEPTHS, cv=3, n_jobs=2).set_callbacks(Listener())
    assert parallel.fit(X, y).best_score_ == plain.fit(X, y).best_score_
