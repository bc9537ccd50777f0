"""How often adjusted p values of many pairs find a difference that is not there, and how often one that is.

Six configurations answer n questions, which are more or less hard for all of them; all 15 pairs are compared by McNemar's test.
Under ``equal`` all are equally good, and any finding is false. Under ``two better`` two of them are better by 0.15: findings
among the other four, or between the two, are false.

Usage: python studies/adjusting.py [N_DATA_SETS]     writes studies/results/adjusting.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of

SIZES, CONFIGS, ALPHA = (50, 100, 300), 6, 0.05
BETTER = {"equal": np.zeros(CONFIGS), "two better": np.array([0.15, 0.15, 0, 0, 0, 0])}
ADJUSTMENTS = ("holm", "westfall_young")
RESULT = Path(__file__).parent / "results" / "adjusting.json"


def answers(n: int, better: np.ndarray, seed: int) -> of.Predictions:
    rng = np.random.default_rng([n, seed])
    hard = rng.random((n, 1))
    right = rng.random((n, CONFIGS)) < np.clip(0.8 - 0.4 * hard + better, 0, 1)
    return of.from_arrays(None, right.astype(float), response="pointwise")


def findings(n: int, better: np.ndarray, seed: int) -> dict[str, tuple[bool, float]]:
    """For each adjustment: whether any finding is false, and the share of the true differences that are found."""
    oof, out = answers(n, better, seed), {}
    for adjust in ADJUSTMENTS:
        found = of.compare.pairs(oof, "mean", test="mcnemar", adjust=adjust, omnibus=False)
        differs = np.array([better[i] != better[j] for i, j in found.pairs])
        rejects = found.adjusted <= ALPHA
        out[adjust] = bool(np.any(rejects & ~differs)), float(np.mean(rejects[differs])) if differs.any() else np.nan
    return out


def measure(sets: int) -> dict[str, Any]:
    out: dict[str, Any] = {"data_sets": sets, "settings": {}}
    for name, better in BETTER.items():
        for n in SIZES:
            rows = [findings(n, better, seed) for seed in range(sets)]
            row = {}
            for adjust in ADJUSTMENTS:
                false, power = np.array([r[adjust] for r in rows], dtype=float).T
                row[adjust] = {"false": round(float(false.mean()), 4)}
                if better.any():
                    row[adjust]["found"] = round(float(power.mean()), 4)
            out["settings"][f"{name}; {n}"] = row
            print(name, n, row, flush=True)
    return out


def page_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the page on comparing."""
    for title, row in study["settings"].items():
        cells = [f"{row[adjust]['false']:.3f}" for adjust in ADJUSTMENTS]
        cells += [f"{row[adjust]['found']:.3f}" if "found" in row[adjust] else "" for adjust in ADJUSTMENTS]
        yield f"| {' | '.join(title.split('; '))} | {' | '.join(cells)} |"


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 500), indent=1) + "\n")
