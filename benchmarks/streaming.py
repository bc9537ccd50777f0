"""Estimates of an artifact that stays in its file: memory and CPU seconds, beside those with the predictions in memory.

Every measurement runs in a process of its own, from `load` to the result.
Usage: python benchmarks/streaming.py [--quick] [--keep] [--samples N] [--configurations C]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from measuring import Results, arguments

import outfold as of

SOURCE = Path(__file__).parent.parent / "src"

# What is asked for, of `oof`.
QUESTIONS = {
    "bbc, accuracy": "of.estimate.bbc(oof, 'accuracy', n_resamples=500).to_dict()",
    "bbc, roc_auc": "of.estimate.bbc(oof, 'roc_auc', n_resamples=500).to_dict()",
    "bbc, log_loss": "of.estimate.bbc(oof, 'log_loss', n_resamples=500).to_dict()",
    "tt, accuracy": "of.estimate.tt(oof, 'accuracy').to_dict()",
    "cv of one, roc_auc": "of.estimate.cv(oof, 'roc_auc', 'config 3').to_dict()",
    "leaderboard, roc_auc": "oof.leaderboard('roc_auc').to_dict()",
    "scores, brier": "oof.scores('brier').tolist()",
}

CHILD = """
import json, sys, time
import numpy as np, outfold as of
from outfold.stats import compiling

path, question, in_memory = json.loads(sys.argv[1])


def status(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))


rng = np.random.default_rng(0)
y = rng.integers(0, 2, 2000)
oof = of.from_arrays(y, np.round(rng.random((2000, 4)), 3), folds=np.arange(2000) % 10, response="proba")
for name in ("lanes", "drawing"):
    compiling.load(name)
eval(question)  # what is compiled and imported once is not measured
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before, start, wall = status("VmRSS"), time.process_time(), time.perf_counter()
oof = of.load(path)
if in_memory:
    oof.data
found = eval(question)
numbers = {"seconds": time.process_time() - start, "wall": time.perf_counter() - wall, "megabytes": status("VmHWM") - before}
print(json.dumps({"numbers": numbers, "found": found}))
"""


def save(path: Path, n: int, c: int) -> None:
    """An artifact of n samples and c configurations in ten folds."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n).astype(np.int8)
    P = np.empty((n, c), dtype=np.float32, order="F")
    for j in range(c):
        P[:, j] = 1 / (1 + np.exp(-(y - 0.5 + rng.normal(0, 1, n))))
    oof = of.from_arrays(y, P, folds=np.arange(n) % 10, response="proba", copy=False)
    oof.save(path)


def measure(path: Path, question: str, in_memory: bool) -> dict[str, dict[str, float]]:
    """What a new process needs for the answer, and the answer."""
    # One thread of BLAS: those that wait for each other take CPU time.
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD, json.dumps([str(path), question, in_memory])]
    found: dict[str, dict[str, float]] = json.loads(subprocess.check_output(command, env=environment))
    return found


def _numbers(found: object) -> list[float]:
    """All numbers in an answer, in order."""
    if isinstance(found, dict):
        return [number for value in found.values() for number in _numbers(value)]
    if isinstance(found, list):
        return [number for value in found for number in _numbers(value)]
    return [float(found)] if isinstance(found, (int, float)) else []


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--configurations", type=int, default=1000)
    args = parser.parse_args()
    n, c = (20_000, 500) if args.quick else (args.samples, args.configurations)
    results = Results("streaming", args.keep)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.oof"
        save(path, n, c)
        size = path.stat().st_size / 2**20
        print(f"{n:,} samples, {c:,} configurations, a file of {size:,.0f} MB")
        print(f"{'':<24}{'CPU s':>8}{'wall':>8}{'MB':>8}{'in memory: CPU s':>18}{'wall':>8}{'MB':>8}")
        results.add("file", samples=n, configurations=c, megabytes=size)
        for name, question in QUESTIONS.items():
            streamed, memory = (measure(path, question, in_memory) for in_memory in (False, True))
            pairs = zip(_numbers(streamed["found"]), _numbers(memory["found"]), strict=True)
            assert all(np.isclose(one, other, rtol=1e-12, atol=0) for one, other in pairs), f"another answer: {name}"
            ours, theirs = streamed["numbers"], memory["numbers"]
            columns = "".join(f"{ours[key]:>8.1f}" for key in ("seconds", "wall", "megabytes"))
            print(
                f"{name:<24}{columns}{theirs['seconds']:>18.1f}{theirs['wall']:>8.1f}{theirs['megabytes']:>8.0f}",
                flush=True,
            )
            results.add(name, **ours, **{f"memory_{key}": value for key, value in theirs.items()})


if __name__ == "__main__":
    main()
