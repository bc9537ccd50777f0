"""How often `compare.algorithms` finds a difference between algorithms that are equally good when tuned.

The nulls are those of `type_one_error.py`: one algorithm, with the same configurations, on two exchangeable halves of the
features. Both algorithms are tuned by the inner folds of each outer fold, and `t_training`, the test that `compare.auto` takes,
compares what they predict. The learners below fit all folds of a data set at once; ``check`` compares with the public functions.

Usage: python studies/tuned.py [N_SETS]      writes results/tuned.json
       python studies/tuned.py check
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
from all_tests import Held, t_training
from sklearn.neighbors import KNeighborsClassifier
from type_one_error import draw, labels

import outfold as of
from outfold.data.inner import inner_folds, own_inner_folds
from outfold.data.target import encode
from outfold.formatting import called
from outfold.stats import training

RESULTS = Path(__file__).parent / "results" / "tuned.json"
N_SETS = 2000
ALPHA = 0.05
SIZES, SIGNALS, METRICS = (50, 100), ("none", "weak", "strong"), ("accuracy", "roc_auc")
NEIGHBOURS = (1, 3, 7, 15)
PENALTIES = (0.1, 10.0, 100.0, 1000.0)
# The plan, and what `collect` gets as `inner`.
DESIGNS = {"5-fold, inner=True": (of.Plan(folds=5), True), "5 x 2-fold, inner=3": (of.Plan.five_by_two(), 3)}


# -- algorithms: predictions (G, M, N) of G configurations, trained on the rows of each of M masks (M, N) -------


def neighbours(X: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Shares of the positive class among the nearest training samples."""
    squares = (X**2).sum(axis=1)
    order = np.argsort(squares[:, None] + squares - 2 * X @ X.T, axis=1)
    return _nearest(order, y.astype(float), train, np.array(NEIGHBOURS))


@numba.njit(cache=True)
def _nearest(order, y, train, sizes):
    m, n = train.shape
    out = np.zeros((len(sizes), m, n))
    for a in range(m):
        for i in range(n):
            found, total, next_size = 0, 0.0, 0
            for j in order[i]:
                if j == i or not train[a, j]:
                    continue
                found += 1
                total += y[j]
                if found == sizes[next_size]:
                    out[next_size, a, i] = total / found
                    next_size += 1
                    if next_size == len(sizes):
                        break
    return out


