"""How often the intervals of nested cross-validation, hold-outs and the bootstrap hold the truth, with models that are fitted.

Two normal classes in ten dimensions, of which four tell the classes apart; k-NN, naive Bayes and logistic regression, eleven
configurations. The truth is the score, on many new samples, of the selected configuration fitted on all samples of the data
set. Every data set is kept in a folder, so that
a stopped study goes on.

Usage: python studies/other_intervals.py run FOLDER
       python studies/other_intervals.py table FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import outfold as of

SIZES, DATA_SETS, NEW, DRAWS = (40, 100), 100, 4000, 500
METRICS = ("accuracy", "roc_auc")
SHIFT = np.array([0.6, 0.5, 0.4, 0.3, 0, 0, 0, 0, 0, 0])
RESULTS = Path(__file__).parent / "results" / "other_intervals.json"
PLANS: dict[str, tuple[of.Plan, dict[str, Any]]] = {
    "bbc": (of.Plan(folds=10), {}),
    "nested": (of.Plan(folds=5), {"inner": True}),
    "holdout": (of.Plan.holdout(0.4), {}),
    "repeated_holdout": (of.Plan.repeated_holdout(10, 0.2), {}),
    "loo": (of.Plan.leave_one_out(), {}),
    "oob": (of.Plan.bootstrap(15), {}),
}


def configs() -> of.fitting.Configs:
    neighbours = of.grid("knn", KNeighborsClassifier(), n_neighbors=[1, 3, 5, 9, 15, 21], weights=["uniform"])
    linear = of.grid("logit", LogisticRegression(max_iter=500), C=[0.001, 0.03, 1, 100])
    return neighbours | linear | of.grid("bayes", GaussianNB())


def sample(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    return rng.normal(size=(n, len(SHIFT))) + np.outer(y, SHIFT), y


def truths(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[str, dict[str, float]]:
    """The score of every configuration, fitted on all samples, on new ones."""
    from sklearn.base import clone
    from sklearn.metrics import roc_auc_score

    new, labels = sample(rng, NEW)
    found: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
    for name, estimator in configs().items():
        model = clone(estimator).fit(X, y)
        found["accuracy"][name] = float(np.mean(model.predict(new) == labels))
        found["roc_auc"][name] = float(roc_auc_score(labels, model.predict_proba(new)[:, 1]))
    return found


def one_data_set(n: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng([n, seed])
    X, y = sample(rng, n)
    truth, rows = truths(X, y, rng), []
    for method, (plan, more) in PLANS.items():
        if method == "loo" and n > min(SIZES):  # as many fits as samples
            continue
        oof = of.collect(configs(), X, y, plan, rng=seed, progress=False, **more)
        for metric in METRICS:
            found = getattr(of.estimate, method)(oof, metric, n_resamples=DRAWS)
            row = {"n": n, "seed": seed, "method": method, "metric": metric, "value": found.value}
            row |= {"truth": truth[metric][found.selected], "interval": found.interval and list(found.interval)}
            rows.append(row)
    return rows


def run(folder: Path) -> None:
    for n in SIZES:
        for seed in range(DATA_SETS):
            path = folder / f"{n} {seed}.json"
            if not path.exists():
                path.write_text(json.dumps(one_data_set(n, seed)))
        print(n, "done", flush=True)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    there = [row for row in rows if row["interval"] is not None]
    inside = [row["interval"][0] <= row["truth"] <= row["interval"][1] for row in there]
    return {
        "data_sets": len(there),
        "coverage": round(float(np.mean(inside)), 4),
        "bias": round(float(np.mean([row["value"] - row["truth"] for row in rows])), 4),
        "width": round(float(np.mean([row["interval"][1] - row["interval"][0] for row in there])), 4),
    }


def page_rows(settings: dict[str, Any]) -> list[str]:
    """The table of the documentation."""
    lines = []
    for setting, found in settings.items():
        method, metric, n = setting.split()
        cells = f"{found['coverage']:.3f} | {found['bias']:+.3f} | {found['width']:.3f}"
        lines.append(f"| `{method}` | {metric} | {n} | {cells} |")
    return lines


def table(folder: Path) -> None:
    rows = [row for path in sorted(folder.glob("*.json")) for row in json.loads(path.read_text())]
    settings = {}
    for method in PLANS:
        for metric in METRICS:
            for n in SIZES:
                own = [row for row in rows if (row["method"], row["metric"], row["n"]) == (method, metric, n)]
                if own:
                    settings[f"{method} {metric} {n}"] = summary(own)
    RESULTS.write_text(json.dumps({"draws": DRAWS, "settings": settings}, indent=1) + "\n")
    print(*page_rows(settings), sep="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    place = Path(sys.argv[2])
    place.mkdir(parents=True, exist_ok=True)
    run(place) if sys.argv[1] == "run" else table(place)
