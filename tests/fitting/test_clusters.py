"""Fits on clusters: the same bits whatever happens to the workers, the scheduler's data and the driver."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import pytest
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from cluster_searches import PLAN, DeadlyTree, Once, SlowTree, WhereTree, X, configs, same, search, y
from internals import State, cluster, worker
from outfold.apps.clusters import KEEP_WORKERS
from outfold.exceptions import CollectError


@pytest.fixture(scope="module")
def alone():
    """The search by one worker, in this process."""
    return search()


# -- the protocol, without a cluster ----------------------------------------------------------------------


class FakeCluster(cluster.Cluster):
    """Fits in this process; `faults` are answered before the real results."""

    name = "Fake"

    def __init__(self, faults=(), slots=(2,), patience=5.0):
        self.faults, self.slots, self.patience = list(faults), list(slots), patience
        self.put_bytes, self.n_sent, self.open, self.n_puts_refused = [], 0, {}, 0

    def n_slots(self):
        return self.slots.pop(0) if len(self.slots) > 1 else self.slots[0]

    def put(self, packed):
        if self.n_puts_refused:
            self.n_puts_refused -= 1
            raise cluster.DataLost("no worker")
        self.put_bytes.append(len(packed))
        return packed

    def submit(self, task, packages, worker):
        self.n_sent += 1
        self.open[self.n_sent] = (task, packages)
        return self.n_sent

    def finished(self, seconds):
        found, self.open = self.open, {}
        return [(ticket, self._answer(*given)) for ticket, given in found.items()]

    def _answer(self, task, packages):
        if self.faults:
            return self.faults.pop(0)
        # Through pickle, as on another machine.
        answer = cluster.run_on_worker(*pickle.loads(pickle.dumps((task, packages))), "fake", shared_process=False)
        return pickle.loads(pickle.dumps(answer))

    def cancel(self, tickets):
        for ticket in list(tickets):
            self.open.pop(ticket, None)


@pytest.fixture
def fake(monkeypatch):
    """Collections run on a fake cluster."""

    def use(**given):
        made = FakeCluster(**given)
        monkeypatch.setattr(worker, "cluster_of", lambda backend: made)
        monkeypatch.setattr(cluster, "_kept", cluster._KeptPackages())
        monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.0)
        return made

    return use


def test_packages_cross_once_and_give_the_same_bits(fake, alone):
    made = fake()
    assert same(search(), alone)
    n_large = sum(size >= X.nbytes for size in made.put_bytes)
    assert n_large == 1
    # A second collection of the same X finds it in the worker.
    before = len(made.put_bytes)
    assert same(search(), alone)
    assert all(size < X.nbytes for size in made.put_bytes[before:])


def test_the_size_of_a_task_does_not_depend_on_the_number_of_samples(fake):
    def sizes(n):
        made, found = fake(), {}
        submit = made.submit

        def weigh(task, packages, worker):
            batch = pickle.loads(task.batch)
            found[batch.holdout, tuple(template.name for template in batch.templates)] = len(task.batch)
            return submit(task, packages, worker)

        made.submit = weigh
        of.collect(configs(), X[:n], y[:n], PLAN, rng=0, progress=False)
        return found

    few, many = sizes(80), sizes(240)
    alike = few.keys() & many.keys()  # batches are cut by the time of fits, those of one configuration come first
    assert alike
    assert all(few[batch] == many[batch] for batch in alike)


def test_lost_data_are_sent_again(fake, alone):
    made = fake(faults=[cluster.DataLost("gone")] * 3)
    made.n_puts_refused = 2
    assert same(search(), alone)


def test_a_task_that_is_lost_again_and_again_ends_the_work(fake):
    fake(faults=[cluster.DataLost("gone")] * 1000)
    with pytest.raises(CollectError, match="lost the same task 20 times"):
        search()


def test_workers_may_come_late(fake, alone):
    fake(slots=[0, 0, 0, 2, 0, 2])
    assert same(search(), alone)


def test_no_worker_for_long_is_our_error(fake):
    fake(slots=[2, 0], patience=0.2)
    with pytest.raises(
        CollectError, match=r"no Fake worker for 0.2 s. Start workers, then call again. What is finished"
    ):
        search()


def test_another_version_on_a_worker_is_refused(fake):
    theirs = {**cluster.versions(), "numpy": "1.0"}
    fake(faults=[cluster.MissingPackages((), "far:1", theirs)])
    with pytest.raises(CollectError, match=r"worker far:1 has numpy 1\.0, this process numpy"):
        search()


def test_a_worker_that_cannot_run_a_batch_is_named(fake):
    fake(faults=[ModuleNotFoundError("No module named 'outfold'")])
    with pytest.raises(CollectError, match=r"could not run a batch .ModuleNotFoundError: No module named 'outfold'"):
        search()


def test_a_task_that_ends_workers_is_fitted_alone(fake, alone):
    made = fake(faults=[cluster.WorkerLost("died")])
    assert same(search(), alone)
    assert made.n_sent > len(alone.configs)


# -- Dask -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dask():
    """Two worker processes on loopback, and a client."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed (outfold[dask])")
    import dask

    # One death is enough to blame a task; a worker that is slow to start again is not given up.
    with dask.config.set({"distributed.scheduler.allowed-failures": 0, **KEEP_WORKERS}):
        local = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
        made = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **local)
        with made, distributed.Client(made) as client:
            yield Dask(made, client)


