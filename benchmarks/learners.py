"""The classifiers of `outfold.learners`: how long a fit takes beside scikit-learn's, and what they score beside the papers.

``time``: CPU seconds of `HellingerTreeClassifier` with numba and without, of `DecisionTreeClassifier` on the same rows, and their
ratio, on simulated classes. The sides take turns.

``bayes``: CPU seconds of fitting `KernelNaiveBayes` and predicting as many rows, and of the same with `scipy.stats.gaussian_kde`
for each class and column.

``selection``: CPU seconds of fitting `Univariate` and `SES` on numbers, and on tables in which every second column is a category
of five levels, beside `SelectKBest(f_classif)` on the numbers.

``published``: AUROC of `HellingerTreeClassifier` on the 10 folds of two seeds that WEKA draws, beside the digits of Raeder, Hoens
and Chawla (2010), Table II. The rows of the folds are those of WEKA, predictions are pooled over folds. The same with the
features in the other order shows what the choice among equally good splits changes.

``python benchmarks/learners.py time|bayes|selection [--quick] [--keep]``, ``python benchmarks/learners.py published --data
FOLDER``; the folder has a parquet file for each table with a column ``target``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from measuring import Results, arguments, in_turns
from scipy.stats import gaussian_kde
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from outfold.learners import SES, HellingerTreeClassifier, KernelNaiveBayes, Univariate
from outfold.stats import compiling

# Rows, columns and classes.
SIZES = ((200, 10, 2), (1000, 20, 2), (5000, 20, 2), (10_000, 30, 2), (2000, 200, 2), (1000, 20, 5), (5000, 10, 10),
         (5000, 16, 26))  # fmt: skip
BAYES_SIZES = ((200, 10), (1000, 20), (3000, 20))
SELECTION_SIZES = ((100, 10), (200, 50), (1000, 20), (1000, 100))
# Printed AUROC of HDDT in iterations 216 and 459, for tables of numbers without missing values.
SEEDS = (216, 459)
PUBLISHED = {
    "bupa": (0.6913, 0.6531),
    "ionosphere": (0.9301, 0.9371),
    "pima": (0.7717, 0.7696),
    "sonar": (0.7929, 0.8127),
}
N_FOLDS = 10


@contextmanager
def without_numba() -> Iterator[None]:
    """Within this context every kernel takes its numpy path."""
    with mock.patch.object(compiling, "load", return_value=None):
        yield


def time_trees(results: Results, sizes: tuple[tuple[int, int, int], ...], turns: int) -> None:
    compiling.load("hellinger_loops")  # else the first fits do without
    for n, p, k in sizes:
        X, y = make_classification(n, p, n_informative=p // 2, n_classes=k, n_clusters_per_class=1, flip_y=0.1,
                                   random_state=0)  # fmt: skip
        for drawn in (None, "sqrt"):
            hellinger = HellingerTreeClassifier(max_features=drawn, random_state=0)
            plain = DecisionTreeClassifier(max_features=drawn, random_state=0)
            seconds = in_turns({"compiled": lambda h=hellinger, X=X, y=y: h.fit(X, y),
                                "numpy": lambda h=hellinger, X=X, y=y: fit_plainly(h, X, y),
                                "scikit-learn": lambda t=plain, X=X, y=y: t.fit(X, y)}, turns)  # fmt: skip
            ratios = {f"{name} ratio": seconds[name] / seconds["scikit-learn"] for name in ("compiled", "numpy")}
            row = f"tree, {n} x {p}, {k} classes" + (", sqrt" if drawn else "")
            print(row, {name: round(value, 4) for name, value in (seconds | ratios).items()}, flush=True)
            results.add(row, **seconds, **ratios)


def fit_plainly(model: Any, X: Any, y: Any) -> None:
    with without_numba():
        model.fit(X, y)


def time_bayes(results: Results, sizes: tuple[tuple[int, int], ...], turns: int) -> None:
    for n, p in sizes:
        X, y = make_classification(2 * n, p, n_informative=p // 2, random_state=0)
        given = (X[:n], y[:n], X[n:])
        sides = {"outfold": partial(predict_bayes, *given), "scipy": partial(product_of_densities, *given)}
        seconds = in_turns(sides, turns)
        row = f"bayes, {n} x {p}"
        print(row, {name: round(value, 4) for name, value in seconds.items()}, flush=True)
        results.add(row, **seconds, ratio=seconds["outfold"] / seconds["scipy"])


def predict_bayes(X: Any, y: Any, new: Any) -> Any:
    return KernelNaiveBayes("scott").fit(X, y).predict_proba(new)


def product_of_densities(X: Any, y: Any, new: Any) -> Any:
    return [sum(gaussian_kde(column).logpdf(x) for column, x in zip(X[y == c].T, new.T, strict=True)) for c in (0, 1)]


def time_selection(results: Results, sizes: tuple[tuple[int, int], ...], turns: int) -> None:
    for n, p in sizes:
        X, y = make_classification(n, p, n_informative=5, n_redundant=2, random_state=0)
        numbers = pd.DataFrame(X).rename(columns=str)
        categories = {c: pd.qcut(numbers[c], 5, labels=list("abcde")) for c in numbers.columns[::2]}
        mixed = numbers.assign(**categories)
        models = {"Univariate": Univariate(), "SES": SES()}
        sides = {f"{name}, {kind}": partial(model.fit, table, y) for name, model in models.items()
                 for kind, table in (("numbers", numbers), ("mixed", mixed))}  # fmt: skip
        seconds = in_turns({**sides, "scikit-learn": partial(SelectKBest(f_classif).fit, numbers, y)}, turns)
        row = f"selection, {n} x {p}"
        print(row, {name: round(value, 4) for name, value in seconds.items()}, flush=True)
        results.add(row, **seconds)


# -- the folds of WEKA -----------------------------------------------------------------------------------


class JavaRandom:
    """The generator of java.util.Random, as its documentation defines it."""

    def __init__(self, seed: int) -> None:
        self.state = (seed ^ 0x5DEECE66D) & (2**48 - 1)

    def _bits(self) -> int:
        self.state = (self.state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        return self.state >> 17

    def below(self, n: int) -> int:
        """nextInt(n)."""
        if n & -n == n:
            return (n * self._bits()) >> 31
        while True:
            bits = self._bits()
            if bits - bits % n + n - 1 < 2**31:
                return bits % n


def weka_folds(y: np.ndarray[Any, Any], seed: int, n_folds: int) -> list[np.ndarray[Any, Any]]:
    """The rows of each test part: mixed, sorted by class with swaps, and dealt out."""
    random, rows = JavaRandom(seed), list(range(len(y)))
    for j in range(len(y) - 1, 0, -1):
        other = random.below(j + 1)
        rows[j], rows[other] = rows[other], rows[j]
    index = 1
    while index < len(y):
        first = rows[index - 1]
        for j in range(index, len(y)):
            if y[rows[j]] == y[first]:
                rows[index], rows[j] = rows[j], rows[index]
                index += 1
        index += 1
    dealt = np.concatenate([rows[start::n_folds] for start in range(n_folds)])
    return np.array_split(dealt, n_folds)


def compare_published(results: Results, folder: Path) -> None:
    for name, printed in PUBLISHED.items():
        frame = pd.read_parquet(folder / f"{name}.parquet")
        X, y = frame.drop(columns="target").to_numpy(np.float64), frame["target"].astype(str).to_numpy()
        positive = y == np.unique(y)[1]
        row: dict[str, float] = {}
        for seed, digits in zip(SEEDS, printed, strict=True):
            # Of equally good splits the first feature is taken: in the other order, it is another one.
            row |= {
                f"seed {seed}": pooled_auc(X, positive, seed),
                f"reversed {seed}": pooled_auc(X[:, ::-1], positive, seed),
            }
            row |= {f"printed {seed}": digits}
        print(name, {key: round(value, 4) for key, value in row.items()}, flush=True)
        results.add(f"published, {name}", **row)


def pooled_auc(X: Any, y: Any, seed: int) -> float:
    proba = np.empty(len(y))
    for test in weka_folds(y, seed, N_FOLDS):
        train = np.setdiff1d(np.arange(len(y)), test)
        # Two rows in a leaf at least, as WEKA's trees have by default.
        model = HellingerTreeClassifier(min_samples_leaf=2).fit(X[train], y[train])
        proba[test] = model.predict_proba(X[test])[:, 1]
    return float(roc_auc_score(y, proba))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("what", choices=("time", "bayes", "selection", "published"))
    parser.add_argument("--data", type=Path, help="folder of the tables")
    args = parser.parse_args()
    results = Results("learners", args.keep)
    with threadpool_limits(1):
        if args.what == "time":
            time_trees(results, SIZES[:2] if args.quick else SIZES, 1 if args.quick else 5)
        elif args.what == "bayes":
            time_bayes(results, BAYES_SIZES[:1] if args.quick else BAYES_SIZES, 1 if args.quick else 3)
        elif args.what == "selection":
            time_selection(results, SELECTION_SIZES[:1] if args.quick else SELECTION_SIZES, 1 if args.quick else 3)
        elif args.data is None:
            parser.error("published needs --data")
        else:
            compare_published(results, args.data)


if __name__ == "__main__":
    main()
