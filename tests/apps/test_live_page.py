"""How far a run is: the line, the file, and the page that reads it."""

import io
import json
import os
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

import outfold as of
from outfold.apps import report_again, serving
from outfold.apps.anytime import Standing
from outfold.apps.live import FILE, Live, left_in_words, standing_of
from outfold.exceptions import FileError
from outfold.reporting.page import serve


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def standing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    P = np.clip(y[:, None] * 0.2 + rng.random((80, 6)) * 0.8, 0, 1)
    oof = of.from_arrays(y, P, folds=np.arange(80) % 5).selecting_by("roc_auc")
    return Standing(20, n_finished=6, n_dropped=2, seconds=4.0, seconds_left=75.0, oof=oof)


def test_the_line_says_what_is_done_what_is_left_and_what_leads(standing, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    terminal = Terminal()
    live = Live(tmp_path, "t.csv: y", terminal)
    live(standing)
    line = terminal.getvalue()
    won = standing.oof.selection()
    assert "6/20 configurations (2 dropped early)  1 min 15 s left" in line
    assert f"best AUC so far {won.score:.3f}, corrected " in line
    assert line.startswith("\r[#######")
    live.search_ended(3.0)
    assert terminal.getvalue().endswith("\n")


def test_the_answer_counts_and_the_last_seconds_get_no_number(standing, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    live = Live(tmp_path, "t.csv: y", Terminal())
    live(standing)
    live.search_ended(12.3)
    facts = json.loads((tmp_path / FILE).read_text())
    assert (facts["state"], facts["seconds_left"]) == ("running", 12.3)
    assert [left_in_words(seconds) for seconds in (0.0, 4.9, 5.0, 12.4, 75.0)] == [
        *("a few seconds", "a few seconds", "5 s", "12 s", "1 min 15 s")
    ]


def test_without_a_terminal_there_is_a_line_every_half_minute(standing, tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("outfold.apps.live.monotonic", lambda: clock[0])
    stream = io.StringIO()
    live = Live(tmp_path, "t.csv: y", stream)
    for second in range(100):
        clock[0] = float(second)
        live(standing)
    assert stream.getvalue().count("\n") == 3
    assert "\r" not in stream.getvalue()
    assert stream.getvalue().startswith("outfold run: 6/20 configurations")


def test_what_a_budget_allows_is_told_at_once(standing, tmp_path):
    stream = io.StringIO()
    live = Live(tmp_path, "t.csv: y", stream)
    live(standing)
    assert stream.getvalue() == ""
    standing.n_expected = 11
    live(standing)
    live(standing)
    assert stream.getvalue().count("\n") == 1
    assert "1 min 15 s left, enough for about 11  best AUC" in stream.getvalue()


def test_a_run_that_shows_nothing_still_writes_the_file(standing, tmp_path):
    stream = io.StringIO()
    Live(tmp_path, "t.csv: y", stream, shown=False)(standing)
    assert stream.getvalue() == ""
    facts = json.loads((tmp_path / FILE).read_text())
    assert facts["state"] == "running"
    assert facts["configurations"] == {"finished": 6, "dropped": 2, "all": 20, "expected": None}
    assert facts["best"]["low"] < facts["best"]["corrected"] < facts["best"]["high"]
    assert facts["best"]["score"] == standing.oof.selection().score
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_that_cannot_be_written_does_not_end_the_search(standing, tmp_path):
    Live(tmp_path / "gone", "t.csv: y", io.StringIO())(standing)
    assert standing_of(tmp_path / "gone") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_facts_that_somebody_forged_are_none(tmp_path):
    """Neither does the page of a folder from a stranger wait for a pipe, nor does it end at levels below levels."""
    for name, read in ((FILE, standing_of), (report_again.FILE, report_again.write_again)):
        (tmp_path / name).write_text("[" * 100_000)
        assert read(tmp_path) is None
        (tmp_path / name).unlink()
        os.mkfifo(tmp_path / name)
        assert read(tmp_path) is None


def test_the_page_is_live_while_the_process_runs_and_then_the_report(standing, tmp_path):
    with pytest.raises(FileError, match="has neither a report nor a run"):
        serving.pages_of(tmp_path)
    live = Live(tmp_path, "t.csv: y", io.StringIO())
    live(standing)
    answer = serving.pages_of(tmp_path)
    kind, page = answer("/")
    assert kind == "text/html"
    assert b"becomes the report" in page
    assert json.loads(answer(f"/{FILE}")[1])["state"] == "running"
    assert answer("/run.oof") is None
    assert answer("/../secret") is None
    live.end("finished")
    assert b"ended without a report" in answer("/")[1]
    (tmp_path / "report.html").write_text("<title>the report</title>")
    assert answer("/")[1] == b"<title>the report</title>"


def test_a_run_whose_process_is_gone_does_not_run(standing, tmp_path, monkeypatch):
    Live(tmp_path, "t.csv: y", io.StringIO())(standing)
    assert serving.is_running(tmp_path)
    facts = json.loads((tmp_path / FILE).read_text())
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    (tmp_path / FILE).write_text(json.dumps(facts | {"process": child}))
    assert not serving.is_running(tmp_path)


def test_the_server_answers_for_the_folder_only(standing, tmp_path):
    Live(tmp_path, "t.csv: y", io.StringIO())(standing)
    addresses = []
    told = threading.Event()

    def say(address):
        addresses.append(address)
        told.set()

    thread = threading.Thread(
        target=serve, args=(serving.pages_of(tmp_path),), kwargs={"browser": False, "say": say}, daemon=True
    )
    thread.start()
    assert told.wait(5)
    with urllib.request.urlopen(f"{addresses[0]}{FILE}") as found:
        assert json.load(found)["title"] == "t.csv: y"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{addresses[0]}run.oof")
