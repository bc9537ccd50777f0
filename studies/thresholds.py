"""Sensitivity, specificity, PPV and NPV at a chosen threshold: bias of the estimates and coverage of their intervals.

The scores of every configuration are normal within each class, and its probabilities are calibrated; so the truth is known for
every configuration and threshold. Each fold has a model of its own, which shifts the scores a little. The settings are those that
hurt: few samples, few positives, many configurations, weak and strong signal. The labels are drawn at random, so the number of
positives varies too. The truth is that of the selected configuration at the threshold that the result says to use. Calibration
intercept and slope, as the report shows them, are measured too.

Usage: python studies/thresholds.py [REPETITIONS]    writes studies/results/thresholds.json
       python studies/thresholds.py 0                prints the table of the page
"""

from __future__ import annotations

import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy.special import expit, logit, ndtr

import outfold as of
from outfold.estimate._calibration import calibration
from outfold.estimate._threshold import at_thresholds

RULES: tuple[str | float, ...] = ("youden", "f1", "sensitivity=0.9", "cost=5:1", 0.5)
SHARES = ("sensitivity", "specificity", "ppv", "npv")
CALIBRATION = ("slope", "intercept")
MEASURED = [*product(map(str, RULES), SHARES), *(("calibration", name) for name in CALIBRATION)]
SIZES, PREVALENCES, CONFIGS = (60, 200), (0.5, 0.2, 0.1), (10, 100)
# How far apart the two classes are, in standard deviations: of the worst and of the best configuration.
SIGNALS = {"weak": (0.5, 1.0), "strong": (2.0, 3.0)}
FOLDS, DRAWS, LEVEL = 10, 200, 0.95
COMMON = 0.5  # share of the variance of a score that a sample has in all configurations
SHIFT = 0.15  # standard deviation of the shift of a model
ENOUGH = 100  # repetitions of a setting, for a coverage of those that are not marked
LEAST = 2  # of each class: fewer are refused
RESULTS = Path(__file__).parent / "results" / "thresholds.json"


def settings() -> list[dict[str, Any]]:
    names = ("n", "prevalence", "configs", "signal")
    return [dict(zip(names, values, strict=True)) for values in product(SIZES, PREVALENCES, CONFIGS, tuple(SIGNALS))]


def labels(n: int, prevalence: float, rng: np.random.Generator) -> np.ndarray:
    while True:
        y = rng.random(n) < prevalence
        if LEAST <= y.sum() <= n - LEAST:
            return y


def simulate(setting: dict[str, Any], rng: np.random.Generator) -> tuple[of.Predictions, np.ndarray]:
    """Predictions of all configurations, and how far apart the classes are for each."""
    n, c = setting["n"], setting["configs"]
    apart = np.linspace(*SIGNALS[setting["signal"]], c)
    y = labels(n, setting["prevalence"], rng)
    folds = rng.permutation(np.arange(n) % FOLDS)
    noise = np.sqrt(COMMON) * rng.normal(size=(n, 1)) + np.sqrt(1 - COMMON) * rng.normal(size=(n, c))
    scores = apart * y[:, None] + noise + SHIFT * rng.normal(size=(FOLDS, c))[folds]
    chances = expit(apart * (scores - apart / 2) + logit(setting["prevalence"]))
    return of.from_arrays(y, chances, folds=folds, response="proba"), apart


def truth(apart: float, threshold: float, prevalence: float) -> dict[str, float]:
    """The shares of one configuration at a threshold, on new samples of this prevalence."""
    cut = (logit(np.clip(threshold, 1e-300, 1 - 1e-16)) - logit(prevalence)) / apart + apart / 2
    spread = np.sqrt(1 + SHIFT**2)
    hits, rejected = prevalence * ndtr((apart - cut) / spread), (1 - prevalence) * ndtr(cut / spread)
    missed, alarms = prevalence - hits, 1 - prevalence - rejected
    return {
        "sensitivity": hits / prevalence,
        "specificity": rejected / (1 - prevalence),
        "ppv": hits / (hits + alarms) if hits + alarms else np.nan,
        "npv": rejected / (rejected + missed) if rejected + missed else np.nan,
    }


