"""This process fits beside its workers, starts them only when that pays, and gives the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from joblib.externals.loky import reusable_executor
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from internals import Background, background, is_well_known, worker

PLAN = of.Plan(folds=4)


@pytest.fixture
def data():
    return make_classification(120, 6, random_state=0)


def configs():
    models = {f"c{i}": make_pipeline(StandardScaler(), LogisticRegression(C=c)) for i, c in enumerate((0.1, 1, 10))}
    return models | {"forest": RandomForestClassifier(5)}


@pytest.fixture(autouse=True)
def nobody_else():
    """No other workers are running, such as those of an earlier test."""
    if background.others_run(2):
        reusable_executor._executor.shutdown()


@pytest.fixture
def beside(monkeypatch):
    """Workers are started after the first batch, and this process waits for them; the `Background` objects made."""
    made, run_here = [], worker._run_here
    monkeypatch.setattr(background, "_PAYS_START", 0.0)
    monkeypatch.setattr(background, "_PAYS_USE", 0.0)
    monkeypatch.setattr(background._Last, "start_seconds", 0.0)
    monkeypatch.setattr(background._Last, "seconds_alone", 0.0)

    class Seen(Background):
        def __init__(self, *args):
            super().__init__(*args)
            self.n_back = 0
            made.append(self)

        def _record_start(self):
            """Another collection would wait until its work pays for the start."""

        def results(self, wait):
            for result in super().results(wait):
                self.n_back += 1
                yield result

    def waits(*task):
        until = time.monotonic() + 60
        while made[-1].started and not made[-1]._ready and time.monotonic() < until:
            time.sleep(0.01)
        return run_here(*task)

    monkeypatch.setattr(worker, "Background", Seen)
    monkeypatch.setattr(worker, "_run_here", waits)
    return made


def same(one, other):
    np.testing.assert_array_equal(one.data, other.data)
    np.testing.assert_array_equal(one.state, other.state)


def test_a_small_collection_starts_no_process(data, monkeypatch):
    monkeypatch.setattr(Background, "start", lambda *_: pytest.fail("a process was started"))
    same(of.collect(configs(), *data, PLAN, n_jobs=2), of.collect(configs(), *data, PLAN))


@pytest.fixture
def nothing_started(monkeypatch):
    """As in a process that has started no workers so far."""
    for name, value in {"executor": None, "ready": False, "start_seconds": 0.0, "seconds_alone": 0.0}.items():
        monkeypatch.setattr(background._Last, name, value)


class Prepared:
    """What comes back from a process that is ready."""

    def cancelled(self):
        return False

    def exception(self):
        return None


def test_work_pays_for_new_processes_if_it_takes_longer_than_their_start(nothing_started):
    beside = Background(1, print)
    assert not beside.pays(1.0, False)
    assert beside.pays(2.0, False)
    beside._start = time.perf_counter() - 5.0
    beside._begin(Prepared())
    again = Background(1, print)
    assert not again.pays(4.0, False)
    assert again.pays(6.0, False)


def test_small_collections_add_up_until_processes_pay(nothing_started):
    for seconds in (0.8, 0.9):
        small = Background(1, print)
        assert not small.pays(0.5, False)
        small._made -= seconds
        small.close()
    assert not Background(1, print).pays(0.1, False)  # too little to do for them
    assert Background(1, print).pays(0.5, False)


def test_processes_that_are_not_ready_in_time_are_there_for_the_next_collection(data, nothing_started, monkeypatch):
    monkeypatch.setattr(background, "_PAYS_START", 0.0)
    monkeypatch.setattr(background, "_PAYS_USE", 0.0)
    of.collect({"tree": DecisionTreeClassifier()}, *data, PLAN, n_jobs=2)
    executor = background._Last.executor
    assert not background._Last.ready
    background._Last.seconds_alone = 1.0
    executor.submit(abs, -1).result(timeout=60)
    same(of.collect(configs(), *data, PLAN, n_jobs=2), of.collect(configs(), *data, PLAN))
    assert background._Last.executor is executor
    assert background._Last.seconds_alone == 1.0  # they were not started anew


SCRIPT = """
import slow
import outfold as of
from outfold.fitting import background
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

