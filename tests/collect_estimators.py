"""Estimators that count, fail, hang or misbehave on purpose; importable by worker processes."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import time
from itertools import count

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class Tally(ClassifierMixin, BaseEstimator):
    """A cheap classifier (distance to class means) that appends a byte to `log` at every fit."""

    def __init__(self, scale=1.0, log=None, pause=0.0):
        self.scale = scale
        self.log = log
        self.pause = pause

    def fit(self, X, y):
        if self.log is not None:
            with open(self.log, "ab") as file:
                file.write(b".")
            wait_to_be_killed(self.log)
        time.sleep(self.pause)
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict_proba(self, X):
        distance = ((X[:, None, :] - self.means_) ** 2).sum(axis=-1)
        p = np.exp(-self.scale * (distance - distance.min(axis=1, keepdims=True)))
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Raises(Tally):
    """Fails in `fit` with a message of two lines."""

    def fit(self, X, y):
        raise RuntimeError("no luck today\nsecond line")


class PredictsNaN(Tally):
    """Predicts NaN for its first sample."""

    def predict_proba(self, X):
        p = super().predict_proba(X)
        p[0] = np.nan
        return p


class WrongShape(Tally):
    """Predicts one row too few."""

    def predict_proba(self, X):
        return super().predict_proba(X)[1:]


class WritesIntoX(Tally):
    """Changes its training rows in place, as estimators with copy=False do."""

    def fit(self, X, y):
        X *= 2.0
        return super().fit(X, y)


class AddsColumn(Tally):
    """Changes the frame it is given."""

    def fit(self, X, y):
        assert "extra" not in X
        X["extra"] = 1.0
        return super().fit(X[["a", "b"]].to_numpy(), y)

    def predict_proba(self, X):
        return super().predict_proba(X[["a", "b"]].to_numpy())


class Draws(RegressorMixin, BaseEstimator):
    """Predicts what its random_state draws: shows the seed of a fit."""

    def __init__(self, random_state=None, offset=0.0):
        self.random_state = random_state
        self.offset = offset

    def fit(self, X, y):
        self.seed_ = self.random_state
        return self

    def predict(self, X):
        return np.full(len(X), float(self.seed_))


class Sleeps(Tally):
    """Hangs in Python."""

    def fit(self, X, y):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            time.sleep(0.05)
        return super().fit(X, y)


class Stuck(Tally):
    """Hangs in compiled code that keeps the interpreter locked and lets no signal through."""

    def fit(self, X, y):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        ctypes.PyDLL(None).sleep(60)
        return super().fit(X, y)


class Crashes(Tally):
    """Ends its process."""

    def fit(self, X, y):
        os._exit(3)


class Segfaults(Tally):
    """Reads memory that is not its own."""

    def fit(self, X, y):
        ctypes.string_at(0)


class CrashesOnce(Tally):
    """Ends its process at the first fit of all."""

    def fit(self, X, y):
        super().fit(X, y)
        if os.path.getsize(self.log) == 1:
            os._exit(3)
        return self


class Interrupts(Tally):
    """Stands in for a person who presses Ctrl-C at the third fit."""

    def fit(self, X, y):
        super().fit(X, y)
        if os.path.getsize(self.log) == 3:
            raise KeyboardInterrupt
        return self


class FrameTally(Tally):
    """One for tables, as the command line has them."""

    def fit(self, X, y):
        return super().fit(np.asarray(X), y)

    def predict_proba(self, X):
        return super().predict_proba(np.asarray(X))


class DrawsGlobally(Tally):
    """Has no random_state and draws from the global generators, in fit as in predict_proba."""

    def fit(self, X, y):
        self.drawn_ = np.random.random() + random.random()  # noqa: NPY002
        return super().fit(X, y)

    def predict_proba(self, X):
        p = (self.drawn_ + np.random.random(len(X)) + random.random()) / 4  # noqa: NPY002
        return np.stack([1 - p, p], axis=1)


def fits(log):
    """Number of fits in a log."""
    return os.path.getsize(log) if os.path.exists(log) else 0


class Exits(Tally):
    """Leaves by a way that is no Exception."""

    def __init__(self, scale=1.0, log=None, pause=0.0, kind=SystemExit):
        super().__init__(scale, log, pause)
        self.kind = kind

    def fit(self, X, y):
        raise self.kind("bye")


class Odd(BaseException):
    """A way out of somebody's own."""


class Mute(ValueError):  # noqa: N818
    """Cannot say what is wrong."""

    def __str__(self):
        raise RuntimeError("speechless")


def _last_fit(log):
    """The file that names the fit at which `kill_at` wants the work to stand still."""
    return f"{log}.last"


def wait_to_be_killed(log):
    """Stand still if `kill_at` waits for as many fits as the log has, so that quick work cannot end before it is killed."""
    last = _last_fit(log)
    while os.path.exists(last) and fits(log) >= os.path.getsize(last):
        time.sleep(0.01)


def kill_at(points, start, log):
    """Call `start` once for every point, and end what it starts by SIGKILL as soon as that many fits are logged in all."""
    last = _last_fit(log)
    for point in points:
        with open(last, "wb") as file:
            file.write(b"." * point)
        process = start()
        for look in count():
            # Whether it still runs is asked now and then only, since asking takes time from it.
            if fits(log) >= point or (look % 20 == 0 and process.poll() is not None):
                break
            time.sleep(0.005)
        assert process.poll() is None, f"the work ended before {point} fits"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.remove(last)