def ridge(X: np.ndarray, y: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Least squares with a penalty on the slopes."""
    weights, A = train.astype(float), np.column_stack([np.ones(len(X)), X])
    p = A.shape[1]
    gram = (weights @ (A[:, :, None] * A[:, None, :]).reshape(len(X), -1)).reshape(-1, p, p)
    right = (weights @ (A * y[:, None]))[:, :, None]
    penalty = np.diag([0.0] + [1.0] * (p - 1))
    return np.stack([np.linalg.solve(gram + size * penalty, right)[:, :, 0] @ A.T for size in PENALTIES])


ALGORITHMS: dict[str, Callable[..., np.ndarray]] = {"nearest neighbours": neighbours, "ridge regression": ridge}


# -- nested cross-validation -----------------------------------------------------------------------------------


def folds_of(plan: of.Plan, inner: bool | int, y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Outer folds (N, R), and inner folds (N, R K): as `collect` draws them."""
    target = encode(y)
    splits = plan.split(target, rng=seed)
    within = inner_folds(splits.folds, splits.n_folds)
    return splits.folds, within if inner is True else own_inner_folds(splits, target, None, int(inner), seed)


def score(metric: str, y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """(G,) scores of (G, n) predictions."""
    if metric == "accuracy":
        return ((predicted > 0.5) == y).mean(axis=1)
    ones, zeros = predicted[:, y == 1, None], predicted[:, None, y == 0]
    return ((ones > zeros) + 0.5 * (ones == zeros)).mean(axis=(1, 2))


def tuned(algorithm: str, X: np.ndarray, y: np.ndarray, outer: np.ndarray, within: np.ndarray) -> dict[str, np.ndarray]:
    """By metric: (R, N) what the algorithm predicts if the inner folds of each outer fold select by this metric."""
    n_repeats, n_folds = outer.shape[1], int(outer.max()) + 1
    cells = list(product(range(n_repeats), range(n_folds)))
    n_inner = int(within.max()) + 1
    masks = [outer[:, r] != k for r, k in cells]
    for r, k in cells:
        column = within[:, r * n_folds + k]
        masks += [(column >= 0) & (column != j) for j in range(n_inner)]
    predicted = ALGORITHMS[algorithm](X, y, np.array(masks))
    out = {metric: np.zeros((n_repeats, len(y))) for metric in METRICS}
    for c, (r, k) in enumerate(cells):
        column, first = within[:, r * n_folds + k], len(cells) + c * n_inner
        rows = np.flatnonzero(column >= 0)
        inside = predicted[:, first + column[rows], rows]
        test = outer[:, r] == k
        for metric in METRICS:
            best = int(np.argmax(np.round(score(metric, y[rows], inside), 12)))  # ties: the first
            out[metric][r, test] = predicted[best, c, test]
    return out


def simulate(algorithm: str, signal: str, n: int, design: str, n_sets: int) -> dict[str, Held]:
    """By metric, the predictions of both tuned algorithms on many data sets."""
    plan, inner = DESIGNS[design]
    setting = {"null": "halves", "signal": signal, "n": n}
    y, parts = labels(setting), []
    for seed in range(n_sets):
        rng = np.random.default_rng([n, seed, *map(ord, signal)])
        *halves, _ = draw(setting, rng)
        outer, within = folds_of(plan, inner, y, seed)
        parts.append((outer.T, [tuned(algorithm, X, y, outer, within) for X in halves]))
    folds = np.stack([outer for outer, _ in parts])
    found = {}
    for metric in METRICS:
        scores = np.array([[half[metric] for half in both] for _, both in parts])
        found[metric] = Held(np.tile(y, (n_sets, 1)), folds, np.moveaxis(scores, 1, 0))
    return found


def pvalues(held: Held, metric: str) -> np.ndarray:
    """(B,) p values of `t_training`."""
    first, second = held.values[metric]
    allowance = training.ZERO_ONE if metric == "accuracy" else training.OTHER_LOSS
    return t_training(held, first - second, allowance, metric == "accuracy")[0]


def measured(n_sets: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for algorithm, n, signal, design in product(ALGORITHMS, SIZES, SIGNALS, DESIGNS):
        for metric, held in simulate(algorithm, signal, n, design, n_sets).items():
            error = float(np.mean(pvalues(held, metric) <= ALPHA))
            about = {"algorithm": algorithm, "n": n, "signal": signal, "design": design, "metric": metric}
            rows.append(about | {"error": error})
        print(algorithm, n, signal, design, [row["error"] for row in rows[-2:]], flush=True)
    return rows


def page_rows(rows: list[dict[str, object]]) -> list[str]:
    """The rows of the table in the docs."""
    out = []
    for algorithm, design, metric in product(ALGORITHMS, DESIGNS, METRICS):
        mine = [r["error"] for r in rows if (r["algorithm"], r["design"], r["metric"]) == (algorithm, design, metric)]
        cells = " | ".join(f"{error:.3f}" for error in mine)
        out.append(f"| {algorithm}, {design} | {called(metric)} | {cells} |")
    return out


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the table."""
    errors, n = [row["error"] for row in study["rows"]], study["data_sets"]
    yield f"{n:,} data sets each"
    yield f"standard error of a cell at 0.05 is {np.sqrt(0.05 * 0.95 / n):.3f}"
    yield f"found in {np.mean(errors):.1%} of the data sets on average, and in {max(errors):.1%} at most"


def check(n_sets: int = 3) -> None:
    """Compare with `collect` and `compare.algorithms`."""
    configs = of.grid("knn", KNeighborsClassifier(), n_neighbors=list(NEIGHBOURS))
    setting = {"null": "halves", "signal": "weak", "n": 100}
    y = labels(setting)
    for design, (plan, inner) in DESIGNS.items():
        held = simulate("nearest neighbours", "weak", 100, design, n_sets)
        for seed in range(n_sets):
            *halves, _ = draw(setting, np.random.default_rng([100, seed, *map(ord, "weak")]))
            made = [of.collect(configs, X, y, plan, rng=seed, inner=inner, progress=False) for X in halves]
            oof = made[0].join(made[1], suffixes=(" first", " second"))
            by = {name: [c for c in oof.configs if c.endswith(name)] for name in ("first", "second")}
            for metric in METRICS:
                found = of.compare.algorithms(oof, metric, by=by)
                own = pvalues(held[metric], metric)[seed]
                assert found.method == "t_training"
                assert np.isclose(found.pvalue, own, atol=1e-9), (design, seed, metric, found.pvalue, own)
    print("the public functions give the same p values")


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else N_SETS
        rows = measured(n_sets)
        RESULTS.write_text(json.dumps({"data_sets": n_sets, "alpha": ALPHA, "rows": rows}, indent=1) + "\n")
        print(*page_rows(rows), sep="\n")
