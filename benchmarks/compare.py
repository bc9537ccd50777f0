"""Tests on one test set against mlxtend, on the same predictions: how many times faster.

Ours starts from a Predictions object and ends with the public result; mlxtend starts from the arrays it takes and ends with its
numbers. Both sides are timed in this one process, in turns, CPU time, median of 5. Usage: python benchmarks/compare.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import outfold as of
from outfold.compare._pair_test import TESTS, Hypothesis, all_pairs, compare_pairs
from outfold.results import Comparison, Comparisons


def predictions(n: int, c: int) -> tuple[np.ndarray, list[np.ndarray], of.Predictions]:
    """Labels, predicted labels of every model (accuracies of 0.7 to 0.9), and the same as Predictions."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    labels = [np.where(rng.random(n) < accuracy, y, 1 - y) for accuracy in np.linspace(0.7, 0.9, c)]
    return y, labels, of.from_arrays(y, np.stack(labels, axis=1), response="label")


def in_turns(sides: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Median CPU seconds of every side."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for name in sides:
        sides[name]()
    for _ in range(rounds):
        for name, side in sides.items():
            start = time.process_time()
            side()
            seconds[name].append(time.process_time() - start)
    return {name: float(np.median(s)) for name, s in seconds.items()}


def mcnemar(n: int, c: int) -> None:
    from mlxtend.evaluate import mcnemar as theirs
    from mlxtend.evaluate import mcnemar_table

    y, labels, oof = predictions(n, c)
    pairs = all_pairs(c)

    def peer() -> list[float]:
        return [theirs(mcnemar_table(y, labels[i], labels[j]), corrected=False)[1] for i, j in pairs]

    def many() -> Comparisons:
        return compare_pairs(
            TESTS["mcnemar"], TESTS["mcnemar"].compared(oof, None), pairs, Hypothesis(), method="plain"
        )

    def each() -> list[Comparison]:
        return list(many())

    def single() -> list[float]:
        return [of.compare.mcnemar(oof, None, int(i), int(j), method="plain").pvalue for i, j in pairs]

    assert np.allclose(peer(), [result.pvalue for result in many()], rtol=1e-9, atol=0)
    sides = {"mlxtend": peer, "all pairs in one call": many, "and a result a pair": each, "one call a pair": single}
    times = in_turns(sides)
    print(f"\nMcNemar, {len(pairs):,} pairs of {c} models on {n:,} samples (ours with interval and effects)")
    report(times, "mlxtend")


def cochran(n: int, c: int, peer: bool) -> None:
    from mlxtend.evaluate import cochrans_q

    y, labels, oof = predictions(n, c)
    sides: dict[str, Callable[[], object]] = {"cochran_q": lambda: of.compare.cochran_q(oof)}
    if peer:
        sides = {"mlxtend": lambda: cochrans_q(y, *labels), **sides}
        assert np.isclose(cochrans_q(y, *labels)[0], of.compare.cochran_q(oof).statistic, rtol=1e-9)
    print(
        f"\nCochran's Q, {c} models on {n:,} samples" + ("" if peer else " (mlxtend would try all 2^models patterns)")
    )
    report(in_turns(sides), "mlxtend" if peer else None)


def report(times: dict[str, float], peer: str | None) -> None:
    for name, seconds in times.items():
        ratio = "" if peer is None or name == peer else f"{times[peer] / seconds:>10.1f}x"
        print(f"  {name:<24}{1000 * seconds:>10.1f} ms{ratio}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer models and samples")
    quick = parser.parse_args().quick
    mcnemar(1_000 if quick else 10_000, 10 if quick else 46)
    cochran(1_000 if quick else 100_000, 5 if quick else 10, peer=True)
    cochran(1_000 if quick else 100_000, 100, peer=False)


if __name__ == "__main__":
    main()
