"""How long a report takes beside its estimate: 600 configurations, 10 repeats of 10 folds, 1,000 samples."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

import outfold as of

N, C, R, K = 1000, 600, 10, 10


def predictions() -> of.Predictions:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    noise = rng.normal(size=(N, 1, 1)) + 0.5 * rng.normal(size=(N, C, 1)) + 0.3 * rng.normal(size=(N, C, R))
    P = 1 / (1 + np.exp(-(1.2 * (y[:, None, None] - 0.5) + noise)))
    folds = np.stack([rng.permutation(np.arange(N) % K) for _ in range(R)], axis=1)
    return of.from_arrays(y, P, folds=folds, response="proba")


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main() -> None:
    oof = predictions()
    print("| metric | estimate.bbc | report, page included | ratio | page |")
    print("| --- | --- | --- | --- | --- |")
    for metric in ("roc_auc", "accuracy"):
        of.report(oof.sel(config=range(4), repeat=range(2)), metric)  # compile and import
        pairs = []
        for _ in range(5):  # in turns: the machine may have other work to do
            plain = seconds(lambda: of.estimate.bbc(oof, metric))  # noqa: B023
            pairs.append((plain, seconds(lambda: of.report(oof, metric).to_html())))  # noqa: B023
        plain, whole = np.median(pairs, axis=0)
        ratio = np.median([b / a for a, b in pairs])
        size = len(of.report(oof, metric).to_html().encode()) / 1e6
        print(f"| {metric} | {plain:.2f} s | {whole:.2f} s | {ratio:.1f} | {size:.2f} MB |")


if __name__ == "__main__":
    main()
