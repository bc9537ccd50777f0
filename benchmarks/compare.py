"""Tests on one test set against mlxtend, on the same predictions: how many times faster.

Ours starts from a Predictions object and ends with the public result; mlxtend starts from the arrays it takes and ends with its
numbers. Both sides are timed in this one process, in turns, CPU time, best of 5. `detectable` is beside simulations that are put
to the test one by one. Usage: python benchmarks/compare.py [--quick] [--keep]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from measuring import Results, arguments, cpu_seconds, in_turns

import outfold as of
from outfold.compare._pair_test import TESTS, Hypothesis, all_pairs, compare_pairs
from outfold.results import Comparison, Comparisons


def predictions(n: int, c: int) -> tuple[np.ndarray, list[np.ndarray], of.Predictions]:
    """Labels, predicted labels of every model (accuracies of 0.7 to 0.9), and the same as Predictions."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    labels = [np.where(rng.random(n) < accuracy, y, 1 - y) for accuracy in np.linspace(0.7, 0.9, c)]
    return y, labels, of.from_arrays(y, np.stack(labels, axis=1), response="label")


def mcnemar(n: int, c: int, results: Results) -> None:
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
    results.add("McNemar", **times)


def cochran(n: int, c: int, peer: bool, results: Results) -> None:
    from mlxtend.evaluate import cochrans_q

    y, labels, oof = predictions(n, c)
    sides: dict[str, Callable[[], object]] = {"cochran_q": lambda: of.compare.cochran_q(oof)}
    if peer:
        sides = {"mlxtend": lambda: cochrans_q(y, *labels), **sides}
        assert np.isclose(cochrans_q(y, *labels)[0], of.compare.cochran_q(oof).statistic, rtol=1e-9)
    print(
        f"\nCochran's Q, {c} models on {n:,} samples" + ("" if peer else " (mlxtend would try all 2^models patterns)")
    )
    times = in_turns(sides)
    report(times, "mlxtend" if peer else None)
    results.add(f"Cochran's Q, {c} models", **times)


def detectable(metric: str, n_simulations: int, results: Results) -> None:
    """442 samples, 3 x 10 folds, as in README; one step of the bisection is simulated one by one, and scaled."""
    rng = np.random.default_rng(0)
    y, plan = rng.permutation(np.arange(442) % 2), of.Plan(folds=10, repeats=3)
    noise = rng.normal(size=(442, 1, 1)) + 0.6 * rng.normal(size=(442, 2, 1)) + 0.2 * rng.normal(size=(442, 2, 3))
    P = 1 / (1 + np.exp(-(np.array([1.7, 1.5])[:, None] * (y[:, None, None] - 0.5) + noise)))
    oof = of.from_arrays(y, P, folds=plan.split(y).folds, response="proba")
    options = {"test": "t_corrected", "n_simulations": n_simulations, "progress": False}
    few = max(n_simulations // 50, 10)

    def one_by_one() -> None:
        for _ in range(few):
            rows = rng.integers(0, 442, 442)
            drawn = of.from_arrays(y[rows], P[rows], folds=oof.folds[rows], response="proba")
            of.compare.t_corrected(drawn, metric, 0, 1)

    of.compare.detectable(oof, metric, 0, 1, **options)
    seconds = min(cpu_seconds(lambda: of.compare.detectable(oof, metric, 0, 1, **options)) for _ in range(3))
    plain = min(cpu_seconds(one_by_one) for _ in range(3)) / few * n_simulations * 15
    print(f"\ndetectable by {metric}, 442 samples, 3 x 10-fold, {n_simulations:,} simulations, t_corrected")
    report({"one by one": plain, "detectable": seconds}, "one by one")
    results.add(f"detectable, {metric}", **{"one by one": plain, "detectable": seconds})


def report(times: dict[str, float], peer: str | None) -> None:
    for name, seconds in times.items():
        ratio = "" if peer is None or name == peer else f"{times[peer] / seconds:>10.1f}x"
        print(f"  {name:<24}{1000 * seconds:>10.1f} ms{ratio}")


def main() -> None:
    args = arguments(__doc__).parse_args()
    quick, results = args.quick, Results("compare", args.keep)
    mcnemar(1_000 if quick else 10_000, 10 if quick else 46, results)
    cochran(1_000 if quick else 100_000, 5 if quick else 10, True, results)
    cochran(1_000 if quick else 100_000, 100, False, results)
    for metric in ("accuracy", "roc_auc"):
        detectable(metric, 100 if quick else 1000, results)


if __name__ == "__main__":
    main()
