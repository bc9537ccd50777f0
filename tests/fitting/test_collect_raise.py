"""A collection that ends at the first failed fit, with its exception, and keeps what was finished."""

from __future__ import annotations

import numpy as np
import pytest
from joblib import parallel_config

import outfold as of
from collect_estimators import Crashes, Raises, Tally, fits
from outfold.exceptions import CollectError, InputError


class OddError(Exception):
    """One that can be packed and not unpacked."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class RaisesOdd(Tally):
    def fit(self, X, y):
        raise OddError("this", "that")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 3)), np.arange(30) % 2


def configs(log):
    good = {f"good {i}": Tally(scale=i + 1.0, log=str(log)) for i in range(3)}
    return {**good, "bad": Raises(), "late": Tally(log=str(log))}


def test_the_first_failed_fit_ends_it(data, tmp_path):
    log = tmp_path / "log"
    with pytest.raises(CollectError, match="'bad' failed in repeat 0, fold 0: RuntimeError: no luck today") as caught:
        of.collect(configs(log), *data, of.Plan(folds=5), on_error="raise", progress=False)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert str(caught.value.__cause__) == "no luck today\nsecond line"
    assert fits(log) == 3  # and not 4 x 5


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_bring_the_exception_back(data, backend):
    with parallel_config(backend), pytest.raises(CollectError, match="'bad' failed") as caught:
        of.collect({"bad": Raises()}, *data, of.Plan(folds=3), on_error="raise", n_jobs=2, progress=False)
    cause = caught.value.__cause__
    assert isinstance(cause, RuntimeError)
    assert ("In the worker" in "".join(getattr(cause, "__notes__", []))) == (backend == "loky")


def test_exceptions_that_cannot_travel_leave_their_message(data):
    with pytest.raises(CollectError, match=r"'odd' failed in repeat 0, fold .: OddError: this and that"):
        of.collect({"odd": RaisesOdd()}, *data, of.Plan(folds=3), on_error="raise", n_jobs=2, progress=False)


def test_a_crash_is_raised_too(data):
    with pytest.raises(CollectError, match="the worker process ended"):
        of.collect({"crash": Crashes()}, *data, of.Plan.holdout(), on_error="raise", n_jobs=2, progress=False)


def test_what_was_finished_stays_in_the_store(data, tmp_path):
    log, store = tmp_path / "log", tmp_path / "run.oof"
    arguments = {"plan": of.Plan(folds=5), "store": store, "progress": False}
    for _ in range(2):
        with pytest.raises(CollectError, match="no luck"):
            of.collect(configs(log), *data, on_error="raise", **arguments)
        assert fits(log) == 3
    assert not of.load(store).messages  # the failed cell is still to do
    oof = of.collect(configs(log), *data, **arguments)
    assert fits(log) == 4 * 5
    assert len(oof.messages) == 5
    with pytest.raises(CollectError, match="no luck"):  # also where the store knows that it failed
        of.collect(configs(log), *data, on_error="raise", **arguments)
    assert fits(log) == 4 * 5


def test_with_drops(data):
    with pytest.raises(CollectError, match="no luck"):
        of.collect(
            {"good": Tally(), "bad": Raises()}, *data, of.Plan(folds=3), on_error="raise", drop=True, progress=False
        )


def test_without_failures_it_changes_nothing(data):
    kept, raised = (
        of.collect({"a": Tally(), "b": Tally(scale=2.0)}, *data, of.Plan(folds=3), on_error=how, progress=False)
        for how in ("keep", "raise")
    )
    assert kept.data.tobytes() == raised.data.tobytes()


def test_on_error_is_checked(data):
    with pytest.raises(InputError, match="on_error must be 'keep' or 'raise'; got 'ignore'"):
        of.collect(Tally(), *data, on_error="ignore")
