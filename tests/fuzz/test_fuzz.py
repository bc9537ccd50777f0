"""Files that somebody spoilt: each is read or refused with an error of outfold, in bounded time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from promises import fuzz_counts, record

pytest.importorskip("pandas", reason="pandas is not installed (outfold[frames])")
pytest.importorskip("pyarrow", reason="pyarrow is not installed (outfold[frames])")
pytest.importorskip("skops", reason="skops is not installed (outfold[model])")
if not Path("/proc/self/status").exists():
    pytest.skip("limits of memory are those of Linux", allow_module_level=True)

READERS = (
    *("oof tables", "oof bytes", "csv of predictions", "parquet of predictions", "csv to train on"),
    *("parquet to train on", "arff", "columns.toml", "model.json", "model.skops", "logs of lm-eval", "logs of Inspect"),
    *("results of promptfoo", "runs of HELM", "tables of R", "results of WEKA"),
)


def fuzzed(folder: Path, n_files: int, timeout: float) -> dict:
    """What became of so many files, in a process of their own: a crash is a failure too."""
    out, note = folder / "result.json", folder / "note"
    command = [
        sys.executable,
        str(Path(__file__).with_name("run.py")),
        "--files",
        str(n_files),
        "--out",
        str(out),
        "--note",
        str(note),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    where = note.read_text() if note.exists() else "the start"
    assert ended.returncode == 0, f"ended with {ended.returncode} at {where}: {ended.stderr[-2000:]}"
    return json.loads(out.read_text())


def check(found: dict, n_files: int) -> None:
    assert {reader: found[reader]["failures"] for reader in READERS} == {reader: {} for reader in READERS}
    # A fuzzer whose files are all refused, or all read, tests little.
    assert all(found[reader]["read"] and found[reader]["refused"] for reader in READERS)
    assert sum(found[reader]["read"] + found[reader]["refused"] for reader in READERS) == n_files
    assert found["memory"] < 500 << 20


def test_spoilt_files_are_read_or_refused(tmp_path):
    check(fuzzed(tmp_path, 2000, timeout=900), 2000)


@pytest.mark.calibration
def test_many_spoilt_files_are_read_or_refused(tmp_path):
    found = fuzzed(tmp_path, 20_000, timeout=7200)
    if path := os.environ.get("OUTFOLD_FAULTS"):
        record(Path(path), fuzz=fuzz_counts(found))
    check(found, 20_000)
