"""The .632+ bootstrap against mlxtend's bootstrap_point632_score, end to end, with a decision tree.

Both fit as many trees on as many bootstrap samples; ours also fits one on all samples. The fits alone are timed in the same
turns, so that what each side adds to them can be told. CPU time, best of the turns; ratios, not seconds, carry over.
Usage: python benchmarks/bootstrap.py [--quick] [--keep]
"""

from __future__ import annotations

from functools import partial

import numpy as np
from measuring import Results, arguments, in_turns
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

import outfold as of


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
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=3, help="how often each side is timed (default: %(default)s)")
    args = parser.parse_args()
    # mlxtend goes through all N x N pairs in every round.
    n, rounds = (1000, 5) if args.quick else (2000, 5)
    X, y = make_classification(n, 10, flip_y=0.1, random_state=0)
    ours(X, y, 2)  # imports
    sides = {"mlxtend": theirs, "outfold": ours, "the fits alone": fits}
    best = in_turns({name: partial(side, X, y, rounds) for name, side in sides.items()}, args.turns)
    print(f"{n:,} samples, decision tree, {rounds} rounds, .632+; best of {args.turns}")
    for name, value in best.items():
        print(f"{name:<16}{value:>10.3f} s")
    print(f"end to end {best['mlxtend'] / best['outfold']:,.0f} times faster")
    Results("bootstrap", args.keep).add(f"{n:,}, {rounds}", **best)


if __name__ == "__main__":
    main()
