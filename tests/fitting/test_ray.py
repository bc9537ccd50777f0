"""Fits on a Ray cluster: the same bits whatever happens to the workers and the driver.

Ray listens on every address of a machine, also when it is told to use 127.0.0.1. So these tests run only where there is no
other address than loopback: ``make ray`` runs them in a network of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import joblib
import pytest

import outfold as of
from cluster_searches import Once, WhereTree, X, same, search, y
from internals import State
from outfold.exceptions import CollectError, InputError

ray = pytest.importorskip("ray", reason="ray is not installed (outfold[ray]); `make ray` runs these tests")
if [name for _, name in socket.if_nameindex()] != ["lo"]:
    reason = "Ray would listen on the network; `make ray` runs these tests where there is only loopback"
    pytest.skip(reason, allow_module_level=True)

_MEMORY = 80_000_000


@pytest.fixture(scope="module")
def alone():
    """The search by one worker, in this process."""
    return search()


@pytest.fixture(scope="module")
def nodes():
    """A head without workers, and nodes that come and go; this process is connected."""
    from ray.cluster_utils import Cluster
    from ray.util.joblib import register_ray

    register_ray()
    with joblib.parallel_config("ray"), pytest.raises(InputError, match="this process is connected to none"):
        search()
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    made = Cluster(
        initialize_head=True,
        connect=True,
        head_node_args={"num_cpus": 0, "object_store_memory": _MEMORY, "env_vars": {"PYTHONPATH": paths}},
    )
    yield Nodes(made, paths)
    ray.shutdown()
    made.shutdown()


class Nodes:
    """The nodes that work."""

    def __init__(self, made, paths):
        self.made, self.paths, self.there = made, paths, []

    def scale(self, n):
        while len(self.there) > n:
            self.made.remove_node(self.there.pop(), allow_graceful=False)
        while len(self.there) < n:
            self.there.append(
                self.made.add_node(num_cpus=1, object_store_memory=_MEMORY, env_vars={"PYTHONPATH": self.paths})
            )

    def kill_one_worker(self):
        os.kill(ray.get(_pid.remote()), signal.SIGKILL)


@ray.remote
def _pid():
    return os.getpid()


def test_ray_same_bits_and_not_in_the_driver(nodes, alone, tmp_path):
    nodes.scale(2)
    with joblib.parallel_config("ray"):
        assert same(search(), alone)
        trees = of.grid("where", WhereTree(str(tmp_path)), max_depth=[1, 2])
        of.collect(trees, X, y, of.Plan(folds=4), progress=False)
    pids = {int(path.name) for path in tmp_path.iterdir()}
    assert pids
    assert os.getpid() not in pids


def test_ray_worker_killed_in_the_middle(nodes, alone):
    nodes.scale(2)
    kill = Once(5, nodes.kill_one_worker)
    with joblib.parallel_config("ray"):
        found = search(progress=kill)
    assert kill.done
    assert same(found, alone)


def test_ray_all_nodes_removed_and_one_added(nodes, alone):
    nodes.scale(2)

    def leave():
        nodes.scale(0)
        nodes.scale(1)

    gone = Once(5, leave)
    with joblib.parallel_config("ray"):
        found = search(progress=gone)
    assert gone.done
    assert same(found, alone)


def test_ray_no_node_left_is_our_error_and_nothing_is_lost(nodes, alone, tmp_path, monkeypatch):
    monkeypatch.setattr("outfold.fitting.ray_cluster.RayCluster.patience", 2.0)
    store = tmp_path / "run.oof"
    nodes.scale(1)
    with joblib.parallel_config("ray"):
        with pytest.raises(CollectError, match=r"no Ray worker for 2 s. Start workers, then call again"):
            search(store=store, progress=Once(5, lambda: nodes.scale(0)))
        assert int((of.load(store).state == State.DONE).sum()) >= 5
        nodes.scale(1)
        assert same(search(store=store), alone)


def test_ray_driver_killed_goes_on_from_its_store(nodes, alone, tmp_path):
    nodes.scale(1)
    store = tmp_path / "run.oof"
    script = f"""
import os, signal, joblib, ray
from ray.util.joblib import register_ray
from cluster_searches import Once, search
if __name__ == "__main__":
    ray.init({nodes.made.address!r}, log_to_driver=False)
    register_ray()
    with joblib.parallel_config("ray"):
        search(store={str(store)!r}, progress=Once(8, lambda: os.kill(os.getpid(), signal.SIGKILL)))
"""
    env = {**os.environ, "PYTHONPATH": nodes.paths}
    assert subprocess.run([sys.executable, "-c", script], env=env, timeout=180).returncode == -signal.SIGKILL
    n_kept = int((of.load(store).state == State.DONE).sum())
    assert 8 <= n_kept < int((alone.state == State.DONE).sum())
    with joblib.parallel_config("ray"):
        assert same(search(store=store), alone)
