"""Coverage of the intervals of a mean over small folds, where the models are given and the true score is known.

A bootstrap draw weights the samples. If the score of each fold is normalised by its own weights, a fold of one sample, or of one
group drawn whole, has the same score however often it is drawn, and the draws vary too little. The study compares such draws
with the interval that `estimate.cv` takes. Groups differ in how well they are predicted. Right answers have probability 0.75.

Usage: python studies/by_fold.py [N_DATA_SETS]        writes studies/results/by_fold.json; 1,000 data sets take two minutes
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

import outfold as of

RESULT = Path(__file__).parent / "results" / "by_fold.json"
N_DRAWS = 400
SHARE, SPREAD = 0.75, 0.5
TRUTH = {"accuracy": SHARE, "roc_auc": float(ndtr(1 / np.sqrt(2 + SPREAD**2)))}
# Metric, folds, units of a fold, samples of a unit.
SETTINGS = {
    "leave-one-out, 60 samples": ("accuracy", 60, 1, 1),
    "leave-one-out, 20 samples": ("accuracy", 20, 1, 1),
    "10 folds of 2 samples": ("accuracy", 10, 2, 1),
    "10 folds of 6 samples": ("accuracy", 10, 6, 1),
    "10 folds of 6 samples, AUC": ("roc_auc", 10, 6, 1),
    "20 folds of 1 group, AUC": ("roc_auc", 20, 1, 10),
    "10 folds of 1 group, AUC": ("roc_auc", 10, 1, 10),
    "10 folds of 2 groups, AUC": ("roc_auc", 10, 2, 10),
    "10 folds of 3 groups, AUC": ("roc_auc", 10, 3, 10),
    "5 folds of 5 groups, AUC": ("roc_auc", 5, 5, 10),
    "10 folds of 6 groups, AUC": ("roc_auc", 10, 6, 10),
    "5 folds of 8 groups, AUC": ("roc_auc", 5, 8, 10),
}


class DataSet:
    """Labels, predictions, folds and groups of one setting."""

    def __init__(self, metric: str, n_folds: int, units: int, size: int, rng: np.random.Generator) -> None:
        n = n_folds * units * size
        self.metric, self.y = metric, np.arange(n) % 2
        self.groups, self.folds = np.arange(n) // size, np.arange(n) // (units * size)
        signal = rng.normal(1.0, SPREAD, n_folds * units)[self.groups]
        self.right = rng.random(n) < SHARE
        self.score = (
            np.where(self.right, self.y, 1 - self.y) if metric == "accuracy" else signal * self.y + rng.normal(size=n)
        )

    def predictions(self) -> of.Predictions:
        """The predictions of the one model there is."""
        response = "label" if self.metric == "accuracy" else "score"
        return of.from_arrays(self.y, self.score, folds=self.folds, groups=self.groups, response=response)

    def fold_score(self, fold: int, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(B,) the score of a fold, normalised by its own (B, N) weights; NaN where nothing, or no pair, is drawn."""
        rows = np.flatnonzero(self.folds == fold)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.metric == "accuracy":
                return weights[:, rows] @ self.right[rows] / weights[:, rows].sum(axis=1)
            positive, negative = rows[self.y[rows] == 1], rows[self.y[rows] == 0]
            wins = self.score[positive][:, None] > self.score[negative]
            pairs = weights[:, positive].sum(axis=1) * weights[:, negative].sum(axis=1)
            return np.asarray(np.sum(weights[:, positive] @ wins * weights[:, negative], axis=1) / pairs)

    def drawn(self, rng: np.random.Generator) -> tuple[float, float]:
        """The percentile interval of draws in which every fold is normalised by its own weights."""
        n_units = int(self.groups.max()) + 1
        weights = rng.multinomial(n_units, np.full(n_units, 1 / n_units), N_DRAWS)[:, self.groups].astype(float)
        scores = np.nanmean([self.fold_score(k, weights) for k in np.unique(self.folds)], axis=0)
        low, high = np.quantile(scores, [0.025, 0.975])
        return float(low), float(high)


def study(setting: str, n_sets: int) -> dict[str, object]:
    metric, n_folds, units, size = SETTINGS[setting]
    rng, truth, found = np.random.default_rng(0), TRUTH[metric], []
    methods = set()
    for i in range(n_sets):
        data = DataSet(metric, n_folds, units, size, rng)
        result = of.estimate.cv(data.predictions(), metric, n_resamples=N_DRAWS, rng=i)
        if result.interval_method is not None:
            methods.add(result.interval_method)
        # Where nothing varies there is no interval: a miss.
        found.append([result.interval or (np.nan, np.nan), data.drawn(rng)])
    ends = np.array(found)
    covered = np.mean((ends[..., 0] <= truth) & (truth <= ends[..., 1]), axis=0)
    width = np.nanmean(ends[..., 1] - ends[..., 0], axis=0)
    ours, theirs = (
        {"coverage": round(float(c), 3), "width": round(float(w), 3)} for c, w in zip(covered, width, strict=True)
    )
    return {"method": " or ".join(sorted(methods)), "cv": ours, "folds drawn as they are": theirs}


def main(n_sets: int) -> None:
    settings = {}
    for setting in SETTINGS:
        settings[setting] = study(setting, n_sets)
        print(setting, settings[setting], flush=True)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "settings": settings}, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
