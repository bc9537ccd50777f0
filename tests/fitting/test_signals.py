"""Signals, forks and threads: work that ends leaves no process behind, and nothing of the user's process changed."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import outfold as of
from collect_estimators import Tally, fits
from outfold.fitting.limits import interrupt_on_termination, silence_warnings

_SCRIPT = """
import sys
from collect_estimators import Tally
from sklearn.datasets import make_classification
from outfold import Plan, collect

path, log = sys.argv[1:]
X, y = make_classification(80, 6, random_state=2)
collect({f"c{i}": Tally(i + 1.0, log, 0.3) for i in range(30)}, X, y, Plan(folds=4), store=path, n_jobs=2)
"""


@pytest.fixture
def work(tmp_path, scripts):
    """A collection with workers, at work; the group of its processes is its own."""
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(_SCRIPT)
    process = scripts.start(script, tmp_path / "run.oof", log, output=tmp_path / "said")
    while fits(log) < 12:  # so many that workers have started, and fit
        assert process.poll() is None
        time.sleep(0.02)
    return process


def is_empty_soon(group):
    """Whether no process of the group is left after some seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_sigterm_is_ctrl_c(work, tmp_path):
    os.kill(work.pid, signal.SIGTERM)
    assert work.wait() != 0
    assert is_empty_soon(work.pid)
    said = (tmp_path / "said.err").read_text()
    assert "of 120 cells are in" in said
    assert "start it again to go on." in said
    assert 0 < of.load(tmp_path / "run.oof").completeness < 1


_ORPHAN = """
import multiprocessing, os, signal, time
from outfold.fitting.limits import limit_worker

def work(driver):
    while os.getppid() == driver:
        time.sleep(0.01)
    limit_worker(True, 1)
    time.sleep(600)

if __name__ == "__main__":
    multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(),)).start()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_worker_ends_whose_driver_was_killed_before_it_began(tmp_path, scripts):
    script = tmp_path / "script.py"
    script.write_text(_ORPHAN)
    process = scripts.start(script)
    assert process.wait() == -signal.SIGKILL
    assert is_empty_soon(process.pid)


_IDLE = """
import sys
from collect_estimators import Tally
from joblib import parallel_config
from sklearn.datasets import make_classification
from outfold import Plan, collect

n_configs, pause, options = sys.argv[1:]
X, y = make_classification(80, 6, random_state=2)
with parallel_config("loky", **eval(options)):
    configs = {f"c{i}": Tally(i + 1.0, pause=float(pause)) for i in range(int(n_configs))}
    collect(configs, X, y, Plan(folds=2), n_jobs=6)
"""


def workers_in(group):
    """How many processes of joblib a group has."""
    found = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found += os.getpgid(int(path.name)) == group and b"popen_loky" in (path / "cmdline").read_bytes()
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")
@pytest.mark.parametrize(
    ("n_configs", "pause", "options", "n_workers"),
    [
        pytest.param(2, 60, {"inner_max_num_threads": 1}, 6, id="fewer batches than workers"),
        pytest.param(60, 0.2, {}, 5, id="workers that have just been started beside the driver"),
    ],
)
def test_workers_without_a_batch_end_with_their_driver(tmp_path, scripts, n_configs, pause, options, n_workers):
    script = tmp_path / "script.py"
    script.write_text(_IDLE)
    process = scripts.start(script, n_configs, pause, options, output=tmp_path / "said")
    while workers_in(process.pid) < n_workers:
        assert process.poll() is None, (tmp_path / "said.err").read_text()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while workers_in(process.pid) and time.monotonic() < until:  # while nobody has asked how the driver ended
        time.sleep(0.1)
    assert workers_in(process.pid) == 0
    assert process.wait() == -signal.SIGKILL
    assert is_empty_soon(process.pid)


def test_who_handles_sigterm_goes_on_to_do_so():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        with interrupt_on_termination():
            os.kill(os.getpid(), signal.SIGTERM)
        assert heard == [1]
    finally:
        signal.signal(signal.SIGTERM, before)
    with pytest.raises(KeyboardInterrupt), interrupt_on_termination():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_two_threads_leave_warnings_as_they_were():
    """The second begins after the first, and ends after it."""
    before, show = list(warnings.filters), warnings.showwarning
    first_is_over = threading.Event()

    def second():
        with silence_warnings():
            first_is_over.wait()

    thread = threading.Thread(target=second)
    with silence_warnings():
        thread.start()
        while warnings.showwarning is show:
            time.sleep(0.01)
    first_is_over.set()
    thread.join()
    assert warnings.filters == before
    assert warnings.showwarning is show


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_copy_of_the_process_collects_with_workers_of_its_own():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2

    def collect():
        configs = {f"c{i}": Tally(i + 1.0, pause=0.15) for i in range(8)}
        return of.collect(configs, X, y, of.Plan(folds=4), n_jobs=2, progress=False)

    whole = collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of threads that are not copied
        pid = os.fork()
    if pid == 0:
        same = collect().fingerprint == whole.fingerprint
        os._exit(0 if same else 1)
    for _ in range(1200):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert ended, "it hangs"
    assert status == 0
