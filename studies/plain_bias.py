"""Bias of three estimates of the selected configuration, written with numpy alone, to compare `outfold` with.

The design of Tsamardinos et al. (2018), sect. 5.1: true accuracies from Beta(9, 6), the correctness of every (sample,
configuration) drawn on its own, 10 contiguous folds. ``winner`` is the best mean; ``tt`` takes the mean over folds of "best of
the fold minus the winner's" away from it; ``bbc`` selects on drawn samples and scores on those left out. Bias is the estimate
minus the true accuracy of the winner.

Usage: python studies/plain_bias.py [N_REPETITIONS]     writes studies/results/plain_bias.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

RESULT = Path(__file__).parent / "results" / "plain_bias.json"
SETTINGS = ((20, 50), (20, 300), (40, 100), (100, 200), (500, 50))
ESTIMATES = ("winner", "tt", "bbc")
N_FOLDS, N_DRAWS = 10, 200


def tt(correct: np.ndarray) -> float:
    folds = np.array([part.mean(axis=0) for part in np.array_split(correct, N_FOLDS)])
    winner = int(folds.mean(axis=0).argmax())
    optimism = np.mean(folds.max(axis=1) - folds[:, winner])
    return float(folds.mean(axis=0)[winner] - optimism)


def bbc(correct: np.ndarray, rng: np.random.Generator) -> float:
    n, scores = len(correct), []
    for _ in range(N_DRAWS):
        drawn = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), drawn)
        if len(left):
            scores.append(correct[left, correct[drawn].mean(axis=0).argmax()].mean())
    return float(np.mean(scores))


def biases(n: int, c: int, rng: np.random.Generator) -> list[float]:
    truth = rng.beta(9, 6, c)
    correct = (rng.random((n, c)) < truth).astype(float)
    winner = int(correct.mean(axis=0).argmax())
    estimates = (correct[:, winner].mean(), tt(correct), bbc(correct, rng))
    return [float(value - truth[winner]) for value in estimates]


def main() -> None:
    times, found = int(sys.argv[1]) if len(sys.argv) > 1 else 400, {}
    for n, c in SETTINGS:
        rng = np.random.default_rng([n, c])
        rows = np.array([biases(n, c, rng) for _ in range(times)])
        errors = rows.std(axis=0, ddof=1) / np.sqrt(times)
        found[f"{n}, {c}"] = {
            name: {"bias": round(float(bias), 4), "se": round(float(error), 4)}
            for name, bias, error in zip(ESTIMATES, rows.mean(axis=0), errors, strict=True)
        }
        print(n, c, found[f"{n}, {c}"], flush=True)
    RESULT.write_text(json.dumps({"repetitions": times, "settings": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
