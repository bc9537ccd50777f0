"""Faults at random moments, in every mode: nothing is lost but cells in flight, and the result has the same bits."""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from promises import IN_ALL, IN_CI, PAGE, RESULTS, counts, record, section

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, limits and /proc of Linux")
if sys.platform == "linux":
    from injecting import CELLS, HAPPENS, WORK, faults, suffer, undisturbed

PARTS = 16


@pytest.fixture(scope="module")
def warm(scripts):
    """Processes that have imported what the work needs."""
    pytest.importorskip("skops.io", reason="skops is not installed (outfold[model])")
    pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")
    pytest.importorskip("distributed", reason="distributed is not installed (outfold[dask])")
    scripts.warm_up(WORK)
    return scripts


@pytest.fixture(scope="module")
def whole(warm, tmp_path_factory):
    """The digest of undisturbed work of a mode."""
    return lru_cache(None)(lambda mode: undisturbed(mode, tmp_path_factory.mktemp("whole"), warm))


def let_happen(chosen, whole, base, warm):
    for i, fault in enumerate(chosen):
        try:
            suffer(fault, base / str(i), warm, whole(fault.mode))
        except BaseException as error:
            error.add_note(str(fault))
            raise


@pytest.mark.parametrize("part", range(PARTS))
def test_faults_at_random_moments(part, warm, whole, tmp_path):
    let_happen(list(faults(IN_CI))[part::PARTS], whole, tmp_path, warm)


def test_every_kind_happens_and_every_mode_suffers():
    chosen = list(faults(IN_CI))
    assert len(chosen) == len(set(chosen)) == IN_CI >= 60
    assert {fault.kind for fault in chosen} == set(HAPPENS)
    assert {fault.mode for fault in chosen} == set(CELLS)


@pytest.mark.calibration
def test_many_faults(warm, whole, tmp_path):
    """Five hundred of them; `OUTFOLD_FAULTS` names the file for the counts, which docs/promises.md prints."""
    chosen = list(faults(IN_ALL, seed=1, with_workers=40))
    let_happen(chosen, whole, tmp_path, warm)
    if path := os.environ.get("OUTFOLD_FAULTS"):
        record(Path(path), faults=counts(chosen))


def test_the_page_of_promises_has_the_counts_of_the_last_run():
    assert PAGE.read_text().endswith(section(json.loads(RESULTS.read_text())))
