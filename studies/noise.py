"""How biased corrected estimates are where no configuration has learned anything: labels that are noise.

Every accuracy and every AUC is 0.5, and all configurations are equally good. So the bias is the estimate minus the average score
of all of them, which has far less noise than the estimate minus 0.5. Configurations differ by chance alone: trees that look
at random features, nearest neighbours and linear models of random features. One thing is varied at a time. "New samples" are
scored by models that none of them trained; there the bootstrap of `bbc` can be compared with that on folds, where each
sample trains the models that score the others.

Usage: python studies/noise.py [N_DATA_SETS]     writes studies/results/noise.json
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import outfold as of

FEATURES, SOME = 30, 5
METRICS = ("accuracy", "roc_auc")
RESULT = Path(__file__).parent / "results" / "noise.json"


class Setting(NamedTuple):
    """Some configurations of one kind, on so many samples, cross-validated so often."""

    learner: str = "tree"
    n: int = 100
    configs: int = 10
    folds: int = 5
    repeats: int = 2
    stratified: bool = True
    tested_on: str = "folds"


SETTINGS = {
    "ten trees, 100 samples, 2 x 5-fold": Setting(),
    "scored on new samples": Setting(tested_on="new samples"),
    "1 x 5-fold": Setting(repeats=1),
    "5 x 5-fold": Setting(repeats=5),
    "2 x 10-fold": Setting(folds=10),
    "not stratified": Setting(stratified=False),
    "40 samples": Setting(n=40),
    "300 samples": Setting(n=300),
    "trees of depth 3": Setting("shallow tree"),
    "one nearest neighbour": Setting("1-NN"),
    "nine nearest neighbours": Setting("9-NN"),
    "linear models": Setting("linear"),
}
# Nested cross-validation fits more often, so it has fewer data sets, and the first setting only.
NESTED_SHARE = 0.5


def predicted(learner: str, X: np.ndarray, y: np.ndarray, Z: np.ndarray, config: int) -> np.ndarray:
    """Probability of the second class of the rows of Z, by a model trained on X and y."""
    if learner.endswith("tree"):
        depth = 3 if learner == "shallow tree" else None
        model = DecisionTreeClassifier(max_features=1, max_depth=depth, random_state=config)
        return model.fit(X, y, check_input=False).predict_proba(Z, check_input=False)[:, 1]
    columns = np.random.default_rng(config).choice(FEATURES, SOME, replace=False)
    A, B = X[:, columns], Z[:, columns]
    if learner == "linear":
        weights = np.linalg.lstsq(np.c_[np.ones(len(A)), A], y, rcond=None)[0]
        return np.clip(weights[0] + B @ weights[1:], 0, 1)
    k = int(learner.split("-")[0])
    distance = (A**2).sum(axis=1) - 2 * B @ A.T
    return y[np.argpartition(distance, k - 1, axis=1)[:, :k]].mean(axis=1)


def draw(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, FEATURES)).astype(np.float32), rng.permutation(np.arange(n) % 2)


def predictions(setting: Setting, seed: int) -> of.Predictions:
    """Of one data set; models that see new samples are trained on as many others as a fold leaves."""
    rng = np.random.default_rng([setting.n, seed])
    X, y = draw(setting.n, rng)
    plan = of.Plan(folds=setting.folds, repeats=setting.repeats, stratify=setting.stratified)
    splits = plan.split(y, rng=seed)
    values = np.empty((setting.n, setting.configs, setting.repeats))
    for r, k in splits.cells:
        test, train = splits.test_rows(r, k), splits.train_rows(r, k)
        A, b = (X[train], y[train]) if setting.tested_on == "folds" else draw(len(train), rng)
        for c in range(setting.configs):
            values[test, c, r] = predicted(setting.learner, A, b, X[test], c)
    return of.from_arrays(y, values, folds=splits.folds, response="proba")


def estimates(oof: of.Predictions) -> dict[str, float]:
    """Winner's score and corrected estimate by both metrics, minus the average score, and whether the interval has 0.5."""
    found = {}
    for metric in METRICS:
        estimate = of.estimate.bbc(oof, metric, n_resamples=300)
        low, high = estimate.interval
        average = float(np.nanmean(oof.scores(metric)))
        found[f"{metric} winner"] = estimate.naive - average
        found[f"{metric} bbc"] = estimate.value - average
        found[f"{metric} held"] = float(low <= 0.5 <= high)
    return found


def nested(seed: int) -> dict[str, float]:
    """Nested cross-validation in the first setting."""
    setting = Setting()
    X, y = draw(setting.n, np.random.default_rng([setting.n, seed]))
    trees = {str(i): DecisionTreeClassifier(max_features=1, random_state=i) for i in range(setting.configs)}
    plan = of.Plan(folds=setting.folds, repeats=setting.repeats)
    oof = of.collect(trees, X, y, plan, rng=seed, inner=True, progress=False)
    return {
        f"{metric} nested": of.estimate.nested(oof, metric).value - float(np.nanmean(oof.scores(metric)))
        for metric in METRICS
    }


def summed_up(rows: list[dict[str, float]]) -> dict[str, list[float]]:
    """Mean and standard error of each column."""
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {
        name: [round(float(v.mean()), 4), round(float(v.std(ddof=1) / np.sqrt(len(v))), 4)]
        for name, v in values.items()
    }


def measure(sets: int) -> dict[str, Any]:
    start = time.process_time()
    out: dict[str, Any] = {"data_sets": sets, "settings": {}}
    for name, setting in SETTINGS.items():
        rows = [estimates(predictions(setting, seed)) for seed in range(sets)]
        out["settings"][name] = summed_up(rows)
        print(name, out["settings"][name], round(time.process_time() - start), "s", flush=True)
    few = round(NESTED_SHARE * sets)
    out["nested"] = {"data_sets": few} | summed_up([nested(seed) for seed in range(few)])
    return out | {"cpu_seconds": round(time.process_time() - start)}


def page_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the page on bbc."""
    for title, row in study["settings"].items():
        cells = [f"{row[f'{metric} {name}'][0]:+.3f}" for metric in METRICS for name in ("winner", "bbc")]
        held = (f"{row[f'{metric} held'][0]:.2f}" for metric in METRICS)
        yield f"| {title} | {' | '.join([*cells, *held])} |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the table."""
    rows = study["settings"]
    errors = [row[f"{metric} bbc"][1] for row in rows.values() for metric in METRICS]
    yield f"{study['data_sets']} data sets each, standard errors at most {max(errors):.3f}"
    folds = [row for name, row in rows.items() if SETTINGS[name].tested_on == "folds"]
    largest = max(row[f"{metric} bbc"][0] for row in folds for metric in METRICS)
    yield f"`bbc` is up to {largest:.3f} too high"
    held = [row[f"{metric} held"][0] for row in rows.values() for metric in METRICS]
    yield f"its interval held 0.5 in at least {min(held):.2f} of the data sets"
    (mean, se), n = study["nested"]["accuracy nested"], study["nested"]["data_sets"]
    yield f"off by {mean:+.3f} ± {se:.3f} in the first setting ({n} data sets)"


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 80), indent=1) + "\n")
