"""BBC of a million predictions of each configuration: CPU seconds and the memory it takes beside the predictions.

Every measurement runs in a process of its own, from `from_arrays` to the interval. With --before, an older version takes turns
with this one. Usage: python benchmarks/large.py [--quick] [--keep] [--before FOLDER] [--shrink K] [--turns N]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from measuring import Results, arguments

SOURCE = Path(__file__).parent.parent / "src"
METRICS = ("accuracy", "roc_auc")

CHILD = """
import inspect, json, sys, time
import numpy as np, outfold as of
from outfold.stats import compiling

n, c, b, metric = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
y = rng.integers(0, 2, n).astype(np.int8)
P = np.empty((n, c), dtype=np.float32)
for j in range(c):
    P[:, j] = 1 / (1 + np.exp(-(y - 0.5 + rng.normal(0, 1, n))))
shared = {"copy": False} if "copy" in inspect.signature(of.from_arrays).parameters else {}


def estimate(rows, draws):
    oof = of.from_arrays(y[:rows], P[:rows], response="proba", **shared)
    return of.estimate.bbc(oof, metric, n_resamples=draws)


def status(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))


if "drawing" in inspect.getsource(compiling):
    compiling.load("drawing")
estimate(20_000, 256)  # what is compiled and imported once is not measured
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before, start = status("VmRSS"), time.process_time()
found = estimate(n, b)
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "megabytes": status("VmHWM") - before, "value": found.value, "low": found.interval.low}))
"""


def measure(source: Path, *case: object) -> dict[str, float]:
    """CPU seconds, extra megabytes and the estimate itself, in a new process."""
    # One thread of BLAS: those that wait for each other take CPU time.
    environment = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CHILD, json.dumps(case)]
    found: dict[str, float] = json.loads(subprocess.check_output(command, env=environment))
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", help="the src folder of an older version to compare with"
    )
    parser.add_argument("--shrink", type=int, default=1, help="divide the numbers of samples and draws by this")
    parser.add_argument("--turns", type=int, default=2, help="the best of so many turns counts")
    args = parser.parse_args()
    shrink = 20 if args.quick else args.shrink
    results, sides = Results("large", args.keep), {"now": SOURCE}
    if args.before:
        sides["before"] = args.before
    print(f"{'samples, configurations, metric':<44}{'CPU s':>8}{'MB':>8}{'before':>9}{'MB':>8}{'ratio':>8}")
    for n, c in ((1_000_000, 50), (100_000, 1000)):
        for metric in METRICS:
            row = f"{n // shrink:,}, {c:,}, {metric}"
            every = [
                {side: measure(source, n // shrink, c, 500 // shrink, metric) for side, source in sides.items()}
                for _ in range(args.turns)
            ]
            best = {side: min((turn[side] for turn in every), key=lambda found: found["seconds"]) for side in sides}
            now, before = best["now"], best.get("before")
            text = f"{row:<44}{now['seconds']:>8.1f}{now['megabytes']:>8.0f}"
            numbers = {"seconds": now["seconds"], "megabytes": now["megabytes"]}
            if before:
                assert abs(now["value"] - before["value"]) < 1e-12, "another estimate"
                assert abs(now["low"] - before["low"]) < 1e-12, "another interval"
                numbers |= {"before_seconds": before["seconds"], "before_megabytes": before["megabytes"]}
                text += (
                    f"{before['seconds']:>9.1f}{before['megabytes']:>8.0f}{before['seconds'] / now['seconds']:>8.1f}"
                )
            print(text, flush=True)
            results.add(row, **numbers)


if __name__ == "__main__":
    main()
