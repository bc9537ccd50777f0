"""Many collections in one process leave nothing behind; two at once do not disturb each other."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from promises import record

import outfold as of
from collect_estimators import Tally

SOAK = Path(__file__).with_name("soak.py")
MEGABYTE = 1024


def soak(scripts, n, tmp_path):
    """What a process holds after a third of so many collections, and at the end."""
    scripts.run(SOAK, n, tmp_path / "found.json")
    return json.loads((tmp_path / "found.json").read_text())


def is_flat(early, late, megabytes):
    assert late["files"] == early["files"], (early, late)
    assert late["threads"] == early["threads"], (early, late)
    assert late["kilobytes"] - early["kilobytes"] < megabytes * MEGABYTE, (early, late)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_collections_leave_nothing_behind(scripts, tmp_path):
    is_flat(*soak(scripts, 150, tmp_path), 6)


@pytest.mark.calibration
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_thousand_collections_leave_nothing_behind(scripts, tmp_path):
    """Each may leave a few kilobytes of a fragmented heap, but none that add up to days."""
    early, late = soak(scripts, 2000, tmp_path)
    is_flat(early, late, 16)
    if path := os.environ.get("OUTFOLD_FAULTS"):
        record(Path(path), soak={"n": 2000, "early": early, "late": late})


def test_two_threads_at_once(tmp_path):
    """Each has a store of its own, and the result it has alone."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    configs = {f"c{i}": Tally(i + 1.0, pause=0.002) for i in range(4)}
    plan, together = of.Plan(folds=5), threading.Barrier(2)
    found = {}

    def work(seed):
        together.wait()
        found[seed] = of.collect(configs, X, y, plan, rng=seed, store=tmp_path / f"{seed}.oof", progress=False)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        alone = of.collect(configs, X, y, plan, rng=seed, progress=False)
        assert np.array_equal(found[seed].P, alone.P)
        assert np.array_equal(of.load(tmp_path / f"{seed}.oof").P, alone.P)


def test_a_store_whose_folder_is_deleted_is_saved_elsewhere(tmp_path):
    """At the next cell, with all finished cells; put back, the work goes on."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    configs, plan = {f"c{i}": Tally(i + 1.0) for i in range(4)}, of.Plan(folds=5, repeats=2)
    store, moved = tmp_path / "runs" / "run.oof", tmp_path / "elsewhere"
    store.parent.mkdir()
    told = []

    def move(done, total):
        told.append(done)
        if done == 9:
            store.parent.rename(moved)

    with pytest.raises(
        of.exceptions.FileError, match=r"run.oof is gone: .* saved in .*run.oof\. Move that file"
    ) as caught:
        of.collect(configs, X, y, plan, store=store, progress=move)
    copy = Path(str(caught.value).partition("saved in ")[2].partition(". Move")[0])
    part = of.load(copy)
    assert told[-1] < 40
    assert np.sum(part.state == of.State.DONE) > told[-1]  # with what was just being written
    again = of.collect(configs, X, y, plan, store=copy, progress=False)
    assert np.array_equal(again.P, of.collect(configs, X, y, plan, progress=False).P)
    copy.unlink()
    copy.parent.rmdir()
