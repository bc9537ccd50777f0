"""How often `confront` says "not compatible" although nothing changed, and how often it finds a change.

Each data set has n training samples. Ten configurations (eight for regression) are cross-validated in ten folds: five learners
(four), on all features and on half of them. The best is fitted on all n and predicts new samples. These come from the same
population (the null), or from one in which a quarter of the labels has nothing to do with the features. The shares of data sets
in which a test decides at 0.05 that something changed:

    confront          the test of `confront`, which counts the variance of the estimate one and a half times
    once              the same, which counts it once
    winner's score    the same with the winner's own cross-validation score and its interval, which ignore the selection
    target, features  the test of the labels, and whether any of the features differs after Holm's adjustment

The factor was chosen before, on 120 data sets of each setting with other learners (logistic and ridge regression, k-NN and trees
of scikit-learn) and other seeds.

Usage: python studies/confronting.py [N_DATA_SETS]
It writes studies/results/confronting.json; 400 data sets take about five minutes on one core.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of
from outfold.data.target import encode
from outfold.models.confronting import ONE_MODEL
from outfold.models.ranges import as_frame, ranges_of_frame
from outfold.models.shifts import feature_shifts, target_shift
from outfold.stats.two_samples import Independent, difference_interval, widened

RESULT = Path(__file__).parent / "results" / "confronting.json"
N_FEATURES = 10
LOST = 0.25  # of the labels, after the change
SIGNALS = {"weak": 0.5, "strong": 2.0}
N_TRAIN, N_NEW = (60, 150), (30, 1000)
METRICS = {"classification": ("accuracy", "roc_auc"), "regression": ("r2",)}
NAMES = ("centroid", "5-NN", "tree", "linear", "random network")
FIRST_SEED = 1000


class Population:
    """Features of which three matter, and labels or values."""

    def __init__(self, task: str, signal: float) -> None:
        self.task, self.signal = task, signal

    def labels(self, X: np.ndarray, rng: np.random.Generator, lost: float = 0.0) -> np.ndarray:
        """Labels of which a share has nothing to do with the features."""
        value, blind = self.signal * X[:, :3].sum(axis=1) / np.sqrt(3), rng.random(len(X)) < lost
        if self.task == "regression":
            return np.where(blind, self.signal * rng.normal(size=len(X)), value) + rng.normal(size=len(X))
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-np.where(blind, 0.0, 2 * value)))).astype(int)
        y[:4] = [0, 1, 0, 1]  # two of each class at least
        return y

    def predictions(self, y: np.ndarray, values: np.ndarray, **more: Any) -> of.Predictions:
        """Scores that are cut at one half, or values."""
        how = {"response": "value"} if self.task == "regression" else {"response": "score", "threshold": 0.5}
        return of.from_arrays(y, values, **how, **more)

    def fit(self, X: np.ndarray, y: np.ndarray, folds: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The predictions of all configurations for the samples that are held out."""
        from fast_learners import LEARNERS  # here: the table needs no numba

        out = {}
        for name in NAMES if self.task == "classification" else NAMES[1:]:
            for width in (N_FEATURES, N_FEATURES // 2):
                part = np.ascontiguousarray(X[:, :width])
                out[f"{name}({width} features)"] = LEARNERS[name](part, y, folds[None], rng)[0]
        return out


def one_data_set(population: Population, n: int, seed: int) -> dict[str, float]:
    """Whether each test decides that something changed, by metric, number of new samples, change and test."""
    rng, out, n_new = np.random.default_rng(seed), dict[str, float](), sum(N_NEW)
    X, X_new = rng.normal(size=(n, N_FEATURES)), rng.normal(size=(n_new, N_FEATURES))
    y = population.labels(X, rng)
    folds = of.Plan(folds=10).split(encode(y, task=population.task), rng=seed).folds[:, 0]
    held_out = population.fit(X, y, folds, rng)
    # The training samples are never held out, and the new ones are predicted by a model of all training samples.
    both = np.concatenate([np.full(n, -1, dtype=np.int32), np.zeros(n_new, dtype=np.int32)])
    new = population.fit(np.vstack([X, X_new]), np.concatenate([y, np.zeros(n_new)]), both, rng)
    oof = population.predictions(y, np.column_stack(list(held_out.values())), folds=folds, configs=list(held_out))
    rows = dict(zip(N_NEW, np.split(np.arange(n_new), [N_NEW[0]]), strict=True))
    for metric in METRICS[population.task]:
        corrected = of.estimate.bbc(oof, metric)
        own = of.estimate.cv(oof, metric, corrected.selected)
        for m, part in rows.items():
            for change, lost in (("null", 0.0), ("changed", LOST)):
                labels, where = population.labels(X_new[part], rng, lost), f"{metric}, {m}, {change}, "
                scored = population.predictions(labels, new[corrected.selected][n:][part], configs=[corrected.selected])
                after = of.estimate.holdout(scored, metric, corrected.selected)
                ways = {"confront": (corrected, ONE_MODEL), "once": (corrected, 1.0), "winner's score": (own, 1.0)}
                for way, (before, factor) in ways.items():
                    out[f"{where}{way}"] = float(differ(after, before, factor))
                if change == "null":
                    shift = target_shift(oof.target, scored.target)
                    assert shift is not None
                    out[f"{where}target"] = float(shift.pvalue <= 0.05)
                    found = feature_shifts(as_frame(X_new[part]), ranges_of_frame(X))
                    out[f"{where}features"] = float(min(shift.adjusted for shift in found) <= 0.05)
    return out


def differ(after: of.results.Estimate, before: of.results.Estimate, factor: float) -> bool:
    """Whether the interval of the difference leaves out 0, which is when the p value is below 0.05."""
    first, second = (Independent(one.value, one.confidence_interval) for one in (after, before))
    low, high = difference_interval(first, widened(second, factor), 0.95)
    return not low <= 0 <= high


def main(n_sets: int) -> None:
    settings = {}
    for task in METRICS:
        for strength, signal in SIGNALS.items():
            for n in N_TRAIN:
                name, population = f"{task}, {strength} signal, {n} training samples", Population(task, signal)
                sets = [one_data_set(population, n, seed) for seed in range(FIRST_SEED, FIRST_SEED + n_sets)]
                settings[name] = {key: round(float(np.mean([one[key] for one in sets])), 4) for key in sets[0]}
                print(name, settings[name], flush=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "settings": settings}, indent=1) + "\n")


HEADER = (
    "| task, signal, training samples | metric | new samples | `confront` | variance once | winner's score | change found |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def table(settings: dict[str, dict[str, float]]) -> str:
    """The table of the page: the first three shares are of data sets in which nothing changed."""
    lines = [HEADER]
    for name, shares in settings.items():
        words = name.replace(" signal", "").replace(" training samples", "")
        for where in dict.fromkeys(key.rpartition(", null, ")[0] for key in shares if ", null, " in key):
            metric, m = where.split(", ")
            nothing = (f"{shares[f'{where}, null, {way}']:.3f}" for way in ("confront", "once", "winner's score"))
            found = f"{shares[f'{where}, changed, confront']:.2f}"
            lines.append(f"| {words} | {metric} | {int(m):,} | {' | '.join(nothing)} | {found} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
