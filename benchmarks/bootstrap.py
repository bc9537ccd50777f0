"""The .632+ bootstrap against mlxtend's bootstrap_point632_score, end to end, with a decision tree.

Both fit as many trees on as many bootstrap samples; ours also fits one on all samples. The fits alone are timed in the same
turns, so that what each side adds to them can be told. Sides alternate in one process; ratios, not seconds, carry over.
Usage: python benchmarks/bootstrap.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import outfold as of


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ours(X: np.ndarray, y: np.ndarray, rounds: int) -> of.results.Estimate:
    oof = of.collect(DecisionTreeClassifier(max_depth=5), X, y, of.Plan.bootstrap(rounds), progress=False)
    return of.estimate.point632plus(oof, "accuracy")


def theirs(X: np.ndarray, y: np.ndarray, rounds: int) -> np.ndarray:
    from mlxtend.evaluate import bootstrap_point632_score

    return bootstrap_point632_score(
        DecisionTreeClassifier(max_depth=5), X, y, n_splits=rounds, method=".632+", random_seed=0
    )


def fits(X: np.ndarray, y: np.ndarray, rounds: int) -> None:
    """The fits, and one prediction for all samples each: what no way of doing it can save."""
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        rows = rng.integers(0, len(y), len(y))
        DecisionTreeClassifier(max_depth=5, random_state=0).fit(X[rows], y[rows]).predict_proba(X)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--turns", type=int, default=3, help="how often each side is timed (default: %(default)s)")
    args = parser.parse_args()
    # mlxtend goes through all N x N pairs in every round: half a minute of it at 5,000 samples.
    n, rounds = (1000, 5) if args.quick else (5000, 2)
    X, y = make_classification(n, 10, flip_y=0.1, random_state=0)
    ours(X, y, 2)  # imports
    sides: dict[str, Callable[..., object]] = {"outfold": ours, "mlxtend": theirs, "the fits alone": fits}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(args.turns):
        for name, side in sides.items():
            times[name].append(seconds(partial(side, X, y, rounds)))
    median = {name: float(np.median(values)) for name, values in times.items()}
    bare = median["the fits alone"]
    print(f"{n:,} samples, decision tree, {rounds} rounds, .632+; median of {args.turns}")
    for name, value in median.items():
        print(f"{name:<16}{value:>10.3f} s   beyond the fits {max(value - bare, 0):>8.3f} s")
    added = [max(median[name] - bare, 1e-9) for name in ("outfold", "mlxtend")]
    faster = median["mlxtend"] / median["outfold"]
    print(f"end to end {faster:,.0f} times faster, beyond the fits {added[1] / added[0]:,.0f}")


if __name__ == "__main__":
    main()
