"""The live page of a run in a real browser: it shows how far the run is, and becomes the report."""

from __future__ import annotations

import io
import threading
import time

import numpy as np
import pytest

import outfold as of
from internals import Live, Standing, pages_of, serve


@pytest.fixture
def running(tmp_path):
    """A run that stands still, what shows it, and the address of its page."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    P = np.clip(y[:, None] * 0.2 + rng.random((80, 6)) * 0.8, 0, 1)
    names = [
        f"a rather long name of a configuration (with_a_parameter={i}, and_another_one=0.000{i})" for i in range(6)
    ]
    oof = of.from_arrays(y, P, folds=np.arange(80) % 5, configs=names).selecting_by("roc_auc")
    standing = Standing(1000, n_finished=250, n_dropped=31, seconds=4.0, seconds_left=75.0, oof=oof)
    live = Live(tmp_path, "patients.csv: outcome", io.StringIO())
    live(standing)
    told, addresses = threading.Event(), []

    def say(address):
        addresses.append(address)
        told.set()

    how = {"browser": False, "say": say}
    threading.Thread(target=serve, args=(pages_of(tmp_path),), kwargs=how, daemon=True).start()
    assert told.wait(10)
    return live, standing, addresses[0]


def wait_for(browser, script, seconds=15):
    for _ in range(10 * seconds):
        if browser.run(script):
            return True
        time.sleep(0.1)
    return False


TEXT = "return document.getElementById(arguments[0]).textContent"


def test_it_shows_how_far_the_run_is(browser, running):
    live, standing, address = running
    browser.show(1280)
    browser.visit(address)
    assert wait_for(browser, "return document.getElementById('left').textContent === 'about 1 min'")
    assert browser.run(TEXT, "title") == "patients.csv: outcome"
    assert browser.run(TEXT, "configurations") == "250 of 1,000 finished, 31 dropped early"
    assert browser.run("return document.getElementById('bar').value") == 0.25
    assert browser.run(TEXT, "corrected").startswith("AUC 0.")
    assert standing.oof.selection().name in browser.run(TEXT, "best")
    standing.n_expected, standing.seconds_left = 1400, 3.0  # more than there are: then the budget is no news
    live._write("running", standing)
    assert wait_for(browser, "return document.getElementById('left').textContent === 'a few seconds'")
    assert browser.run(TEXT, "configurations") == "250 of 1,000 finished, 31 dropped early"
    standing.n_expected = 400
    live._write("running", standing)
    assert wait_for(
        browser, "return document.getElementById('configurations').textContent.endsWith('is enough for about 400')"
    )
    assert [entry for entry in browser.logs("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_screen(browser, running, width, scheme, tmp_path):
    browser.show(width, scheme=scheme)
    browser.visit(running[2])
    assert wait_for(browser, "return document.getElementById('bar').value > 0")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    colours = browser.run("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    dark = [sum(map(int, colour.strip("rgba()").split(",")[:3])) < 380 for colour in colours]
    assert dark == [scheme == "light", scheme == "dark"]
    browser.picture(tmp_path / f"live-{width}-{scheme}.png", 500)


def test_it_becomes_the_report(browser, running, tmp_path):
    live, standing, address = running
    browser.visit(address)
    assert wait_for(browser, "return document.getElementById('bar').value > 0")
    of.report(standing.oof, n_resamples=50).save(tmp_path / "report.html")
    live.end("finished")
    assert wait_for(
        browser, "const h = document.querySelector('h1'); return h && h.textContent.startsWith('Expect AUC ')"
    )
    assert browser.run("return document.querySelectorAll('figure svg').length") > 5