def true_calibration(apart: float, prevalence: float) -> dict[str, float]:
    """Slope and intercept of the probabilities of one configuration: the shift of its models makes them a little too extreme."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    spread = np.sqrt(1 + SHIFT**2)
    scores = np.concatenate([spread * nodes, apart + spread * nodes])
    shares = np.concatenate([(1 - prevalence) * weights, prevalence * weights])
    x, low, high = apart * (scores - apart / 2) + logit(prevalence), -5.0, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shares @ expit(middle + x) < prevalence else (low, middle)
    return {"slope": 1 / spread**2, "intercept": low}


def calibrated(oof: of.Predictions, seed: int, apart: float, prevalence: float) -> list[dict[str, float]]:
    """The error, coverage and width of slope and intercept; undefined where the classes are separated."""
    found = calibration(oof, "roc_auc", n_resamples=DRAWS, confidence_level=LEVEL, rng=seed)
    true, out = true_calibration(apart, prevalence), []
    for name in CALIBRATION:
        value, (low, high) = (
            (getattr(found, name), getattr(found, f"{name}_interval")) if found else (np.nan, (np.nan,) * 2)
        )
        inside = float(low <= true[name] <= high) if found else np.nan
        below = float(true[name] < low) if found else np.nan
        out.append(
            {
                "bias": value - true[name],
                "winner": np.nan,
                "covered": inside,
                "width": high - low,
                "below": below,
                "n": 0,
            }
        )
    return out


def repeat(setting: dict[str, Any], seed: int) -> list[dict[str, float]]:
    """One data set: for each rule and share the errors of the estimate and of the winner's share, coverage and width."""
    oof, apart = simulate(setting, np.random.default_rng(seed))
    out, made = [], at_thresholds(oof, RULES, "roc_auc", n_resamples=DRAWS, confidence_level=LEVEL, rng=seed)
    for found in made:
        true = truth(apart[oof.configs.index(found.selected)], found.threshold, setting["prevalence"])
        for share in found.shares:
            low, high = share.interval or (np.nan, np.nan)
            right = true[share.name]
            out.append(
                {
                    "bias": share.value - right,
                    "winner": share.naive - right,
                    "covered": float(low <= right <= high) if share.interval else np.nan,
                    "width": high - low,
                    "below": float(right < low) if share.interval else np.nan,
                    "n": share.n,
                }
            )
    winner = oof.configs.index(made[0].selected)
    return out + calibrated(oof, seed, apart[winner], setting["prevalence"])


def rows_of(setting: dict[str, Any], repetitions: int) -> list[dict[str, Any]]:
    root = crc32(json.dumps(setting, sort_keys=True).encode())
    found = [repeat(setting, int(np.random.SeedSequence((root, i)).generate_state(1)[0])) for i in range(repetitions)]
    rows = []
    for j, (rule, share) in enumerate(MEASURED):
        own = [one[j] for one in found]
        values = {key: np.array([one[key] for one in own]) for key in own[0]}
        defined = np.isfinite(values["covered"])
        means = {key: round(float(np.nanmean(v)), 4) if np.isfinite(v).any() else None for key, v in values.items()}
        means["rests_on"] = means.pop("n")
        few = defined & (values["n"] < 10)
        about = {"rule": rule, "share": share, "repetitions": repetitions, "undefined": int(np.sum(~defined))}
        of_few = {"few": int(few.sum()), "covered_few": int(values["covered"][few].sum())}
        rows.append(setting | about | means | of_few)
    return rows


# -- the table --------------------------------------------------------------------------------------------------


def marked_apart(row: dict[str, Any]) -> float:
    """The coverage where the interval is not marked as approximate: only predictive values of few samples are."""
    few, covered = (row["few"], row["covered_few"]) if row["share"] in ("ppv", "npv") else (0, 0)
    n = row["repetitions"] - row["undefined"]
    return float((row["covered"] * n - covered) / (n - few)) if n - few >= ENOUGH else np.nan


def page_rows(rows: list[dict[str, Any]]) -> list[str]:
    """For each share, with a chosen and with a fixed threshold: bias, that of the winner, coverage and width."""
    out = []
    for share, fixed in [*product(SHARES, (False, True)), *((name, False) for name in CALIBRATION)]:
        own = [row for row in rows if row["share"] == share and (row["rule"] == "0.5") == fixed]
        bias, covered = np.array([row["bias"] for row in own]), np.array([marked_apart(row) for row in own])
        naive = [row["winner"] for row in own if row["winner"] is not None]
        width = np.mean([row["width"] for row in own])
        how = "" if share in CALIBRATION else "fixed at 0.5" if fixed else "chosen"
        out.append(
            f"| {share} | {how} | {len(own)} | {bias.min():+.3f} to {bias.max():+.3f} | "
            f"{f'{np.mean(naive):+.3f}' if naive else '-'} | {np.nanmin(covered):.3f}, {np.nanmean(covered):.3f} | {width:.2f} |"
        )
    return out


def main(repetitions: int = 400) -> None:
    if not repetitions:
        print(*page_rows(json.loads(RESULTS.read_text())["rows"]), sep="\n")
        return
    began, rows = time.process_time(), []
    for setting in settings():
        rows += rows_of(setting, repetitions)
        worst = min(row["covered"] for row in rows[-len(MEASURED) :] if row["covered"] is not None)
        print(setting, f"worst coverage {worst:.3f}, {time.process_time() - began:.0f} s", flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    RESULTS.write_text(f'{{"level": {LEVEL}, "draws": {DRAWS}, "folds": {FOLDS}, "rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
