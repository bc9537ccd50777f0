"""Bias of the estimated integrated Brier score of the selected Cox regression, and how often its interval holds the truth.

Survival times are exponential, with a hazard that depends on three of ten features; about 40 percent are censored, at random.
Twelve Cox regressions (three penalties, on all features, on the three that matter, and on two other sets) are cross-validated in
five folds. Concordance, or the integrated Brier score itself, selects one, which is fitted on all samples. The truth is the
integrated Brier score of this model over the same times on 5,000 new samples, none of which is censored. For each setting:

    winner    mean of the winner's own cross-validation score minus the truth
    bbc       mean of the estimate minus the truth, with its standard error
    coverage  share of data sets whose 95% interval holds the truth
    width     mean width of the interval

Usage: python studies/survival_curves.py [N_DATA_SETS]
It writes studies/results/survival_curves.json; 200 data sets take about 15 minutes on one core. It needs scikit-survival.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of
from outfold.data.target import encode
from outfold.fitting.predict import survival_curves
from outfold.stats.survival import brier_losses, curve_times

RESULT = Path(__file__).parent / "results" / "survival_curves.json"
N_FEATURES, N_NEW, FOLDS = 10, 5000, 5
SIZES, SIGNALS = (60, 150), {"weak": 0.3, "strong": 1.0}
PENALTIES = (1.0, 10.0, 100.0)
PARTS = {"all": slice(None), "three": slice(3), "half": slice(2, 7), "others": slice(3, None)}
METRICS = ("concordance", "integrated_brier")
FIRST_SEED = 5000


def draw(n: int, signal: float, rng: np.random.Generator, censored: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Features and records of event and time."""
    X = rng.normal(size=(n, N_FEATURES))
    time = rng.exponential(np.exp(-signal * X[:, :3].sum(axis=1)))
    lost = rng.exponential(1.5, n) if censored else np.full(n, np.inf)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= lost, np.minimum(time, lost)
    return X, y


def fitted(name: str, X: np.ndarray, y: np.ndarray) -> Any:
    """The Cox regression of this name."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    part, _, penalty = name.partition(" ")
    return CoxPHSurvivalAnalysis(alpha=float(penalty)).fit(X[:, PARTS[part]], y)


def predicted(name: str, model: Any, X: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(n, 1 + T) its risks and curves."""
    own = X[:, PARTS[name.partition(" ")[0]]]
    return np.column_stack([model.predict(own), survival_curves(model, own, times)])


def one_data_set(n: int, signal: float, seed: int) -> dict[str, float]:
    """Errors of the winner's score and of the estimate, and whether the interval holds the truth, by what selects."""
    rng = np.random.default_rng(seed)
    X, y = draw(n, signal, rng)
    X_new, y_new = draw(N_NEW, signal, rng, censored=False)
    times = curve_times(y["time"], y["event"])
    folds = of.Plan(folds=FOLDS).split(encode(y), rng=seed).folds[:, 0]
    names = [f"{part} {penalty:g}" for part in PARTS for penalty in PENALTIES]
    P = np.empty((n, len(names), 1, 1 + len(times)))
    for j, name in enumerate(names):
        for k in range(FOLDS):
            P[folds == k, j, 0] = predicted(name, fitted(name, X[folds != k], y[folds != k]), X[folds == k], times)
    oof = of.from_arrays(y, P, folds=folds, configs=names, times=times)
    out = {}
    for metric in METRICS:
        found = of.estimate.bbc(oof, "integrated_brier", selected_by=metric)
        curves = predicted(found.selected, fitted(found.selected, X, y), X_new, times)[None, :, 1:]
        truth = float(brier_losses(curves, y_new["time"], y_new["event"], times).mean())
        assert found.interval is not None
        low, high = found.interval
        errors = {"truth": truth, "winner": found.naive - truth, "bbc": found.value - truth}
        errors |= {"coverage": float(low <= truth <= high), "width": high - low}
        out |= {f"{metric}, {key}": value for key, value in errors.items()}
    return out


def main(n_sets: int) -> None:
    settings = {}
    for strength, signal in SIGNALS.items():
        for n in SIZES:
            sets = [one_data_set(n, signal, seed) for seed in range(FIRST_SEED, FIRST_SEED + n_sets)]
            found = {key: round(float(np.mean([one[key] for one in sets])), 4) for key in sets[0]}
            for metric in METRICS:
                spread = np.std([one[f"{metric}, bbc"] for one in sets], ddof=1) / np.sqrt(n_sets)
                found[f"{metric}, se"] = round(float(spread), 4)
            settings[f"{strength}, {n}"] = found
            print(f"{strength}, {n}", found, flush=True)
    RESULT.write_text(json.dumps({"data_sets": n_sets, "settings": settings}, indent=1) + "\n")


HEADER = (
    "| signal, samples | selected by | truth | winner's score | `bbc` | coverage (width) |\n"
    "| --- | --- | --- | --- | --- | --- |"
)


def table(settings: dict[str, dict[str, float]]) -> str:
    """The table of the page: errors are differences from the truth."""
    lines = [HEADER]
    for name, found in settings.items():
        for metric in METRICS:
            truth, winner, bbc, se, held, width = (
                found[f"{metric}, {key}"] for key in ("truth", "winner", "bbc", "se", "coverage", "width")
            )
            ends = f"{held:.3f} ({width:.3f})"
            lines.append(f"| {name} | `{metric}` | {truth:.3f} | {winner:+.4f} | {bbc:+.4f} ({se:.4f}) | {ends} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
