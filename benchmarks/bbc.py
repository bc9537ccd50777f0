"""BBC against the straightforward loop over scikit-learn's metric: how many times faster, and the memory it takes.

Both sides are timed in this one process, in turns, CPU time, best of three; the loop is timed on a sample of its (draw,
configuration) pairs and extrapolated. Usage: python benchmarks/bbc.py [--quick] [--keep] [--only ROW ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from tempfile import TemporaryDirectory

import numpy as np
from measuring import Results, arguments, cpu_seconds

import outfold as of
from outfold import metrics
from outfold.stats import compiling

# Metrics whose loops are compiled if numba is installed are also timed as they run without it.
WITHOUT = "without numba"
ROWS = (
    *("accuracy", "roc_auc", "average_precision", "f1", "log_loss", "concordance", "mcc", "brier"),
    *("precision", "recall", "f2", "jaccard", "cohen_kappa"),
    *("r2", "mape", "median_absolute_error", "max_error", "explained_variance"),
    *(f"{metric}, {WITHOUT}" for metric in ("roc_auc", "average_precision", "concordance")),
)


@contextmanager
def without_numba() -> Iterator[None]:
    """Kernels that are made and used within take their NumPy path."""
    load = compiling.load
    compiling.load = lambda name: None
    try:
        yield
    finally:
        compiling.load = load


def predictions(metric: str, n: int, c: int, seed: int = 0) -> of.Predictions:
    rng = np.random.default_rng(seed)
    if metric == "concordance":
        time_ = rng.exponential(10, n)
        y = np.stack([time_, rng.random(n) < 0.7], axis=1)
        return of.from_arrays(y, -time_[:, None] + rng.normal(0, 10, (n, c)), response="risk")
    if metrics.get(metric).needs == "value":
        y = rng.lognormal(size=n)
        return of.from_arrays(y, y[:, None] * rng.lognormal(0, 0.3, (n, c)), response="value")
    y = rng.integers(0, 2, n)
    P = 1 / (1 + np.exp(-(y[:, None] - 0.5 + rng.normal(0, 1.0, (n, c)))))
    return of.from_arrays(y, P, response="proba")


def loop_seconds(oof: of.Predictions, metric: str, n_resamples: int, pairs: int) -> float:
    """The plain way: the metric's own function on the drawn rows, one draw and configuration at a time, extrapolated."""
    function = plain_function(metric)
    rng = np.random.default_rng(1)
    y = oof.target.y if metric != "concordance" else oof.y
    data = oof.respond(metrics.get(metric).needs)[0]

    def some() -> None:
        for pair in range(pairs):
            rows = rng.integers(0, oof.n_samples, oof.n_samples)
            function(y[rows], data[pair % oof.n_configs][rows])

    return cpu_seconds(some) / pairs * n_resamples * (oof.n_configs + 1)


def plain_function(metric: str):
    import sklearn.metrics as sk

    if metric == "concordance":
        return _plain_concordance
    reference = metrics.get(metric).reference
    return partial(getattr(sk, reference.function), **reference.options)


def _plain_concordance(y, risk):
    """Harrell's index with whole arrays, as the usual packages do it (scikit-learn has none)."""
    t, event = y["time"], y["event"]
    comparable = event[:, None] & ((t[:, None] < t) | ((t[:, None] == t) & ~event))
    concordant = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return (comparable * concordant).sum() / comparable.sum()


def table(n: int, c: int, b: int, pairs: int, times: int, results: Results, rows: tuple[str, ...]) -> None:
    print(f"\nN={n:,} samples, C={c:,} configurations, B={b:,} draws; bbc whole: draw, select, score, interval")
    print(f"{'metric':<34}{'bbc ms':>10}{'loop s':>10}{'times faster':>15}{'extra MB':>10}")
    for row in rows:
        metric, _, way = row.partition(", ")
        oof = predictions(metric, n, c)

        def run(metric: str = metric, oof: of.Predictions = oof, way: str = way) -> None:
            with without_numba() if way else nullcontext():
                of.estimate.bbc(oof, metric, n_resamples=b)

        run()
        slow, fast = [], []
        for _ in range(3):
            fast += [cpu_seconds(run) for _ in range(times)]
            slow.append(loop_seconds(oof, metric, b, pairs))
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        quick, plain = min(fast), min(slow)
        print(f"{row:<34}{1000 * quick:>10.1f}{plain:>10.0f}{plain / quick:>14,.0f}x{peak:>10.0f}", flush=True)
        results.add(f"{n:,}, {c:,}, {row}", bbc=quick, loop=plain, megabytes=peak)


COLD = """
import time; start = time.process_time()
import numpy as np, outfold as of
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 500)
oof = of.from_arrays(y, rng.random((500, 610)), response="proba")
of.estimate.bbc(oof, "{metric}")
print(time.process_time() - start)
"""


def cold(results: Results) -> None:
    print("\nFirst call in a new process, imports included (N=500, C=610, B=1000); then the very first, which compiles")
    for metric in ("accuracy", "roc_auc"):
        kept, compiling = (min(new_process(metric, empty) for _ in range(3)) for empty in (False, True))
        print(f"{metric:<20}{kept:>10.2f} s{compiling:>10.2f} s")
        results.add(f"first call, {metric}", seconds=kept, compiling=compiling)


def new_process(metric: str, empty: bool) -> float:
    """CPU seconds of one call; with an `empty` cache of compiled code, or with that of earlier calls."""
    with TemporaryDirectory() as folder:
        environment = os.environ | ({"NUMBA_CACHE_DIR": folder} if empty else {})
        return float(subprocess.check_output([sys.executable, "-c", COLD.format(metric=metric)], env=environment))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--only", nargs="*", choices=ROWS, metavar="ROW", help="rows of the tables to measure, and no others"
    )
    args = parser.parse_args()
    quick, results, rows = args.quick, Results("bbc", args.keep), tuple(args.only or ROWS)
    table(500, 610, 1000, pairs=100 if quick else 200, times=3, results=results, rows=rows)
    if not args.only:
        cold(results)
    if not quick:
        table(10_000, 200, 1000, pairs=5, times=1, results=results, rows=rows)


if __name__ == "__main__":
    main()
