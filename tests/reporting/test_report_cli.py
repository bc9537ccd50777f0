"""``outfold report``, ``outfold open``, and the page that ``outfold run`` leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from report_cases import two_classes

import outfold as of
from internals import main


@pytest.fixture
def oof_file(tmp_path):
    return str(two_classes(r=2).save(tmp_path / "two.oof"))


def call(capsys, *argv):
    code = main(list(argv))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("command", ["report", "open"])
def test_help_has_an_example(capsys, command):
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert f"\n  outfold {command} out/run.oof" in out.partition("examples")[2]


def test_report_writes_the_page_and_prints_the_headline(capsys, oof_file, tmp_path):
    page = tmp_path / "page.html"
    code, out, err = call(capsys, "report", oof_file, "--metric", "accuracy", "-o", str(page), "--resamples", "100")
    made = of.report(of.load(oof_file), "accuracy", n_resamples=100)
    assert (code, out) == (0, made.headline + "\n")
    assert err == f"written to {page}\n"
    assert "<title>two.oof</title>" in page.read_text()
    assert f"outfold report {oof_file} --metric accuracy" in page.read_text()


def test_report_as_markdown_with_options(capsys, oof_file, tmp_path):
    options = ["--level", "0.9", "--seed", "3", "--resamples", "50", "--title", "My *title*"]
    code, _, _ = call(capsys, "report", oof_file, "-o", str(tmp_path / "a.md"), *options)
    made = of.report(of.load(oof_file), n_resamples=50, confidence_level=0.9, rng=3)
    text = (tmp_path / "a.md").read_text()
    assert code == 0
    assert text.startswith("# My \\*title\\*\n")
    assert made.headline in text


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        (["-o", "a.pdf"], 2, "outfold: error: --out must end in .html, .md or .tex; got 'a.pdf'."),
        (["--resamples", "0"], 2, "--resamples must be"),
        (["--level", "2"], 2, "--confidence-level must"),
        (["--metric", "rmse"], 2, "rmse"),
    ],
)
def test_report_says_what_is_wrong(capsys, oof_file, tmp_path, monkeypatch, more, code, says):
    monkeypatch.chdir(tmp_path)
    got, out, err = call(capsys, "report", oof_file, *more)
    assert (got, out) == (code, "")
    message, note = err.splitlines()
    assert says in message
    assert note.startswith("note: outfold explain ")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to a whole console there")
def test_open_serves_until_it_is_interrupted(oof_file):
    args = [sys.executable, "-m", "outfold", "open", oof_file, "--no-browser", "--resamples", "20"]
    started = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        address = started.stdout.readline().strip()
        address, _, hint = address.partition("   ")
        assert hint == "(Ctrl-C ends)"
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert "Expect AUC" in answer.read().decode()
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=20)
        assert (started.returncode, err) == (0, "")
    finally:
        started.kill()
        started.wait()


def test_run_leaves_a_report(capsys, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    from sklearn.tree import DecisionTreeClassifier

    from internals import run

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = np.where(frame["a"] + rng.normal(size=60) > 0, "yes", "no")
    frame.to_csv(tmp_path / "table.csv", index=False)
    few = of.grid("tree", DecisionTreeClassifier(), max_depth=[1, 2, 3])
    monkeypatch.setattr(run.spaces, "make_space", lambda *given: few)
    args = [
        "run",
        str(tmp_path / "table.csv"),
        "--target",
        "y",
        "-o",
        str(tmp_path / "out"),
        "--folds",
        "4",
        "--jobs",
        "1",
    ]
    code, out, _ = call(capsys, *args)
    page = tmp_path / "out" / "report.html"
    assert code == 0
    assert f"{page} (all results on one page)" in out
    assert of.load(tmp_path / "out" / "run.oof").configs == tuple(few)
    text = page.read_text()
    assert "<title>table.csv: y</title>" in text
    assert of.report(of.load(tmp_path / "out" / "run.oof"), "roc_auc").headline.replace("'", "&#x27;") in text
    assert f"outfold run {tmp_path / 'table.csv'} --target y" in text
