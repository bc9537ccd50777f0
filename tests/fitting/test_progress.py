"""The progress line."""

import io

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import r2_score, roc_auc_score

from collect_estimators import Raises, Tally
from internals import Plan, Progress, collect, encode, quick_score


class Clock:
    """Time that passes only when told to."""

    now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def make(stream, total=8, mode=True):
    clock = Clock()
    return Progress(total, mode, lambda values, rows: float(values[0]), "roc_auc", stream, clock), clock


def test_line():
    progress, clock = make(io.StringIO(), 2360, "always")
    progress.done, progress.failed = 1240, 0
    progress._sums = {"a": (1.0, 2), "logit(C=0.1)": (1.742, 2)}
    clock.now = 4.0
    assert progress.line() == ("collect 1,240/2,360 cells  52%  310/s  3.6 s left  best logit(C=0.1) 0.871 roc_auc")


def test_a_cap_is_said_to_be_one():
    progress, clock = make(io.StringIO(), 100, "always")
    progress.done, progress.at_most, clock.now = 25, True, 5.0
    assert progress.line() == "collect 25/100 cells  25%  5.0/s  at most 15 s left"


def test_redrawn_at_most_five_times_a_second():
    stream = Terminal()
    progress, clock = make(stream, 100)
    for _ in range(100):
        clock.now += 0.02
        progress.add("a", np.array([0.5]), np.arange(1))
    progress.close()
    drawn = stream.getvalue().split("\r")[1:]
    assert 8 <= len(drawn) <= 11
    assert drawn[-1].startswith("collect 100/100 cells  100%  50/s  best a 0.500 roc_auc  in 2.0 s")
    assert stream.getvalue().endswith("\n")


def test_quiet_where_there_is_no_terminal():
    stream = io.StringIO()
    progress, clock = make(stream)
    clock.now = 1.0
    progress.add("a", np.array([0.5]), np.arange(1))
    progress.close()
    assert stream.getvalue() == ""


def test_quiet_on_request():
    stream = Terminal()
    progress, clock = make(stream, mode=False)
    clock.now = 1.0
    progress.add("a", np.array([0.5]), np.arange(1))
    progress.close()
    assert stream.getvalue() == ""


def test_quick_scores_are_the_usual_metrics():
    rng = np.random.default_rng(0)
    rows = np.arange(5, 35)
    y = rng.integers(0, 2, 40)
    scores = np.round(rng.normal(size=30), 1)
    name, score = quick_score(encode(y), "score")
    assert name == "roc_auc"
    assert score(scores, rows) == pytest.approx(roc_auc_score(y[rows], scores), abs=1e-12)
    assert np.isnan(score(scores[:2], np.flatnonzero(y == 1)[:2]))
    name, score = quick_score(encode(y), "label")
    assert (name, score(y[rows], rows)) == ("accuracy", 1.0)
    name, score = quick_score(encode(rng.integers(0, 3, 40)), "proba")
    assert name == "accuracy"
    values = rng.normal(size=40)
    name, score = quick_score(encode(values), "value")
    assert (name, score(scores, rows)) == ("r2", pytest.approx(r2_score(values[rows], scores)))


def test_collect_shows_it_when_forced(capsys):
    X, y = make_classification(40, 4, random_state=0)
    collect({"a": Tally(), "b": Raises()}, X, y, Plan(4), progress="always")
    out = capsys.readouterr()
    assert out.out == ""
    assert "collect 8/8 cells  100%" in out.err
    assert "4 failed  best a " in out.err
    collect(Tally(), X, y, Plan(4))
    assert capsys.readouterr().err == ""


def test_a_function_is_told_instead():
    told = []
    progress = Progress(2, lambda done, total: told.append((done, total)))
    progress.add("a", None, np.arange(3))
    progress.add("b", None, np.arange(3))
    progress.close()
    assert told == [(1, 2), (2, 2)]
    assert not progress.shown
