"""How long a report takes beside its estimate: 600 configurations, 10 repeats of 10 folds, 1,000 samples."""

from __future__ import annotations

import numpy as np
from measuring import Results, arguments, in_turns
from numpy.typing import NDArray

import outfold as of
from outfold.stats.compiling import limit_threads

N, C, R, K = 1000, 600, 10, 10
TURNS = 9


def predictions() -> of.Predictions:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    P = 1 / (1 + np.exp(-(1.2 * (y[:, None, None] - 0.5) + noise(rng))))
    return of.from_arrays(y, P, folds=folds(rng), response="proba")


def values() -> of.Predictions:
    rng = np.random.default_rng(0)
    y = rng.normal(size=N)
    return of.from_arrays(y, y[:, None, None] + 0.7 * noise(rng), folds=folds(rng), response="value")


def noise(rng: np.random.Generator) -> NDArray[np.float64]:
    """Of the sample, of the configuration and of the fit."""
    out: NDArray[np.float64] = rng.normal(size=(N, 1, 1)) + 0.5 * rng.normal(size=(N, C, 1))
    return out + 0.3 * rng.normal(size=(N, C, R))


def folds(rng: np.random.Generator) -> NDArray[np.intp]:
    return np.stack([rng.permutation(np.arange(N) % K) for _ in range(R)], axis=1)


def main() -> None:
    args = arguments(__doc__).parse_args()
    results = Results("report", args.keep)
    classes, numbers = predictions(), values()
    print("| metric | estimate.bbc | report, page included | ratio | page |")
    print("| --- | --- | --- | --- | --- |")
    for metric in ("roc_auc", "f1", "accuracy", "log_loss", "r2", "mse"):
        oof = numbers if metric in ("r2", "mse") else classes
        of.report(oof.sel(config=range(4), repeat=range(2)), metric).to_html()  # compile and import
        sides = {
            "bbc": lambda: of.estimate.bbc(oof, metric),  # noqa: B023
            "report": lambda: of.report(oof, metric).to_html(),  # noqa: B023
        }
        with limit_threads("blas"):  # a second thread that waits takes CPU too
            times = in_turns(sides, 1 if args.quick else TURNS)
        size = len(of.report(oof, metric).to_html().encode()) / 1e6
        ratio = times["report"] / times["bbc"]
        print(
            f"| {metric} | {times['bbc']:.2f} s | {times['report']:.2f} s | {ratio:.1f} | {size:.2f} MB |", flush=True
        )
        results.add(metric, **times, megabytes=size)


if __name__ == "__main__":
    main()
