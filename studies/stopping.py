"""Stopping times beside Table III of Raeder, Hoens and Chawla (2010), two-fold cross-validation.

For six of the paper's data sets: 600 repeats of two-fold cross-validation of an unpruned tree and of naive Bayes, then 50 random
orders of the repeats, in each of which the rules of `outfold.stability` are asked after every repeat. The paper's trees are C4.5
with Laplace-smoothed leaves, ours scikit-learn's with at least two samples a leaf.

Usage: python studies/stopping.py [DATA_FOLDER]     writes studies/results/stopping.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import outfold as of
from outfold.stats.selection import ks_distance, rank_correlations

# Mean stopping times printed in Table III (a) for J48 and (b) for NB: Rank 0.9999, KS 0.1, KS 0.2.
PAPER = {
    "breast_w": ((28.22, 187.24, 46.08), (13.20, 240.92, 50.24)),
    "bupa": ((133.42, 200.48, 49.00), (64.92, 209.56, 51.32)),
    "heart_c": ((69.90, 168.28, 46.08), (14.90, 221.08, 53.36)),
    "ionosphere": ((49.72, 178.60, 43.24), (13.54, 242.16, 48.40)),
    "pima": ((61.22, 184.84, 43.00), (18.40, 204.76, 45.32)),
    "sonar": ((118.44, 206.12, 40.16), (29.20, 196.28, 44.36)),
}
REPEATS, ORDERS = 600, 50
RULES = ("Rank 0.9999", "KS 0.1", "KS 0.2")
RESULT = Path(__file__).parent / "results" / "stopping.json"


def load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(folder / f"{name}.parquet")
    X = pd.get_dummies(frame.drop(columns="target"), dtype=float)
    return X.to_numpy(float), frame["target"].to_numpy()


def collect(X: np.ndarray, y: np.ndarray) -> of.Predictions:
    configs = of.grid("tree", make_pipeline(SimpleImputer(), DecisionTreeClassifier(min_samples_leaf=2)))
    configs |= of.grid("bayes", make_pipeline(SimpleImputer(), GaussianNB()))
    return of.collect(configs, X, y, of.Plan(folds=2, repeats=REPEATS), rng=0, n_jobs=2)


def rank_time(values: np.ndarray, threshold: float = 0.9999) -> int:
    """First repeat at which the order of the samples' running means has settled; (R, N) values."""
    for r in range(2, len(values) + 1):
        if rank_correlations(values[None, : r - 1], values[None, :r])[0] >= threshold:
            return r
    return len(values)


def ks_time(scores: np.ndarray, threshold: float) -> int:
    """First repeat at which even and odd repeats have the same distribution of scores, to the threshold."""
    for r in range(2, len(scores) + 1):
        if ks_distance(scores[None, :r:2], scores[None, 1:r:2])[0] <= threshold:
            return r
    return len(scores)


def times(oof: of.Predictions, config: int) -> list[float]:
    scores = of.stability.trace(oof, "roc_auc").scores[:, config]
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(ORDERS):
        order = rng.permutation(REPEATS)
        values = oof.data[order, config]
        rows.append((rank_time(values), ks_time(scores[order], 0.1), ks_time(scores[order], 0.2)))
    return np.mean(rows, axis=0).tolist()


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        sys.exit(f"the data sets are not here: {folder}; give their folder.")
    print(f"mean stopping time over {ORDERS} orders, the paper's in brackets (C4.5, NB)")
    print(f"{'data':<12}{'model':<7}{'Rank 0.9999':>20}{'KS 0.1':>20}{'KS 0.2':>20}")
    found = {}
    for name, papers in PAPER.items():
        oof = collect(*load(folder, name))
        for config, (model, paper) in enumerate(zip(("tree", "bayes"), papers, strict=True)):
            owns = times(oof, config)
            found[f"{name}, {model}"] = {
                rule: {"own": round(own, 2), "paper": printed}
                for rule, own, printed in zip(RULES, owns, paper, strict=True)
            }
            cells = "".join(f"{f'{own:.1f} ({printed:.1f})':>20}" for own, printed in zip(owns, paper, strict=True))
            print(f"{name:<12}{model:<7}{cells}", flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
