"""Bias of the corrections for selecting the best configuration, where the truth is known.

The simulation of Tsamardinos et al. (2018, sect. 5.1): every prediction is right or wrong by itself, with the true accuracy of
its configuration. True accuracies come from Beta(9, 6) or Beta(24, 6), or are all 0.7. Ten folds, 50 configurations. The bias is
the mean of the estimate minus the true accuracy of the configuration with the best mean over folds; above 0 is optimistic.

Usage: python studies/corrections.py [REPETITIONS]     writes studies/results/corrections.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import outfold as of

FOLDS, CONFIGS = 10, 50
SIZES = (20, 40, 60, 100, 500)
TRUTHS = {"Beta(9, 6)": (9, 6), "Beta(24, 6)": (24, 6), "all 0.7": None}
METHODS = ("cvt", "tt", "wmc", "wmcs", "bbc")
RESULT = Path(__file__).parent / "results" / "corrections.json"


def errors(n: int, truth: tuple[int, int] | None, seed: int) -> dict[str, float]:
    """Each estimate minus the true accuracy of what is selected."""
    rng = np.random.default_rng([n, seed])
    accuracy = np.full(CONFIGS, 0.7) if truth is None else rng.beta(*truth, CONFIGS)
    right = (rng.random((n, CONFIGS)) < accuracy).astype(float)
    oof = of.from_arrays(None, right, folds=np.arange(n) * FOLDS // n, response="pointwise")
    oof = oof.selecting_by("mean", aggregate="fold")
    found = {
        "cvt": of.estimate.cvt(oof),
        "tt": of.estimate.tt(oof),
        "wmc": of.estimate.wmc(oof, n_resamples=2000),
        "wmcs": of.estimate.wmcs(oof, n_resamples=2000),
        "bbc": of.estimate.bbc(oof, n_resamples=300),
    }
    return {name: one.value - float(accuracy[oof.config_index(one.selected)]) for name, one in found.items()}


def measure(repetitions: int) -> dict[str, Any]:
    out: dict[str, Any] = {"repetitions": repetitions, "settings": {}}
    for name, truth in TRUTHS.items():
        for n in SIZES:
            rows = [errors(n, truth, seed) for seed in range(repetitions)]
            table = {m: np.array([row[m] for row in rows]) for m in METHODS}
            out["settings"][f"{name}; {n}"] = {
                m: [round(float(v.mean()), 4), round(float(v.std(ddof=1) / np.sqrt(len(v))), 4)]
                for m, v in table.items()
            }
            print(name, n, out["settings"][f"{name}; {n}"], flush=True)
    return out


def page_rows(study: dict[str, Any]) -> Iterator[str]:
    """The table of the page on methods."""
    for title, row in study["settings"].items():
        yield f"| {' | '.join(title.split('; '))} | {' | '.join(f'{row[m][0]:+.3f}' for m in METHODS)} |"


def words(study: dict[str, Any]) -> Iterator[str]:
    """What the page says of the table."""
    yield f"{study['repetitions']} data sets each, standard errors at most {_largest_error(study):.3f}"

    means = {m: [row[m][0] for row in study["settings"].values()] for m in METHODS}
    spans = [f"`{m}` is off by {min(v):+.3f} to {max(v):+.3f}" for m, v in means.items()]
    yield f"Over these settings {', '.join(spans)}"


def _largest_error(study: dict[str, Any]) -> float:
    return max(row[m][1] for row in study["settings"].values() for m in METHODS)


if __name__ == "__main__":
    RESULT.write_text(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 200), indent=1) + "\n")