background._PAYS_START = background._PAYS_USE = 0.0
background._prepare = slow.prepare
of.collect({"tree": DecisionTreeClassifier()}, *make_classification(50, 4), of.Plan(folds=4), n_jobs=2)
assert background._Last.executor is not None and not background._Last.ready
"""


def test_a_program_does_not_wait_at_its_end_for_processes_that_are_not_ready(tmp_path):
    (tmp_path / "slow.py").write_text("import time\n\ndef prepare(packed):\n    time.sleep(100)\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


class Failed:
    """What comes back from a process that could not be prepared."""

    def cancelled(self):
        return False

    def exception(self):
        return OSError("no process")


def test_a_start_that_failed_says_nothing_about_later_ones(nothing_started):
    failing = Background(1, len)
    failing._start = time.perf_counter() - 600
    failing._begin(Failed())
    assert background._Last.start_seconds == 0.0


def test_a_machine_that_paused_during_a_start_gets_workers_again(nothing_started, monkeypatch):
    monkeypatch.setattr(background._Last, "start_seconds", 3600.0)
    assert Background(1, len).pays(60.0, False)


@pytest.mark.parametrize("drop", [None, True])
def test_both_work_and_give_the_same_bits(data, beside, drop):
    oof = of.collect(configs(), *data, PLAN, n_jobs=2, drop=drop)
    assert beside[0].n_back > 0
    same(oof, of.collect(configs(), *data, PLAN, drop=drop))


def test_processes_stay_for_the_next_collection(data, beside):
    first = of.collect(configs(), *data, PLAN, n_jobs=2)
    processes = set(background._Last.executor._processes)
    same(of.collect(configs(), *data, PLAN, n_jobs=2), first)
    assert set(background._Last.executor._processes) == processes


def process(estimator, X, y):
    """The number of the process that fitted a model."""
    return float(os.getpid())


def test_workers_that_others_started_are_taken_and_stay(data, nothing_started, monkeypatch):
    monkeypatch.setattr(background, "_PAYS_START", np.inf)
    monkeypatch.setattr(background, "_PAYS_USE", 0.0)
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2, n_jobs=2).fit(*data)
    processes = set(reusable_executor._executor._processes)
    options = {"scorers": {"process": process}, "drop": of.drop.Friedman(), "metric": "accuracy", "aggregate": "fold"}
    oof = of.collect(configs(), *data, PLAN, n_jobs=2, **options)
    assert processes & set(oof.live_scores["process"].ravel())
    assert set(reusable_executor._executor._processes) == processes
    assert background._Last.executor is None
    same(oof, of.collect(configs(), *data, PLAN, **options))


def test_workers_of_a_joblib_that_is_not_known_are_left_alone(nothing_started, monkeypatch):
    monkeypatch.setattr(reusable_executor, "_executor", object())
    assert not background.others_run(2)


def test_a_process_that_ends_is_recovered_from(data, beside, monkeypatch):
    killed, run_here = [], worker._run_here

    def kills(*task):
        outcomes = run_here(*task)
        if beside[-1]._ready and not killed:
            killed.extend(beside[-1]._executor._processes)
            os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.5)
        return outcomes

    monkeypatch.setattr(worker, "_run_here", kills)
    oof = of.collect(configs(), *data, PLAN, n_jobs=2)
    assert killed
    same(oof, of.collect(configs(), *data, PLAN))


def test_samples_that_are_not_small_go_to_joblib(data, beside, monkeypatch):
    monkeypatch.setattr(background, "_SMALL", 0)
    monkeypatch.setattr(Background, "start", lambda *_: pytest.fail("a process was started"))
    same(of.collect(configs(), *data, PLAN, n_jobs=2), of.collect(configs(), *data, PLAN))


class Foreign(ClassifierMixin, BaseEstimator):
    """A model of nobody knows whom: it may end the process."""

    def fit(self, X, y):
        self.classes_, self.process_ = np.unique(y), os.getpid()
        return self

    def predict_proba(self, X):
        p = np.full(len(X), (self.process_ % 1000) / 1000)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_foreign_code_runs_in_workers_only(data):
    oof = of.collect({"foreign": Foreign()}, *data, PLAN, n_jobs=2)
    assert not np.any(oof.data == (os.getpid() % 1000) / 1000)
    assert not is_well_known(make_pipeline(FunctionTransformer(identity), LogisticRegression()))
    assert is_well_known(make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()))


def identity(X):
    return X


def test_joblib_may_take_the_workers_over(data, beside):
    """A search of ours, then ``joblib.Parallel`` in the same process: it takes the same workers, and needs them to be its own."""
    import joblib
    from joblib.externals.loky import reusable_executor

    of.collect(configs(), *data, PLAN, n_jobs=2)
    assert beside[0].started
    assert isinstance(reusable_executor._executor, joblib.executor.MemmappingExecutor)
    assert joblib.Parallel(2)(joblib.delayed(abs)(-i) for i in range(4)) == [0, 1, 2, 3]
