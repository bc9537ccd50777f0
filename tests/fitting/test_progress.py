"""The progress line."""

import io
import sys
import types

from sklearn.datasets import make_classification

from collect_estimators import Raises, Tally
from internals import Plan, Progress, collect
from outfold.results import Selection


class Clock:
    """Time that passes only when told to."""

    now = 0.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


LEADER = Selection("logit(C=0.1)", 1, 0.8712, "roc_auc", "best pooled AUC of 2 configurations", "pooled", 1, 2)


def make(stream, total=8, mode=True, leader=lambda: LEADER):
    clock = Clock()
    return Progress(total, mode, leader, stream, clock), clock


def test_line():
    progress, clock = make(Terminal(), 2360, "always")
    progress.done = 1239
    clock.now = 4.0
    progress.add(failed=False)
    assert progress.line() == (
        "collect 1,240/2,360 cells  52%  310/s  3.6 s left  so far logit(C=0.1) 0.871, best pooled AUC of 2 configurations"
    )


def test_who_leads_is_asked_less_often_the_longer_it_takes():
    asked = []

    def slow():
        asked.append(clock.now)
        clock.now += 1.0
        return LEADER

    progress, clock = make(Terminal(), 1000, leader=slow)
    for _ in range(400):
        clock.now += 0.1
        progress.add(failed=False)
    assert len(asked) == 2  # in 40 seconds: a second of work, then twenty without
    progress.close()
    assert len(asked) == 3  # what is left on the screen is who has won


def test_nobody_leads_yet():
    progress, clock = make(Terminal(), 10, leader=lambda: None)
    clock.now = 1.0
    progress.add(failed=False)
    assert progress.line() == "collect 1/10 cells  10%  1.0/s  9.0 s left"


def test_a_cap_is_said_to_be_one():
    progress, clock = make(io.StringIO(), 100, "always")
    progress.done, progress.at_most, clock.now = 25, True, 5.0
    assert progress.line() == "collect 25/100 cells  25%  5.0/s  at most 15 s left"


def test_redrawn_at_most_five_times_a_second():
    stream = Terminal()
    progress, clock = make(stream, 100)
    for _ in range(100):
        clock.now += 0.02
        progress.add(failed=False)
    progress.close()
    drawn = stream.getvalue().split("\r")[1:]
    assert 8 <= len(drawn) <= 11
    assert drawn[-1].startswith("collect 100/100 cells  100%  50/s  logit(C=0.1) 0.871, best pooled AUC of 2")
    assert stream.getvalue().endswith("\n")


def test_quiet_where_there_is_no_terminal():
    stream = io.StringIO()
    progress, clock = make(stream)
    clock.now = 1.0
    progress.add(failed=False)
    progress.close()
    assert stream.getvalue() == ""


def test_quiet_on_request():
    stream = Terminal()
    progress, clock = make(stream, mode=False)
    clock.now = 1.0
    progress.add(failed=False)
    progress.close()
    assert stream.getvalue() == ""


def test_collect_shows_it_when_forced(capsys):
    X, y = make_classification(40, 4, random_state=0)
    collect({"a": Tally(), "b": Raises()}, X, y, Plan(4), progress="always")
    out = capsys.readouterr()
    assert out.out == ""
    assert "collect 8/8 cells  100%" in out.err
    assert "4 failed  a 0." in out.err
    assert "best pooled AUC of 2 configurations (1 failed)" in out.err
    collect(Tally(), X, y, Plan(4))
    assert capsys.readouterr().err == ""


def test_a_function_is_told_instead():
    told = []
    progress = Progress(2, lambda done, total: told.append((done, total)))
    progress.add(failed=True)
    progress.add(failed=True)
    progress.close()
    assert told == [(1, 2), (2, 2)]
    assert not progress.shown


def test_a_narrow_terminal_cuts_the_end_of_the_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    stream = Terminal()
    progress, clock = make(stream, 100)
    clock.now = 1.0
    progress.add(failed=False)
    first = stream.getvalue().split("\r")[1]
    assert first.startswith("collect 1/100 cells  1%")
    assert (len(first), first[-1]) == (59, "…")
    progress.close()
    assert stream.getvalue().endswith("in 1.0 s\n")  # the last line may wrap


def test_a_notebook_shows_a_bar_that_is_replaced(monkeypatch):
    """IPython with a kernel: one output, in html and as text, and nothing on stderr."""
    shown = []

    class Output:
        def update(self, bundle, raw):
            assert raw
            shown.append(bundle)

    def display(bundle, raw, display_id):
        assert display_id
        return Output()

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    X, y = make_classification(40, 4, random_state=1)
    collect({"a<b": Tally()}, X, y, Plan(folds=4))
    assert shown[-1]["text/plain"].startswith("collect 4/4 cells  100%")
    assert shown[-1]["text/html"].startswith('<progress value="4" max="4"></progress> <code>collect 4/4 cells')
    assert "a&lt;b" in shown[-1]["text/html"]
    assert stderr.getvalue() == ""
    shown.clear()
    collect({"a": Tally()}, X, y, Plan(folds=4), progress=False)
    assert not shown
    del shell.kernel  # IPython in a terminal
    collect({"a": Tally()}, X, y, Plan(folds=4))
    assert not shown
