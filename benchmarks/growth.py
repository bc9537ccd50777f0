"""How the cost of BBC grows with samples, configurations, draws and repeats: slopes of log CPU seconds on log size.

A slope of 1 is a cost that is proportional to the size. Sizes are above those of the processor's caches, the sizes take turns,
and the best of them counts. The process keeps the memory that it frees: a virtual machine may have to get new memory from its
host, which is slow and not in proportion to the size.
Usage: python benchmarks/growth.py [--quick] [--keep] [--turns N] [--give-back]
"""

from __future__ import annotations

import ctypes
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for each other take CPU time

import numpy as np
from measuring import Results, arguments, in_turns

import outfold as of

METRICS = ("accuracy", "roc_auc")
# What grows through which sizes, and what is fixed meanwhile.
ROWS = {
    "samples": ((500_000, 1_000_000, 2_000_000), {"configurations": 8, "draws": 128}),
    "configurations": ((60, 120, 240), {"samples": 100_000, "draws": 128}),
    "draws": ((256, 512, 1024), {"samples": 100_000, "configurations": 20}),
    "repeats": ((2, 4, 8), {"samples": 100_000, "configurations": 20, "draws": 128}),
}


def keep_memory() -> None:
    """Let the C library of Linux reuse what was freed, also large arrays: it gives these back to the system otherwise."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        trim_threshold, most_mapped = -1, -4
        mallopt(most_mapped, 0)
        mallopt(trim_threshold, 2**31 - 1)


def predictions(samples: int, configurations: int, repeats: int = 1) -> of.Predictions:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, samples)
    P = np.empty((samples, configurations, repeats), dtype=np.float32, order="F")
    for r in range(repeats):
        for j in range(configurations):
            P[:, j, r] = 1 / (1 + np.exp(-(y - 0.5 + rng.normal(0, 1, samples))))
    return of.from_arrays(y, P, response="proba", copy=False)


def seconds(metric: str, what: str, sizes: tuple[int, ...], fixed: dict[str, int], turns: int) -> list[float]:
    """CPU seconds of an estimate at each of the sizes."""

    def side(size: int):
        own = {**fixed, what: size}
        draws = own.pop("draws")
        oof = predictions(**own)
        return lambda: of.estimate.bbc(oof, metric, n_resamples=draws)

    return list(in_turns({str(size): side(size) for size in sizes}, turns).values())


def slope(sizes: tuple[int, ...], cost: list[float]) -> float:
    """The least-squares line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(cost), 1)[0])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=5, help="the best of so many turns counts")
    parser.add_argument("--give-back", action="store_true", help="give memory that is freed back to the system")
    args = parser.parse_args()
    given_back = ", memory given back" if args.give_back else ""
    if not args.give_back:
        keep_memory()
    results = Results("growth", args.keep)
    for metric in METRICS:
        of.estimate.bbc(predictions(20_000, 20), metric, n_resamples=256)  # compiles and imports
        for what, (sizes, fixed) in ROWS.items():
            if args.quick:
                fixed = {**fixed, "samples": 5_000}
                sizes = tuple(size // 100 for size in sizes) if what == "samples" else sizes
            cost = seconds(metric, what, sizes, fixed, args.turns)
            found = slope(sizes, cost)
            print(f"{metric:<10}{what:<16}{found:>6.2f}   " + "  ".join(f"{s:.2f} s" for s in cost), flush=True)
            results.add(f"{metric}, {what}{given_back}", slope=found, **dict(zip(map(str, sizes), cost, strict=True)))


if __name__ == "__main__":
    main()
