"""Fits that hang: in Python, in compiled code, in a thread."""

import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification

from collect_estimators import Sleeps, Stuck, Tally, fits
from internals import Expired, Plan, State, Watchdog, alarm, collect, hung, load

TIMEOUT = 1.0
MESSAGE = "TimeoutError: no result after 1 s"


@pytest.fixture(scope="module")
def data():
    return make_classification(60, 4, random_state=3)


def check(oof, data, bad):
    good = oof.config_index("good")
    assert np.all(oof.state[oof.config_index(bad)] == State.FAILED)
    assert {oof.messages[bad, 0, k] for k in range(oof.n_folds)} == {MESSAGE}
    np.testing.assert_array_equal(oof.data[0, good], collect(Tally(), *data, oof.plan).data[0, 0])


def test_hang_in_python(data):
    oof = collect({"sleeps": Sleeps(), "good": Tally()}, *data, Plan(2), timeout=TIMEOUT, n_jobs=2)
    check(oof, data, "sleeps")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_hang_in_compiled_code(data, n_jobs, tmp_path):
    """The worker is ended, its cell recorded, and the rest goes on; finished cells are not fitted again."""
    log = str(tmp_path / "log")
    configs = {"first": Tally(2.0, log, 0.1), "stuck": Stuck(), "good": Tally()}
    oof = collect(configs, *data, Plan(2), timeout=TIMEOUT, n_jobs=n_jobs, store=tmp_path / "run.oof")
    check(oof, data, "stuck")
    assert np.all(oof.state[0] == State.DONE)
    assert 2 <= fits(log) <= 2 * n_jobs
    np.testing.assert_array_equal(load(tmp_path / "run.oof").state, oof.state)


def test_main_thread_without_processes(data):
    with joblib.parallel_config("sequential"):
        oof = collect({"sleeps": Sleeps(), "good": Tally()}, *data, Plan(2), timeout=TIMEOUT)
    check(oof, data, "sleeps")


def test_threads_recognise_fits_that_took_too_long(data):
    with joblib.parallel_config("threading", n_jobs=2):
        oof = collect({"slow": Tally(pause=1.3), "good": Tally()}, *data, Plan(2), timeout=TIMEOUT)
    check(oof, data, "slow")


def test_timeout_does_not_change_results(data):
    oof = collect({"good": Tally()}, *data, Plan(4), timeout=30)
    np.testing.assert_array_equal(oof.data, collect({"good": Tally()}, *data, Plan(4)).data)


def test_alarm_rings_and_is_taken_back():
    with pytest.raises(Expired), alarm(0.05):
        time.sleep(5)
    with alarm(0.05):
        pass
    time.sleep(0.1)  # an alarm that was not taken back would end the test here


def test_watchdog_leaves_no_record_of_a_fit_that_returned(tmp_path):
    with Watchdog(str(tmp_path), 10.0).guard(["oof", 0, [1], [[0, 1]]], "a"):
        pass
    assert hung(str(tmp_path)) == []
    (record,) = tmp_path.glob("*.fit")
    assert record.read_text() == '[["oof", 0, [1], [[0, 1]]], "a"]\n'
    record.write_text(record.read_text() + "Timeout (0:00:10)!\n")
    assert hung(str(tmp_path)) == [[["oof", 0, [1], [[0, 1]]], "a"]]
    assert hung(str(tmp_path)) == []