class Dask:
    """A Dask cluster, and what may happen to it."""

    def __init__(self, made, client):
        self.made, self.client = made, client

    def scale(self, n):
        self.made.scale(n)
        end = time.monotonic() + 300
        while len(self.client.ncores()) != n:
            assert time.monotonic() < end
            time.sleep(0.05)

    def kill_one(self):
        os.kill(next(iter(self.client.run(os.getpid).values())), signal.SIGKILL)


def _env():
    """The environment of a process that imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}


def test_dask_same_bits_and_not_in_the_driver(dask, alone, tmp_path):
    with joblib.parallel_config("dask"):
        assert same(search(), alone)
        trees = of.grid("where", WhereTree(str(tmp_path)), max_depth=[1, 2])
        of.collect(trees, X, y, of.Plan(folds=4), progress=False)
    pids = {int(path.name) for path in tmp_path.iterdir()}
    assert pids
    assert pids <= set(dask.client.run(os.getpid).values())


def test_dask_worker_killed_in_the_middle(dask, alone):
    kill = Once(5, dask.kill_one)
    with joblib.parallel_config("dask"):
        found = search(progress=kill)
    assert kill.done
    assert same(found, alone)


def test_dask_all_workers_removed_and_one_added(dask, alone):
    dask.scale(2)

    def leave():
        dask.scale(0)
        threading.Timer(1.0, dask.made.scale, [1]).start()

    gone = Once(5, leave)
    with joblib.parallel_config("dask"):
        found = search(progress=gone)
    assert gone.done
    assert same(found, alone)


def test_dask_no_worker_left_is_our_error_and_nothing_is_lost(dask, alone, tmp_path):
    store = tmp_path / "run.oof"
    dask.scale(1)
    with joblib.parallel_config("dask", wait_for_workers_timeout=1.5):
        with pytest.raises(CollectError, match=r"no Dask worker for 1.5 s. Start workers, then call again"):
            search(store=store, progress=Once(5, lambda: dask.scale(0)))
        n_kept = int((of.load(store).state == State.DONE).sum())
        assert n_kept >= 5
        dask.scale(1)
        fitted = []
        found = search(store=store, progress=lambda done, total: fitted.append(done))
    assert same(found, alone)
    assert max(fitted) == int((alone.state == State.DONE).sum()) - n_kept


def test_dask_driver_killed_goes_on_from_its_store(dask, alone, tmp_path):
    store = tmp_path / "run.oof"
    script = f"""
import os, signal, joblib
from distributed import Client
from cluster_searches import Once, search
if __name__ == "__main__":
    with Client({dask.made.scheduler_address!r}), joblib.parallel_config("dask"):
        search(store={str(store)!r}, progress=Once(8, lambda: os.kill(os.getpid(), signal.SIGKILL)))
"""
    assert subprocess.run([sys.executable, "-c", script], env=_env(), timeout=120).returncode == -signal.SIGKILL
    n_kept = int((of.load(store).state == State.DONE).sum())
    assert 8 <= n_kept < int((alone.state == State.DONE).sum())
    with joblib.parallel_config("dask"):
        assert same(search(store=store), alone)


def test_dask_fit_that_ends_its_worker_fails_alone(dask):
    dask.scale(1)
    trees = {"good": DecisionTreeClassifier(max_depth=2), "deadly": DeadlyTree()}
    with joblib.parallel_config("dask"):
        oof = of.collect(trees, X, y, of.Plan.holdout(0.3), progress=False)
    assert oof.state[:, 0, 0].tolist() == [State.DONE, State.FAILED]
    assert "worker process ended" in oof.messages["deadly", 0, 0]


def test_dask_interrupt_leaves_nothing_waiting_and_keeps_what_is_done(dask, alone, tmp_path):
    dask.scale(1)
    store = tmp_path / "run.oof"

    def interrupt():
        raise KeyboardInterrupt

    with joblib.parallel_config("dask"):
        with pytest.raises(KeyboardInterrupt):
            search(store=store, progress=Once(5, interrupt))
        end = time.monotonic() + 300
        while any(dask.client.processing().values()):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert int((of.load(store).state == State.DONE).sum()) >= 5
        assert same(search(store=store), alone)


def test_dask_fit_beyond_its_time_fails_when_it_returns(dask):
    dask.scale(1)
    trees = {"good": DecisionTreeClassifier(max_depth=2), "slow": SlowTree(seconds=0.5)}
    with joblib.parallel_config("dask"):
        oof = of.collect(trees, X, y, of.Plan.holdout(0.3), timeout=0.3, progress=False)
    assert oof.state[:, 0, 0].tolist() == [State.DONE, State.FAILED]
    assert oof.messages["slow", 0, 0] == "TimeoutError: no result after 0.3 s"


@pytest.mark.parametrize("n_threads", [1, 2])
def test_dask_worker_with_threads_does_not_seed_their_common_generator(dask, n_threads):
    dask.scale(1)
    assert dask.client.submit(_is_shared, n_threads, pure=False).result() is (n_threads > 1)


def _is_shared(n_threads):
    """What a worker with so many threads says about its process."""
    from distributed import get_worker

    from outfold.fitting import dask_cluster

    state, seen = get_worker().state, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "nthreads", n_threads)
        patch.setattr(dask_cluster, "run_on_worker", lambda *_, shared_process: seen.append(shared_process))
        dask_cluster._run_here(None, ())
    return seen == [True]
