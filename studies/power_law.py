"""How good extrapolated learning curves are, and how biased the best of them is (`curves.power_law`).

Coverage: two normal classes in ten dimensions, of which three tell them apart. The learning curve of N samples (five sizes,
2 x 5-fold) is extrapolated to N, 2N and 4N training samples. The truth is the mean accuracy of 400 models of so many samples, on
20,000 new ones.

Bias: labels that are noise, so that every accuracy is 0.5. Ten trees that look at random features are compared; the bias of the
winner's cross-validation score, of the best fitted curve (IPL, Ding et al. 2014) and of `bbc`.

Usage: python studies/power_law.py [N_DATA_SETS]     writes studies/results/power_law.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import outfold as of

LEARNERS = {"naive Bayes": GaussianNB(), "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0)}
SIZES, TIMES = (100, 300), (1, 2, 4)
SHARES = [0.2, 0.4, 0.6, 0.8, 1.0]
PLAN = of.Plan(folds=5, repeats=2)
FEATURES, SHIFT, N_MODELS, N_NEW = 10, (0.8, 0.5, 0.3), 400, 20_000
# Ten trees take ten times as long, so they have fewer data sets.
NOISE_SIZES, N_TREES, NOISE_SHARE = (40, 100), 10, 0.4
RESULT = Path(__file__).parent / "results" / "power_law.json"


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, FEATURES))
    X[:, : len(SHIFT)] += y[:, None] * SHIFT
    return X, y


@cache
def truth(learner: str, n: int) -> float:
    """Mean accuracy of models trained on n samples."""
    rng = np.random.default_rng(n)
    new, labels = draw(N_NEW, rng)
    found = []
    for _ in range(N_MODELS):
        X, y = draw(n, rng)
        found.append(np.mean(LEARNERS[learner].fit(X, y).predict(new) == labels))
    return float(np.mean(found))


def extrapolated(learner: str, n: int, seed: int) -> list[tuple[float, bool, float]]:
    """At each multiple of n: the error of the score, whether its interval has the truth, and the width of the interval."""
    X, y = draw(n, np.random.default_rng([n, seed]))
    curve = of.curves.learning(
        LEARNERS[learner], X, y, sizes=SHARES, plan=PLAN, metric="accuracy", rng=seed, progress=False
    )
    law, out = of.curves.power_law(curve, n_resamples=300), []
    for times in TIMES:
        found, true = law.at(times * n), truth(learner, times * n)
        low, high = found.interval
        out.append((found.score - true, low <= true <= high, high - low))
    return out


def of_noise(n: int, seed: int) -> tuple[float, float, float]:
    """Winner's score, best curve and corrected estimate, minus 0.5."""
    rng = np.random.default_rng([n, seed])
    X, y = rng.normal(size=(n, 30)), rng.permutation(np.arange(n) % 2)
    trees = {f"tree {i}": DecisionTreeClassifier(max_features=1, random_state=i) for i in range(N_TREES)}
    options: dict[str, Any] = {"plan": PLAN, "metric": "accuracy", "rng": seed, "progress": False}
    law = of.curves.power_law(of.curves.learning(trees, X, y, sizes=SHARES, **options), n_resamples=2)
    oof = of.collect(trees, X, y, **options)
    winner = of.estimate.cvt(oof, aggregate="fold").value
    return winner - 0.5, law.best(round(0.8 * n)).score - 0.5, of.estimate.bbc(oof, n_resamples=300).value - 0.5


def measure(sets: int) -> dict[str, Any]:
    few = round(NOISE_SHARE * sets)
    out: dict[str, Any] = {"data_sets": sets, "coverage": {}, "noise_data_sets": few, "noise": {}}
    for n in NOISE_SIZES:
        errors = np.array([of_noise(n, seed) for seed in range(few)])
        se = errors.std(axis=0, ddof=1) / np.sqrt(few)
        each = zip(("winner", "IPL", "bbc"), errors.mean(axis=0), se, strict=True)
        out["noise"][str(n)] = {name: [round(float(mean), 4), round(float(one), 4)] for name, mean, one in each}
        print("noise", n, out["noise"][str(n)], flush=True)
    for learner in LEARNERS:
        for n in SIZES:
            found = np.array([extrapolated(learner, n, seed) for seed in range(sets)], dtype=float)
            for i, times in enumerate(TIMES):
                error, covered, width = found[:, i].T
                row = {"bias": error.mean(), "rmse": np.sqrt(np.mean(error**2)), "coverage": covered.mean()}
                row |= {"width": width.mean(), "truth": truth(learner, times * n)}
                out["coverage"][f"{learner}; {n}; {times * n}"] = {k: round(float(v), 4) for k, v in row.items()}
                print(learner, n, times, out["coverage"][f"{learner}; {n}; {times * n}"], flush=True)
    return out


def page_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the page on curves."""
    for title, row in study["coverage"].items():
        numbers = (
            f"{row['truth']:.3f} | {row['bias']:+.3f} | {row['rmse']:.3f} | {row['coverage']:.2f} | {row['width']:.2f}"
        )
        yield f"| {' | '.join(title.split('; '))} | {numbers} |"


def noise_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of what is noise."""
    for n, row in study["noise"].items():
        yield f"| {n} | " + " | ".join(f"{mean:+.3f} ± {se:.3f}" for mean, se in row.values()) + " |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the tables."""
    covered = [row["coverage"] for row in study["coverage"].values()]
    yield f"The intervals covered the truth in {min(covered):.2f} to {max(covered):.2f} of the data sets"


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 150), indent=1) + "\n")
